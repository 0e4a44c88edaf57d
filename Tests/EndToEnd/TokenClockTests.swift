import Foundation
import TestSupport
import Testing

/// Clocks that are wrong, jump or stand still (behaviour: Tokens).
@Suite("Tokens and clocks", .timeLimit(.minutes(5)))
struct TokenClockTests {
  private static let hasCompiler = access("/usr/bin/cc", X_OK) == 0

  /// A world whose daemon's wall clock is wrong by what `setClock` says.
  private func wrongWorld() async throws -> World {
    let world = try await World.start()
    let library = world.home.file("wallclock.so")
    let built = try await world.run([
      "cc", "-shared", "-fPIC", "-o", library, "\(World.root)/Tests/EndToEnd/wallclock.c", "-ldl",
    ])
    try #require(built.status == 0, "\(built.stderr)")
    try await world.killDaemon()
    try world.setDaemon(["LD_PRELOAD": library, "LINKD_TEST_CLOCK": world.home.file("clock")])
    return world
  }

  private func setClock(_ world: World, _ offset: Int) throws { _ = try world.home.write("\(offset)\n", to: "clock") }

  private func skew(_ world: World) async throws -> Int {
    try #require(try await world.json("status").last?["clock-skew"] as? Int)
  }

  @Test(
    "B114: a wall clock two hours wrong: the skew is shown, no dead token is handed out, and no storm breaks out",
    .enabled(if: hasCompiler, "needs cc"), arguments: [-7200, 7200])
  func wrongClock(offset: Int) async throws {
    let world = try await wrongWorld()
    try setClock(world, offset)
    try await world.signIn("user@example.com")
    let shown = try await skew(world)
    #expect(abs(shown + offset) <= 3, "\(shown)")
    for _ in 0..<5 { #expect(try await world.linkctl("token").status == 0) }
    #expect(try await world.requests("v1/token") == 0)
    // The next daemon counts on the server's clock.
    try await world.killDaemon()
    for _ in 0..<5 { #expect(try await world.linkctl("token").status == 0) }
    #expect(try await world.requests("v1/token") == 0)
    let again = try await skew(world)
    #expect(abs(again + offset) <= 3, "\(again)")
    // A token that is dead by the server's clock isn't handed out.
    try await world.fault(["path": "v1/token", "expires-in": 1])
    let dying = try await world.linkctl("token", "--force-refresh").stdout
    try await world.killDaemon()
    try await Task.sleep(for: .seconds(2))
    try await world.clearFaults()
    let next = try await world.linkctl("token", "--min-validity", "0")
    #expect(next.status == 0 && next.stdout != dying)
    #expect(try await world.requests("v1/token") == 2)
  }

  @Test(
    "a wall clock that jumps neither kills a token nor keeps one alive: the boot clock counts",
    .enabled(if: hasCompiler, "needs cc"), arguments: [-7200, 7200])
  func jump(offset: Int) async throws {
    let world = try await wrongWorld()
    try await world.signIn("user@example.com")
    try await world.fault(["path": "v1/token", "expires-in": 4, "times": 1])
    let first = try await world.linkctl("token", "--force-refresh").stdout
    try setClock(world, offset)
    #expect(try await world.linkctl("token", "--min-validity", "0").stdout == first)
    try await Task.sleep(for: .seconds(4))
    let second = try await world.linkctl("token", "--min-validity", "0")
    #expect(second.status == 0 && second.stdout != first)
    // Flows go on too.
    _ = try await world.sendLink("other@example.com")
    let link = try await world.button(try await world.mail("other@example.com"))
    try setClock(world, 0)
    #expect(try await world.linkctl("open", link).status == 0)
    #expect(abs(try await skew(world)) <= 3)
  }

  @Test("a server whose clock is two hours off is believed, and shown", arguments: [-7200, 7200])
  func serverClock(offset: Int) async throws {
    let world = try await World.start()
    try await world.fault(["clock": offset])
    try await world.signIn("user@example.com")
    #expect(abs(try await skew(world) - offset) <= 3)
    let token = try #require(try await world.json("token").last)
    let claims = try #require(token["claims"] as? [String: Any])
    #expect(token["expires-at"] as? Int == claims["exp"] as? Int)
    for _ in 0..<3 { #expect(try await world.linkctl("token").status == 0) }
    try await world.killDaemon()
    #expect(try await world.linkctl("token").status == 0)
    #expect(try await world.requests("v1/token") == 0)
    // Set right again, it's shown so with the next answer.
    try await world.clearFaults()
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    #expect(abs(try await skew(world)) <= 3)
  }

  @Test("a machine that was suspended hands out no dead token, and a request that died meanwhile is no harm")
  func suspended() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.fault(["path": "v1/token", "expires-in": 10, "times": 1])
    let first = try await world.linkctl("token", "--force-refresh").stdout
    #expect(try await world.linkctl("token", "--min-validity", "0").stdout == first)
    // Stopped in the middle of a request, for longer than the request may take and the token lives.
    try await world.fault(["path": "v1/token", "hold-before-handling": true])
    async let forced = world.run(
      ["\(World.programs)/linkctl", "token", "--force-refresh", "--json"], timeout: .seconds(60))
    try await world.eventually("the request") { try await world.requests("v1/token") == 2 }
    let pid = try #require(try world.daemonPID())
    kill(pid, SIGSTOP)
    try await Task.sleep(for: .seconds(20))
    kill(pid, SIGCONT)
    let late = try await forced
    #expect(late.status == 75 && late.stdout.contains("NetworkUnavailable"), "\(late)")
    try await world.clearFaults()
    try await world.eventually("a living token") {
      let next = try await world.linkctl("token", "--min-validity", "0")
      if next.status == 0 { #expect(next.stdout != first) }
      return next.status == 0
    }
    #expect(try await world.email() == "user@example.com")
    #expect(try await world.json("status").last?["health"] as? String == "ok")
  }
}
