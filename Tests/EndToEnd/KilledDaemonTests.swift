import Foundation
import TestSupport
import Testing

@Suite("The daemon killed at each step", .timeLimit(.minutes(2)))
struct KilledDaemonTests {
  /// Opens a mailed link with a daemon that stops at `point`, kills it there, and lets the next one start.
  private func killed(at point: String, _ world: World) async throws {
    _ = try await world.sendLink("user@example.com")
    let link = try await world.button(try await world.mail("user@example.com"))
    try await world.killDaemon()
    try world.setDaemon(["LINKD_PAUSE_AT": point])
    async let opened = world.linkctl("open", "--no-wait", "--timeout", "5", link)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try await opened
  }

  @Test("after the link is stored: the next start exchanges it")
  func stored() async throws {
    let world = try await World.start()
    try await killed(at: "link-stored", world)
    try await world.eventually("the session") { try await world.email() == "user@example.com" }
    #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
  }

  @Test("while exchanging, before the server has seen it: the next start exchanges it")
  func exchanging() async throws {
    let world = try await World.start()
    try await killed(at: "exchange-sent", world)
    try await world.eventually("the session") { try await world.email() == "user@example.com" }
    #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
  }

  @Test("after the answer and before the commit: the code is spent, and one step sends a new link")
  func answered() async throws {
    let world = try await World.start()
    try await killed(at: "exchange-answered", world)
    var flow: [String: Any] = [:]
    try await world.eventually("the flow to end") {
      // The flow stays readable for a minute after its end.
      let reply = try await world.run(
        [
          "gdbus", "call", "--session", "--dest", "org.linkd.Auth1", "--object-path", "/org/linkd/Auth1", "--method",
          "org.freedesktop.DBus.ObjectManager.GetManagedObjects",
        ])
      flow = ["text": reply.stdout]
      return reply.stdout.contains("'Stage': <'failed'>")
    }
    #expect((flow["text"] as? String)?.contains("InvalidActionCode") == true)
    #expect(try await world.requests("accounts:signInWithEmailLink") == 2)
    #expect(try await world.linkctl("whoami").status == 1)
  }

  @Test("after the commit and before the signal: the next start has the session and says so")
  func committed() async throws {
    let world = try await World.start()
    let monitor = try await BusMonitor(world)
    try await killed(at: "session-committed", world)
    #expect(monitor.count("StateChanged", "\"authenticated\"") == 0)
    #expect(try await world.email() == "user@example.com")
    try await world.eventually("the signal of the next start") {
      monitor.count("StateChanged", "\"authenticated\"") == 1
    }
    #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
  }

  @Test("SIGTERM ends it cleanly, and the flow goes on in the next one")
  func terminated() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com")
    let link = try await world.button(try await world.mail("user@example.com"))
    let pid = try #require(try world.daemonPID())
    kill(pid, SIGTERM)
    try await world.eventually("the end") { kill(pid, 0) != 0 }
    #expect(try await world.linkctl("open", link).status == 0)
    #expect(try await world.email() == "user@example.com")
  }
}
