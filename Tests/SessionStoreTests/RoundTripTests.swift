import AuthCore
import Testing

@testable import SessionStore

/// Nothing about a pending sign-in lives only in memory: every stored property comes back.
@Suite(.timeLimit(.minutes(1)))
struct RoundTripTests {
  @Test func everyPropertyOfAFlow() throws {
    let fixture = try Fixture()
    let flow = fullFlow()
    let fresh = Flow(
      id: FlowID("fresh")!, key: production, purpose: .signIn, method: .none, createdAt: 0, expiresAt: 0)
    #expect(unset(flow, fresh).isEmpty, "set the new property in fullFlow(), then store it")
    #expect(
      try unset(#require(flow.answer), TokenGrant(idToken: Secret(""), refreshToken: Secret(""), expiresIn: 0))
        == ["idToken", "refreshToken"], "secrets all look alike; they're compared below")
    #expect(unset(fullAuthorizationOptions(), AuthorizationOptions()).isEmpty)
    #expect(unset(fullVerification(), PendingVerification()).isEmpty)
    #expect(unset(fullSecondFactor(), PendingSecondFactor(credential: Secret(""), factors: [])) == ["credential"])
    #expect(unset(fullCredential(), OAuthCredential(providerID: "")).isEmpty)
    let request = PendingAuthorization(url: Secret(""), returnURIs: [])
    #expect(unset(fullAuthorization(), request) == ["url"], "a secret")
    let metadata = ProviderMetadata(authorizationEndpoint: "", tokenEndpoint: "")
    #expect(try unset(#require(fullAuthorization().client).metadata, metadata).isEmpty)

    try fixture.open().save(flow)
    let reopened = try fixture.open()
    #expect(try reopened.flow(flow.id) == flow)
    #expect(try reopened.flow(linkTokenHash: #require(flow.linkTokenHash)) == flow)
  }

  @Test func aFreshFlow() throws {
    let fixture = try Fixture()
    let flow = Flow(
      id: FlowID("fresh")!, key: production, purpose: .present, method: .none, createdAt: 0, expiresAt: .max)
    let store = try fixture.open()
    try store.save(flow)
    #expect(try store.flow(flow.id) == flow)
    #expect(try store.loadLiveFlows() == LoadedFlows(flows: [flow], unreadable: [], unnamed: 0, isIncomplete: false))
  }

  /// Each property alone, so that two can't hide behind one another.
  @Test func propertiesOneByOne() throws {
    let fixture = try Fixture()
    let store = try fixture.open()
    let full = fullFlow()
    let fresh = Flow(id: full.id, key: full.key, purpose: .signIn, method: .none, createdAt: 0, expiresAt: 0)
    var variants = [Flow](repeating: fresh, count: 9)
    variants[0].code = full.code
    variants[1].queuedCode = full.queuedCode
    variants[2].email = full.email
    variants[3].answer = full.answer
    variants[4].mailPending = true
    variants[5].canRetry = true
    variants[6].isNewUser = true
    variants[7].forceSameDevice = true
    variants[8].email = ""
    for flow in variants {
      try store.save(flow)
      #expect(try store.flow(flow.id) == flow)
    }
  }

  @Test("what signs in by phone is stored whole, a code too")
  func phoneCredential() throws {
    let store = try Fixture().open()
    var flow = makeFlow("a")
    flow.phoneProof = .code(Secret("123456"), sessionInfo: Secret("session"))
    try store.save(flow)
    #expect(try store.flow(flow.id) == flow)
  }

  @Test(arguments: FlowStage.allCases) func stages(stage: FlowStage) throws {
    let store = try Fixture().open()
    var flow = makeFlow("a")
    flow.stage = stage
    try store.save(flow)
    #expect(try store.flow(flow.id)?.stage == stage)
  }

  @Test(arguments: AuthError.allCases) func errors(error: AuthError) throws {
    var flow = makeFlow("a")
    flow.error = error
    var read = makeFlow("a")
    try FlowBody.decode(FlowBody.encode(flow), into: &read)
    #expect(read == flow)
  }

  @Test func everyPropertyOfASession() throws {
    let fixture = try Fixture()
    let user = fullUser()
    #expect(unset(user, User(uid: "")).isEmpty, "set the new property in fullUser(), then store it")
    #expect(unset(user.providers[0], LinkedProvider(providerID: "")).isEmpty)
    #expect(unset(user.secondFactors[0], SecondFactor(uid: "", kind: .phone)).isEmpty)
    let session = Session(
      key: emulator, user: user, method: .provider("oidc.line"), refreshToken: Secret("refresh"), idToken: Secret("id"),
      idTokenReceivedAt: 1_700_000_000, idTokenLifetime: 3600)
    let fresh = Session(
      key: production, user: User(uid: ""), method: .none, refreshToken: Secret(""), idToken: nil, idTokenReceivedAt: 0,
      idTokenLifetime: 0)
    #expect(unset(session, fresh) == ["refreshToken"], "compared below")

    try fixture.open().save(session, clockSkew: -17, sequence: 42)
    let stored = try #require(try fixture.open().loadSession(emulator))
    #expect(stored.session == session)
    #expect(stored.clockSkew == -17)
    #expect(stored.sequence == 42)
    #expect(stored.lastUser == nil)
    #expect(!stored.isUnreadable)
    #expect(try fixture.open().loadSessions() == [stored])
  }

  @Test func aSessionWithoutIDToken() throws {
    let store = try Fixture().open()
    var session = makeSession()
    session.idToken = nil
    try store.save(session, clockSkew: 0, sequence: 1)
    #expect(try store.loadSession(production)?.session == session)
  }

  @Test func everyPropertyOfTheLastUser() throws {
    let store = try Fixture().open()
    let user = LastUser(
      uid: "u", email: "u@example.com", phoneNumber: "+15555550100", tenantID: "tenant", signInMethod: "emailLink",
      reason: "TokenRevoked")
    #expect(unset(user, LastUser(uid: "", email: nil, signInMethod: "", reason: "")).isEmpty)
    try store.removeSession(production, uid: nil, lastUser: user)
    #expect(try store.loadSession(production)?.lastUser == user)
  }

  /// Fields that this linkd doesn't know, as a later one may write, are skipped.
  @Test func unknownFields() throws {
    let flow = fullFlow()
    var read = flow
    try FlowBody.decode(FlowBody.encode(flow) + [200, 3, 0, 0, 0, 1, 2, 3], into: &read)
    #expect(read == flow)
  }

  /// Cut at any place the bytes are refused or lack fields; they never trap.
  @Test func cutFields() throws {
    let whole = FlowBody.encode(fullFlow())
    for length in 0..<whole.count {
      var read = fullFlow()
      try? FlowBody.decode(Array(whole[..<length]), into: &read)
      #expect(throws: MalformedFields.self) { try SessionBody.session(Array(whole[..<length]), key: production) }
    }
    #expect(throws: MalformedFields.self) { try FieldReader([1, 0xff, 0xff, 0xff, 0xff]) }
    #expect(throws: MalformedFields.self) { try FieldReader([1, 2, 0, 0, 0, 0xc3, 0x28]).string(1) }
    #expect(throws: MalformedFields.self) { try FieldReader([1, 1, 0, 0, 0, 1]).integer(1) }
  }
}
