import AuthCore
import Testing

@Suite("Secret", .timeLimit(.minutes(1)))
struct SecretTests {
  static let planted = "PLANTED-s3cr3t"

  /// Every way in which a value becomes text by itself.
  private func texts(_ value: some Any) -> [String] {
    var dumped = "", printed = "", debugged = ""
    dump(value, to: &dumped)
    print(value, to: &printed)
    debugPrint(value, to: &debugged)
    return [dumped, printed, debugged, String(describing: value), String(reflecting: value), "\(value)"]
      + [String(describing: Optional(value)), "\([value])", String(reflecting: ["key": value])]
  }

  private func expectSilence(_ value: some Any, sourceLocation: SourceLocation = #_sourceLocation) {
    for text in texts(value) {
      #expect(!text.contains("PLANTED"), sourceLocation: sourceLocation)
      #expect(!text.isEmpty, sourceLocation: sourceLocation)
    }
  }

  @Test("prints as redacted, whatever it holds")
  func redacted() {
    let secret = Secret(Self.planted)
    #expect(String(describing: secret) == "<redacted>")
    #expect(String(reflecting: secret) == "<redacted>")
    #expect("\(secret)" == "<redacted>")
    #expect(Mirror(reflecting: secret).children.isEmpty)
    expectSilence(secret)
    expectSilence(Secret([Self.planted]))
    expectSilence(Secret<String?>(Self.planted))
    expectSilence(["x": [secret]])
    expectSilence((1, secret))
    #expect(secret.reveal() == Self.planted)
  }

  @Test("equal by its value")
  func equality() {
    #expect(Secret("a") == Secret("a"))
    #expect(Secret("a") != Secret("b"))
    #expect(Set([Secret("a"), Secret("a"), Secret("b")]).count == 2)
  }

  @Test("isn't Codable")
  func codable() {
    let secret: Any = Secret("a")
    #expect(!(secret is any Encodable))
    #expect(!(secret is any Decodable))
  }

  @Test("a flow, a session and their events give nothing away")
  func holders() throws {
    let key = SessionKey(app: try #require(AppID("demo")), backend: .production)
    let grant = TokenGrant(idToken: Secret(Self.planted + "1"), refreshToken: Secret(Self.planted + "2"), expiresIn: 1)
    var flow = Flow(
      id: try #require(FlowID("f1")), key: key, purpose: .signIn, method: .emailLink, createdAt: 1, expiresAt: 2)
    flow.code = Secret(Self.planted + "3")
    flow.queuedCode = Secret(Self.planted + "4")
    flow.answer = grant
    let session = Session(
      key: key, user: User(uid: "u"), method: .emailLink, refreshToken: Secret(Self.planted),
      idToken: Secret(Self.planted),
      idTokenReceivedAt: 0, idTokenLifetime: 0)
    expectSilence(grant)
    expectSilence(flow)
    expectSilence(session)
    expectSilence(SessionMachine(key: key, session: session, lastUser: nil, sequence: 0))
    expectSilence(SessionMachine.Event.adopted(session))
    expectSilence(SessionMachine.Event.refreshed(grant, receivedAt: 0))
    #expect(texts(flow)[0].contains("<redacted>"))
  }
}
