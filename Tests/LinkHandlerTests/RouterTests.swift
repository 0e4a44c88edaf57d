import AuthCore
import LinkHandler
import Testing

@Suite("Which app a link is for", .timeLimit(.minutes(1)))
struct RouterTests {
  private let first: App
  private let second: App
  private let parser: LinkParser

  init() throws {
    var first = App(id: try #require(AppID("first")), projectID: "shared", apiKey: "AIzaFIRST")
    first.schemes = ["com.example.shared"]
    var second = App(id: try #require(AppID("second")), projectID: "shared", apiKey: "AIzaSECOND")
    second.schemes = ["com.example.shared", "com.example.second"]
    (self.first, self.second) = (first, second)
    parser = LinkParser(apps: [first, second])
  }

  private func link(_ query: String) throws -> Link {
    try parser.parse("https://shared.firebaseapp.com/__/auth/action?mode=signIn&oobCode=CODE\(query)").get()
  }

  @Test("the key names the app")
  func byKey() throws {
    let link = try link("&apiKey=AIzaSECOND")
    #expect(try LinkRouter.choose(link, among: parser).get() == SessionKey(app: second.id, backend: .production))
    #expect(
      parser.parse("https://shared.firebaseapp.com/__/auth/action?mode=signIn&oobCode=C&apiKey=X").reason
        == .apiKeyMismatch)
  }

  @Test("without a key, several apps on one host are ambiguous, and a live flow decides")
  func byFlow() throws {
    let link = try link("")
    #expect(link.candidates == [first.id, second.id])
    #expect(LinkRouter.choose(link, among: parser).failure == .ambiguousApp)
    let flow = SessionKey(app: second.id, backend: .production)
    #expect(
      try LinkRouter.choose(link, liveFlow: flow, among: parser).get()
        == SessionKey(app: second.id, backend: .production))
  }

  @Test("a flow of an app that the link can't belong to doesn't count")
  func foreignFlow() throws {
    let link = try link("&apiKey=AIzaSECOND")
    let flow = SessionKey(app: first.id, backend: .production)
    #expect(try LinkRouter.choose(link, liveFlow: flow, among: parser).get().app == second.id)
  }

  @Test("the scheme outside narrows the apps too")
  func byScheme() throws {
    let inner = Judge.encoded("https://shared.firebaseapp.com/__/auth/action?mode=signIn&oobCode=CODE")
    #expect(try parser.parse("com.example.second://auth?link=\(inner)").get().candidates == [second.id])
    #expect(try parser.parse("com.example.shared://auth?link=\(inner)").get().candidates == [first.id, second.id])
    // The scheme of one app around the key of the other.
    #expect(parser.parse("com.example.second://auth?link=\(inner)%26apiKey%3DAIzaFIRST").reason == .apiKeyMismatch)
    let stray = parser.parse("com.example.shared://settings")
    if case .failure(let rejection) = stray { #expect(rejection.schemeOwners == [first.id, second.id]) }
    #expect(stray.reason == .notAuthLink)
  }

  @Test("the same app at two backends is one candidate; the link's address names the backend")
  func backends() throws {
    var local = first
    local.emulator = EmulatorAddress("127.0.0.1:9099")
    let parser = LinkParser(apps: [local, first])
    let emulator = try parser.parse("http://127.0.0.1:9099/emulator/action?mode=signIn&oobCode=C&apiKey=fake-api-key")
      .get()
    #expect(try LinkRouter.choose(emulator, among: parser).get() == SessionKey(app: first.id, backend: local.backend))
    let production = try parser.parse("https://shared.firebaseapp.com/__/auth/action?mode=signIn&oobCode=C").get()
    #expect(production.candidates == [first.id])
    #expect(try LinkRouter.choose(production, among: parser).get() == SessionKey(app: first.id, backend: .production))
  }

  @Test("a redirect that nobody waits for is noPendingRequest, an action link passes")
  func pending() throws {
    let redirect = try Judge.parser.parse("com.example.linkd://oauth/callback?code=C1&state=OTHER").get()
    #expect(LinkRouter.requirePending(redirect, isWaiting: Vector.isWaiting).failure == .noPendingRequest)
    let right = try Judge.parser.parse("com.example.linkd://oauth/callback?code=C1&state=STATE1").get()
    #expect(try LinkRouter.requirePending(right, isWaiting: Vector.isWaiting).get() == right)
    let event =
      "com.example.linkd://firebaseauth/link?deep_link_id="
      + Judge.encoded("https://demo-linkd.firebaseapp.com/__/auth/callback?authType=verifyApp&recaptchaToken=t")
    let without = try Judge.parser.parse(event).get()
    #expect(LinkRouter.requirePending(without, isWaiting: { _ in true }).failure == .noPendingRequest)
    let action = try Judge.parser.parse(Judge.plain).get()
    #expect(try LinkRouter.requirePending(action, isWaiting: { _ in false }).get() == action)
  }

  @Test("B055: a listener's redirect belongs to the app that waits there, and strays touch nothing")
  func listeners() throws {
    let waiting = try #require(
      PendingReturns.Waiting(app: second.id, returnURI: "http://[::1]:5000/callback/oidc.line"))
    let pending = PendingReturns([waiting])
    let url = "http://127.0.0.1:5000/callback/oidc.line/?code=C&state=S"
    #expect(try parser.parse(url, pending: pending).get().candidates == [second.id])
    #expect(parser.parse(url).reason == .noPendingRequest)
    for stray in ["/favicon.ico", "/", "/callback?code=C&state=S", "/callback/oidc.line/x?code=C"] {
      #expect(parser.parse("http://127.0.0.1:5000\(stray)", pending: pending).reason == .notAuthLink)
    }
  }

  @Test(
    "a flow can't wait at what isn't a return URI",
    arguments: [
      "", "x", "https://app.example.com/cb", "http://example.com/cb", "http://127.0.0.1:1/cb?x=1", "a.b://c#d",
      "a.b://c d",
    ])
  func noReturn(_ uri: String) {
    #expect(PendingReturns.Waiting(app: first.id, returnURI: uri) == nil)
  }
}

extension Result where Failure == LinkRejection {
  /// Why it failed; nil if it didn't.
  var failure: LinkRejectionReason? { if case .failure(let rejection) = self { rejection.reason } else { nil } }
}
