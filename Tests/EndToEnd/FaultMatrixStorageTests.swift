import Foundation
import TestSupport
import Testing

/// The fault matrix of what sessions are kept in: what a command says, that nothing is lost, and that it mends once the
/// cause is mended, without anything being started by hand.
@Suite("Fault matrix: storage", .timeLimit(.minutes(5)))
struct FaultMatrixStorageTests {
  static let internalError = "org.linkd.Auth1.Error.Internal"

  @Test(
    "a full disk is told as one; sign-in waits for room, tokens don't, and nothing that was kept is lost",
    .enabled(if: StateMount.isPossible, "needs root for a mount namespace"))
  func full() async throws {
    let world = try await World.start()
    let mount = try await StateMount(world, size: 1024)
    try await world.signIn("user@example.com")
    try await mount.fill()
    try await refused(world, saying: "disk is full")
    // A token needs no room.
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    #expect(try await world.linkctl("token").status == 0)
    #expect(try await world.email() == "user@example.com")
    #expect(try await world.linkctl("sign-out").status == 1, "a sign-out that can't be kept isn't told as done")
    #expect(try await world.email() == "user@example.com")
    let pid = try world.daemonPID()
    try await mount.makeRoom()
    try await worksAgain(world)
    #expect(try world.daemonPID() == pid)
  }

  @Test(
    "a file system that became read-only is told as one, and works again when it's writable",
    .enabled(if: StateMount.isPossible, "needs root for a mount namespace"))
  func readOnly() async throws {
    let world = try await World.start()
    let mount = try await StateMount(world, size: 1024)
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    try await mount.setReadOnly(true)
    // Who is signed in can be read, and so can the token. A new one comes with a number that must be kept.
    #expect(try await world.email() == "user@example.com")
    #expect(try await world.linkctl("token").status == 0)
    // Within one second the server gives the same token again.
    try await world.eventually("the refusal") {
      try await world.linkctl("token", "--force-refresh").stderr.contains("can't be written to")
    }
    try await refused(world, saying: "can't be written to")
    // What needs no store is served.
    #expect(try await world.linkctl("can-handle", "https://www.example.org/").status == 3)
    try await mount.setReadOnly(false)
    try await nextDaemon(world)
    try await worksAgain(world)
  }

  @Test(
    "a disk that is full at the start is told as one, and there is no need for another start once there is room",
    .enabled(if: StateMount.isPossible, "needs root for a mount namespace"))
  func fullAtStart() async throws {
    let world = try await World.start()
    let mount = try await StateMount(world, size: 1024)
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    try await mount.fill()
    #expect(try await world.linkctl("token").status == 0)
    try await refused(world, saying: "disk is full")
    try await mount.makeRoom()
    try await worksAgain(world)
  }

  @Test(
    "an answer that can't be saved is kept until there is room: the code behind it is spent",
    .enabled(if: StateMount.isPossible, "needs root for a mount namespace"))
  func answerWithoutRoom() async throws {
    let world = try await World.start()
    let mount = try await StateMount(world, size: 1024)
    _ = try await world.sendLink("user@example.com")
    let link = try await world.button(try await world.mail("user@example.com"))
    try await world.fault(["path": "accounts:signInWithEmailLink", "hold-before-handling": true])
    async let opened = world.linkctl("open", link)
    try await world.eventually("the exchange") { try await world.requests("accounts:signInWithEmailLink") == 1 }
    try await mount.fill()
    try await world.clearFaults()
    try await world.eventually("the answer") { world.log.contains("an answer can't be kept yet") }
    #expect(try await world.linkctl("whoami").status == 1)
    try await mount.makeRoom()
    #expect(try await opened.status == 0)
    #expect(try await world.email() == "user@example.com")
    #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
  }

  @Test("B131: a key that others may read isn't used; the text says so, and 'chmod 600' mends it")
  func readableKey() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    let key = world.home.file("state/linkd/key")
    chmod(key, 0o644)
    for command in ["token", "whoami"] {
      let last = try #require(try await world.json(command).last)
      #expect(last["error"] as? String == Self.internalError && last["exit"] as? Int == 1)
      #expect((last["message"] as? String)?.contains("chmod 600") == true, "\(last)")
    }
    #expect(try await world.linkctl("sign-in", "anonymous").status == 1)
    chmod(key, 0o600)
    try await nextDaemon(world)
    try await worksAgain(world)
  }

  @Test(
    "B131, B136: a lost or foreign key and a newer file are told by name, and work again once they're back",
    arguments: [
      ("rm KEY", "KeyringAbsent", 75, "locked"),
      ("printf 'linkd-key-1:%032d:%064d\\n' 0 0 >KEY", "KeyringWrongKey", 1, "unreadable"),
      ("echo nonsense >KEY", "KeyringWrongKey", 1, "unreadable"),
      ("sqlite3 FILE 'PRAGMA user_version = 999'", "StorageTooNew", 1, "unreadable"),
    ])
  func impaired(command: String, name: String, exit: Int, health: String) async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    let folder = world.home.file("state/linkd")
    try await world.run(["cp", "-a", folder, "\(folder).kept"])
    let shell = command.replacingOccurrences(of: "KEY", with: "'\(folder)/key'")
      .replacingOccurrences(of: "FILE", with: "'\(folder)/linkd.sqlite'")
    #expect(try await world.run(["sh", "-c", shell]).status == 0)
    let last = try #require(try await world.json("token").last)
    #expect(last["error"] as? String == "org.linkd.Auth1.Error.\(name)" && last["exit"] as? Int == exit, "\(last)")
    let status = try #require(try await world.json("status").last)
    #expect(status["health"] as? String == health)
    #expect(status["health-reason"] as? String == "org.linkd.Auth1.Error.\(name)")
    try await world.run([
      "sh", "-c", "rm -f '\(folder)'/linkd.sqlite-*; cp -a '\(folder).kept/.' '\(folder)/'",
    ])
    try await nextDaemon(world)
    try await worksAgain(world)
  }

  @Test(
    "B138: a small file damaged at its first page or in its middle is set aside, told, and begun anew",
    arguments: [0, 3])
  func damaged(page: Int) async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    let file = world.home.file("state/linkd/linkd.sqlite")
    try await damage(world, file, page: page)
    let status = try #require(try await world.json("status").last)
    #expect(status["health"] as? String == "attention-needed", "\(world.log)")
    #expect(status["health-reason"] as? String == "org.linkd.Auth1.Error.StorageUnreadable")
    let names = try FileManager.default.contentsOfDirectory(atPath: world.home.file("state/linkd"))
    #expect(names.contains { $0.hasPrefix("linkd.sqlite.damaged-") })
    try await worksAgain(world)
  }

  @Test(
    "B138: a big file damaged among its flows: told; the session and the flows before it are there, and nothing is dropped"
  )
  func damagedAmongMany() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    try ScaleTests().fill(world, flows: 2000, apps: 1)
    let file = world.home.file("state/linkd/linkd.sqlite")
    try await world.run(["sqlite3", file, "PRAGMA wal_checkpoint(TRUNCATE)"])
    // A leaf of a table (0x0d) in the middle: flows, since nothing else is that long.
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    let pages = bytes.count / 8192..<bytes.count / 4096
    let page = try #require(pages.first { bytes[$0 * 4096] == 0x0d })
    try await damage(world, file, page: page)
    #expect(try await world.email() == "user@example.com")
    #expect(try await world.linkctl("token").status == 0)
    let status = try #require(try await world.json("status").last)
    #expect(status["health"] as? String == "attention-needed", "\(world.log)")
    #expect(status["health-reason"] as? String == "org.linkd.Auth1.Error.StorageUnreadable")
    let flows = try await world.gdbus(
      "/org/linkd/Auth1", "org.freedesktop.DBus.Properties.Get", "org.linkd.Auth1.Manager", "ActiveFlows")
    let count = flows.stdout.components(separatedBy: "/flow/").count - 1
    #expect((1..<2000).contains(count), "\(count)")
    // New ones find their place.
    try await world.signIn("next@example.com")
    #expect(try await world.email() == "next@example.com")
  }

  @Test("B137, B138: two daemons started at once: one serves, the other goes away, and both say success")
  func twoAtOnce() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    // One by a unit, one by the bus.
    async let unit = world.run(
      ["\(World.programs)/linkd"], environment: ["LINKD_IDLE_EXIT": "2"], timeout: .seconds(60))
    async let other = world.run(
      ["\(World.programs)/linkd"], environment: ["LINKD_IDLE_EXIT": "2"], timeout: .seconds(60))
    #expect(try await world.email() == "user@example.com")
    let ends = try await [unit, other]
    #expect(ends.map(\.status) == [0, 0], "\(ends)")
    #expect(ends.contains { $0.stderr.contains("another daemon") })
    try await worksAgain(world)
  }

  @Test("a link for an app whose file is damaged names that file")
  func damagedAppFile() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com")
    let mail = try await world.mail("user@example.com")
    let button = try await world.button(mail)
    let file = world.home.file("config/linkd/apps.d/demo.json")
    let content = try String(contentsOfFile: file, encoding: .utf8)
    try Data((content + "}").utf8).write(to: URL(fileURLWithPath: file))
    // The kernel may have no watch left for it.
    _ = try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.ReloadApps", "{}")
    #expect(world.log.contains("app file is damaged"))
    for link in [mail, button] {
      let last = try #require(try await world.json("open", link).last)
      #expect(last["error"] as? String == "org.linkd.Auth1.Error.NoSuchApp" && last["exit"] as? Int == 1, "\(last)")
      #expect((last["message"] as? String)?.contains(file) == true)
    }
    // Others' links are none of its business.
    #expect(try await world.linkctl("open", "https://www.example.org/").status == 3)
    try Data(content.utf8).write(to: URL(fileURLWithPath: file))
    _ = try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.ReloadApps", "{}")
    #expect(try await world.linkctl("open", button).status == 0)
  }

  // MARK: Steps

  private func refused(_ world: World, saying text: String) async throws {
    let last = try #require(try await world.json("sign-in", "email-link", "new@example.com", "--no-wait").last)
    #expect(last["error"] as? String == Self.internalError && last["exit"] as? Int == 1, "\(last)")
    #expect((last["message"] as? String)?.contains(text) == true, "\(last)")
    #expect(try await world.mails("new@example.com").isEmpty)
  }

  /// A daemon that can't use its store leaves soon by itself.
  private func nextDaemon(_ world: World) async throws {
    try await world.eventually("the impaired daemon to leave") { try world.daemonPID() == nil }
  }

  private func worksAgain(_ world: World) async throws {
    if try await world.email() != nil {
      #expect(try await world.email() == "user@example.com")
      #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    }
    try await world.signIn("user@example.com")
    let status = try #require(try await world.json("status").last)
    #expect(status["state"] as? String == "authenticated" && status["health"] as? String == "ok", "\(status)")
  }

  private func damage(_ world: World, _ file: String, page: Int) async throws {
    try await world.run(["sqlite3", file, "PRAGMA wal_checkpoint(TRUNCATE)"])
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
    try handle.seek(toOffset: UInt64(page) * 4096)
    try handle.write(contentsOf: Data(repeating: 0x55, count: 100))
    try handle.close()
  }
}
