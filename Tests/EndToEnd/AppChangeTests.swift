import Foundation
import TestSupport
import Testing

/// An app's file that changes, breaks or goes while the daemon runs: the session is what the store says, never an older one.
@Suite("Apps that come and go", .timeLimit(.minutes(1)))
struct AppChangeTests {
  private func state(_ world: World) async throws -> String? {
    try await world.json("status", "--app", "demo").last?["state"] as? String
  }

  /// Breaks the app's file, and mends it, each time waiting until the daemon has seen it.
  private func breakAndMend(_ world: World) async throws {
    let file = world.home.file("config/linkd/apps.d/demo.json")
    let content = try String(contentsOfFile: file, encoding: .utf8)
    try Data("{".utf8).write(to: URL(fileURLWithPath: file))
    try await world.eventually("the damage") { try await world.linkctl("status", "--app", "demo").status == 1 }
    try Data(content.utf8).write(to: URL(fileURLWithPath: file))
    try await world.eventually("the app") { try await world.linkctl("status", "--app", "demo").status == 0 }
  }

  @Test("a session that was signed out doesn't come back with the app's file")
  func signedOut() async throws {
    let world = try await World.start()
    try await world.signIn("a@example.com")
    try await world.killDaemon()
    #expect(try await world.email() == "a@example.com")
    #expect(try await world.linkctl("sign-out").status == 0)
    try await breakAndMend(world)
    #expect(try await state(world) == "unauthenticated")
    #expect(try await world.linkctl("token").status == 1)
  }

  // A caller asks for the path and uses it a moment later; the file of any app may be written in between.
  @Test("the object of an emulator that a caller named outlives a reading of the files, while it's allowed")
  func namedEmulator() async throws {
    let world = try await World.start(apps: [])
    try await world.addApp("demo", scheme: World.scheme, at: "")
    let emulator = "{'emulator': <'\(world.emulatorAddress)'>}"
    let named = try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.GetApp", "demo", emulator)
    let path = try #require(named.stdout.split(separator: "'").first { $0.hasPrefix("/org") }.map(String.init))
    #expect(try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.ReloadApps", "{}").status == 0)
    let guest = try await world.gdbus(path, "org.linkd.Auth1.SignIn.SignInAnonymously", "{}")
    #expect(guest.status == 0, "\(guest.stderr)")
  }

  @Test("an app whose file names another backend is there at once, with each backend's session in its place")
  func otherBackend() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    let file = world.home.file("config/linkd/apps.d/demo.json")
    let content = try String(contentsOfFile: file, encoding: .utf8)
    let app = "/org/linkd/Auth1/app/demo"
    func emulator(_ path: String) async throws -> String {
      try await world.gdbus(path, "org.freedesktop.DBus.Properties.Get", "org.linkd.Auth1.App", "Emulator").stdout
    }
    func rewrite(_ content: String) async throws {
      try content.write(toFile: file, atomically: true, encoding: .utf8)
      #expect(try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.ReloadApps", "{}").status == 0)
    }
    try await rewrite(content.replacingOccurrences(of: world.emulatorAddress, with: "127.0.0.1:1"))
    #expect(try await emulator(app).contains("'127.0.0.1:1'"))
    let old = "{'emulator': <'\(world.emulatorAddress)'>}"
    let named = try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.GetApp", "demo", old)
    let path = try #require(named.stdout.split(separator: "'").first { $0.hasPrefix("/org") }.map(String.init))
    #expect(path != app)
    #expect(try await world.gdbus(path, "org.linkd.Auth1.Session.GetIdToken", "{}").status == 0)
    try await rewrite(content)
    #expect(try await emulator(app).contains(world.emulatorAddress))
    #expect(try await world.email() == "ada@example.com")
    #expect(try await emulator(path) == "")
    #expect(try await world.linkctl("app", "remove", "demo").status == 0)
    let gone = try await world.gdbus(app, "org.linkd.Auth1.SignIn.SignInAnonymously", "{}")
    #expect(gone.stderr.contains("UnknownObject"), "\(gone.stdout)")
  }

  @Test("a session made since the start is there again with the app's file, and the sequence never goes back")
  func signedIn() async throws {
    let world = try await World.start()
    try await world.signIn("a@example.com")
    try await world.killDaemon()
    try await world.signIn("b@example.com")
    let before = try #require(try await world.json("status").last?["sequence"] as? Int)
    try await breakAndMend(world)
    #expect(try await world.email() == "b@example.com")
    #expect(try #require(try await world.json("status").last?["sequence"] as? Int) >= before)
  }

  @Test("an app that was removed comes back without its session; one that a package brought can't be removed")
  func removed() async throws {
    let world = try await World.start()
    try await world.signIn("a@example.com")
    try await world.killDaemon()
    #expect(try await world.linkctl("app", "remove", "demo").status == 0)
    #expect(try await world.linkctl("status", "--app", "demo").status == 1)
    try await world.addApp("demo", scheme: World.scheme)
    #expect(try await state(world) == "unauthenticated")

    try await world.signIn("b@example.com")
    let packaged = world.home.file("share/linkd/apps.d")
    try FileManager.default.createDirectory(atPath: packaged, withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: world.home.file("config/linkd/apps.d/demo.json"), toPath: "\(packaged)/demo.json")
    try await world.killDaemon()
    #expect(try await world.linkctl("app", "remove", "demo").status != 0)
    #expect(try await world.email() == "b@example.com")
  }

  @Test("SIGTERM while a request hangs keeps nobody waiting: the next link starts the next daemon")
  func hangingRequest() async throws {
    let world = try await World.start()
    try await world.signIn("a@example.com")
    _ = try await world.sendLink("b@example.com")
    let link = try await world.button(try await world.mail("b@example.com"))
    try await world.fault(["path": "v1/token", "hang": true])
    async let token = world.linkctl("token", "--force-refresh")
    try await world.eventually("the request") { try await world.requests("v1/token") > 0 }
    kill(try #require(try world.daemonPID()), SIGTERM)
    let clock = ContinuousClock.now
    #expect(try await world.linkctl("open", link).status == 0)
    #expect(ContinuousClock.now - clock < .seconds(15))
    #expect(try await token.status == 75)
  }

  @Test("a packaged app is there as soon as its file is, though its folder wasn't there at the start")
  func laterFolder() async throws {
    let world = try await World.start()
    let folder = world.home.file("share/linkd/apps.d")
    let file = world.home.file("config/linkd/apps.d/demo.json")
    let content = try String(contentsOfFile: file, encoding: .utf8).replacingOccurrences(of: "demo\"", with: "late\"")
    #expect(try await world.linkctl("status", "--app", "late").status == 1)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try content.write(toFile: "\(folder)/late.json", atomically: false, encoding: .utf8)
    try await world.eventually("the app") { try await world.linkctl("status", "--app", "late").status == 0 }
  }
}
