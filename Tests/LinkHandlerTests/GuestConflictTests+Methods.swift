import AuthCore
import LinkHandler
import Testing

/// Guests who sign in by password or by a mailed link.
extension GuestConflictTests {
  static let password = Secret("correct horse")
  static let address = "a@example.com"
  static let signIn = FlowAction.signIn(email: address, password: password)
  static let signUp = FlowAction.signUp(email: address, password: password)

  private func password(isNew: Bool) throws -> FlowRig {
    var run = try FlowRig(.password) {
      $0.email = Self.address
      $0.wantsNewPassword = isNew
      $0.anonymousUID = "g1"
      $0.linkUID = "g1"
    }
    #expect(run(.passwordProvided(Self.password)) == [.save, isNew ? Self.signUp : Self.signIn])
    return run
  }

  /// Holds the account `e1` aside, then changes the session to it.
  private func expectSwitch(_ run: inout FlowRig, isNewUser: Bool = false) {
    _ = run(.exchanged(FlowRig.grant, uid: "e1"))
    #expect(run(.lookedUp(Rig.user("e1"), guest: "g1")) == [.save, .resolveLater(seconds: 5)])
    #expect(run.stage == .conflict && run.flow.conflictOptions == [.switch, .keep, .cancel])
    #expect(run.flow.existingUID == "e1" && run.flow.error == nil)
    var kept = run
    #expect(kept(.conflict(.resolved(.keep, current: nil))) == [.save])
    #expect(kept.stage == .cancelled && kept.flow.secretsLeft == [])
    #expect((try? run.restart()) == [.resolveLater(seconds: 5)])
    #expect(run(.conflict(.timeOver)).first == .save)
    #expect(run(.lookedUp(Rig.user("e1"), guest: "g1")) == [.adopt(Rig.user("e1"), FlowRig.grant)])
    #expect(run.flow.previousUID == "g1" && run.flow.isNewUser == isNewUser && run.flow.secretsLeft == [])
  }

  // MARK: Passwords

  @Test("B106: a guest's new account keeps the uid")
  func newPassword() throws {
    var run = try password(isNew: true)
    #expect(run.flow.linkUID == "g1")
    _ = run(.exchanged(FlowRig.grant, uid: "g1"))
    _ = run(.lookedUp(Rig.user("g1"), guest: "g1"))
    #expect(run.stage == .succeeded && run.flow.isUpgraded && run.flow.isNewUser && run.flow.previousUID == nil)
  }

  @Test("who has a password has an account: the guest's data is looked at before the session changes")
  func oldPassword() throws {
    var run = try password(isNew: false)
    #expect(run.flow.linkUID == nil && run.flow.conflict == .anonymousUpgrade)
    expectSwitch(&run)
  }

  @Test("a wrong password is asked for again, and the conflict comes after the right one")
  func wrongPassword() throws {
    var run = try password(isNew: false)
    #expect(run(.exchangeFailed(AuthFailure(.invalidCredentials))) == [.save])
    #expect(run.stage == .waitingForPassword && run.flow.conflictOptions == [])
    #expect(run(.passwordProvided(Self.password)) == [.save, Self.signIn])
    expectSwitch(&run)
  }

  @Test(
    "B026: a new password for an address that exists may be its own: then it's the existing account, which isn't new")
  func takenAddress() throws {
    var run = try password(isNew: true)
    #expect(run(.exchangeFailed(AuthFailure(.emailAlreadyInUse))) == [.save, Self.signIn])
    var foreign = run
    expectSwitch(&run)
    // Somebody else's: the guest stays.
    #expect(foreign(.exchangeFailed(AuthFailure(.invalidCredentials))) == [.save])
    #expect(foreign.stage == .failed && foreign.flow.error == .emailAlreadyInUse)
  }

  @Test("trouble and a restart in between lose no more than the password")
  func takenAddressTrouble() throws {
    for isRestart in [false, true] {
      var run = try password(isNew: true)
      _ = run(.exchangeFailed(AuthFailure(.emailAlreadyInUse)))
      #expect(
        isRestart ? try run.restart() == [.save] : run(.exchangeFailed(AuthFailure(.networkUnavailable))) == [.save])
      #expect(run.stage == .waitingForPassword)
      #expect(run(.passwordProvided(Self.password)) == [.save, Self.signUp])
      #expect(run(.exchangeFailed(AuthFailure(.emailAlreadyInUse))) == [Self.signIn])
      expectSwitch(&run)
    }
  }

  @Test("an unanswered sign-up that upgraded the guest is found again as the guest's own account")
  func unansweredUpgrade() throws {
    var run = try password(isNew: true)
    _ = run(.exchangeFailed(AuthFailure(.networkUnavailable)))
    #expect(run(.passwordProvided(Self.password)) == [.save, Self.signUp])
    #expect(run(.exchangeFailed(AuthFailure(.emailAlreadyInUse))) == [.save, Self.signIn])
    _ = run(.exchanged(FlowRig.grant, uid: "g1"))
    #expect(run(.lookedUp(Rig.user("g1"), guest: "g1")) == [.adopt(Rig.user("g1"), FlowRig.grant)])
    #expect(run.flow.isUpgraded && run.flow.previousUID == nil)
  }

  // MARK: Mailed links

  private func link(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try FlowRig(.emailLink) {
      $0.expiresAt = 1000 + EmailLinkFlow.lifetime
      $0.email = Self.address
      $0.linkTokenHash = [7]
      $0.anonymousUID = "g1"
      $0.linkUID = "g1"
      change(&$0)
    }
    if run.flow.linkTokenHash != nil {
      _ = run(.started)
      _ = run(.mailSent)
    }
    _ = run(.linkOpened(code: Rig.code))
    return run
  }

  private func exchange(_ code: Secret<String>) -> FlowAction { .exchange(email: Self.address, code: code) }

  private func metAccount(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try link(change)
    #expect(run(.exchangeFailed(AuthFailure(.emailAlreadyInUse))) == [.save, exchange(Rig.code)])
    #expect(run.stage == .exchanging && run.flow.linkUID == nil && run.flow.error == .emailAlreadyInUse)
    return run
  }

  @Test("B027, B028: a guest's link upgrades the guest")
  func linkUpgrades() throws {
    var run = try link()
    _ = run(.exchanged(FlowRig.grant, uid: "g1"))
    _ = run(.lookedUp(Rig.user("g1"), guest: "g1"))
    #expect(run.stage == .succeeded && run.flow.isUpgraded && run.flow.previousUID == nil)
  }

  @Test("B026, B108: a code that the failed upgrade didn't spend signs in to the account that exists")
  func unspent() throws {
    var run = try metAccount()
    expectSwitch(&run)
  }

  @Test(
    "B026: a code that the failed upgrade spent needs a new mail, which says why, and lives as long as any",
    arguments: [AuthError.invalidActionCode, .expiredActionCode])
  func spent(_ error: AuthError) throws {
    var run = try metAccount()
    run.now = 50_000
    #expect(run(.exchangeFailed(AuthFailure(error))) == [.save, .sendMail(to: Self.address)])
    #expect(run.stage == .starting && run.flow.error == .emailAlreadyInUse)
    #expect(run.flow.expiresAt == 50_000 + EmailLinkFlow.lifetime)
    var again = run
    #expect(try again.restart() == [.sendMail(to: Self.address)])
    #expect(run(.mailSent) == [.save])
    #expect(run.stage == .waitingForLink && run.flow.error == .emailAlreadyInUse)
    // The spent link once more is no news: the new one is on its way.
    #expect(run(.linkOpened(code: Rig.code)) == [])
    #expect(run.stage == .waitingForLink && run.flow.error == .emailAlreadyInUse)

    #expect(run(.linkOpened(code: Rig.otherCode)) == [.save, exchange(Rig.otherCode)])
    #expect(run.flow.error == nil)
    expectSwitch(&run)
  }

  @Test("a crash while the code is tried for the account: tried once again, and the new mail comes all the same")
  func spentAfterRestart() throws {
    var run = try metAccount()
    #expect(try run.restart() == [.save, exchange(Rig.code)])
    #expect(run(.exchangeFailed(AuthFailure(.invalidActionCode))) == [.save, .sendMail(to: Self.address)])
  }

  @Test("another mail's code that waited is tried before a new mail is sent")
  func spentWithQueue() throws {
    var run = try link()
    _ = run(.linkOpened(code: Rig.otherCode))
    _ = run(.exchangeFailed(AuthFailure(.emailAlreadyInUse)))
    #expect(run(.exchangeFailed(AuthFailure(.invalidActionCode))) == [.save, exchange(Rig.otherCode)])
    var good = run
    expectSwitch(&good)
    #expect(run(.exchangeFailed(AuthFailure(.invalidActionCode))) == [.save, .sendMail(to: Self.address)])
  }

  @Test("a link that nobody here asked for can't be mailed again: the conflict is its end, the guest stays")
  func spentUnsolicited() throws {
    var run = try metAccount { $0.linkTokenHash = nil }
    #expect(run(.exchangeFailed(AuthFailure(.invalidActionCode))) == [.save])
    #expect(run.stage == .failed && run.flow.error == .emailAlreadyInUse && run.flow.secretsLeft == [])
  }

  @Test("trouble in between goes back to the link, which is then one step from a new mail")
  func spentTrouble() throws {
    var run = try metAccount()
    #expect(run(.exchangeFailed(AuthFailure(.networkUnavailable))) == [.save])
    #expect(run.stage == .waitingForLink && run.flow.error == .networkUnavailable)
    #expect(run(.linkOpened(code: Rig.code)) == [.save, exchange(Rig.code)])
    _ = run(.exchangeFailed(AuthFailure(.invalidActionCode)))
    #expect(run.stage == .failed && run.flow.canRetry)
    run.now = 2000
    #expect(run(.resendRequested) == [.save, .sendMail(to: Self.address)])
    _ = run(.mailSent)
    #expect(run(.linkOpened(code: Rig.otherCode)) == [.save, exchange(Rig.otherCode)])
    expectSwitch(&run)
  }

  @Test("while it stands in conflict, links and resends change nothing")
  func linkConflictDeaf() throws {
    var run = try metAccount()
    _ = run(.exchanged(FlowRig.grant, uid: "e1"))
    _ = run(.lookedUp(Rig.user("e1"), guest: "g1"))
    let before = run.flow
    #expect(run(.linkOpened(code: Rig.otherCode)) == [])
    #expect(run(.resendRequested) == [.refuse(.noSuchFlow)])
    #expect(run(.emailProvided("b@example.com")) == [.refuse(.noSuchFlow)])
    #expect(run.flow == before)
    // A link whose code has done its work isn't taken up again after 'keep'.
    _ = run(.conflict(.resolved(.keep, current: nil)))
    #expect(run(.linkOpened(code: Rig.code)) == [])
  }
}
