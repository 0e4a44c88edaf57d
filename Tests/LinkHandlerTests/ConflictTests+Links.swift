import AuthCore
import LinkHandler
import Testing

/// An account that links what is somebody else's already.
extension ConflictTests {
  // MARK: Linking

  @Test("the credential is another account's: switch signs in to that one, and to no other before the person says so")
  func switches() throws {
    var run = try linking(.credentialAlreadyInUse)
    #expect(run.flow.conflictOptions == [.switch, .keep, .cancel])
    // Only a guest's conflict settles itself, and nobody else's sign-in settles this one.
    #expect(run(.conflict(.timeOver)) == [])
    #expect(run(.conflict(.signedIn(Self.owner))) == [])
    #expect(run(choose(.signInAndLink, Self.owner)) == [.refuse(.noSuchFlow)])
    #expect(try run.restart() == [])
    #expect(run(choose(.switch, Rig.user("u1"))) == [.save, Rig.signIn(Rig.pending)])
    #expect(run.flow.protectedUID == nil && run.flow.linkUID == nil)
    _ = run(.exchanged(FlowRig.grant, uid: "u2"))
    #expect(run(.lookedUp(Self.owner)) == [.adopt(Self.owner, FlowRig.grant)])
    #expect(run.flow.resultUID == "u2" && run.flow.secretsLeft == [])
  }

  @Test("another conflict after 'switch' is no question any more")
  func switchesInVain() throws {
    for kind in [ConflictKind.accountExistsWithDifferentCredential, .emailAlreadyInUse, .credentialAlreadyInUse] {
      var run = try linking(.credentialAlreadyInUse)
      _ = run(choose(.switch))
      #expect(run(Rig.found(kind)) == [.save])
      #expect(run.stage == .failed && run.flow.error == kind.error && run.flow.secretsLeft == [])
    }
  }

  // The server says so of a credential that is the same account's, too (emulator-behaviour, accounts:signInWithIdp).
  @Test("a credential that an unanswered try has linked is the account's own, and no conflict")
  func unansweredLink() throws {
    let plain = Rig.signIn(Rig.pending)
    for isRestart in [false, true] {
      for refusal in [
        Rig.found(.credentialAlreadyInUse, credential: Rig.pending),
        .exchangeFailed(AuthFailure(.providerAlreadyLinked)),
      ] {
        var run = try Rig.offered(purpose: .link) { $0.credential = Rig.pending }
        _ = isRestart ? try run.restart() : run(.exchangeFailed(AuthFailure(.networkUnavailable)))
        #expect(run(refusal) == [.save, plain])
        #expect(run.stage == .exchanging && run.flow.conflict == nil)
        // Found half done, it's asked again.
        #expect(try run.restart() == [plain])
        var foreign = run
        #expect(run(.exchanged(FlowRig.grant, uid: "u1")) == [.save, .lookUp(FlowRig.grant, delay: 0)])
        #expect(run(.lookedUp(Rig.user("u1"))) == [.adopt(Rig.user("u1"), FlowRig.grant)])
        // It's another account's after all: its tokens are dropped, and the person is asked.
        #expect(foreign(.exchanged(FlowRig.grant, uid: "u2")) == [.save])
        #expect(foreign.stage == .conflict && foreign.flow.answer == nil && foreign.flow.resultUID == nil)
        #expect(foreign.flow.conflictOptions == [.switch, .keep, .cancel])
        #expect(foreign(choose(.switch)) == [.save, plain])
        #expect(foreign(.exchanged(FlowRig.grant, uid: "u2")) == [.save, .lookUp(FlowRig.grant, delay: 0)])
      }
    }
    // Whose try was answered needs no such question.
    var run = try Rig.offered(purpose: .link)
    #expect(run(.exchangeFailed(AuthFailure(.providerAlreadyLinked))) == [.save])
    #expect(run.stage == .failed && run.flow.error == .providerAlreadyLinked)
  }

  @Test("the same after a sign-in that the credential waited for")
  func unansweredLinkAfterSignIn() throws {
    var run = try doubted()
    _ = run(.conflict(.signedIn(Self.owner)))
    _ = run(.exchangeFailed(AuthFailure(.serviceUnavailable)))
    #expect(run(Rig.found(.credentialAlreadyInUse)) == [.save, Rig.signIn(Rig.pending)])
    var foreign = run
    _ = run(.exchanged(FlowRig.grant, uid: "u2"))
    #expect(run(.lookedUp(Self.owner)) == [.adopt(Self.owner, FlowRig.grant)])
    #expect(foreign(.exchanged(FlowRig.grant, uid: "u9")) == [.save])
    #expect(foreign.stage == .failed && foreign.flow.error == .credentialAlreadyInUse)
  }

  @Test("trouble before the conflict makes no link of later an unanswered one")
  func answeredLink() throws {
    var run = try Rig.offered()
    _ = run(.exchangeFailed(AuthFailure(.serviceUnavailable)))
    _ = run(Rig.found(.accountExistsWithDifferentCredential, email: Self.address, credential: Rig.pending))
    _ = run(.conflict(.signedIn(Self.owner)))
    #expect(run(Rig.found(.credentialAlreadyInUse)) == [.save])
    #expect(run.stage == .failed && run.flow.error == .credentialAlreadyInUse)
  }

  @Test("a guest who links by hand, and switches, leaves the data behind")
  func guestSwitches() throws {
    var run = try Rig.offered(purpose: .link) {
      $0.protectedUID = "g1"
      $0.linkUID = "g1"
      $0.anonymousUID = "g1"
    }
    _ = run(Rig.found(.credentialAlreadyInUse))
    _ = run(choose(.switch))
    _ = run(.exchanged(FlowRig.grant, uid: "u2"))
    #expect(run(.lookedUp(Self.owner, guest: "g1")) == [.adopt(Self.owner, FlowRig.grant)])
    #expect(run.flow.previousUID == "g1" && !run.flow.isUpgraded)
  }

  @Test("the address is another account's: whoever signs in to that one takes the credential along")
  func addressTaken() throws {
    var run = try linking(.emailAlreadyInUse)
    #expect(run.flow.conflictOptions == [.signInAndLink, .keep, .cancel])
    // The account that couldn't have it is still there.
    let asker = Rig.user("u1", email: Self.address)
    #expect(run(.conflict(.signedIn(asker))) == [])
    #expect(run(choose(.signInAndLink, asker)) == [.save])
    #expect(run.stage == .conflict)
    #expect(run(.conflict(.signedIn(Self.owner))) == [.save, Rig.signIn(Rig.pending)])
    expectLinked(&run, to: Self.owner)
  }

  @Test("'keep', 'cancel', giving up and waiting too long change nobody's account")
  func keeps() throws {
    for kind in [ConflictKind.credentialAlreadyInUse, .emailAlreadyInUse] {
      for event in [choose(.keep), choose(.cancel), .cancelRequested, .overdue] {
        var run = try linking(kind)
        #expect(run(event) == [.save])
        #expect(run.stage == (event == .overdue ? .expired : .cancelled) && run.flow.secretsLeft == [])
        #expect(run(.conflict(.signedIn(Self.owner))) == [])
      }
    }
  }

  // MARK: Linking by a mailed link

  private func mailedLink() throws -> FlowRig {
    var run = try FlowRig(.emailLink, purpose: .link) {
      $0.expiresAt = 1000 + EmailLinkFlow.lifetime
      $0.email = Self.address
      $0.linkTokenHash = [7]
      $0.protectedUID = "u1"
      $0.linkUID = "u1"
    }
    _ = run(.started)
    _ = run(.mailSent)
    _ = run(.linkOpened(code: Rig.code))
    _ = run(.linkOpened(code: Rig.otherCode))
    #expect(run(.exchangeFailed(AuthFailure(.emailAlreadyInUse))) == [.save])
    return run
  }

  @Test("B108: a new link signs in to the account that has the address, and lives as long as any")
  func newLink() throws {
    var run = try mailedLink()
    #expect(run.stage == .conflict && run.flow.conflict == .emailAlreadyInUse)
    #expect(run.flow.conflictOptions == [.newLink, .keep, .cancel])
    #expect(run.flow.expiresAt == 1600 && run.flow.secretsLeft == [])
    for choice in [ConflictChoice.switch, .signInAndLink] {
      #expect(run(choose(choice, Self.owner)) == [.refuse(.noSuchFlow)])
    }
    #expect(run(.conflict(.signedIn(Self.owner))) == [])
    #expect(try run.restart() == [])
    run.now = 1500
    #expect(run(choose(.newLink)) == [.save, .sendMail(to: Self.address)])
    #expect(run.stage == .starting && run.flow.expiresAt == 1500 + EmailLinkFlow.lifetime)
    _ = run(.mailSent)
    #expect(run.stage == .waitingForLink && run.flow.error == nil)
    let code = Secret("C3")
    #expect(run(.linkOpened(code: code)) == [.save, .exchange(email: Self.address, code: code)])
    #expect(run.flow.linkUID == nil && run.flow.protectedUID == nil)
    _ = run(.exchanged(FlowRig.grant, uid: "u2"))
    #expect(run(.lookedUp(Self.owner)) == [.adopt(Self.owner, FlowRig.grant)])
  }

  @Test("'keep', 'cancel' and an end leave the account as it was, and the spent link isn't taken up again")
  func keepsLink() throws {
    for event in [choose(.keep), choose(.cancel), .cancelRequested, .overdue] {
      var run = try mailedLink()
      #expect(run(event) == [.save])
      #expect(run.stage.isEnd && run.flow.secretsLeft == [])
      #expect(run(.linkOpened(code: Rig.code)) == [])
      #expect(run(choose(.newLink)) == [.refuse(.noSuchFlow)])
    }
  }

  // The password is nowhere but in the request: there is nothing to keep for later.
  @Test("a password that can't be linked is refused, and no password is kept")
  func password() throws {
    var run = try FlowRig(.password, purpose: .link) {
      $0.email = Self.address
      $0.protectedUID = "u1"
      $0.linkUID = "u1"
    }
    _ = run(.passwordProvided(Secret("p")))
    #expect(run(.exchangeFailed(AuthFailure(.emailAlreadyInUse))) == [.save])
    #expect(run.stage == .failed && run.flow.error == .emailAlreadyInUse)
  }
}
