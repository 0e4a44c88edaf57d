import AuthCore
import LinkHandler
import Testing

@Suite("Custom token flow", .timeLimit(.minutes(1)))
struct CustomTokenFlowTests {
  static let token = Secret("JWT")

  private func rig(purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    try FlowRig(.custom, purpose: purpose) {
      $0.code = Self.token
      if purpose == .reauthenticate { $0.protectedUID = "u1" }
      change(&$0)
    }
  }

  private func exchanging(purpose: FlowPurpose = .signIn) throws -> FlowRig {
    var run = try rig(purpose: purpose)
    #expect(run(.started) == [.save, .signInWithCustomToken(Self.token, delay: 0)])
    return run
  }

  // Identity-toolkit 2.4.
  @Test("token, exchange, account")
  func signsIn() throws {
    var run = try exchanging()
    #expect(run.stage == .exchanging && run.flow.sequence == 2)
    #expect(run(.exchanged(FlowRig.grant, uid: nil)) == [.save, .lookUp(FlowRig.grant, delay: 0)])
    #expect(run(.lookedUp(User(uid: "u1"), guest: "g1")) == [.adopt(User(uid: "u1"), FlowRig.grant)])
    #expect(run.stage == .succeeded && run.flow.resultUID == "u1" && run.flow.previousUID == "g1")
    #expect(run.flow.secretsLeft == [] && !run.flow.isUpgraded)
  }

  // Contract, Flow: a transient fault never ends a flow.
  @Test("trouble is waited out; the token is good for any number of times")
  func trouble() throws {
    var run = try exchanging()
    let delays: [Int64] = [2, 4, 8]
    for delay in delays {
      #expect(
        run(.exchangeFailed(AuthFailure(.networkUnavailable)))
          == [.signInWithCustomToken(Self.token, delay: delay)])
    }
    #expect(run.stage == .exchanging && run.flow.error == .networkUnavailable)
    #expect(
      run(.exchangeFailed(AuthFailure(.tooManyRequests, retryAfter: 30)))
        == [.signInWithCustomToken(Self.token, delay: 30)])
    _ = run(.exchanged(FlowRig.grant, uid: "u1"))
    #expect(run(.lookUpFailed(AuthFailure(.networkUnavailable))) == [.lookUp(FlowRig.grant, delay: 2)])
    #expect(run(.lookedUp(User(uid: "u1"))) == [.adopt(User(uid: "u1"), FlowRig.grant)])
    #expect(run.flow.error == nil)
  }

  @Test(
    "a token that is refused ends it: the app asks anew",
    arguments: [AuthError.invalidCredentials, .appNotAuthorized, .userDisabled, .internal])
  func refused(_ error: AuthError) throws {
    var run = try exchanging()
    #expect(run(.exchangeFailed(AuthFailure(error))) == [.save])
    #expect(run.stage == .failed && run.flow.error == error && run.flow.secretsLeft == [])
  }

  @Test("somebody else's token proves nothing about the user")
  func mismatch() throws {
    var run = try exchanging(purpose: .reauthenticate)
    #expect(run(.exchanged(FlowRig.grant, uid: "u2")) == [.save])
    #expect(run.stage == .failed && run.flow.error == .userMismatch && run.flow.secretsLeft == [])
  }

  @Test("after a restart the token is tried again, an answer isn't asked for again, and time runs out")
  func restored() throws {
    var early = try rig()
    #expect(try early.restart() == [.save, .signInWithCustomToken(Self.token, delay: 0)])
    var run = try exchanging()
    #expect(try run.restart() == [.save, .signInWithCustomToken(Self.token, delay: 0)])
    _ = run(.exchanged(FlowRig.grant, uid: "u1"))
    #expect(try run.restart() == [.lookUp(FlowRig.grant, delay: 0)])
    run.now = 1600
    #expect(try run.restart() == [.save])
    #expect(run.stage == .expired && run.flow.secretsLeft == [])
    var none = try rig { $0.code = nil }
    #expect(none(.started) == [.save])
    #expect(none.stage == .failed && none.flow.error == .internal)
  }

  @Test("nothing is asked of a person, and an end stays an end")
  func refuses() throws {
    var run = try exchanging()
    let asked: [FlowEvent] = [
      .emailProvided("a@example.com"), .passwordProvided(Secret("p")), .confirmed, .resendRequested,
      .conflict(.resolved(.switch, current: nil)),
    ]
    for event in asked { #expect(run(event) == [.refuse(.noSuchFlow)]) }
    #expect(run(.started) == [])
    #expect(run(.cancelRequested) == [.save])
    #expect(run.stage == .cancelled && run.flow.secretsLeft == [])
    #expect(run(.exchanged(FlowRig.grant, uid: "u1")) == [])
    #expect(run(.exchangeFailed(AuthFailure(.networkUnavailable))) == [])
    #expect(run(.restored) == [])
  }
}
