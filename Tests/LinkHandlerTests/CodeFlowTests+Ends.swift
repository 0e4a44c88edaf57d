import AuthCore
import LinkHandler
import Testing

/// Restarts, ends, and what comes at the wrong time.
extension CodeFlowTests {
  // MARK: After a restart

  @Test("found while a message was being asked for: it's asked for again")
  func restoredStarting() throws {
    for purpose in CodeRig.phones {
      var run = try Rig.starting(purpose)
      #expect(try run.restart() == [.save, .sendCode])
      // A message costs: once is enough unasked.
      var again = run
      #expect(try again.restart() == [.save] && again.stage == .waitingForCode)
      #expect(again.flow.error == .networkUnavailable && again.flow.canResendAt == again.now)
      #expect(run(Rig.sent) == [.save])
      var page = try Rig.atPage(purpose)
      _ = page(Rig.returned(token: Rig.token))
      // With the token of the page, which nobody has to do again.
      #expect(try page.restart() == [.save, .sendCode])
      #expect(page.flow.verification?.recaptchaToken == Rig.token)
    }
    var app = try Rig.fresh(.enrollFactor, method: .totp)
    _ = app(.started)
    #expect(try app.restart() == [.startTOTPEnrollment(delay: 0)])
    #expect(app(Rig.started) == [.save])
  }

  @Test("found waiting: it waits on, and the person goes on where they were")
  func restoredWaiting() throws {
    for var run in try Rig.allWaiting() {
      _ = run(Rig.provided(Rig.wrongCode))
      _ = run(Rig.refused())
      #expect(try run.restart() == [])
      #expect(run.stage == .waitingForCode && run.flow.verification?.attemptsLeft == 4)
      _ = run(Rig.provided())
      CodeRig.expectSuccess(&run)
    }
    var page = try Rig.atPage()
    #expect(try page.restart() == [])
    #expect(page(Rig.returned(token: Rig.token)) == [.save, .sendCode])
  }

  // Behaviour, Pending flows 5: a row found in `exchanging` is retried once.
  @Test("found with a code at the server: shown once more, whose answer tells; after that the person gives it again")
  func restoredExchanging() throws {
    for var run in try Rig.allWaiting() {
      _ = run(Rig.provided())
      #expect(try run.restart() == [.save, .verifyCode(Rig.code)])
      var done = run
      CodeRig.expectSuccess(&done)
      var spent = run
      #expect(spent(Rig.refused(.sessionExpired, "INVALID_SESSION_INFO")) == [.save])
      #expect(spent.stage == .failed && spent.flow.error == .sessionExpired)
      #expect(spent.flow.canRetry == (spent.flow.method == .phone))

      #expect(try run.restart() == [.save])
      #expect(run.stage == .waitingForCode && run.flow.error == .networkUnavailable)
      #expect(run.flow.verification?.code == nil && run.flow.verification?.attemptsLeft == 5)
      _ = run(Rig.provided())
      // The next code has its own try.
      #expect(try run.restart() == [.save, .verifyCode(Rig.code)])
    }
  }

  @Test("found with the answer: the account is looked up, and no code is shown again")
  func restoredAnswer() throws {
    for var run in try Rig.allWaiting() {
      _ = run(Rig.provided())
      _ = run(.exchanged(FlowRig.grant, uid: "u1"))
      #expect(try run.restart() == [.lookUp(FlowRig.grant, delay: 0)])
      #expect(run(.lookedUp(User(uid: "u1"))) == [.adopt(User(uid: "u1"), FlowRig.grant)])
    }
  }

  // MARK: Ends

  private func lively() throws -> [FlowRig] {
    var app = try Rig.fresh(.enrollFactor, method: .totp)
    _ = app(.started)
    var answered = try Rig.exchanging()
    _ = answered(.exchanged(FlowRig.grant, uid: "u1"))
    var parked = try Rig.starting(.enrollFactor)
    _ = parked(Rig.sendFailed(.requiresRecentLogin))
    var conflict = try Rig.exchanging(.link)
    _ = conflict(Rig.numberTaken)
    return try [
      Rig.fresh(), Rig.starting(), Rig.atPage(), Rig.exchanging(), app, answered, parked, conflict,
    ] + Rig.allWaiting()
  }

  @Test(
    "cancelled or overdue at each stage",
    arguments: [(FlowEvent.cancelRequested, FlowStage.cancelled), (.overdue, .expired)])
  func ended(_ event: FlowEvent, _ stage: FlowStage) throws {
    for var run in try lively() {
      let sequence = run.flow.sequence
      run.now = 5000
      #expect(run(event) == [.save])
      #expect(run.stage == stage && run.flow.endedAt == 5000 && run.flow.sequence == sequence + 1)
      #expect(run.flow.secretsLeft == [] && run.flow.resultUID == nil && !run.flow.canRetry)
      for late in Self.answers { #expect(run(late) == []) }
      for late in [.resendRequested, Rig.provided()] { #expect(run(late) == [.refuse(.noSuchFlow)]) }
      #expect(run.stage == stage)
    }
  }

  @Test("found overdue: ended, at every stage")
  func restoredOverdue() throws {
    for run in try lively() {
      var again = try run.restarted()
      again.now = 5000
      #expect(again(.restored) == [.save])
      #expect(again.stage == .expired && again.flow.secretsLeft == [])
    }
  }

  static let answers: [FlowEvent] = [
    Rig.sent, Rig.pageWanted, Rig.pageReady, Rig.returned(token: Rig.token), Rig.sendFailed(.networkUnavailable),
    Rig.sendFailed(.userDisabled), Rig.started, Rig.numberTaken, .exchanged(FlowRig.grant, uid: "u1"),
    Rig.refused(), .lookedUp(User(uid: "u1")), .lookUpFailed(AuthFailure(.userDisabled)), .reauthenticated,
    .conflict(.timeOver), .started, .restored, .overdue,
  ]

  // MARK: What comes at the wrong time

  @Test("answers that nobody waits for any more change nothing")
  func strayAnswers() throws {
    let stray: [FlowEvent] = [
      Rig.sentAgain, Rig.pageWanted, Rig.pageReady, Rig.returned(token: Rig.token), Rig.returned(),
      Rig.sendFailed(.networkUnavailable), Rig.sendFailed(.userDisabled), Rig.sendFailed(.requiresRecentLogin),
      Rig.started, .reauthenticated, .started, .conflict(.timeOver), .lookedUp(User(uid: "u1")),
      .lookUpFailed(AuthFailure(.userDisabled)), .linkOpened(code: Rig.code), .performed, .mailSent,
    ]
    for var run in try Rig.allWaiting() {
      for isExchanging in [false, true] {
        if isExchanging { _ = run(Rig.provided()) }
        let before = run.flow
        for event in stray { #expect(run(event) == [], "\(event)") }
        if !isExchanging {
          for event in [.exchanged(FlowRig.grant, uid: "u1"), Rig.refused(), Rig.numberTaken] {
            #expect(run(event) == [])
          }
        }
        #expect(run.flow == before)
      }
    }
  }

  @Test("an answer counts once")
  func doubledAnswers() throws {
    for var run in try Rig.allWaiting() {
      _ = run(Rig.provided())
      _ = run(.exchanged(FlowRig.grant, uid: "u1"))
      let before = run.flow
      let other = TokenGrant(idToken: Secret("X"), refreshToken: Secret("Y"), expiresIn: nil)
      for event in [.exchanged(other, uid: "u2"), Rig.refused(), Rig.numberTaken, Rig.sentAgain] {
        #expect(run(event) == [])
      }
      #expect(run.flow == before)
    }
  }

  @Test("a secret for an app isn't mistaken for a message, nor a message for a secret")
  func kinds() throws {
    var phone = try Rig.starting()
    #expect(phone(Rig.started) == [] && phone.stage == .starting)
    var app = try Rig.fresh(.enrollFactor, method: .totp)
    _ = app(.started)
    for event in [Rig.sent, Rig.pageReady] { #expect(app(event) == []) }
    #expect(app.stage == .starting)
    // A page that would help with a secret doesn't exist: nobody is kept waiting for it.
    #expect(app(Rig.pageWanted) == [.save])
    #expect(app.stage == .failed && app.flow.error == .captchaRequired)
  }

  @Test(
    "what isn't asked for is refused, and changes nothing",
    arguments: [
      FlowEvent.emailProvided("a@example.com"), .passwordProvided(Secret("p")), .confirmed,
      .verification(.factorChosen("m1")), .conflict(.resolved(.newLink, current: nil)),
    ])
  func notAsked(_ event: FlowEvent) throws {
    for var run in try lively() {
      let before = run.flow
      #expect(run(event) == [.refuse(.noSuchFlow)])
      #expect(run.flow == before)
    }
  }
}
