import AuthCore
import LinkHandler
import Testing

/// The page, restarts, ends, and conflicts, on the way to the second factor.
extension SecondFactorTests {
  // MARK: The page that tells people from programs

  @Test("the page, its token, the message", arguments: FirstFactor.allCases)
  func page(_ first: FirstFactor) throws {
    var run = try Rig.atPage(first)
    #expect(run.stage == .waitingForCaptcha && run.flow.page == CodeRig.page && run.flow.expiresAt == 1600)
    #expect(run(CodeRig.returned(token: CodeRig.token)) == [.save, .sendCode])
    #expect(run.stage == .starting && run.flow.verification?.recaptchaToken == CodeRig.token)
    #expect(run(CodeRig.returned(token: CodeRig.token)) == [])
    #expect(run(CodeRig.sent) == [.save])
    _ = run(Rig.provided())
    Rig.expectSuccess(&run, first)
  }

  @Test("who closes the page, or whose page fails, is back at the choice: the first factor isn't lost")
  func pageLeft() throws {
    let ends: [(FlowEvent, AuthError?)] = [
      (CodeRig.returned(error: "auth/user-cancelled"), nil), (.authorization(.browserRefused), nil),
      (CodeRig.returned(), .captchaFailed), (CodeRig.returned(error: "unknown"), .captchaFailed),
    ]
    for (event, error) in ends {
      var run = try Rig.atPage()
      #expect(run(event) == [.save])
      #expect(run.stage == .secondFactorRequired && run.flow.error == error && run.flow.verification == nil)
      #expect(run(Rig.choose(Rig.phone)) == [.save, .sendCode])
    }
    var twice = try Rig.atPage()
    _ = twice(CodeRig.returned(token: CodeRig.token))
    #expect(twice(CodeRig.pageWanted) == [.save])
    #expect(twice.stage == .secondFactorRequired && twice.flow.error == .captchaFailed)
  }

  @Test("trouble at the page, and no browser for it, leave the person there")
  func pageTrouble() throws {
    let events: [(FlowEvent, AuthError)] = [
      (CodeRig.returned(error: "auth/network-request-failed"), .networkUnavailable),
      (.authorization(.browserMissing), .handlerMissing),
    ]
    for (event, error) in events {
      var run = try Rig.atPage(.provider)
      #expect(run(event) == [.save])
      #expect(run.stage == .waitingForCaptcha && run.flow.error == error && run(event) == [])
      #expect(run(CodeRig.returned(token: CodeRig.token)) == [.save, .sendCode])
    }
    for var run in try [Rig.waiting(.provider), Rig.choosing(.provider)] {
      let before = run.flow
      for event in [AuthorizationEvent.browserMissing, .browserRefused] { #expect(run(.authorization(event)) == []) }
      #expect(run.flow == before)
    }
  }

  @Test("answers about a message that nobody waits for change nothing")
  func lateMessages() throws {
    let late = [
      CodeRig.sentAgain, CodeRig.pageWanted, CodeRig.pageReady, CodeRig.sendFailed(.networkUnavailable),
      CodeRig.sendFailed(.sessionExpired), CodeRig.sendFailed(.userDisabled),
    ]
    for var run in try Rig.lively() where run.stage != .starting {
      let before = run.flow
      for event in late { #expect(run(event) == [], "\(event) at \(before.stage)") }
      #expect(run.flow == before)
    }
  }

  // MARK: Restarts and ends

  @Test("found after a crash at each stage, it goes on where it stood", arguments: FirstFactor.allCases)
  func restored(_ first: FirstFactor) throws {
    for var run in try Rig.lively(first) {
      let stage = run.stage
      let actions = try run.restart()
      switch stage {
      case .starting:
        #expect(actions == [.save, .sendCode])
        // A message costs: once is enough unasked.
        var again = run
        #expect(try again.restart() == [.save] && again.stage == .secondFactorRequired)
        #expect(again.flow.error == .networkUnavailable)
      case .exchanging: #expect(actions == [.save, .verifyCode(Rig.code)])
      default: #expect(actions == [])
      }
      #expect(run.stage == stage && run.flow.secondFactor?.credential == Rig.credential)
      if stage == .secondFactorRequired || stage == .waitingForCaptcha { _ = run(Rig.choose(Rig.app)) }
      if stage == .starting { _ = run(CodeRig.sent) }
      if stage != .exchanging { #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)]) }
      Rig.expectSuccess(&run, first)
    }
  }

  @Test("a code is shown to the server once more after a restart, and then the person gives it again")
  func restoredTwice() throws {
    for isApp in [false, true] {
      var run = try Rig.exchanging(byApp: isApp)
      _ = try run.restart()
      #expect(try run.restart() == [.save])
      #expect(run.stage == .waitingForCode && run.flow.error == .networkUnavailable)
      #expect(run.flow.verification?.code == nil)
      _ = run(Rig.provided())
      Rig.expectSuccess(&run)
    }
  }

  @Test("found with the answer: the account is looked up", arguments: FirstFactor.allCases)
  func restoredAnswer(_ first: FirstFactor) throws {
    for isApp in [false, true] {
      var run = try Rig.exchanging(first, byApp: isApp)
      _ = run(.exchanged(FlowRig.grant, uid: nil))
      #expect(try run.restart() == [.lookUp(FlowRig.grant, delay: 0)])
      #expect(run(.lookUpFailed(AuthFailure(.networkUnavailable))) == [.lookUp(FlowRig.grant, delay: 2)])
    }
  }

  @Test(
    "cancelled or overdue at each stage",
    arguments: [(FlowEvent.cancelRequested, FlowStage.cancelled), (.overdue, .expired)])
  func ended(_ event: FlowEvent, _ stage: FlowStage) throws {
    for first in FirstFactor.allCases {
      for var run in try Rig.lively(first) {
        run.now = 5000
        #expect(run(event) == [.save])
        #expect(run.stage == stage && run.flow.endedAt == 5000 && !run.flow.canRetry)
        #expect(run.flow.secretsLeft == [] && run.flow.resultUID == nil)
        let before = run.flow
        for late in [.exchanged(FlowRig.grant, uid: nil), CodeRig.sent, Rig.wanted(), .restored, CodeRig.pageReady] {
          #expect(run(late) == [])
        }
        #expect(run(Rig.provided()) == [.refuse(.noSuchFlow)] && run(Rig.choose(Rig.app)) == [.refuse(.noSuchFlow)])
        #expect(run.flow == before)
      }
    }
  }

  @Test("found overdue: ended, at every stage", arguments: FirstFactor.allCases)
  func restoredOverdue(_ first: FirstFactor) throws {
    for run in try Rig.lively(first) {
      var again = try run.restarted()
      again.now = 5000
      #expect(again(.restored) == [.save])
      #expect(again.stage == .expired && again.flow.secretsLeft == [])
    }
  }

  // MARK: Conflicts

  @Test("B099: what waits for the owner's sign-in is linked after it, whatever factors that one needed")
  func linksAfterSecondFactor() throws {
    var conflict = try ProviderRig.offered()
    _ = conflict(
      ProviderRig.found(
        .accountExistsWithDifferentCredential, email: FirstFactor.address, credential: ProviderRig.pending))
    var signIn = try Rig.exchanging(.password, byApp: true)
    Rig.expectSuccess(&signIn)
    let owner = ProviderRig.user("u1", email: FirstFactor.address)
    #expect(conflict(.conflict(.signedIn(owner))) == [.save, ProviderRig.signIn(ProviderRig.pending)])
    #expect(conflict.flow.linkUID == "u1" && conflict.flow.protectedUID == "u1")
    // Where linking wants a second factor of its own, it's asked for once and the link stands.
    var again = conflict
    #expect(again(Rig.wanted()) == [.save])
    #expect(try again.restart() == [])
    _ = again(Rig.choose(Rig.app))
    _ = again(Rig.provided())
    for var run in [conflict, again] {
      #expect(run(.exchanged(FlowRig.grant, uid: nil)) == [.save, .lookUp(FlowRig.grant, delay: 0)])
      #expect(run(.lookedUp(owner)) == [.adopt(owner, FlowRig.grant)])
      #expect(run.stage == .succeeded && run.flow.secretsLeft == [])
    }
  }

  @Test("B099: who fails at the second factor leaves the accounts as they were", arguments: [false, true])
  func failsAtSecondFactor(isApp: Bool) throws {
    var run = try Rig.exchanging(.linkedProvider, byApp: isApp)
    #expect(run(.exchangeFailed(Rig.overs[0])) == [.save])
    #expect(run.stage == .failed && run.flow.resultUID == nil && run.flow.secretsLeft == [])
  }

  @Test("whose credential it is was found out by both factors: who switches then needs neither again")
  func foundOut() throws {
    var run = try ProviderRig.offered(purpose: .link)
    _ = run(.exchangeFailed(AuthFailure(.serviceUnavailable)))
    // The unanswered try may have linked it: whoever it signs in has it.
    let found = ProviderRig.found(.credentialAlreadyInUse, credential: ProviderRig.pending)
    #expect(run(found) == [.save, ProviderRig.signIn(ProviderRig.pending)])
    _ = run(Rig.wanted([Rig.app]))
    _ = run(Rig.provided())
    #expect(run(.exchanged(FlowRig.grant, uid: "u2")) == [.save])
    #expect(run.stage == .conflict && run.flow.conflictOptions == [.switch, .keep, .cancel])
    var kept = run
    #expect(kept(.conflict(.resolved(.keep, current: nil))) == [.save] && kept.flow.secretsLeft == [])
    #expect(try run.restart() == [])
    #expect(run(.conflict(.resolved(.switch, current: nil))) == [.save, .lookUp(FlowRig.grant, delay: 0)])
    #expect(try run.restart() == [.lookUp(FlowRig.grant, delay: 0)])
    #expect(run(.lookedUp(User(uid: "u2"))) == [.adopt(User(uid: "u2"), FlowRig.grant)])
    #expect(run.flow.secretsLeft == [])
  }

  @Test("an account that an unanswered sign-up may have made isn't new where it has a second factor")
  func oldAccount() throws {
    var run = try FlowRig(.password) {
      $0.email = FirstFactor.address
      $0.wantsNewPassword = true
    }
    for _ in 0..<2 {
      _ = run(.passwordProvided(Secret("p")))
      _ = run(.exchangeFailed(AuthFailure(run.flow.attempts == 1 ? .networkUnavailable : .emailAlreadyInUse)))
    }
    #expect(run.stage == .exchanging)
    _ = run(Rig.wanted([Rig.app]))
    _ = run(Rig.provided())
    Rig.expectSuccess(&run)
    #expect(!run.flow.isNewUser)
  }

  @Test("a guest who found an account with a second factor keeps the session until the change, and may stay")
  func guestStays() throws {
    for first in FirstFactor.allCases where first.isGuest {
      var run = try Rig.exchanging(first)
      _ = run(.exchanged(FlowRig.grant, uid: nil))
      #expect(run(.lookedUp(User(uid: "e1"), guest: "g1")) == [.save, .resolveLater(seconds: 5)])
      #expect(try run.restart() == [.resolveLater(seconds: 5)])
      #expect(run(.conflict(.resolved(.keep, current: nil))) == [.save])
      #expect(run.stage == .cancelled && run.flow.secretsLeft == [])
    }
  }
}
