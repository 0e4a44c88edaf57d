import Foundation
import TestSupport
import Testing

/// Each way of signing in, stopped by a second factor and finished: the first factor is spent once (behaviour: Pending flows 6).
@Suite("Sign-ins that a second factor stops", .timeLimit(.minutes(3)))
struct SecondFactorSignInTests {
  enum Way: String, Sendable, CaseIterable {
    case password, emailLink, page, ownClient, credential

    /// Where the first factor goes.
    var path: String {
      switch self {
      case .password: "accounts:signInWithPassword"
      case .emailLink: "accounts:signInWithEmailLink"
      case .page, .ownClient, .credential: "accounts:signInWithIdp"
      }
    }

    var method: String {
      switch self {
      case .password: "password"
      case .emailLink: "emailLink"
      case .page, .credential: "google.com"
      case .ownClient: "oidc.test"
      }
    }

    /// Signs in, up to where the first factor is with the server; the flow's id.
    func start(_ world: World) async throws -> String {
      switch self {
      case .password: return try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
      case .emailLink:
        let sent = try await world.mails("ada@example.com").count
        let flow = try await world.sendLink("ada@example.com")
        let link = try await world.button(try await world.mail("ada@example.com", count: sent + 1))
        #expect(try await world.linkctl("open", "--no-wait", link).status == 0)
        return flow
      case .page, .ownClient:
        let flow = try await world.goTo(method)
        let url = try await world.follow(flow)
        if self == .page {
          #expect(try await world.linkctl("open", "--no-wait", url).status == 0)
        } else {
          #expect(try await world.browse(url).status == 200)
        }
        return flow.id
      case .credential: return try await world.withCredential("google.com", World.Claims("ada", "ada@example.com"))
      }
    }
  }

  /// A world in which Ada's account has an authenticator app and a phone, and signs in `way`.
  private func world(_ way: Way) async throws -> (World, FactoredAccount) {
    let world = try await World.start { [$0.openID()] }
    try await world.offerFactors()
    let ada = try await world.withFactors("ada@example.com", phones: ["Mobile": PhoneTests.number])
    return (world, ada)
  }

  @Test(
    "stopped, shown, finished by either factor; the first one isn't spent twice", arguments: Way.allCases,
    ["App", "Mobile"])
  func way(_ way: Way, factor: String) async throws {
    let (world, ada) = try await world(way)
    let monitor = try await BusMonitor(world)
    let before = try await world.requests(way.path)
    let flow = try await way.start(world)
    let hints = try await world.hints(flow)
    #expect(Set(hints.map { $0["uid"] as? String ?? "" }) == Set(ada.factors.values))
    let phone = try #require(hints.first { $0["kind"] as? String == "phone" })
    #expect(phone["display-name"] as? String == "Mobile" && phone["enrolled-at"] as? Int != nil)
    let masked = try #require(phone["phone-number"] as? String)
    #expect(masked == "+*******0100")
    #expect(hints.contains { $0["kind"] as? String == "totp" && $0["phone-number"] == nil })
    #expect(try await world.uid() == nil)
    #expect(try await world.json("status").last?["state"] as? String == "unauthenticated")
    #expect(try await world.messages(PhoneTests.number).isEmpty)

    let waiting = try await world.choose(ada.factors[factor], flow)
    #expect(waiting["kind"] as? String == (factor == "App" ? "totp" : "phone"))
    #expect(waiting["display-name"] as? String == factor && waiting["attempts-left"] as? Int == 5)
    #expect(waiting["phone-number"] as? String == (factor == "App" ? nil : masked))
    #expect((waiting["can-resend-at"] != nil) == (factor == "Mobile"))
    let code =
      factor == "App" ? try await world.totp(ada.secret) : try await world.message(PhoneTests.number)
    // A wrong one is no reason to show the first factor again.
    #expect(try await world.flow(flow, "ProvideCode", World.wrong(code)).status == 0)
    let again = try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    #expect(again["attempts-left"] as? Int == 4)
    let end = try await world.answer(flow, code: code)
    #expect(end["is-new-user"] as? Bool == false)
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.signInMethod() == way.method)
    #expect(try await world.requests(way.path) == before + 1)
    #expect(try await world.requests("mfaSignIn:finalize") == 2)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    try await world.eventually("the signal") { monitor.count("StateChanged", "\"authenticated\"") >= 1 }
  }

  @Test(
    "the daemon killed where the second factor is wanted, and where its code is: nothing is spent again",
    arguments: Way.allCases)
  func killed(_ way: Way) async throws {
    let (world, ada) = try await world(way)
    let before = try await world.requests(way.path)
    let flow = try await way.start(world)
    let hints = try await world.hints(flow)
    try await world.killDaemon()
    #expect(try await world.hints(flow).count == hints.count)
    try await world.choose(ada.factors["Mobile"], flow)
    try await world.killDaemon()
    let waiting = try await world.flow(flow, at: "waiting-for-code")
    #expect(waiting["display-name"] as? String == "Mobile")
    try await world.answer(flow, code: try await world.message(PhoneTests.number))
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.requests(way.path) == before + 1)
    #expect(try await world.requests("mfaSignIn:start") == 1)
  }

  @Test("who gives up at the second factor is signed in to nothing", arguments: Way.allCases)
  func cancelled(_ way: Way) async throws {
    let (world, _) = try await world(way)
    let flow = try await way.start(world)
    _ = try await world.hints(flow)
    #expect(try await world.flow(flow, "Cancel").status == 0)
    try await world.flow(flow, at: "cancelled")
    #expect(World.refusal(try await world.flow(flow, "ProvideCode", "123456")) == "NoSuchFlow")
    #expect(try await world.uid() == nil)
  }

  @Test(
    "a click on what brought the first factor, once more, leaves the flow where it is",
    arguments: [Way.emailLink, .page])
  func secondClick(_ way: Way) async throws {
    let (world, ada) = try await world(way)
    let before = try await world.requests(way.path)
    let flow: String
    let url: String
    if way == .emailLink {
      flow = try await world.sendLink("ada@example.com")
      url = try await world.button(try await world.mail("ada@example.com"))
    } else {
      let waiting = try await world.goTo(way.method)
      (flow, url) = (waiting.id, try await world.follow(waiting))
    }
    for _ in 1...2 {
      #expect(try await world.linkctl("open", "--no-wait", url).status == 0)
      _ = try await world.hints(flow)
    }
    try await world.choose(ada.factors["App"], flow)
    #expect(try await world.linkctl("open", "--no-wait", url).status == 0)
    #expect(try await world.flow(flow).stage == "waiting-for-code")
    try await world.answer(flow, code: try await world.totp(ada.secret))
    #expect(try await world.linkctl("open", "--no-wait", url).status == 0)
    #expect(try await world.requests(way.path) == before + 1)
    #expect(try await world.uid() == ada.uid)
  }

  @Test("a mailed link that nobody here asked for is stopped, too, and its page is opened for whoever chooses")
  func foreignLink() async throws {
    let (world, ada) = try await world(.emailLink)
    try await world.setPhone(["captcha": true])
    #expect(try await world.linkctl("register").status == 0)
    let portal = try await world.startPortal()
    let link = try await world.mailedElsewhere(ada.address, "")
    let opened = try await world.json("open", "--no-wait", link)
    let flow = try #require(opened.last?["flow"] as? String, "\(opened)")
    try await world.flow(flow, at: "waiting-for-email")
    #expect(try await world.flow(flow, "ProvideEmail", ada.address).status == 0)
    try await world.flow(flow, at: "second-factor-required")
    try await world.choose(ada.factors["Mobile"], flow)
    try await world.answer(flow, PhoneTests.number)
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
    withExtendedLifetime(portal) {}
  }

  @Test("a custom token that a second factor stops is finished, and isn't shown again")
  func customToken() async throws {
    let world = try await World.start(apps: [])
    let server = try CustomTokenServer(world)
    try await world.addApp("demo", scheme: World.scheme, at: server.address)
    try await world.offerFactors()
    let ada = try await world.withFactors("ada@example.com")
    let before = try await world.requests("accounts:signInWithPassword")
    let flow = try await world.begin("SignIn.SignInWithCustomToken", "{\"uid\":\"\(ada.uid)\"}")
    #expect(try await world.hints(flow).count == 1)
    try await world.killDaemon()
    #expect(try await world.hints(flow).count == 1)
    try await world.answer(flow, code: try await world.totp(ada.secret))
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.signInMethod() == "custom")
    #expect(try await world.requests("accounts:signInWithPassword") == before + 1)
  }

  @Test(
    "a person whose link or page is stopped is told on the desktop that a step is left",
    arguments: [Way.emailLink, .page])
  func notice(_ way: Way) async throws {
    let (world, _) = try await world(way)
    let monitor = try await BusMonitor(world, notices: true)
    _ = try await world.hints(try await way.start(world))
    try await world.eventually("the notice") { monitor.notices.contains { $0.contains("One step is left") } }
  }
}

/// Stands in front of the emulator, whose custom tokens no second factor stops, as Firebase's own: to one it answers as to Ada's
/// password.
final class CustomTokenServer: Sendable {
  private let pid: Int32
  let address: String

  init(_ world: World) throws {
    let script = try world.home.write(
      """
      import http.client, sys
      from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

      class Handler(BaseHTTPRequestHandler):
          def log_message(self, *_): pass

          def hand_on(self):
              body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
              if "signInWithCustomToken" in self.path:
                  self.path = self.path.replace("signInWithCustomToken", "signInWithPassword")
                  body = b'{"email": "ada@example.com", "password": "correct horse"}'
              onward = http.client.HTTPConnection(sys.argv[1])
              kind = self.headers.get("Content-Type", "application/json")
              onward.request(self.command, self.path, body, {"Content-Type": kind})
              answer = onward.getresponse()
              content = answer.read()
              self.send_response(answer.status)
              self.send_header("Content-Type", answer.getheader("Content-Type", "application/json"))
              self.send_header("Content-Length", str(len(content)))
              self.end_headers()
              self.wfile.write(content)

          do_GET = do_POST = hand_on

      server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
      print(server.server_address[1], flush=True)
      server.serve_forever()
      """, to: "custom-token.py")
    let output = try Subprocess.Pipe.make()
    defer { close(output.read) }
    pid = try Subprocess.spawn(
      ["/usr/bin/python3", script, world.emulatorAddress], environment: world.environment, stdout: output.write)
    close(output.write)
    address = "127.0.0.1:\(output.readLine())"
  }

  deinit {
    kill(pid, SIGKILL)
    Subprocess.wait(pid)
  }
}
