// Signs you in through linkd, and says who you are.
//
// Run:  swift run sign-in-swift APP EMAIL|NUMBER [--password] [--show-token]
// By default a link is mailed, and to a NUMBER, which begins with +, a code is sent; with --password a line of standard input is
// the password. Codes, of second factors too, are lines of standard input. Ctrl-C gives the sign-in up.
//
// In a package of your own: .package(url: "…/linkd", from: "0.1.0"), and .product(name: "LinkdClient", package: "linkd").
import AuthCore
import Dispatch
import Glibc
import LinkdClient
import Login

@main
struct Main {
  @MainActor
  static func main() async {
    let options = CommandLine.arguments.dropFirst().filter { $0.hasPrefix("--") }
    let words = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
    guard words.count == 2 else { end(64, "usage: sign-in-swift APP EMAIL|NUMBER [--password] [--show-token]") }
    do throws(LinkdError) {
      // Three lines to sign your user in: the app, a model of the login screen, the button.
      let app = try await LinkdService.connect().app(words[0])
      let model = LoginViewModel(app)
      await signIn(model, email: words[1], withPassword: options.contains("--password"))
      try await report(app, showToken: options.contains("--show-token"))
    } catch {
      // The name is the contract (org.linkd.Auth1.Error.…), the message is for people.
      end(1, "\(error.message) (\(error.name))")
    }
  }

  @MainActor
  private static func signIn(_ model: LoginViewModel, email: String, withPassword: Bool) async {
    var told: String?
    model.onChange = { [unowned model] in
      if let notice = model.noticeText, notice != told { say(notice) }
      told = model.noticeText
    }
    let isNumber = email.hasPrefix("+")
    if isNumber { model.phoneNumber = email } else { model.email = email }
    if withPassword { model.password = readLine() ?? "" }
    if let problem = model.emailProblem { end(1, problem) }
    let button = Task {
      if isNumber {
        await model.sendCode()
      } else if withPassword {
        await model.signIn()
      } else {
        await model.signInByLink()
      }
    }
    let interrupts = interruptions {
      button.cancel()
      Task { await giveUp(model) }
    }
    defer { interrupts.cancel() }
    await button.value
    await answer(model)
    if let problem = model.errorText { end(1, problem) }
    if !model.isSignedIn { end(130, "Cancelled.") }
  }

  /// Asks for codes and second factors while the sign-in waits for them.
  @MainActor
  private static func answer(_ model: LoginViewModel) async {
    while model.step != nil {
      if let problem = model.errorText { say(problem) }
      let factors = model.factors ?? []
      for (number, factor) in factors.enumerated() {
        say("\(number + 1): \(factor.displayName ?? factor.phoneNumber ?? "authenticator app")")
      }
      say(model.codePrompt ?? "Which one?")
      // On a thread of its own: Ctrl-C is heard meanwhile.
      guard let line = await Task.detached(operation: { readLine() }).value else { return await giveUp(model) }
      if factors.isEmpty {
        model.code = line
        await model.submitCode()
      } else if let number = Int(line), factors.indices.contains(number - 1) {
        await model.choose(factors[number - 1])
      }
    }
  }

  /// Where it waits for an answer.
  @MainActor
  private static func giveUp(_ model: LoginViewModel) async {
    if model.step == nil { return }
    await model.giveUp()
    end(130, "Cancelled.")
  }

  private static func report(_ app: LinkdApp, showToken: Bool) async throws(LinkdError) {
    let status = try await app.status()
    say("state: \(status.state.rawValue)")
    say("user: \(status.user?.email ?? status.user?.phoneNumber ?? status.user?.uid ?? "")")
    // A token is fetched when it is needed, never stored: linkd keeps it fresh.
    let token = try await app.idToken()
    say("token until: \(utc(token.expiresAt))")
    if showToken { say(token.token.reveal()) }
  }

  /// Ctrl-C calls `body`.
  private static func interruptions(_ body: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler(handler: body)
    source.activate()
    return source
  }

  private static func utc(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 32)
    strftime(&text, text.count, "%FT%TZ", &parts)
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  private static func end(_ code: Int32, _ line: String) -> Never {
    let text = "\(line)\n"
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(code)
  }
}
