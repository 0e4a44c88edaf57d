import AuthCore
import LinkHandler
import Testing

/// A number that another account has (identity-toolkit 2.13; behaviour: Anonymous upgrade and conflicts).
@Suite("Numbers that are taken", .timeLimit(.minutes(1)))
struct NumberTakenTests {
  typealias Rig = CodeRig
  private let signIn = FlowAction.signInWithPhoneProof(Rig.proof, delay: 0)

  private func choose(_ choice: ConflictChoice) -> FlowEvent { .conflict(.resolved(choice, current: User(uid: "u1"))) }

  /// u1 links a number that is u2's.
  private func linking() throws -> FlowRig {
    var run = try Rig.exchanging(.link)
    run.now = 1300
    #expect(run(Rig.numberTaken) == [.save])
    #expect(run.stage == .conflict && run.flow.conflict == .credentialAlreadyInUse && run.flow.expiresAt == 1900)
    #expect(run.flow.conflictOptions == [.switch, .keep, .cancel] && run.flow.phoneProof == Rig.proof)
    #expect(run.flow.verification?.code == nil && run.flow.phoneNumber == Rig.number)
    return run
  }

  // MARK: Linking

  @Test("B107: the proof that came with the conflict signs in to the other account, without another message")
  func switches() throws {
    for isRestarted in [false, true] {
      var run = try linking()
      if isRestarted { #expect(try run.restart() == []) }
      #expect(run(choose(.switch)) == [.save, signIn])
      #expect(run.stage == .exchanging && run.flow.protectedUID == nil && run.flow.linkUID == nil)
      if isRestarted { #expect(try run.restart() == [signIn]) }
      Rig.expectSuccess(&run, "u2")
      #expect(!run.flow.isUpgraded)
    }
  }

  @Test("who keeps the account or gives up stays who they are", arguments: [ConflictChoice.keep, .cancel])
  func keeps(_ choice: ConflictChoice) throws {
    var run = try linking()
    #expect(run(choose(choice)) == [.save])
    #expect(run.stage == .cancelled && run.flow.error == nil && run.flow.secretsLeft == [])
  }

  @Test("nothing else can be chosen, and no other sign-in gets the number")
  func otherChoices() throws {
    var run = try linking()
    let before = run.flow
    for choice in [ConflictChoice.signInAndLink, .newLink] {
      #expect(run(choose(choice)) == [.refuse(.noSuchFlow)])
    }
    #expect(run(Rig.provided()) == [.refuse(.noSuchFlow)] && run(.resendRequested) == [.refuse(.noSuchFlow)])
    #expect(run(.conflict(.signedIn(User(uid: "u2")))) == [] && run(.conflict(.timeOver)) == [])
    #expect(run(Rig.numberTaken) == [])
    #expect(run.flow == before)
  }

  @Test("trouble with the proof is waited out")
  func trouble() throws {
    var run = try linking()
    _ = run(choose(.switch))
    let delays: [Int64] = [2, 4, 8]
    for delay in delays {
      #expect(
        run(.exchangeFailed(AuthFailure(.networkUnavailable))) == [.signInWithPhoneProof(Rig.proof, delay: delay)])
      #expect(run.stage == .exchanging && run.flow.error == .networkUnavailable)
    }
    Rig.expectSuccess(&run, "u2")
  }

  @Test(
    "a proof that is refused ends it",
    arguments: [AuthFailure(.sessionExpired, serverCode: "INVALID_TEMPORARY_PROOF"), AuthFailure(.userDisabled)])
  func refused(_ failure: AuthFailure) throws {
    var run = try linking()
    _ = run(choose(.switch))
    #expect(run(.exchangeFailed(failure)) == [.save])
    #expect(run.stage == .failed && run.flow.error == failure.error && run.flow.secretsLeft == [])
  }

  // MARK: Everything else

  // Identity-toolkit 8.4, 8.5.
  @Test(
    "another account's number can't become this one's, and proves nothing about this one",
    arguments: [
      (FlowPurpose.changePhone, AuthError.credentialAlreadyInUse), (.enrollFactor, .credentialAlreadyInUse),
      (.reauthenticate, .userMismatch),
    ])
  func refuses(_ purpose: FlowPurpose, _ error: AuthError) throws {
    var run = try Rig.exchanging(purpose)
    #expect(run(Rig.numberTaken) == [.save])
    #expect(run.stage == .failed && run.flow.error == error && !run.flow.canRetry && run.flow.secretsLeft == [])
    #expect(run.flow.conflictOptions == [])
  }

  // MARK: A guest

  private func upgrading() throws -> FlowRig {
    var run = try Rig.exchanging(.signIn, Rig.guest)
    #expect(run(Rig.numberTaken) == [.save, signIn])
    #expect(run.stage == .exchanging && run.flow.conflict == .anonymousUpgrade && run.flow.linkUID == nil)
    return run
  }

  @Test("B106: a free number becomes the guest's, who keeps the uid")
  func upgraded() throws {
    var run = try Rig.exchanging(.signIn, Rig.guest)
    _ = run(.exchanged(FlowRig.grant, uid: "g1"))
    _ = run(.lookedUp(User(uid: "g1"), guest: "g1"))
    #expect(run.stage == .succeeded && run.flow.isUpgraded && run.flow.previousUID == nil)
  }

  @Test("B107: for a taken one the account is held aside, and the session changes when the app has had its time")
  func held() throws {
    for isRestarted in [false, true] {
      var run = try upgrading()
      if isRestarted { #expect(try run.restart() == [signIn]) }
      #expect(run(.exchanged(FlowRig.grant, uid: "u2")) == [.save, .lookUp(FlowRig.grant, delay: 0)])
      #expect(run(.lookedUp(User(uid: "u2"), guest: "g1")) == [.save, .resolveLater(seconds: 5)])
      #expect(run.stage == .conflict && run.flow.existingUID == "u2" && run.flow.anonymousUID == "g1")
      #expect(run.flow.conflictOptions == [.switch, .keep, .cancel])
      if isRestarted { #expect(try run.restart() == [.resolveLater(seconds: 5)]) }
      var kept = run
      #expect(kept(choose(.keep)) == [.save])
      #expect(kept.stage == .cancelled && kept.flow.secretsLeft == [])
      #expect(run(.conflict(.timeOver)) == [.save, .lookUp(FlowRig.grant, delay: 0)])
      #expect(run(.lookedUp(User(uid: "u2"), guest: "g1")) == [.adopt(User(uid: "u2"), FlowRig.grant)])
      #expect(run.flow.previousUID == "g1" && !run.flow.isUpgraded && run.flow.secretsLeft == [])
    }
  }

  @Test("the same word about the number, once more, changes nothing")
  func doubled() throws {
    var run = try upgrading()
    let before = run.flow
    #expect(run(Rig.numberTaken) == [])
    #expect(run.flow == before)
  }

  @Test("the unanswered try may have upgraded the guest: then the account that has the number is the guest's own")
  func own() throws {
    var run = try upgrading()
    _ = run(.exchanged(FlowRig.grant, uid: "g1"))
    #expect(run(.lookedUp(User(uid: "g1"), guest: "g1")) == [.adopt(User(uid: "g1"), FlowRig.grant)])
    #expect(run.flow.isUpgraded && run.flow.previousUID == nil)
  }
}
