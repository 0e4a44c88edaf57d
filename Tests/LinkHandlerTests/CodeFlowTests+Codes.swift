import AuthCore
import LinkHandler
import Testing

/// Wrong codes, old codes, trouble, and other messages.
extension CodeFlowTests {
  // MARK: Wrong codes

  @Test("B101: a wrong code counts down and leaves the rest as it was; the right one then does")
  func wrongCode() throws {
    for var run in try Rig.allWaiting() {
      run.now = 1100
      let session = run.flow.verification?.sessionInfo
      for left in [4, 3, 2, 1] {
        let sequence = run.flow.sequence
        #expect(run(Rig.provided(Rig.wrongCode)) == [.save, .verifyCode(Rig.wrongCode)])
        #expect(run(Rig.refused()) == [.save])
        #expect(run.stage == .waitingForCode && run.flow.error == .invalidVerificationCode)
        #expect(run.flow.verification?.attemptsLeft == left && run.flow.verification?.code == nil)
        #expect(run.flow.verification?.sessionInfo == session && run.flow.expiresAt == 1700)
        #expect(run.flow.sequence == sequence + 2)
      }
      #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
      #expect(run.flow.error == nil)
      CodeRig.expectSuccess(&run)
    }
  }

  @Test("the fifth wrong code ends it; a phone can be sent another message in one step, an app's secret is given up")
  func lastCode() throws {
    for var run in try Rig.allWaiting() {
      for _ in 0..<5 {
        #expect(run(Rig.provided(Rig.wrongCode)) == [.save, .verifyCode(Rig.wrongCode)])
        #expect(run(Rig.refused()) == [.save])
      }
      #expect(run.stage == .failed && run.flow.error == .invalidVerificationCode && run.flow.secretsLeft == [])
      #expect(run(Rig.provided()) == [.refuse(.noSuchFlow)])
      guard run.flow.method == .phone else {
        #expect(!run.flow.canRetry && run(.resendRequested) == [.refuse(.noSuchFlow)])
        continue
      }
      #expect(run.flow.canRetry && run(.resendRequested) == [.refuse(.rateLimited)])
      run.now = 1060
      #expect(run(.resendRequested) == [.save, .sendCode])
      #expect(run.stage == .starting && run.flow.error == nil && run.flow.endedAt == nil && !run.flow.canRetry)
      #expect(run(Rig.sentAgain) == [.save])
      #expect(run.flow.verification?.attemptsLeft == 5 && run.flow.verification?.sessionInfo == Rig.otherSession)
      #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
      CodeRig.expectSuccess(&run)
    }
  }

  @Test("B101: a session that timed out says start again, and Resend does it, 60 s after the last message")
  func sessionExpired() throws {
    for purpose in CodeRig.phones {
      for code in ["SESSION_EXPIRED", "INVALID_SESSION_INFO"] {
        var run = try Rig.exchanging(purpose)
        #expect(run(Rig.refused(.sessionExpired, code)) == [.save])
        #expect(run.stage == .failed && run.flow.error == .sessionExpired && run.flow.canRetry)
        #expect(run.flow.secretsLeft == [] && run.flow.canResendAt == 1060)
        run.now = 1059
        #expect(run(.resendRequested) == [.refuse(.rateLimited)])
        run.now = 1060
        #expect(run(.resendRequested) == [.save, .sendCode])
        #expect(run.stage == .starting && run.flow.expiresAt == 1660 && run.flow.error == nil)
        _ = run(Rig.sentAgain)
        #expect(run.flow.canResendAt == 1120)
        _ = run(Rig.provided())
        CodeRig.expectSuccess(&run)
      }
    }
    var app = try Rig.app()
    _ = app(Rig.provided())
    #expect(app(Rig.refused(.sessionExpired, "SESSION_EXPIRED")) == [.save])
    #expect(app.stage == .failed && app.flow.error == .sessionExpired && !app.flow.canRetry)
  }

  // MARK: One exchange of a code

  @Test("B096: one code at a time; what is said about it after the answer is ignored")
  func singleFlight() throws {
    for var run in try Rig.allWaiting() {
      #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
      for code in [Rig.code, Rig.wrongCode] { #expect(run(Rig.provided(code)) == [.refuse(.noSuchFlow)]) }
      #expect(run(.exchanged(FlowRig.grant, uid: "u1")) == [.save, .lookUp(FlowRig.grant, delay: 0)])
      let before = run.flow
      #expect(run(Rig.refused(.sessionExpired, "SESSION_EXPIRED")) == [])
      #expect(run(Rig.refused()) == [] && run(Rig.provided()) == [.refuse(.noSuchFlow)])
      #expect(run.flow == before)
      #expect(run(.lookedUp(User(uid: "u1"))) == [.adopt(User(uid: "u1"), FlowRig.grant)])
      #expect(run(Rig.refused(.sessionExpired, "SESSION_EXPIRED")) == [])
      #expect(run.stage == .succeeded && run.flow.error == nil)
    }
  }

  @Test("a code that was given before a message came belongs to nothing")
  func tooEarly() throws {
    var run = try Rig.starting()
    #expect(run(Rig.provided()) == [.refuse(.noSuchFlow)])
    _ = run(Rig.sendFailed(.networkUnavailable))
    #expect(run.stage == .waitingForCode && run(Rig.provided()) == [.refuse(.noSuchFlow)])
  }

  // MARK: Trouble

  // Contract, Flow: a transient fault returns to the waiting stage with `error` set; it never ends a flow.
  @Test(
    "trouble with the code: it waits for it again, and none is counted",
    arguments: [AuthError.networkUnavailable, .serviceUnavailable, .tooManyRequests, .quotaExceeded, .keyringLocked])
  func trouble(_ error: AuthError) throws {
    for var run in try Rig.allWaiting() {
      run.now = 1500
      _ = run(Rig.provided())
      #expect(run(.exchangeFailed(AuthFailure(error))) == [.save])
      #expect(run.stage == .waitingForCode && run.flow.error == error && run.flow.expiresAt == 2100)
      #expect(run.flow.verification?.attemptsLeft == 5 && run.flow.verification?.code == nil)
      #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
      CodeRig.expectSuccess(&run)
    }
  }

  @Test(
    "trouble with the message: it may be asked for again at once",
    arguments: [AuthError.networkUnavailable, .serviceUnavailable, .quotaExceeded, .rateLimited])
  func noMessageYet(_ error: AuthError) throws {
    for purpose in CodeRig.phones {
      var run = try Rig.starting(purpose)
      #expect(run(Rig.sendFailed(error)) == [.save])
      #expect(run.stage == .waitingForCode && run.flow.error == error && run.flow.canResendAt == 1000)
      #expect(run(.resendRequested) == [.save, .sendCode])
      #expect(run(Rig.sent) == [.save])
      #expect(run.flow.error == nil && run.flow.canResendAt == 1060)
    }
  }

  // Contract, Flow: a transient fault never ends a flow.
  @Test("an authenticator app's secret that can't be had is asked for again, ever later, up to a minute")
  func noSecretYet() throws {
    var run = try Rig.fresh(.enrollFactor, method: .totp)
    _ = run(.started)
    let delays: [Int64] = [2, 4, 8, 16, 32, 60, 60]
    for delay in delays {
      #expect(run(Rig.sendFailed(.networkUnavailable)) == [.startTOTPEnrollment(delay: delay)])
      #expect(run.stage == .starting && run.flow.error == .networkUnavailable && run.flow.sequence == 2)
    }
    #expect(run(Rig.sendFailed(.tooManyRequests, retryAfter: 7)) == [.startTOTPEnrollment(delay: 7)])
    #expect(try run.restart() == [.startTOTPEnrollment(delay: 0)])
    #expect(run(Rig.started) == [.save])
    #expect(run.stage == .waitingForCode && run.flow.error == nil)
  }

  // MARK: Another message

  @Test("another message a minute after the last, and never while one is being sent or a code is at the server")
  func resend() throws {
    var run = try Rig.starting()
    #expect(run(.resendRequested) == [.refuse(.rateLimited)])
    _ = run(Rig.sent)
    #expect(run(.resendRequested) == [.refuse(.rateLimited)])
    run.now = 1059
    #expect(run(.resendRequested) == [.refuse(.rateLimited)])
    run.now = 1060
    #expect(run(.resendRequested) == [.save, .sendCode])
    #expect(run.stage == .starting && run.flow.expiresAt == 1660)
    #expect(run(Rig.provided()) == [.refuse(.noSuchFlow)] && run(.resendRequested) == [.refuse(.rateLimited)])
    _ = run(Rig.sentAgain)
    #expect(run.flow.canResendAt == 1120 && run.flow.verification?.sessionInfo == Rig.otherSession)
    run.now = 1200
    _ = run(Rig.provided())
    #expect(run(.resendRequested) == [.refuse(.rateLimited)])
    _ = run(Rig.refused())
    // Wrong codes of the last message don't count against the next one.
    #expect(run(.resendRequested) == [.save, .sendCode])
    _ = run(Rig.sent)
    #expect(run.flow.verification?.attemptsLeft == 5)
  }
}
