import AuthCore
import LinkHandler
import Testing

/// Choices, wrong codes, old messages, trouble and ends on the way to the second factor.
extension SecondFactorTests {
  // MARK: Choices

  @Test("another factor can be chosen wherever the person has to do something")
  func otherChoice() throws {
    for run in try [Rig.choosing(), Rig.waiting(), Rig.waitingForApp(), Rig.atPage()] {
      var byApp = run
      #expect(byApp(Rig.choose(Rig.app)) == [.save])
      #expect(byApp.stage == .waitingForCode && byApp.flow.secondFactor?.choice == Rig.app)
      #expect(byApp.flow.canResendAt == nil && byApp(.resendRequested) == [.refuse(.noSuchFlow)])
      // The page that was left behind is nobody's.
      #expect(byApp(CodeRig.returned(token: CodeRig.token)) == [])
      #expect(byApp(Rig.provided()) == [.save, .verifyCode(Rig.code)])
      Rig.expectSuccess(&byApp)
      var byPhone = run
      #expect(byPhone(Rig.choose(Rig.otherPhone)) == [.save, .sendCode])
      #expect(byPhone.stage == .starting && byPhone.flow.secondFactor?.choice == Rig.otherPhone)
      #expect(byPhone.flow.canResendAt == nil && byPhone.flow.verification?.page == nil)
    }
  }

  @Test("while a message is being sent or a code is at the server, nothing else can be chosen")
  func noChoiceNow() throws {
    for var run in try [Rig.starting(), Rig.exchanging(), Rig.exchanging(byApp: true)] {
      let before = run.flow
      for factor in Rig.all { #expect(run(Rig.choose(factor)) == [.refuse(.noSuchFlow)]) }
      #expect(run.flow == before)
    }
  }

  @Test("a factor that isn't one of the account's isn't found")
  func unknownFactor() throws {
    for var run in try [Rig.choosing(), Rig.waiting(), Rig.atPage()] {
      let before = run.flow
      #expect(run(.verification(.factorChosen("m9"))) == [.refuse(.factorNotFound)])
      #expect(run.flow == before)
    }
  }

  @Test("the same phone gets another message after a minute, whether it's chosen again or Resend is asked for")
  func sameChoice() throws {
    for event in [Rig.choose(Rig.phone), .resendRequested] {
      var run = try Rig.waiting()
      run.now = 1059
      #expect(run(event) == [.refuse(.rateLimited)])
      run.now = 1060
      #expect(run(event) == [.save, .sendCode])
      #expect(run.stage == .starting && run(CodeRig.sentAgain) == [.save])
      #expect(run.flow.canResendAt == 1120 && run.flow.verification?.sessionInfo == CodeRig.otherSession)
    }
  }

  @Test("an app that is chosen again allows no more wrong codes than before")
  func sameApp() throws {
    var run = try Rig.waitingForApp()
    _ = run(Rig.provided(Rig.wrongCode))
    _ = run(CodeRig.refused())
    #expect(run(Rig.choose(Rig.app)) == [.save])
    #expect(run.flow.verification?.attemptsLeft == 4 && run.flow.error == nil)
  }

  // Attacks found that each detour gave five more tries, and a message at once.
  @Test("going to another factor and back gives no more tries, and no earlier message")
  func detours() throws {
    var run = try Rig.waiting()
    let moment = try #require(run.flow.canResendAt)
    for detour in [Rig.otherPhone, Rig.app] {
      #expect(run(Rig.choose(detour)).first == .save)
      if run.stage == .starting { _ = run(CodeRig.sent) }
      #expect(run(Rig.choose(Rig.phone)) == [.refuse(.rateLimited)])
    }
    for tries in [4, 3, 2] {
      _ = run(Rig.provided(Rig.wrongCode))
      _ = run(CodeRig.refused())
      #expect(run.flow.verification?.attemptsLeft == tries)
    }
    run.now = moment
    #expect(run(Rig.choose(Rig.phone)) == [.save, .sendCode])
    _ = run(CodeRig.sent)
    #expect(run.flow.verification?.attemptsLeft == 5, "a new message's code is another one")
    #expect(run(Rig.choose(Rig.app)) == [.save])
    #expect(run.flow.verification?.attemptsLeft == 2)
    for _ in 0..<2 {
      _ = run(Rig.provided(Rig.wrongCode))
      _ = run(CodeRig.refused())
    }
    #expect(run.stage == .failed && run.flow.errorCause == "cause.last-code")
  }

  @Test("a phone that no message could be sent to isn't kept waiting for the one to another")
  func missedChoice() throws {
    var run = try Rig.waiting()
    _ = run(Rig.choose(Rig.otherPhone))
    #expect(run(CodeRig.sendFailed(.networkUnavailable)) == [.save])
    #expect(run.stage == .secondFactorRequired && run.flow.error == .networkUnavailable)
    #expect(run(Rig.choose(Rig.otherPhone)) == [.save, .sendCode])
  }

  @Test("at the choice, and of an authenticator app, no message can be sent again")
  func noResend() throws {
    for var run in try [Rig.choosing(), Rig.waitingForApp(), Rig.exchanging(byApp: true)] {
      #expect(run(.resendRequested) == [.refuse(.noSuchFlow)])
    }
    for var run in try [Rig.starting(), Rig.exchanging()] {
      #expect(run(.resendRequested) == [.refuse(.rateLimited)])
    }
  }

  // MARK: Wrong codes

  @Test("B101: a wrong code counts down, and the pending sign-in stays", arguments: [false, true])
  func wrongCode(isApp: Bool) throws {
    var run = try isApp ? Rig.waitingForApp() : Rig.waiting()
    for left in [4, 3, 2, 1] {
      #expect(run(Rig.provided(Rig.wrongCode)) == [.save, .verifyCode(Rig.wrongCode)])
      #expect(run(CodeRig.refused()) == [.save])
      #expect(run.stage == .waitingForCode && run.flow.error == .invalidVerificationCode)
      #expect(run.flow.verification?.attemptsLeft == left && run.flow.verification?.code == nil)
    }
    var right = run
    _ = right(Rig.provided())
    Rig.expectSuccess(&right)

    _ = run(Rig.provided(Rig.wrongCode))
    #expect(run(CodeRig.refused()) == [.save])
    #expect(run.flow.error == .invalidVerificationCode)
    if isApp {
      #expect(run.stage == .failed && !run.flow.canRetry && run.flow.secretsLeft == [])
      #expect(run(.resendRequested) == [.refuse(.noSuchFlow)])
    } else {
      #expect(run.stage == .secondFactorRequired && run(Rig.provided()) == [.refuse(.noSuchFlow)])
      // Another factor at once, the same phone's next message in its time.
      #expect(run(Rig.choose(Rig.phone)) == [.refuse(.rateLimited)])
      var other = run
      #expect(other(Rig.choose(Rig.app)) == [.save])
      run.now = 1060
      #expect(run(Rig.choose(Rig.phone)) == [.save, .sendCode])
      _ = run(CodeRig.sent)
      #expect(run.flow.verification?.attemptsLeft == 5 && run.flow.error == nil)
    }
  }

  @Test("B096: one code at a time, and what is said about it after the answer is ignored", arguments: [false, true])
  func singleFlight(isApp: Bool) throws {
    var run = try Rig.exchanging(byApp: isApp)
    #expect(run(Rig.provided()) == [.refuse(.noSuchFlow)])
    _ = run(.exchanged(FlowRig.grant, uid: nil))
    let before = run.flow
    for event in [CodeRig.refused(.sessionExpired, "SESSION_EXPIRED"), CodeRig.refused(), Rig.wanted()] {
      #expect(run(event) == [])
    }
    #expect(run(Rig.provided()) == [.refuse(.noSuchFlow)] && run(Rig.choose(Rig.app)) == [.refuse(.noSuchFlow)])
    #expect(run.flow == before)
  }

  // MARK: What is over

  @Test("a message that is too old leads back to the choice", arguments: SecondFactorRig.expiredMessages)
  func expiredMessage(_ failure: AuthFailure) throws {
    var run = try Rig.exchanging()
    run.now = 1300
    #expect(run(.exchangeFailed(failure)) == [.save])
    #expect(run.stage == .secondFactorRequired && run.flow.error == .sessionExpired && run.flow.expiresAt == 1900)
    #expect(run.flow.secondFactor?.credential == Rig.credential && run.flow.verification == nil)
    #expect(run(Rig.choose(Rig.phone)) == [.save, .sendCode])
    #expect(run.flow.error == nil)
    _ = run(CodeRig.sentAgain)
    _ = run(Rig.provided())
    Rig.expectSuccess(&run)
  }

  @Test(
    "B101: where the first factor counts no more, the sign-in begins anew", arguments: SecondFactorRig.overs,
    FirstFactor.allCases)
  func over(_ failure: AuthFailure, _ first: FirstFactor) throws {
    var message = try Rig.starting(first)
    #expect(message(.verification(.sendFailed(failure))) == [.save])
    var runs = [message]
    for isApp in [false, true] {
      var run = try Rig.exchanging(first, byApp: isApp)
      #expect(run(.exchangeFailed(failure)) == [.save])
      runs.append(run)
    }
    for var run in runs {
      #expect(run.stage == .failed && run.flow.error == .sessionExpired && !run.flow.canRetry)
      #expect(run.flow.secretsLeft == [])
      #expect(run(.resendRequested) == [.refuse(.noSuchFlow)])
    }
  }

  @Test(
    "B101: an app has no session of its own, nor has a message that is still to be sent: it's the sign-in that is over",
    arguments: SecondFactorRig.expiredMessages)
  func onlySession(_ failure: AuthFailure) throws {
    var app = try Rig.exchanging(byApp: true)
    #expect(app(.exchangeFailed(failure)) == [.save])
    var message = try Rig.starting()
    #expect(message(.verification(.sendFailed(failure))) == [.save])
    for run in [app, message] {
      #expect(run.stage == .failed && run.flow.error == .sessionExpired && !run.flow.canRetry)
    }
  }

  @Test("an account that is gone or closed ends it", arguments: [AuthError.userDisabled, .userNotFound])
  func accountGone(_ error: AuthError) throws {
    var message = try Rig.starting()
    _ = message(CodeRig.sendFailed(error))
    var code = try Rig.exchanging()
    _ = code(CodeRig.refused(error))
    for run in [message, code] {
      #expect(run.stage == .failed && run.flow.error == error && run.flow.secretsLeft == [])
    }
  }

  @Test(
    "a factor that can't be used leaves the others",
    arguments: [AuthError.factorNotFound, .invalidPhoneNumber, .operationNotAllowed, .captchaRequired, .handlerMissing])
  func unusable(_ error: AuthError) throws {
    var run = try Rig.starting()
    #expect(run(CodeRig.sendFailed(error)) == [.save])
    var code = try Rig.exchanging()
    #expect(code(CodeRig.refused(error)) == [.save])
    for var run in [run, code] {
      #expect(run.stage == .secondFactorRequired && run.flow.error == error)
      #expect(run(Rig.choose(Rig.app)) == [.save])
      _ = run(Rig.provided())
      Rig.expectSuccess(&run)
    }
  }

  // MARK: Trouble

  @Test("B097: after a rate limit the same phone is asked for again in the server's time, another factor at once")
  func secondFactorRateLimit() throws {
    var run = try Rig.starting()
    #expect(run(CodeRig.sendFailed(.tooManyRequests, retryAfter: 90)) == [.save])
    #expect(run.stage == .secondFactorRequired && run.flow.error == .tooManyRequests)
    run.now = 1089
    #expect(run(Rig.choose(Rig.phone)) == [.refuse(.rateLimited)])
    var other = run
    #expect(other(Rig.choose(Rig.app)) == [.save])
    run.now = 1090
    #expect(run(Rig.choose(Rig.phone)) == [.save, .sendCode])
  }

  @Test(
    "trouble loses nothing: the code is waited for again, a message can be asked for again",
    arguments: [AuthError.networkUnavailable, .serviceUnavailable, .tooManyRequests, .quotaExceeded])
  func secondFactorTrouble(_ error: AuthError) throws {
    for isApp in [false, true] {
      var run = try Rig.exchanging(byApp: isApp)
      run.now = 1300
      #expect(run(CodeRig.refused(error)) == [.save])
      #expect(run.stage == .waitingForCode && run.flow.error == error && run.flow.expiresAt == 1900)
      #expect(run.flow.verification?.attemptsLeft == 5 && run.flow.verification?.code == nil)
      _ = run(Rig.provided())
      Rig.expectSuccess(&run)
    }
    var run = try Rig.starting()
    #expect(run(CodeRig.sendFailed(error)) == [.save])
    #expect(run.stage == .secondFactorRequired && run.flow.error == error)
    #expect(run(Rig.choose(Rig.phone)) == [.save, .sendCode])
    _ = run(CodeRig.sent)
    _ = run(Rig.provided())
    Rig.expectSuccess(&run)
  }
}
