import Foundation
import TestSupport
import Testing

/// `linkctl` and providers, from the command to the session, with the emulator's pages in place of the providers' (cli;
/// behaviour: OAuth and OpenID Connect, Anonymous upgrade and conflicts; field reports B062, B066, B067, B068).
@Suite("Providers from the command line", .timeLimit(.minutes(2)))
struct ProviderCommandTests {
  /// A world whose app has Google by Firebase's page and an OpenID provider by a client of its own, and whose `xdg-open`
  /// follows redirects as a browser does: into the listener, or by the scheme's handler.
  private func start() async throws -> (world: World, browser: [String: String]) {
    let world = try await World.start(apps: [])
    let issuer = try await world.emulatorJSON("PATCH", "/emulator/v1/projects/\(World.project)/openid", "{}")["issuer"]
    let file = try world.home.write(
      """
      { "id": "demo", "project-id": "\(World.project)", "api-key": "AIzaEXAMPLEKEY0000", "app-id": "1:1:web:0a1b",
        "auth-domain": "\(World.project).firebaseapp.com", "schemes": ["\(World.scheme)"],
        "emulator": "\(world.emulatorAddress)", "options": { "auto-upgrade-anonymous": true },
        "providers": [
          { "id": "google.com", "kind": "handler" },
          { "id": "oidc.example", "kind": "oidc", "issuer": "\(issuer as? String ?? "")", "client-id": "linkd" } ] }
      """, to: "demo.json")
    let added = try await world.linkctl("app", "add", file)
    #expect(added.status == 0, "\(added.stderr)")
    // A browser is opened only where it can come back (B085).
    let registered = try await world.linkctl("register")
    #expect(registered.status == 0, "\(registered.stderr)")
    _ = try world.addWalker()
    return (world, ["PATH": "\(world.home.file("bin")):\(world.environment["PATH"] ?? "/usr/bin:/bin")"])
  }

  private func linkctl(
    _ world: World, _ arguments: String..., browser: [String: String], stdin: String = ""
  ) async throws -> Subprocess.Result {
    try await world.run(["\(World.programs)/linkctl"] + arguments, stdin: stdin, environment: browser)
  }

  private func providers(_ world: World) async throws -> Set<String> {
    let all = try await world.whoami()["providers"] as? [[String: Any]] ?? []
    return Set(all.compactMap { $0["provider-id"] as? String })
  }

  /// How many TCP ports a process listens at.
  private func listeningSockets(_ pid: Int32) throws -> Int {
    let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\($0)")
    }
    let lines = try ["tcp", "tcp6"].flatMap {
      try String(contentsOfFile: "/proc/net/\($0)", encoding: .utf8).split(separator: "\n").dropFirst()
    }
    // Local address, remote address, state (0A: listening), …, inode (proc_pid_net(5)).
    let inodes = lines.map { $0.split(separator: " ") }.filter { $0.count > 9 && $0[3] == "0A" }.map { $0[9] }
    return inodes.filter { files.contains("socket:[\($0)]") }.count
  }

  @Test(
    "a provider signs in, by Firebase's page and by a client of the app's own",
    arguments: ["google.com", "oidc.example"])
  func signIn(_ provider: String) async throws {
    let (world, browser) = try await start()
    try await world.setPerson("ada@example.com")
    let result = try await linkctl(world, "sign-in", provider, browser: browser)
    #expect(
      result.status == 0 && result.stderr.hasSuffix("Signed in as ada@example.com.\n"), "\(result.stderr)\(world.log)")
    #expect(try await providers(world) == [provider])
  }

  @Test("B062: who refuses at the provider has cancelled", arguments: ["google.com", "oidc.example"])
  func refused(_ provider: String) async throws {
    let (world, browser) = try await start()
    try await world.setPerson(nil)
    let result = try await linkctl(world, "sign-in", provider, browser: browser)
    #expect(result.status == 130 && result.stderr.hasSuffix("Cancelled.\n"), "\(result.stderr)\(world.log)")
  }

  @Test(
    "B066, B067: over ssh the URL is printed, and the pasted address signs in",
    arguments: ["google.com", "oidc.example"])
  func pasted(_ provider: String) async throws {
    let (world, browser) = try await start()
    try await world.setPerson("ada@example.com")
    let headless = world.environment.merging(browser) { $1 }.merging(["DISPLAY": ""]) { $1 }
    let terminal = try Terminal(["\(World.programs)/linkctl", "sign-in", provider], environment: headless)
    try await terminal.shows("paste that page's address here")
    let url = try #require(terminal.text.split(separator: "\n").first { $0.hasPrefix("http") }.map(String.init))
    let address = try await world.redirect(from: url)
    // Somebody else's state isn't taken, and does no harm.
    terminal.type("\(World.scheme)://oauth/callback?code=c&state=s")
    try await terminal.shows("No sign-in is waiting for that answer.")
    terminal.type(address)
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("B066: the same by another command", arguments: ["google.com", "oidc.example"])
  func opened(_ provider: String) async throws {
    let (world, _) = try await start()
    try await world.setPerson("ada@example.com")
    let result = try await world.linkctl("sign-in", provider, "--no-browser", "--no-wait")
    let lines = result.stdout.split(separator: "\n").map(String.init)
    #expect(result.status == 0 && lines.count == 2, "\(result.stdout)\(result.stderr)")
    let opened = try await world.linkctl("open", try await world.redirect(from: lines.last ?? ""))
    #expect(opened.status == 0, "\(opened.stderr)\(world.log)")
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("B068: with --redirect scheme the browser comes back by the scheme, and linkd listens nowhere")
  func scheme() async throws {
    let (world, _) = try await start()
    try await world.setPerson("ada@example.com")
    let result = try await world.linkctl(
      "sign-in", "oidc.example", "--redirect", "scheme", "--no-browser", "--no-wait", "--json")
    let url = try #require(try result.lastObject?["url"] as? String)
    let back = try await world.redirect(from: url)
    #expect(back.hasPrefix("\(World.scheme)://"))
    let pid = try #require(try world.daemonPID())
    #expect(try listeningSockets(pid) == 0)
    #expect(try await world.linkctl("open", back).status == 0)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("a way of signing in is added and taken away again")
  func linking() async throws {
    let (world, browser) = try await start()
    try await world.createUser("ada@example.com", "correct horse")
    try await world.setPerson("ada@example.com")
    let linked = try await linkctl(world, "account", "link", "google.com", browser: browser)
    #expect(linked.status == 0, "\(linked.stderr)\(world.log)")
    #expect(try await providers(world) == ["password", "google.com"])
    let unlinked = try await linkctl(world, "account", "unlink", "google.com", browser: browser)
    #expect(unlinked.status == 0 && unlinked.stderr.contains("has been removed"), "\(unlinked.stderr)\(world.log)")
    #expect(try await providers(world) == ["password"])
  }

  @Test("a guest becomes the account; one who finds an account is told that the data stayed")
  func guests() async throws {
    let (world, browser) = try await start()
    try await world.setPerson("ada@example.com")
    #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
    let guest = try await world.whoami()["uid"] as? String
    let upgraded = try await linkctl(world, "sign-in", "google.com", browser: browser)
    #expect(
      upgraded.status == 0 && upgraded.stderr.contains("has become this account"), "\(upgraded.stderr)\(world.log)")
    #expect(try await world.whoami()["uid"] as? String == guest)
    #expect(try await world.linkctl("sign-out").status == 0)
    #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
    let second = try await world.whoami()["uid"] as? String
    let found = try await linkctl(world, "sign-in", "google.com", "--json", browser: browser)
    #expect(found.status == 0, "\(found.stderr)\(world.log)")
    #expect(try found.lastObject?["previous-uid"] as? String == second)
    #expect(try await world.whoami()["uid"] as? String == guest)
  }

  @Test("an account with that address: a script is told what to run, and the new way is added after the old one")
  func conflict() async throws {
    let (world, browser) = try await start()
    try await world.createUser("ada@example.com", "correct horse")
    #expect(try await world.linkctl("sign-out").status == 0)
    try await world.setPerson("ada@example.com", isVerified: false)
    let met = try await linkctl(world, "sign-in", "oidc.example", browser: browser)
    #expect(met.status == 4 && met.stderr.contains("sign-in-and-link"), "\(met.stderr)\(world.log)")
    let flow = try #require(try await world.json("flows").first?["flow"] as? String)
    #expect(try await world.linkctl("resolve", flow, "sign-in-and-link").status == 4)
    let signedIn = try await world.linkctl(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    #expect(signedIn.status == 0)
    try await world.eventually("the new way") { try await providers(world) == ["password", "oidc.example"] }
  }

  @Test("without waiting, linkd opens the page by the portal", arguments: ["google.com", "oidc.example"])
  func portal(_ provider: String) async throws {
    let (world, _) = try await start()
    try await world.setPerson("ada@example.com")
    let portal = try await world.startPortal()
    let result = try await world.linkctl("sign-in", provider, "--no-wait")
    #expect(result.status == 0 && result.stdout.split(separator: "\n").count == 1)
    try await world.eventually("the session") { try await world.email() == "ada@example.com" }
    withExtendedLifetime(portal) {}
  }

  @Test("a custom token signs in")
  func customToken() async throws {
    let (world, _) = try await start()
    let result = try await world.linkctl("sign-in", "custom-token", "--token-stdin", stdin: #"{"uid": "custom-1"}"#)
    #expect(result.status == 0, "\(result.stderr)\(world.log)")
    #expect(try await world.whoami()["uid"] as? String == "custom-1")
  }
}

extension Subprocess.Result {
  /// The last object that `--json` printed.
  fileprivate var lastObject: [String: Any]? {
    get throws {
      try stdout.split(separator: "\n").last.flatMap {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      }
    }
  }
}
