import AuthCore
import LinkHandler
import Testing

/// Codes that arrive by telephone, or that an authenticator app shows (behaviour: Phone, Second factors; identity-toolkit
/// 2.12, 2.13, 2.18, 6).
@Suite("Code flow", .timeLimit(.minutes(1)))
struct CodeFlowTests {
  typealias Rig = CodeRig

  // MARK: The good ways

  @Test("number, message, code, account, for each purpose", arguments: CodeRig.phones)
  func phone(_ purpose: FlowPurpose) throws {
    var run = try Rig.fresh(purpose)
    run.now = 1100
    #expect(run(.started) == [.save, .sendCode])
    #expect(run.stage == .starting && run.flow.expiresAt == 1700)
    // Asking for the message is nothing that a client can see.
    var atOnce = try Rig.fresh(purpose)
    _ = atOnce(.started)
    #expect(atOnce.stage == .starting && atOnce.flow.sequence == 1)

    run.now = 1200
    #expect(run(Rig.sent) == [.save])
    // Behaviour, Pending flows 2: a message is waited for 10 minutes; Phone: another after 60 s.
    #expect(run.stage == .waitingForCode && run.flow.expiresAt == 1800 && run.flow.canResendAt == 1260)
    #expect(run.flow.verification?.attemptsLeft == 5 && run.flow.codeLength == 6)
    #expect(run.flow.verification?.sessionInfo == Rig.session)

    #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
    #expect(run.stage == .exchanging && run.flow.verification?.code == Rig.code)
    Rig.expectSuccess(&run)
  }

  @Test("B089: what the code is given back with is the message's session, beside the number that was asked for")
  func session() throws {
    let run = try Rig.waiting()
    #expect(run.flow.phoneNumber == Rig.number && run.flow.verification?.sessionInfo == Rig.session)
  }

  @Test("a secret for an authenticator app, its code, a factor")
  func authenticatorApp() throws {
    var enrollment = Rig.enrollment
    enrollment.digits = 8
    enrollment.endsAt = 1300
    var run = try Rig.app(enrollment)
    // The secret is good until then, and no message comes of it.
    #expect(run.flow.expiresAt == 1300 && run.flow.canResendAt == nil && run.flow.codeLength == 8)
    #expect(run.flow.totpEnrollment == enrollment && run.flow.verification?.attemptsLeft == 5)
    #expect(run(.resendRequested) == [.refuse(.noSuchFlow)])
    #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
    // What was given in time isn't given up on its way.
    #expect(run.flow.expiresAt == 1600)
    Rig.expectSuccess(&run)
  }

  @Test("the server's clock may be another: an end that has passed already, or comes late, isn't believed")
  func clocks() throws {
    for endsAt: Int64? in [nil, 500, 1000, 99_999] {
      var enrollment = Rig.enrollment
      enrollment.endsAt = endsAt
      #expect(try Rig.app(enrollment).flow.expiresAt == 1600)
    }
  }

  @Test("a sign-in says whether the account is new")
  func newUser() throws {
    var run = try Rig.exchanging()
    var grant = FlowRig.grant
    grant.isNewUser = true
    _ = run(.exchanged(grant, uid: "u1"))
    _ = run(.lookedUp(User(uid: "u1"), guest: "g1"))
    #expect(run.stage == .succeeded && run.flow.isNewUser && run.flow.previousUID == "g1" && !run.flow.isUpgraded)
  }

  // MARK: Who it must be

  @Test(
    "another account than the protected one is a mismatch, and its tokens are dropped",
    arguments: [FlowPurpose.link, .reauthenticate, .changePhone, .enrollFactor])
  func mismatch(_ purpose: FlowPurpose) throws {
    var named = try Rig.exchanging(purpose)
    #expect(named(.exchanged(FlowRig.grant, uid: "u2")) == [.save])
    var found = try Rig.exchanging(purpose)
    _ = found(.exchanged(FlowRig.grant, uid: nil))
    #expect(found(.lookedUp(User(uid: "u2"))) == [.save])
    for run in [named, found] {
      #expect(run.stage == .failed && run.flow.error == .userMismatch && run.flow.secretsLeft == [])
      #expect(!run.flow.canRetry && run.flow.resultUID == nil)
    }
  }

  // Identity-toolkit 8.5, rule 4.
  @Test("who proves who they are by a number that nobody has is somebody else")
  func unknown() throws {
    var run = try Rig.exchanging(.reauthenticate)
    #expect(run(Rig.refused(.userNotFound, "USER_NOT_FOUND")) == [.save])
    #expect(run.stage == .failed && run.flow.error == .userMismatch && run.flow.secretsLeft == [])
    var other = try Rig.exchanging()
    _ = other(Rig.refused(.userNotFound, "USER_NOT_FOUND"))
    #expect(other.stage == .failed && other.flow.error == .userNotFound)
  }

  // MARK: What the server says to it

  @Test(
    "what the server refuses for good ends it", arguments: [AuthError.userDisabled, .operationNotAllowed, .internal])
  func serverRefuses(_ error: AuthError) throws {
    for purpose in CodeRig.phones {
      var run = try Rig.exchanging(purpose)
      #expect(run(.exchangeFailed(AuthFailure(error, detail: "Why"))) == [.save])
      #expect(run.stage == .failed && run.flow.error == error && run.flow.errorDetail == "Why")
      #expect(run.flow.secretsLeft == [] && !run.flow.canRetry)
    }
  }

  @Test(
    "B093: a number that the service won't take ends it, and no message is waited for",
    arguments: [
      AuthError.invalidPhoneNumber, .operationNotAllowed, .secondFactorExists, .secondFactorLimit, .unverifiedEmail,
      .unsupportedFirstFactor, .handlerMissing, .appNotAuthorized,
    ])
  func noMessage(_ error: AuthError) throws {
    for purpose in CodeRig.phones {
      var run = try Rig.starting(purpose)
      #expect(run(Rig.sendFailed(error)) == [.save])
      #expect(run.stage == .failed && run.flow.error == error && !run.flow.canRetry && run.flow.secretsLeft == [])
      #expect(run(.resendRequested) == [.refuse(.noSuchFlow)])
    }
    var app = try Rig.fresh(.enrollFactor, method: .totp)
    _ = app(.started)
    #expect(app(Rig.sendFailed(error)) == [.save])
    #expect(app.stage == .failed && app.flow.error == error)
  }

  @Test("B097: a rate limit is no end of it: the server's seconds are waited before another message")
  func rateLimit() throws {
    var run = try Rig.starting()
    #expect(run(Rig.sendFailed(.tooManyRequests, retryAfter: 90)) == [.save])
    #expect(run.stage == .waitingForCode && run.flow.error == .tooManyRequests && run.flow.canResendAt == 1090)
    #expect(run(.resendRequested) == [.refuse(.rateLimited)])
    run.now = 1090
    #expect(run(.resendRequested) == [.save, .sendCode])
    #expect(run.stage == .starting && run.flow.error == nil)
  }

  @Test("the account is looked up until it's found, or is gone")
  func lookUp() throws {
    for purpose in CodeRig.phones {
      var run = try Rig.exchanging(purpose)
      _ = run(.exchanged(FlowRig.grant, uid: "u1"))
      let delays: [Int64] = [2, 4, 8]
      for delay in delays {
        #expect(run(.lookUpFailed(AuthFailure(.networkUnavailable))) == [.lookUp(FlowRig.grant, delay: delay)])
      }
      #expect(run.flow.error == .networkUnavailable)
      var gone = run
      #expect(gone(.lookUpFailed(AuthFailure(.userDisabled))) == [.save])
      #expect(gone.stage == .failed && gone.flow.error == .userDisabled && gone.flow.secretsLeft == [])
      #expect(run(.lookedUp(User(uid: "u1"))) == [.adopt(User(uid: "u1"), FlowRig.grant)])
    }
  }
}
