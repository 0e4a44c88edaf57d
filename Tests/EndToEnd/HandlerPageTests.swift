import Foundation
import TestSupport
import Testing

/// Providers by Firebase's own page, which comes back by scheme (identity-toolkit 4.5 to 4.9).
@Suite("Firebase's page", .timeLimit(.minutes(2)))
struct HandlerPageTests {
  /// A world whose app's file names no provider: Firebase's page serves every one.
  private func world() async throws -> World { try await World.start { _ in [] } }

  /// The page's return with another answer inside.
  private func answer(_ flow: WaitingFlow, _ world: World, _ parameters: [(String, String)]) -> String {
    let query = ([("authType", "signInWithRedirect")] + parameters).map { "\($0.0)=\(World.encoded($0.1))" }
    let inner = "http://\(world.emulatorAddress)/__/auth/callback?" + query.joined(separator: "&")
    return "app-1-123456789012-web-0a1b2c3d4e5f://firebaseauth/link?deep_link_id=\(World.encoded(inner))"
  }

  private func error(_ code: String) -> (String, String) {
    ("firebaseError", "{\"code\":\"\(code)\",\"message\":\"as the test says\"}")
  }

  @Test("B067: the return comes by gio open and the registered handler to a daemon that was killed meanwhile")
  func gioOpen() async throws {
    let world = try await world()
    #expect(try await world.linkctl("register").status == 0)
    let flow = try await world.goTo("google.com")
    let url = try await world.follow(flow)
    try await world.killDaemon()
    // xdg-open of xdg-utils 1.1 takes no scheme with digits, and the page's has some.
    let opened = try await world.run(["gio", "open", url])
    #expect(opened.status == 0, "\(opened)")
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.email() == "ada@example.com")
  }

  @Test(
    "any provider works by it, without a client of the app's",
    arguments: [
      "google.com", "apple.com", "facebook.com", "twitter.com", "github.com", "microsoft.com", "yahoo.com", "oidc.any",
      "saml.any",
    ])
  func providers(id: String) async throws {
    let world = try await world()
    let flow = try await world.goTo(id)
    #expect(flow["providerId"] == id)
    try await world.finish(flow)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("another eventId is refused, and the true return signs in")
  func wrongEvent() async throws {
    let world = try await world()
    let flow = try await world.goTo("google.com")
    let url = try await world.follow(flow)
    let wrong = url.replacing(flow.token, with: "EVTABCDEFG")
    #expect(wrong != url)
    #expect(try await world.json("can-handle", wrong).last?["reason"] as? String == "noPendingRequest")
    #expect(try await world.linkctl("open", wrong).status == 3)
    try await world.wait(for: flow, "waiting-for-redirect", "StateMismatch")
    #expect(try await world.requests("signInWithIdp") == 0)
    #expect(try await world.linkctl("open", url).status == 0)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("the session id binds the page's answer to its flow: in another flow's name it's refused, and both go on")
  func sessionID() async throws {
    let world = try await world()
    try await world.addAccount("eve", email: "eve@example.com")
    let ours = try await world.goTo("google.com")
    let theirs = try await world.goTo("google.com")
    #expect(ours["sessionId"] != theirs["sessionId"])
    try await world.consent("eve")
    let planted = try await world.follow(theirs).replacing(theirs.token, with: ours.token)
    #expect(try await world.linkctl("open", "--no-wait", planted).status == 0)
    try await world.wait(for: ours, "waiting-for-redirect", "InvalidProviderResponse")
    #expect(try await world.linkctl("whoami").status == 1)
    // The raw value was in no URL.
    let sent = try #require(try await world.records("signInWithIdp").first?["body"] as? [String: Any])
    let session = try #require(sent["sessionId"] as? String)
    #expect(!ours.url.contains(session))
    try await world.consent("ada")
    try await world.finish(ours)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("a return twice is one exchange, and both get the outcome")
  func twice() async throws {
    let world = try await world()
    let flow = try await world.goTo("google.com")
    let url = try await world.follow(flow)
    try await world.fault(["path": "signInWithIdp", "delay": 300, "times": 1])
    async let first = world.linkctl("open", url)
    #expect(try await world.linkctl("open", url).status == 0)
    #expect(try await first.status == 0)
    #expect(try await world.linkctl("open", url).status == 0)
    #expect(try await world.requests("signInWithIdp") == 1)
  }

  @Test("B062: a refused consent is cancelled with exit 130, and no error")
  func refused() async throws {
    let world = try await world()
    try await world.consent(nil)
    let flow = try await world.goTo("google.com")
    let opened = try await world.linkctl("open", "--json", try await world.follow(flow))
    #expect(opened.status == 130 && !opened.stdout.contains("\"error\""), "\(opened)")
    try await world.wait(for: flow, "cancelled")
  }

  @Test(
    "other errors of the page's end the flow by their names, or leave it waiting where the page is still there",
    arguments: [
      ("auth/operation-not-allowed", FlowState("failed", "OperationNotAllowed")),
      ("auth/unauthorized-domain", FlowState("failed", "InvalidProviderResponse")),
      ("auth/network-request-failed", FlowState("waiting-for-redirect", "NetworkUnavailable")),
      ("auth/internal-error", FlowState("waiting-for-redirect", "ServiceUnavailable")),
    ])
  func errors(code: String, expected: FlowState) async throws {
    let world = try await world()
    let flow = try await world.goTo("google.com")
    let url = answer(flow, world, [error(code), ("eventId", flow.token)])
    #expect(try await world.linkctl("open", "--no-wait", url).status == 0)
    try await world.wait(for: flow, expected.stage, expected.error)
    #expect(try await world.requests("signInWithIdp") == 0)
    if expected.stage == "waiting-for-redirect" { try await world.finish(flow) }
  }

  @Test("an answer with neither a link nor an error is refused, and the true one signs in")
  func empty() async throws {
    let world = try await world()
    let flow = try await world.goTo("google.com")
    let opened = try await world.linkctl("open", "--json", answer(flow, world, [("eventId", flow.token)]))
    #expect(opened.status == 65 && opened.stdout.contains("missingCode"))
    #expect(try await world.state(flow.id)?.stage == "waiting-for-redirect")
    try await world.finish(flow)
  }

  @Test("an answer from another site is nobody's")
  func foreignSite() async throws {
    let world = try await world()
    let flow = try await world.goTo("google.com")
    let url = answer(flow, world, [("link", "https://x.example/"), ("eventId", flow.token)])
    let foreign = url.replacing(
      World.encoded("http://\(world.emulatorAddress)/"), with: World.encoded("https://evil.example/"))
    #expect(foreign != url)
    #expect(try await world.json("open", foreign).last?["reason"] as? String == "untrustedHost")
    #expect(try await world.state(flow.id) == FlowState("waiting-for-redirect"))
    try await world.finish(flow)
  }
}
