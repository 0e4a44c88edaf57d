import AuthCore
import LinkHandler
import Testing

/// Guests who become users, and guests who have been users already (behaviour: Anonymous upgrade and conflicts).
@Suite("Guests and providers", .timeLimit(.minutes(1)))
struct GuestConflictTests {
  typealias Rig = ProviderRig

  /// A guest's tokens belong to an account that exists: the flow signs in to that one.
  private func met(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try Rig.guest(change)
    _ = run(Rig.found(.credentialAlreadyInUse, credential: Rig.pending))
    _ = run(.exchanged(FlowRig.grant, uid: "e1"))
    return run
  }

  private func held() throws -> FlowRig {
    var run = try met()
    _ = run(.lookedUp(Rig.user("e1", email: "e@example.com"), guest: "g1"))
    return run
  }

  // MARK: The upgrade

  @Test("B027, B106: the guest's account becomes a lasting one: same uid, nothing stays behind")
  func upgraded() throws {
    var run = try Rig.guest()
    _ = run(.exchanged(FlowRig.grant, uid: "g1"))
    #expect(run(.lookedUp(Rig.user("g1"), guest: "g1")) == [.adopt(Rig.user("g1"), FlowRig.grant)])
    #expect(run.flow.isUpgraded && run.flow.previousUID == nil && run.flow.conflict == nil)
  }

  @Test("B028, B106: where another uid comes out, the guest's data stays behind, and that is said")
  func notUpgraded() throws {
    // Nothing was asked to be linked, or the guest had gone when it was.
    for linkUID in [nil, "g1"] {
      var run = try Rig.guest { $0.linkUID = linkUID }
      _ = run(.exchanged(FlowRig.grant, uid: "u2"))
      #expect(run(.lookedUp(Rig.user("u2"), guest: "g1")) == [.adopt(Rig.user("u2"), FlowRig.grant)])
      #expect(!run.flow.isUpgraded && run.flow.previousUID == "g1" && run.flow.resultUID == "u2")
    }
  }

  // MARK: The conflict

  @Test("B026, B109: an account that exists is held aside while the app looks, then the session changes once")
  func switches() throws {
    var run = try Rig.guest()
    #expect(run.flow.linkUID == "g1")
    #expect(run(Rig.found(.credentialAlreadyInUse, credential: Rig.pending)) == [.save, Rig.signIn(Rig.pending)])
    #expect(run.stage == .exchanging && run.flow.linkUID == nil && run.flow.conflict == .anonymousUpgrade)
    #expect(run(.exchanged(FlowRig.grant, uid: "e1")) == [.save, .lookUp(FlowRig.grant, delay: 0)])

    run.now = 1100
    let user = Rig.user("e1", email: "e@example.com")
    #expect(run(.lookedUp(user, guest: "g1")) == [.save, .resolveLater(seconds: 5)])
    #expect(run.stage == .conflict && run.flow.existingUID == "e1" && run.flow.anonymousUID == "g1")
    #expect(run.flow.email == "e@example.com" && run.flow.expiresAt == 1700 && run.flow.error == nil)
    #expect(run.flow.conflictOptions == [.switch, .keep, .cancel])

    for event in [FlowEvent.conflict(.timeOver), .conflict(.resolved(.switch, current: Rig.user("g1", guest: true)))] {
      var end = run
      #expect(end(event) == [.save, .lookUp(FlowRig.grant, delay: 0)])
      #expect(end.stage == .exchanging)
      #expect(end(.conflict(.timeOver)) == [])
      #expect(end(.lookedUp(user, guest: "g1")) == [.adopt(user, FlowRig.grant)])
      #expect(end.stage == .succeeded && end.flow.resultUID == "e1" && end.flow.previousUID == "g1")
      #expect(!end.flow.isUpgraded && end.flow.secretsLeft == [])
      #expect(end(.conflict(.timeOver)) == [])
    }
  }

  @Test("'keep', 'cancel', giving up and waiting too long leave the guest, and drop the new tokens")
  func keeps() throws {
    let events: [(FlowEvent, FlowStage)] = [
      (.conflict(.resolved(.keep, current: nil)), .cancelled),
      (.conflict(.resolved(.cancel, current: nil)), .cancelled),
      (.cancelRequested, .cancelled), (.overdue, .expired),
    ]
    for (event, stage) in events {
      var run = try held()
      #expect(run(event) == [.save])
      #expect(run.stage == stage && run.flow.secretsLeft == [] && run.flow.resultUID == nil)
      #expect(run(.conflict(.timeOver)) == [])
      #expect(run(.conflict(.resolved(.switch, current: nil))) == [.refuse(.noSuchFlow)])
    }
  }

  @Test("what isn't offered is refused, and changes nothing", arguments: [ConflictChoice.signInAndLink, .newLink])
  func notOffered(_ choice: ConflictChoice) throws {
    var run = try held()
    let before = run.flow
    #expect(run(.conflict(.resolved(choice, current: Rig.user("u9")))) == [.refuse(.noSuchFlow)])
    // A sign-in by another flow isn't the choice either.
    #expect(run(.conflict(.signedIn(Rig.user("u9", email: "e@example.com")))) == [])
    #expect(run.flow == before)
  }

  @Test("nothing can be chosen before the account is known")
  func tooEarly() throws {
    var run = try met()
    #expect(run.flow.conflictOptions == [])
    #expect(run(.conflict(.resolved(.switch, current: nil))) == [.refuse(.noSuchFlow)])
    #expect(run(.conflict(.timeOver)) == [])
    #expect(run.stage == .exchanging)
  }

  @Test("an account that turns out to be the guest's own is upgraded: an unanswered try had done it")
  func ownAccount() throws {
    var run = try Rig.guest()
    #expect(run(.exchangeFailed(AuthFailure(.networkUnavailable))) == [Rig.signIn(delay: 2)])
    _ = run(Rig.found(.credentialAlreadyInUse))
    _ = run(.exchanged(FlowRig.grant, uid: "g1"))
    #expect(run(.lookedUp(Rig.user("g1"), guest: "g1")) == [.adopt(Rig.user("g1"), FlowRig.grant)])
    #expect(run.flow.isUpgraded && run.flow.previousUID == nil)
  }

  @Test("a guest who has gone meanwhile has nothing to be looked at")
  func goneBefore() throws {
    for (guest, left) in [(nil as String?, nil as String?), ("g2", "g2")] {
      var run = try met()
      #expect(run(.lookedUp(Rig.user("e1"), guest: guest)) == [.adopt(Rig.user("e1"), FlowRig.grant)])
      #expect(run.stage == .succeeded && run.flow.previousUID == left && !run.flow.isUpgraded)
    }
    var run = try held()
    _ = run(.conflict(.timeOver))
    #expect(run(.lookedUp(Rig.user("e1"), guest: nil)) == [.adopt(Rig.user("e1"), FlowRig.grant)])
    #expect(run.flow.previousUID == nil)
  }

  // MARK: Troubles

  @Test("trouble on the way is waited out, and its count begins anew")
  func trouble() throws {
    var run = try Rig.guest()
    for delay in [2, 4] as [Int64] {
      #expect(run(.exchangeFailed(AuthFailure(.serviceUnavailable))) == [Rig.signIn(delay: delay)])
    }
    _ = run(Rig.found(.credentialAlreadyInUse, credential: Rig.pending))
    #expect(run(.exchangeFailed(AuthFailure(.serviceUnavailable))) == [Rig.signIn(Rig.pending, delay: 2)])
    _ = run(.exchanged(FlowRig.grant, uid: "e1"))
    _ = run(.lookedUp(Rig.user("e1"), guest: "g1"))
    _ = run(.conflict(.timeOver))
    #expect(run(.lookUpFailed(AuthFailure(.networkUnavailable))) == [.lookUp(FlowRig.grant, delay: 2)])
    #expect(run(.lookedUp(Rig.user("e1"), guest: "g1")) == [.adopt(Rig.user("e1"), FlowRig.grant)])
  }

  @Test("what fails for good leaves the guest", arguments: [AuthError.userDisabled, .invalidProviderResponse])
  func fails(_ error: AuthError) throws {
    var run = try Rig.guest()
    _ = run(Rig.found(.credentialAlreadyInUse))
    #expect(run(.exchangeFailed(AuthFailure(error))) == [.save])
    #expect(run.stage == .failed && run.flow.error == error && run.flow.secretsLeft == [])
    var held = try held()
    _ = held(.conflict(.timeOver))
    #expect(held(.lookUpFailed(AuthFailure(error))) == [.save])
    #expect(held.stage == .failed && held.flow.secretsLeft == [])
  }

  @Test("found after a crash: the app has its seconds anew, and the tokens are still there")
  func restored() throws {
    var run = try held()
    #expect(try run.restart() == [.resolveLater(seconds: 5)])
    #expect(run(.conflict(.timeOver)) == [.save, .lookUp(FlowRig.grant, delay: 0)])
    #expect(try run.restart() == [.lookUp(FlowRig.grant, delay: 0)])
    #expect(run(.lookedUp(Rig.user("e1"), guest: "g1")) == [.adopt(Rig.user("e1"), FlowRig.grant)])
    // Before the account was looked up.
    var early = try met()
    #expect(try early.restart() == [.lookUp(FlowRig.grant, delay: 0)])
    #expect(early(.lookedUp(Rig.user("e1"), guest: "g1")) == [.save, .resolveLater(seconds: 5)])
  }

  // MARK: A guest's address has an account

  @Test("an account that the provider doesn't vouch for: the credential waits for a sign-in by that address")
  func doubted() throws {
    var run = try Rig.guest()
    #expect(run(Rig.found(.emailAlreadyInUse)) == [.save, Rig.signIn()])
    let doubt = Rig.found(
      .accountExistsWithDifferentCredential, email: "a@example.com", credential: Rig.pending)
    #expect(run(doubt) == [.save, .fetchSignInMethods(email: "a@example.com")])
    #expect(run.stage == .conflict && run.flow.conflict == .accountExistsWithDifferentCredential)
    #expect(run.flow.credential == Rig.pending && run.flow.conflictOptions == [.signInAndLink, .cancel])
    // It settles itself never.
    #expect(run(.conflict(.timeOver)) == [])
    let user = Rig.user("u1", email: "A@example.com")
    #expect(run(.conflict(.signedIn(user))) == [.save, Rig.signIn(Rig.pending)])
    #expect(run.flow.linkUID == "u1" && run.flow.protectedUID == "u1")
    _ = run(.exchanged(FlowRig.grant, uid: "u1"))
    #expect(run(.lookedUp(user)) == [.adopt(user, FlowRig.grant)])
    #expect(!run.flow.isUpgraded)
  }
}
