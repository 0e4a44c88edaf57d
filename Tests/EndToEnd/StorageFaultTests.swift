import Foundation
import TestSupport
import Testing

@Suite("Storage that can't be opened", .timeLimit(.minutes(1)))
struct StorageFaultTests {
  /// A signed-in world whose daemon is down; gives the state folder.
  private func signedIn() async throws -> (World, String) {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    return (world, world.home.file("state/linkd"))
  }

  @Test(
    "B131, B136: an absent, a wrong and a widely readable key are told apart, delete nothing, and mend when they're mended",
    arguments: [("absent", "KeyringAbsent", 75), ("wrong", "KeyringWrongKey", 1)])
  func keys(fault: String, name: String, status: Int) async throws {
    let (world, folder) = try await signedIn()
    let key = try String(contentsOfFile: "\(folder)/key", encoding: .utf8)
    if fault == "absent" {
      try FileManager.default.removeItem(atPath: "\(folder)/key")
    } else {
      let line = key.trimmingCharacters(in: .whitespacesAndNewlines)
      try Data((line.dropLast(8) + "deadbeef\n").utf8).write(to: URL(fileURLWithPath: "\(folder)/key"))
    }
    for command in ["token", "whoami"] {
      let last = try #require(try await world.json(command).last)
      #expect(last["error"] as? String == "org.linkd.Auth1.Error.\(name)")
      #expect(last["exit"] as? Int == status)
    }
    // Never a guest over a session that can't be read, never a second key.
    #expect(try await world.linkctl("sign-in", "anonymous").status != 0)
    #expect(try await world.linkctl("sign-out").status == status)
    if fault == "absent" { #expect(!FileManager.default.fileExists(atPath: "\(folder)/key")) }
    try await world.killDaemon()
    try Data(key.utf8).write(to: URL(fileURLWithPath: "\(folder)/key"))
    chmod("\(folder)/key", 0o600)
    #expect(try await world.email() == "user@example.com")
  }

  @Test("a newer file is left alone, and is usable again where it's meant to be")
  func newer() async throws {
    let (world, folder) = try await signedIn()
    let version = try await world.run(["sqlite3", "\(folder)/linkd.sqlite", "PRAGMA user_version"]).stdout
    try await world.run(["sqlite3", "\(folder)/linkd.sqlite", "PRAGMA user_version = 999"])
    #expect(try await world.json("token").last?["error"] as? String == "org.linkd.Auth1.Error.StorageTooNew")
    try await world.killDaemon()
    try await world.run(["sqlite3", "\(folder)/linkd.sqlite", "PRAGMA user_version = \(version)"])
    #expect(try await world.email() == "user@example.com")
  }

  @Test("B138: a damaged file is set aside, not deleted, and the next sign-in works")
  func damaged() async throws {
    let (world, folder) = try await signedIn()
    try await world.run(["sqlite3", "\(folder)/linkd.sqlite", "PRAGMA wal_checkpoint(TRUNCATE)"])
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(folder)/linkd.sqlite"))
    try file.write(contentsOf: Data(repeating: 0x55, count: 100))
    try file.close()
    let status = try #require(try await world.json("status").last)
    #expect(status["health"] as? String == "attention-needed")
    #expect(status["health-reason"] as? String == "org.linkd.Auth1.Error.StorageUnreadable")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.contains { $0.hasPrefix("linkd.sqlite.damaged-") })
    try await world.signIn("user@example.com")
    #expect(try await world.email() == "user@example.com")
  }

  @Test("B138: a second daemon on the same state goes away without harm")
  func second() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    let second = try await world.run(["\(World.programs)/linkd"])
    #expect(second.status == 0 && second.stderr.contains("another daemon"))
    #expect(try await world.email() == "user@example.com")
  }

  @Test("an idle daemon ends, a waiting link doesn't keep it, and the next call starts it")
  func idle() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com")
    let link = try await world.button(try await world.mail("user@example.com"))
    try await world.killDaemon()
    try world.setDaemon(["LINKD_IDLE_EXIT": "1"])
    #expect(try await world.linkctl("status").status == 0)
    try await world.eventually("the idle exit") { try world.daemonPID() == nil }
    #expect(world.log.contains("idle"))
    #expect(try await world.linkctl("open", link).status == 0)
  }
}
