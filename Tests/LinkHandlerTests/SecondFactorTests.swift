import AuthCore
import LinkHandler
import Testing

/// A second factor behind each first one (behaviour: Second factors, Pending flows 6; identity-toolkit 2.18, 8.9).
@Suite("Second factors", .timeLimit(.minutes(1)))
struct SecondFactorTests {
  typealias Rig = SecondFactorRig

  // MARK: The good ways

  @Test("a message to the phone that was chosen, its code, the account", arguments: FirstFactor.allCases)
  func byPhone(_ first: FirstFactor) throws {
    var run = try first.exchanging()
    let sequence = run.flow.sequence
    run.now = 1200
    #expect(run(Rig.wanted()) == [.save])
    #expect(run.stage == .secondFactorRequired && run.flow.expiresAt == 1800 && run.flow.sequence == sequence + 1)
    #expect(run.flow.error == nil && run.flow.canResendAt == nil && run.flow.verification == nil)
    #expect(run.flow.secondFactor?.credential == Rig.credential && run.flow.secondFactor?.factors == Rig.all)
    #expect(run.flow.secondFactor?.choice == nil)

    run.now = 1300
    #expect(run(Rig.choose(Rig.otherPhone)) == [.save, .sendCode])
    #expect(run.stage == .starting && run.flow.secondFactor?.choice == Rig.otherPhone && run.flow.expiresAt == 1900)
    run.now = 1310
    #expect(run(CodeRig.sent) == [.save])
    #expect(run.stage == .waitingForCode && run.flow.canResendAt == 1370 && run.flow.expiresAt == 1910)
    #expect(run.flow.verification?.attemptsLeft == 5)
    #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
    Rig.expectSuccess(&run, first)
  }

  @Test("the code of an authenticator app, at once", arguments: FirstFactor.allCases)
  func byApp(_ first: FirstFactor) throws {
    var run = try Rig.choosing(first)
    run.now = 1300
    #expect(run(Rig.choose(Rig.app)) == [.save])
    #expect(run.stage == .waitingForCode && run.flow.secondFactor?.choice == Rig.app && run.flow.expiresAt == 1900)
    #expect(run.flow.canResendAt == nil && run.flow.verification?.attemptsLeft == 5)
    #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
    Rig.expectSuccess(&run, first)
  }

  @Test("where an authenticator app is all there is, its code needs no choice", arguments: FirstFactor.allCases)
  func onlyApp(_ first: FirstFactor) throws {
    var run = try Rig.choosing(first, [Rig.app])
    let sequence = run.flow.sequence
    #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
    #expect(run.stage == .exchanging && run.flow.secondFactor?.choice == Rig.app && run.flow.sequence == sequence + 1)
    Rig.expectSuccess(&run, first)
  }

  @Test("a code before any choice is refused where there is one")
  func noChoice() throws {
    for factors in [[Rig.phone], [Rig.phone, Rig.app], [Rig.app, SecondFactorRig.factor("t2", .totp)]] {
      var run = try Rig.choosing(.password, factors)
      let before = run.flow
      #expect(run(Rig.provided()) == [.refuse(.noSuchFlow)])
      #expect(run.flow == before)
    }
  }

  @Test("a second factor of no kind that is known can't be given")
  func unknownKind() throws {
    var run = try FirstFactor.password.exchanging()
    #expect(run(Rig.wanted([])) == [.save])
    #expect(run.stage == .failed && run.flow.error == .secondFactorRequired && run.flow.secretsLeft == [])
  }

  // MARK: Who it must be

  @Test(
    "a reauthentication is the protected account's, with a second factor too",
    arguments: [
      FirstFactor.reauthenticationByPassword, .reauthenticationByLink, .reauthenticationByProvider,
      .reauthenticationByToken, .reauthenticationByPhone, .linkedProvider,
    ])
  func mismatch(_ first: FirstFactor) throws {
    var run = try Rig.exchanging(first)
    _ = run(.exchanged(FlowRig.grant, uid: nil))
    #expect(run(.lookedUp(User(uid: "u9"))) == [.save])
    #expect(run.stage == .failed && run.flow.error == .userMismatch && run.flow.secretsLeft == [])
  }

  // MARK: The first factor

  /// What can come for a flow besides what it waits for.
  private static let strays: [FlowEvent] = [
    .started, .mailSent, .mailFailed(AuthFailure(.networkUnavailable)), .mailFailed(AuthFailure(.userDisabled)),
    .linkOpened(code: ProviderRig.code), .linkOpened(code: ProviderRig.otherCode), .alreadySignedIn(uid: "u1"),
    .performed, .lookedUp(User(uid: "u1")), .lookUpFailed(AuthFailure(.userDisabled)), .reauthenticated,
    .authorization(.ready(ProviderRig.own())), .authorization(.failed(AuthFailure(.userDisabled))),
    .authorization(.listenerMissing), .authorization(.credentialReceived(ProviderRig.tokens)), ProviderRig.redirect(),
    ProviderRig.handler(link: "https://x/answer"), ProviderRig.refusal("access_denied"),
    ProviderRig.found(.credentialAlreadyInUse), ProviderRig.found(.accountExistsWithDifferentCredential),
    .conflict(.signedIn(User(uid: "u1"))), .conflict(.timeOver), .conflict(.methodsFound(["password"])),
    CodeRig.numberTaken, CodeRig.started, Rig.wanted([Rig.app]),
  ]
  private static let unasked: [FlowEvent] = [
    .emailProvided("b@example.com"), .passwordProvided(Secret("p")), .confirmed,
    .conflict(.resolved(.switch, current: nil)), .conflict(.resolved(.newLink, current: nil)),
    .conflict(.resolved(.signInAndLink, current: User(uid: "u1"))),
  ]

  @Test(
    "nothing that comes for the first factor is taken any more, a second click on the mail's link neither",
    arguments: FirstFactor.allCases)
  func strays(_ first: FirstFactor) throws {
    for var run in try Rig.lively(first) {
      let before = run.flow
      for event in Self.strays { #expect(run(event) == [], "\(event) at \(before.stage)") }
      for event in Self.unasked { #expect(run(event) == [.refuse(.noSuchFlow)], "\(event) at \(before.stage)") }
      #expect(run.flow == before)
    }
  }

  @Test("an answer that nobody waits for changes nothing", arguments: FirstFactor.allCases)
  func lateAnswers(_ first: FirstFactor) throws {
    for var run in try Rig.lively(first) where run.stage != .exchanging {
      let before = run.flow
      for event in [.exchanged(FlowRig.grant, uid: first.uid), CodeRig.refused(), CodeRig.refused(.userDisabled)] {
        #expect(run(event) == [], "\(event) at \(before.stage)")
        #expect(run.flow == before)
      }
    }
  }

  @Test(
    "the first factor is never at the server again, whatever becomes of the second one", arguments: FirstFactor.allCases
  )
  func neverAgain(_ first: FirstFactor) throws {
    let events: [FlowEvent] =
      [
        .restored, .cancelRequested, .overdue, .resendRequested, Rig.choose(Rig.phone), Rig.choose(Rig.app),
        CodeRig.sent, CodeRig.pageWanted, CodeRig.returned(), CodeRig.returned(token: CodeRig.token),
        CodeRig.sendFailed(.networkUnavailable), CodeRig.sendFailed(.sessionExpired), Rig.provided(),
        CodeRig.refused(), CodeRig.refused(.networkUnavailable), .exchanged(FlowRig.grant, uid: nil),
      ] + Rig.overs.map { .exchangeFailed($0) } + Rig.expiredMessages.map { .exchangeFailed($0) }
    for var run in try Rig.lively(first) {
      for event in events {
        var next = run
        next.now = 1100
        for event in [event] + events + Self.strays {
          let before = next.flow
          let actions = next(event)
          #expect(!actions.contains { $0.spendsFirstFactor(before) }, "\(event) at \(before.stage)")
          next = try next.restarted()
        }
      }
      #expect(try run.restart().allSatisfy { !$0.spendsFirstFactor(run.flow) })
    }
  }

  @Test("a link whose sign-in was given up or refused at the second factor is spent", arguments: FirstFactor.mails)
  func spentLink(_ first: FirstFactor) throws {
    for end in [FlowEvent.cancelRequested, .overdue, .exchangeFailed(Rig.overs[0])] {
      for var run in [try Rig.choosing(first), try Rig.exchanging(first), try Rig.exchanging(first, byApp: true)] {
        _ = run(end)
        guard run.stage.isEnd else { continue }
        let before = run.flow
        for code in [ProviderRig.code, ProviderRig.otherCode] { #expect(run(.linkOpened(code: code)) == []) }
        #expect(run.flow == before)
      }
    }
  }

  @Test("only who signs in, links or reauthenticates is asked for one")
  func otherFlows() throws {
    var deleted = try FlowRig(.none, purpose: .deleteUser) { $0.protectedUID = "u1" }
    _ = deleted(.started)
    for var run in [deleted, try CodeRig.exchanging(.enrollFactor), try CodeRig.exchanging(.changePhone)] {
      #expect(run.stage == .exchanging)
      let before = run.flow
      #expect(run(Rig.wanted()) == [])
      #expect(run.flow == before)
      #expect(run(Rig.choose(Rig.app)) == [.refuse(.noSuchFlow)])
    }
    var early = try FlowRig(.password) { $0.email = "a@example.com" }
    #expect(early(Rig.wanted()) == [] && early.stage == .starting)
  }
}
