import Foundation
import TestSupport
import Testing

/// The daemon dies while a browser is at the provider's page, or while what it brought back is exchanged (behaviour: Pending
/// flows 1 and 5; field report B067).
@Suite("The daemon killed around a redirect", .timeLimit(.minutes(2)))
struct RedirectRestartTests {
  // MARK: Between browser and redirect

  @Test("by scheme it's started by the redirect itself, and nothing is lost")
  func scheme() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    try await world.killDaemon()
    let url = try await world.follow(flow)
    #expect(try world.daemonPID() == nil)
    #expect(try await world.linkctl("open", "--no-wait", "--", url).status == 0)
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.records("/openid/token").count == 1)
  }

  @Test("by loopback any call binds the port again, and the redirect counts")
  func loopback() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    try await world.killDaemon()
    #expect(try await world.browse(url).status == 0)
    #expect(try await world.linkctl("flows").status == 0)
    try await world.wait(for: flow, "waiting-for-redirect")
    for host in ["[::1]", "127.0.0.1"] {
      #expect(try await world.browse(url.replacing("//127.0.0.1:", with: "//\(host):"), "--head").status == 200)
    }
    #expect(try await world.browse(url).status == 200)
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.records("/openid/token").count == 1)
  }

  @Test("by paste, while nobody has started it: the pasted address starts it and finishes")
  func paste() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    try await world.killDaemon()
    #expect(try await world.linkctl("open", url).status == 0)
    try await world.wait(for: flow, "succeeded")
  }

  @Test("by paste, where somebody else has the port meanwhile: that's told, and the pasted address finishes")
  func portTaken() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    try await world.killDaemon()
    let other = try PortHolder(port: try #require(flow.port))
    try await world.wait(for: flow, "waiting-for-redirect", "HandlerMissing")
    #expect(try await world.linkctl("open", url).status == 0)
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.email() == "ada@example.com")
    withExtendedLifetime(other) {}
  }

  @Test(
    "a flow that is overdue at the start ends as expired, and its redirect is nobody's",
    .enabled(if: access("/usr/bin/cc", X_OK) == 0, "needs cc"))
  func overdue() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    let url = try await world.follow(flow)
    try await world.killDaemon()
    try world.setDaemon(try await world.clocks())
    _ = try world.home.write("\(11 * 60)\n", to: "clock")
    try await world.wait(for: flow, "expired")
    #expect(try await world.linkctl("open", url).status == 3)
    #expect(try await world.records("/openid/token").isEmpty)
  }

  // MARK: While exchanging

  /// A redirect comes by scheme to a daemon that stops at `point`, is killed there, and started again by a question.
  private func killed(at point: String, _ world: World) async throws -> WaitingFlow {
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    let url = try await world.follow(flow)
    try await world.killDaemon()
    try world.setDaemon(["LINKD_PAUSE_AT": point])
    async let opened = world.linkctl("open", "--no-wait", "--timeout", "5", url)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try await opened
    return flow
  }

  @Test("before the code is sent: the next start sends it, once", arguments: ["link-stored", "exchange-sent"])
  func unsent(point: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await killed(at: point, world)
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.records("/openid/token").count == 1)
    #expect(try await world.requests("signInWithIdp") == 1)
  }

  @Test("after the provider's answer and before the commit: the code is spent, and the page, still open, gives another")
  func answered() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await killed(at: "exchange-answered", world)
    // Asked once more, for who knows whether the first one arrived; the provider says no.
    try await world.wait(for: flow, "waiting-for-redirect", "InvalidProviderResponse")
    #expect(world.log.contains("code=invalid_grant"))
    #expect(try await world.records("/openid/token").compactMap { $0["status"] as? Int } == [200, 400])
    #expect(try await world.requests("signInWithIdp") == 0)
    try await world.finish(flow)
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.records("/openid/token").count == 3)
  }

  @Test("the same by loopback: the port is bound again for the page's next answer")
  func answeredByLoopback() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    try await world.killDaemon()
    try world.setDaemon(["LINKD_PAUSE_AT": "exchange-answered"])
    #expect(try await world.linkctl("flows").status == 0)
    async let page = world.browse(url)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try await page
    try await world.wait(for: flow, "waiting-for-redirect", "InvalidProviderResponse")
    try await world.finish(flow)
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.records("/openid/token").count == 3)
    #expect(try await world.requests("signInWithIdp") == 1)
  }

  @Test("while the accounts' server is asked: the provider's tokens are kept, and the next start asks again")
  func asked() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    let url = try await world.follow(flow)
    try await world.fault(["path": "signInWithIdp", "hold-after-handling": true, "times": 1])
    #expect(try await world.linkctl("open", "--no-wait", url).status == 0)
    try await world.eventually("the request") { try await world.requests("signInWithIdp") == 1 }
    try await world.killDaemon()
    try await world.clearFaults()
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.records("/openid/token").count == 1)
    #expect(try await world.requests("signInWithIdp") == 2)
  }

  @Test("after the commit and before the signal: the next start has the session and says so")
  func committed() async throws {
    let world = try await World.start { [$0.openID()] }
    let monitor = try await BusMonitor(world)
    let flow = try await killed(at: "session-committed", world)
    #expect(monitor.count("StateChanged", "\"authenticated\"") == 0)
    #expect(try await world.email() == "ada@example.com")
    try await world.eventually("the signal of the next start") {
      monitor.count("StateChanged", "\"authenticated\"") == 1
    }
    #expect(try await world.records("/openid/token").count == 1)
    #expect(try await world.requests("signInWithIdp") == 1)
    // The redirect once more: it's the flow that had it, and nothing is asked.
    #expect(try await world.linkctl("open", "--no-wait", try await world.follow(flow)).status == 0)
    #expect(try await world.records("/openid/token").count == 1)
  }

  @Test("by Firebase's page: before the answer the flow waits on, after it the next start asks once more")
  func handler() async throws {
    let world = try await World.start { _ in [] }
    let flow = try await world.goTo("google.com")
    try await world.killDaemon()
    let url = try await world.follow(flow)
    try await world.fault(["path": "signInWithIdp", "hold-before-handling": true, "times": 1])
    #expect(try await world.linkctl("open", "--no-wait", url).status == 0)
    try await world.eventually("the request") { try await world.requests("signInWithIdp") == 1 }
    try await world.killDaemon()
    try await world.clearFaults()
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.email() == "ada@example.com")
  }
}
