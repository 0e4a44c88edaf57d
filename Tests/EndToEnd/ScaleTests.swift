import AuthCore
import Foundation
import Keyring
import SessionStore
import TestSupport
import Testing

/// Thousands of links that wait, a hundred apps: the daemon starts, answers and signs out as it does with none.
@Suite("Scale", .timeLimit(.minutes(5)), .serialized)
struct ScaleTests {
  private static let rounds = ProcessInfo.processInfo.environment["LINKD_SCALE_ROUNDS"].flatMap { Int($0) } ?? 30

  @Test("ten thousand live flows and a hundred apps change neither the start nor the answers much")
  func tenThousand() async throws {
    let small = try await World.start()
    let big = try await World.start()
    var links: [String] = []
    for world in [small, big] {
      try await world.signIn("user@example.com")
      _ = try await world.sendLink("next@example.com")
      // Known by its code, and never to be exchanged: every further click is the same one.
      let link = try await world.button(try await world.mail("next@example.com"))
      try await world.fault(["path": "accounts:lookup", "hang": true])
      #expect(try await world.linkctl("open", "--no-wait", link).status == 0)
      links.append(link)
      try await world.killDaemon()
    }
    try fill(big, flows: 10_000, apps: 100)
    let idle = try await start(small)
    let loaded = try await start(big)
    print("scale: start \(idle) with one flow, \(loaded) with 10,000")
    let times = try await big.run(
      [
        "/usr/bin/python3", "\(World.root)/Tests/EndToEnd/timing.py", "\(Self.rounds)", links[0], small.bus.address,
        links[1], big.bus.address,
      ], timeout: .seconds(120))
    #expect(times.status == 0, "\(times.stderr)")
    for line in times.stdout.split(separator: "\n") {
      let words = line.split(separator: " ")
      let (one, many) = (Double(words[1]) ?? 0, Double(words[2]) ?? 0)
      print("scale: \(words[0]) \(one) µs with one flow, \(many) µs with 10,000, ratio \(many / one)")
      #expect(one > 0 && many < 2 * one + 500, "\(line)")
    }
    // Loading is by far less than a call's patience, in a debug build too.
    #expect(loaded < .seconds(10))
  }

  @Test("a sign-out with three thousand flows is one commit, not three thousand")
  func signOut() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    try fill(world, flows: 3000, apps: 1)
    _ = try await start(world)
    let begin = ContinuousClock.now
    #expect(try await world.linkctl("sign-out").status == 0)
    let time = ContinuousClock.now - begin
    print("scale: sign-out \(time) with 3,000 flows")
    #expect(time < .seconds(5))
    #expect(try await world.json("flows").isEmpty)
  }

  @Test("flows whose time is over are ended at the start, all with one commit")
  func overdue() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    try fill(world, flows: 3000, apps: 1, createdAgo: 100_000)
    let time = try await start(world)
    print("scale: start \(time) with 3,000 overdue flows")
    #expect(time < .seconds(5))
    try await world.eventually("their end") { try await world.json("flows").isEmpty }
  }

  /// From the call that starts the daemon to its answer.
  private func start(_ world: World) async throws -> Duration {
    let begin = ContinuousClock.now
    #expect(try await world.linkctl("status", "--app", "demo").status == 0)
    return ContinuousClock.now - begin
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
