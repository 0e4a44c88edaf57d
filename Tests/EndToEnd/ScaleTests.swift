import AuthCore
import Foundation
import Keyring
import SessionStore
import TestSupport
import Testing

/// Thousands of links that wait, a hundred apps: the daemon starts, answers and signs out as it does with none. How fast is
/// the benchmarks' matter.
@Suite("Scale", .timeLimit(.minutes(5)), .serialized)
struct ScaleTests {
  @Test("with ten thousand live flows and a hundred apps each link finds its flow, and each call is answered")
  func tenThousand() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    let flow = try await world.sendLink("next@example.com")
    let link = try await world.button(try await world.mail("next@example.com"))
    try await world.killDaemon()
    try fill(world, flows: 10_000, apps: 100)
    #expect(try await world.json("can-handle", link).last?["flow"] as? String == flow)
    #expect(try await world.linkctl("token", "--app", "demo").status == 0)
    #expect(try await world.json("open", link, "--app", "demo").last?["stage"] as? String == "succeeded")
    #expect(try await world.json("app", "list").count == 100)
  }

  @Test("a sign-out takes three thousand flows with it")
  func signOut() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    try fill(world, flows: 3000, apps: 1)
    #expect(try await world.linkctl("sign-out").status == 0)
    #expect(try await world.json("flows").isEmpty)
  }

  @Test("flows whose time is over are ended at the start, all with one commit")
  func overdue() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    try fill(world, flows: 3000, apps: 1, createdAgo: 100_000)
    try await world.eventually("their end") { try await world.json("flows").isEmpty }
  }

  /// Rows as a daemon leaves them, written by the daemon's own store.
  func fill(_ world: World, flows: Int, apps: Int, createdAgo: Int64 = 0) throws {
    let config = world.home.file("config/linkd/apps.d")
    let demo = try String(contentsOfFile: "\(config)/demo.json", encoding: .utf8)
    for index in 1..<apps {
      let text = demo.replacingOccurrences(of: "\"demo\"", with: "\"app-\(index)\"")
        .replacingOccurrences(of: World.scheme, with: "com.example.app\(index)")
        .replacingOccurrences(of: "AIzaEXAMPLEKEY0000", with: "AIzaEXAMPLEKEY\(index)")
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(config)/app-\(index).json"))
    }
    guard let lock = try StateLock.acquire(folder: world.home.file("state/linkd")) else {
      throw World.Failure(description: "the daemon is still there")
    }
    let store = try SessionStore(holding: lock)
    guard case .key(let key) = Keyring(folder: lock.folder).key(in: .file), let header = try store.header() else {
      throw World.Failure(description: "no key")
    }
    try store.unlock(key.key, header: header)
    let backend = try #require(Backend(world.emulatorAddress))
    let now = Int64(Date().timeIntervalSince1970) - createdAgo
    let rows = try (0..<flows).map { index in
      let app = try #require(AppID(index % apps == 0 ? "demo" : "app-\(index % apps)"))
      var flow = Flow(
        id: try #require(FlowID("scale\(index)")), key: SessionKey(app: app, backend: backend), purpose: .signIn,
        method: .emailLink, createdAt: now - Int64(flows - index) / 10, expiresAt: now + 86_000)
      flow.email = "person\(index)@example.com"
      flow.linkTokenHash = Array("\(index)".utf8)
      flow.canResendAt = now + 60
      flow.stage = .waitingForLink
      return flow
    }
    try store.transaction { () throws(StoreError) in for row in rows { try store.save(row) } }
  }
}
