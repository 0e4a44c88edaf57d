import AuthCore
import LinkHandler
import Testing

@Suite("Anonymous flow", .timeLimit(.minutes(1)))
struct AnonymousFlowTests {
  static let grant = TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600)
  static let kept = TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600, isNewUser: true)
  static let now: Int64 = 1000

  private func fresh() throws -> FlowMachine {
    let key = SessionKey(app: try #require(AppID("demo")), backend: .production)
    let flow = Flow(
      id: try #require(FlowID("f1")), key: key, purpose: .signIn, method: .anonymous, createdAt: Self.now,
      expiresAt: Self.now + AnonymousFlow.lifetime)
    return try #require(FlowMachine(flow))
  }

  private func machine(after events: [FlowEvent]) throws -> FlowMachine {
    var machine = try fresh()
    for event in events { _ = machine.handle(event, at: Self.now) }
    return machine
  }

  private var guest: User {
    var user = User(uid: "g1")
    user.isAnonymous = true
    return user
  }

  @Test("an account without a name")
  func happyPath() throws {
    var machine = try fresh()
    #expect(machine.handle(.started, at: 1000) == [.save, .signUpAnonymously])
    #expect(machine.flow.stage == .exchanging)
    #expect(machine.flow.sequence == 2)
    #expect(machine.handle(.exchanged(Self.grant, uid: nil), at: 1001) == [.save, .lookUp(Self.kept, delay: 0)])
    #expect(machine.flow.answer == Self.kept)
    #expect(machine.flow.sequence == 2)
    #expect(machine.handle(.lookedUp(guest), at: 1002) == [.adopt(guest, Self.kept)])
    #expect(machine.flow.stage == .succeeded)
    #expect(machine.flow.resultUID == "g1")
    #expect(machine.flow.isNewUser)
    #expect(machine.flow.answer == nil)
    #expect(machine.flow.endedAt == 1002)
    #expect(machine.flow.sequence == 3)
  }

  // Field report B125's other half: who is a guest stays the same guest.
  @Test("a guest who is there already")
  func already() throws {
    var machine = try fresh()
    #expect(machine.handle(.alreadySignedIn(uid: "g0"), at: 1000) == [.save])
    #expect(machine.flow.stage == .succeeded)
    #expect(machine.flow.resultUID == "g0")
    #expect(!machine.flow.isNewUser)
    #expect(machine.flow.sequence == 2)
  }

  @Test(
    "a failure ends it, a temporary one too",
    arguments: [AuthError.networkUnavailable, .adminOnly, .operationNotAllowed])
  func failed(_ error: AuthError) throws {
    var machine = try machine(after: [.started])
    #expect(machine.handle(.exchangeFailed(AuthFailure(error)), at: 1005) == [.save])
    #expect(machine.flow.stage == .failed)
    #expect(machine.flow.error == error)
    #expect(machine.flow.endedAt == 1005)
    #expect(!machine.flow.canRetry)
  }

  @Test("an account that was made is looked up until the server answers; only a refusal ends it")
  func lookUpFails() throws {
    var machine = try machine(after: [.started, .exchanged(Self.grant, uid: nil)])
    let again = machine.handle(.lookUpFailed(AuthFailure(.networkUnavailable)), at: 1005)
    #expect(again == [.lookUp(Self.kept, delay: 2)])
    #expect(machine.flow.stage == .exchanging && machine.flow.error == .networkUnavailable)
    #expect(machine.handle(.lookUpFailed(AuthFailure(.userDisabled)), at: 1010) == [.save])
    #expect(machine.flow.stage == .failed && machine.flow.answer == nil)
  }

  @Test("a second answer is ignored, and a look-up without an answer")
  func stray() throws {
    var machine = try machine(after: [.started, .exchanged(Self.grant, uid: nil)])
    let before = machine.flow
    let other = TokenGrant(idToken: Secret("X"), refreshToken: Secret("Y"), expiresIn: nil)
    #expect(machine.handle(.exchanged(other, uid: nil), at: 1001) == [])
    #expect(machine.flow == before)
    var early = try self.machine(after: [.started])
    #expect(early.handle(.lookedUp(guest), at: 1001) == [])
    #expect(early.flow.stage == .exchanging)
  }

  @Test(
    "cancelled or overdue at each stage",
    arguments: [(FlowEvent.cancelRequested, FlowStage.cancelled), (.overdue, .expired)])
  func ended(_ event: FlowEvent, _ stage: FlowStage) throws {
    for events in [[], [FlowEvent.started], [.started, .exchanged(Self.grant, uid: nil)]] {
      var machine = try machine(after: events)
      let sequence = machine.flow.sequence
      #expect(machine.handle(event, at: 1003) == [.save])
      #expect(machine.flow.stage == stage)
      #expect(machine.flow.answer == nil)
      #expect(machine.flow.sequence == sequence + 1)
    }
  }

  @Test("events at an end change nothing")
  func deaf() throws {
    let ends: [[FlowEvent]] = [
      [.alreadySignedIn(uid: "g0")], [.started, .exchangeFailed(AuthFailure(.adminOnly))],
      [.started, .cancelRequested],
      [.overdue],
    ]
    let events: [FlowEvent] = [
      .started, .alreadySignedIn(uid: "x"), .exchanged(Self.grant, uid: nil), .exchangeFailed(AuthFailure(.internal)),
      .lookedUp(guest),
      .cancelRequested, .overdue, .restored,
    ]
    for end in ends {
      var machine = try machine(after: end)
      let before = machine.flow
      for event in events {
        #expect(machine.handle(event, at: 9999) == [])
        #expect(machine.flow == before)
      }
    }
  }

  @Test("found after a crash")
  func restored() throws {
    for events in [[], [FlowEvent.started]] {
      var machine = try #require(FlowMachine(try machine(after: events).flow))
      #expect(machine.handle(.restored, at: 1001) == [.signUpAnonymously])
      #expect(machine.handle(.exchanged(Self.grant, uid: nil), at: 1002) == [.save, .lookUp(Self.kept, delay: 0)])
    }
    var answered = try #require(FlowMachine(try machine(after: [.started, .exchanged(Self.grant, uid: nil)]).flow))
    #expect(answered.handle(.restored, at: 1001) == [.lookUp(Self.kept, delay: 0)])
    #expect(answered.handle(.lookedUp(guest), at: 1001) == [.adopt(guest, Self.kept)])
    var late = try #require(FlowMachine(try machine(after: [.started, .exchanged(Self.grant, uid: nil)]).flow))
    #expect(late.handle(.restored, at: 1000 + AnonymousFlow.lifetime) == [.save])
    #expect(late.flow.stage == .expired)
    #expect(late.flow.answer == nil)
  }
}
