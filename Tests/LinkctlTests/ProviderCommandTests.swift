import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// Signing in by a provider from the command line (cli-and-config; behaviour: OAuth and OpenID Connect; field reports B062,
/// B066, B067, B068).
@Suite("linkctl and providers", .loopRunning, .timeLimit(.minutes(1)))
struct ProviderCommandTests {
  static let user = ["user": DBusValue.dict(["uid": .string("u1"), "email": .string("ada@example.com")])]

  /// A desk whose flow succeeds as soon as its page is known.
  private func finishing(xdgOpen: String = "exit 0") async throws -> Desk {
    let desk = try await Desk(xdgOpen: xdgOpen)
    await desk.stub.react("GetUrl") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    return desk
  }

  // MARK: The page

  @Test("the page opens in the person's own browser, which gets one word and no input")
  func opens() async throws {
    let desk = try await Desk()
    async let running = desk.linkctl("sign-in", "google.com", display: true)
    try await until { desk.opened != nil }
    await desk.stub.move("succeeded", Self.user)
    let result = try await running
    #expect(result.status == 0 && result.stderr.contains("Signed in as ada@example.com.") && result.stdout.isEmpty)
    #expect(desk.opened == ["1", StubService.url, "/dev/null"])
    let call = try #require(await desk.stub.calls("SignInWithProvider").first)
    #expect(call.arguments == [.string("google.com")])
    #expect(call.options.keys.sorted() == ["open-browser"] && call.options["open-browser"]?.asBool == false)
  }

  @Test("B066: without a browser the URL is printed, and what to do with it", arguments: [true, false])
  func prints(display: Bool) async throws {
    let desk = try await finishing()
    let options = display ? ["--no-browser"] : []
    let result = try await Subprocess.run(
      ["\(World.programs)/linkctl", "sign-in", "google.com"] + options,
      environment: desk.environment(display ? ["DISPLAY": ":0"] : [:]))
    #expect(result.status == 0 && result.stdout == StubService.url + "\n")
    #expect(result.stderr.contains("Open this page") && result.stderr.contains("linkctl open ADDRESS"))
    #expect(desk.opened == nil)
  }

  @Test("with --json the URL is a key of the stage that needs it")
  func json() async throws {
    let desk = try await finishing()
    let lines = try Desk.objects(try await desk.linkctl("sign-in", "google.com", "--no-browser", "--json"))
    #expect(lines.compactMap { $0["stage"] as? String } == ["waiting-for-redirect", "succeeded"])
    #expect(lines.map { $0["url"] as? String } == [StubService.url, nil])
  }

  @Test("a browser that fails is told, and the URL printed", arguments: ["exit 3", "kill -9 $$"])
  func fails(_ xdgOpen: String) async throws {
    let desk = try await Desk(xdgOpen: xdgOpen)
    let terminal = try desk.terminal("sign-in", "google.com", display: true)
    try await terminal.shows("No browser could be opened here.")
    try await terminal.shows(StubService.url)
    await desk.stub.move("succeeded", Self.user)
    #expect(terminal.end() == 0)
    #expect(desk.opened?.first == "1")
  }

  @Test("a browser that stays in the foreground holds nothing up")
  func stays() async throws {
    let desk = try await Desk(xdgOpen: "trap '' HUP; echo $$ >\"$HOME/pid\"; exec sleep 60")
    async let running = desk.linkctl("sign-in", "google.com", display: true)
    try await until { FileManager.default.fileExists(atPath: desk.home.file("pid")) }
    await desk.stub.move("succeeded", Self.user)
    let result = try await running
    #expect(result.status == 0 && !result.timedOut)
    // It's no child that ends with the command.
    let pid = try #require(
      Int32(
        try String(contentsOfFile: desk.home.file("pid"), encoding: .utf8).trimmingCharacters(
          in: .whitespacesAndNewlines)))
    #expect(kill(pid, SIGKILL) == 0)
  }

  @Test("a URL that is no web page is never given to a program")
  func hostile() async throws {
    let desk = try await Desk()
    for url in ["file:///etc/passwd", "-e", "https://a.example/\u{1b}[31m"] {
      await desk.stub.answerURL(url)
      let terminal = try desk.terminal("sign-in", "google.com", display: true)
      try await terminal.shows("No browser could be opened here.")
      #expect(desk.opened == nil && !terminal.text.contains("\u{1b}"))
    }
  }

  @Test("--no-wait leaves with the flow's id; the page is linkd's to open, or the URL is printed")
  func noWait() async throws {
    let desk = try await Desk()
    #expect(try await desk.linkctl("sign-in", "google.com", "--no-wait").stdout == "f1\n")
    #expect(await desk.stub.calls("SignInWithProvider").last?.options["open-browser"]?.asBool == true)
    await desk.stub.begin("starting")
    async let printed = desk.linkctl("sign-in", "google.com", "--no-wait", "--no-browser")
    try await until { await desk.stub.calls("SignInWithProvider").count == 2 }
    await desk.stub.move("waiting-for-redirect")
    #expect(try await printed.stdout == "f1\n\(StubService.url)\n")
    #expect(await desk.stub.calls("SignInWithProvider").last?.options["open-browser"]?.asBool == false)
    let lines = try Desk.objects(try await desk.linkctl("sign-in", "a.com", "--no-wait", "--no-browser", "--json"))
    #expect(lines.count == 1 && lines[0]["url"] as? String == StubService.url && lines[0]["flow"] as? String == "f1")
  }

  // MARK: Options

  @Test("B068: the provider's options go on by their names")
  func options() async throws {
    let desk = try await finishing()
    let result = try await desk.linkctl(
      "sign-in", "oidc.example", "--redirect", "scheme", "--scopes", "openid,email profile", "--custom-parameter",
      "prompt=consent", "--custom-parameter", "a=b=c", "--login-hint", "ada@example.com", "--link", "--no-browser")
    #expect(result.status == 0)
    let options = try #require(await desk.stub.calls("SignInWithProvider").first?.options)
    #expect(options["redirect"]?.asString == "scheme" && options["purpose"]?.asString == "link")
    #expect(options["scopes"]?.asStrings == ["openid", "email", "profile"])
    #expect(options["login-hint"]?.asString == "ada@example.com")
    let parameters = try #require(options["custom-parameters"])
    #expect(parameters.signature.text == "a{ss}")
    #expect(
      parameters.asEntries?.map { [$0.key.asString, $0.value.asString] } == [["prompt", "consent"], ["a", "b=c"]])
  }

  @Test(
    "what can't be meant is wrong usage",
    arguments: [
      ["sign-in", "google"], ["sign-in", "google.com", "a@example.com"], ["sign-in", "a.com", "--redirect", "mail"],
      ["sign-in", "a.com", "--scopes", ","], ["sign-in", "a.com", "--custom-parameter", "prompt"],
      ["sign-in", "a.com", "--custom-parameter", "=x"], ["sign-in", "a.com", "--link", "--reauthenticate"],
      ["sign-in", "custom-token", "abc"], ["sign-in", "custom-token", "--token-stdin"], ["resolve", "f1"],
      ["resolve", "f1", "both"], ["account", "unlink"], ["account", "link"], ["account", "link", "a.com", "--link"],
      ["sign-in", "anonymous", "--link"], ["sign-in", "anonymous", "--reauthenticate"],
      ["account", "link", "anonymous"],
    ])
  func usage(_ arguments: [String]) async throws {
    let desk = try await Desk()
    let result = try await Subprocess.run(
      ["\(World.programs)/linkctl"] + arguments, environment: desk.environment(), stdin: "\n")
    #expect(result.status == 64, "\(result.stderr)")
    #expect(await desk.stub.calls.isEmpty)
  }

  @Test("a custom token comes from standard input, and is in no argument and no output")
  func customToken() async throws {
    let desk = try await Desk()
    await desk.stub.begin("succeeded", Self.user)
    let result = try await desk.linkctl("sign-in", "custom-token", "--token-stdin", stdin: "eyJ.x.y\n")
    #expect(result.status == 0 && !(result.stdout + result.stderr).contains("eyJ"))
    #expect(await desk.stub.calls("SignInWithCustomToken").first?.arguments == [.string("eyJ.x.y")])
    #expect(try await desk.linkctl("sign-in", "custom-token").status == 4)
  }

  @Test("account link is sign-in with its purpose; account unlink names the provider")
  func account() async throws {
    let desk = try await finishing()
    #expect(try await desk.linkctl("account", "link", "github.com", "--no-browser").status == 0)
    #expect(await desk.stub.calls("SignInWithProvider").first?.options["purpose"]?.asString == "link")
    await desk.stub.begin("succeeded", Self.user, purpose: "unlink")
    let unlinked = try await desk.linkctl("account", "unlink", "github.com")
    #expect(unlinked.status == 0 && unlinked.stderr == "That way of signing in has been removed.\n")
    #expect(await desk.stub.calls("Unlink").first?.arguments == [.string("github.com")])
  }

  // MARK: What comes back

  @Test("an answer that isn't the flow's is told, and the flow waited for")
  func mismatch() async throws {
    let desk = try await Desk()
    async let running = desk.linkctl("sign-in", "google.com", "--no-browser")
    try await until { await !desk.stub.calls("GetUrl").isEmpty }
    let error = ["error": DBusValue.string("org.linkd.Auth1.Error.StateMismatch"), "message": .string("Not yours.")]
    await desk.stub.move("waiting-for-redirect", error)
    await desk.stub.react("GetUrl") { _, _ in Issue.record("the page is known") }
    try await until { await desk.stub.isSeen }
    await desk.stub.move("succeeded", Self.user)
    let result = try await running
    #expect(result.status == 0 && result.stderr.contains("Not yours.\n"))
    #expect(result.stdout == StubService.url + "\n")
  }

  @Test("a provider that can't be reached is 75 for a script, and waited for at a terminal")
  func unreachable() async throws {
    let desk = try await Desk()
    let name = DBusValue.string("org.linkd.Auth1.Error.NetworkUnavailable")
    await desk.stub.begin("starting", ["error": name, "message": .string("No network.")])
    let result = try await desk.linkctl("sign-in", "oidc.example", "--json")
    #expect(result.status == 75 && result.stderr.contains("No network."))
    #expect(try Desk.objects(result).last?["exit"] as? Int == 75)
    let terminal = try desk.terminal("sign-in", "oidc.example")
    try await terminal.shows("No network.")
    await desk.stub.move("waiting-for-redirect")
    try await terminal.shows(StubService.url)
    await desk.stub.move("succeeded", Self.user)
    #expect(terminal.end() == 0)
  }

  @Test("B062: who says no at the provider has cancelled; that's no failure")
  func refused() async throws {
    let desk = try await Desk()
    await desk.stub.begin("cancelled")
    let result = try await desk.linkctl("sign-in", "google.com")
    #expect(result.status == 130 && result.stderr == "Cancelled.\n" && result.stdout.isEmpty)
    let lines = try Desk.objects(try await desk.linkctl("sign-in", "google.com", "--json"))
    #expect(lines.count == 1 && lines[0]["stage"] as? String == "cancelled" && lines[0]["error"] == nil)
  }

  @Test("B066, B067: at a terminal the address that the browser ended at can be pasted")
  func pasted() async throws {
    let desk = try await Desk()
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("paste that page's address here")
    await desk.stub.refuse("Nobody here asked for that.")
    terminal.type("  http://127.0.0.1:1234/callback?code=c0&state=other  ")
    try await terminal.shows("Nobody here asked for that.")
    await desk.stub.refuse(nil)
    await desk.stub.react("Open") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    terminal.type("http://127.0.0.1:1234/callback?code=c1&state=s1")
    #expect(terminal.end() == 0)
    #expect(terminal.text.contains("Signed in as ada@example.com."))
    let links = await desk.stub.calls("Open").map { $0.arguments[0].asString }
    #expect(links == ["0&state=other", "1&state=s1"].map { "http://127.0.0.1:1234/callback?code=c\($0)" })
  }

  @Test("an address that the terminal cuts off is never passed on")
  func tooLong() async throws {
    let desk = try await Desk()
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("paste that page's address here")
    terminal.type("http://127.0.0.1:1234/callback?code=" + String(repeating: "c", count: 5000))
    try await terminal.shows("linkctl open - <FILE")
    #expect(await desk.stub.calls("Open").isEmpty)
  }
}
