import AuthCore
import LinkHandler
import Testing

@Suite("Action code flow", .timeLimit(.minutes(1)))
struct ActionCodeFlowTests {
  static let code = Secret("C1")
  static let password = Secret("a new password")

  private func rig(_ kind: LinkKind) throws -> FlowRig {
    try FlowRig(.actionCode, purpose: .actionCode) { $0.actionKind = kind }
  }

  private func opened(_ kind: LinkKind, checked info: ActionCodeInfo? = nil) throws -> FlowRig {
    var step = try rig(kind)
    _ = step(.linkOpened(code: Self.code))
    if let info { _ = step(.codeChecked(info)) }
    return step
  }

  @Test("a verification needs the click alone", arguments: [LinkKind.verifyEmail, .verifyAndChangeEmail])
  func verifies(_ kind: LinkKind) throws {
    var step = try rig(kind)
    #expect(step(.linkOpened(code: Self.code)) == [.save, .checkCode(Self.code)])
    #expect(step.flow.stage == .exchanging)
    let info = ActionCodeInfo(kind: kind, email: "new@example.com", previousEmail: "old@example.com")
    #expect(step(.codeChecked(info)) == [.save, .applyCode(Self.code)])
    #expect(
      step(.performed) == [.save, .accountChanged(email: "new@example.com", previousEmail: "old@example.com")])
    #expect(step.flow.stage == .succeeded && step.flow.code == nil && step.flow.resultUID == nil)
  }

  @Test("what can hurt waits for a confirmation", arguments: [LinkKind.recoverEmail, .revertSecondFactor])
  func confirms(_ kind: LinkKind) throws {
    var step = try rig(kind)
    #expect(step(.linkOpened(code: Self.code)) == [.save, .checkCode(Self.code)])
    #expect(step.flow.stage == .waitingForConfirmation)
    #expect(step(.codeChecked(ActionCodeInfo(kind: kind, email: "first@example.com"))) == [.save])
    #expect(step.flow.stage == .waitingForConfirmation && step.flow.email == "first@example.com")
    #expect(step(.linkOpened(code: Self.code)) == [])
    // In the last second: what was agreed to in time isn't given up on its way.
    step.now = 1599
    #expect(step(.confirmed) == [.save, .applyCode(Self.code)])
    #expect(step.flow.expiresAt == 2199)
    #expect(step(.performed).count == 2)
  }

  // Any page can start a scheme, and a link's `mode` is a word in a URL.
  @Test(
    "a link that lies about its code waits for what the code really does",
    arguments: [LinkKind.verifyEmail, .passwordReset])
  func lies(_ claimed: LinkKind) throws {
    var step = try opened(claimed)
    #expect(step(.codeChecked(ActionCodeInfo(kind: .recoverEmail, email: "a@example.com"))) == [.save])
    #expect(step.flow.stage == .waitingForConfirmation && step.flow.actionKind == .recoverEmail)
    #expect(step(.confirmed) == [.save, .applyCode(Self.code)])

    var reset = try opened(.verifyEmail)
    #expect(reset(.codeChecked(ActionCodeInfo(kind: .passwordReset, email: "a@example.com"))) == [.save])
    #expect(reset.flow.stage == .waitingForPassword)

    var signIn = try opened(.verifyEmail)
    _ = signIn(.codeChecked(ActionCodeInfo(kind: .emailSignIn)))
    #expect(signIn.flow.stage == .failed && signIn.flow.error == .invalidActionCode)
  }

  @Test("who agreed to one thing hasn't agreed to another")
  func agreedToAnother() throws {
    var step = try opened(.revertSecondFactor)
    #expect(step(.confirmed) == [.save, .checkCode(Self.code)])
    #expect(step(.codeChecked(ActionCodeInfo(kind: .recoverEmail, email: "a@example.com"))) == [.save])
    #expect(step.flow.stage == .waitingForConfirmation)
  }

  @Test("a code of an unknown kind is applied only after a confirmation")
  func unknownKind() throws {
    var step = try opened(.verifyEmail, checked: ActionCodeInfo(kind: nil, email: "a@example.com"))
    #expect(step.flow.stage == .waitingForConfirmation)
    #expect(step(.confirmed) == [.save, .applyCode(Self.code)])
  }

  @Test("a reset takes a new password, and another one after a weak one")
  func resets() throws {
    var step = try opened(.passwordReset, checked: ActionCodeInfo(kind: .passwordReset, email: "a@example.com"))
    #expect(step.flow.stage == .waitingForPassword && step.flow.email == "a@example.com")
    #expect(
      step(.passwordProvided(Secret("x"))) == [.save, .resetPassword(code: Self.code, newPassword: Secret("x"))])
    #expect(step(.exchangeFailed(AuthFailure(.weakPassword, detail: "Too short"))) == [.save])
    #expect(step.flow.stage == .waitingForPassword && step.flow.errorDetail == "Too short")
    #expect(step(.passwordProvided(Self.password)).count == 2)
    #expect(step(.performed) == [.save, .accountChanged(email: "a@example.com", previousEmail: nil)])
    #expect(step.flow.stage == .succeeded)
  }

  @Test("a password that is there before the code has been checked isn't held up")
  func earlyPassword() throws {
    var step = try opened(.passwordReset)
    #expect(step(.passwordProvided(Self.password)).count == 2)
    #expect(step(.codeChecked(ActionCodeInfo(kind: .passwordReset, email: "a@example.com"))) == [.save])
    #expect(step.flow.stage == .exchanging)
    var failed = try opened(.passwordReset)
    _ = failed(.passwordProvided(Self.password))
    #expect(failed(.codeCheckFailed(AuthFailure(.networkUnavailable))) == [])
    #expect(failed(.performed).count == 2)
  }

  // The two requests travel side by side; the server may take the second one first.
  @Test("a password that spent the code before its check came has changed the password")
  func passwordOvertakesCheck() throws {
    var step = try opened(.passwordReset)
    _ = step(.passwordProvided(Self.password))
    #expect(step(.codeCheckFailed(AuthFailure(.invalidActionCode))) == [])
    #expect(step(.performed).first == .save)
    #expect(step.flow.stage == .succeeded)

    var weak = try opened(.passwordReset)
    _ = weak(.passwordProvided(Secret("x")))
    _ = weak(.exchangeFailed(AuthFailure(.weakPassword)))
    _ = weak(.codeChecked(ActionCodeInfo(kind: .passwordReset, email: "a@example.com")))
    #expect(weak.flow.stage == .waitingForPassword && weak.flow.error == .weakPassword)
  }

  @Test(
    "a link that was given up, or whose time ran out, is opened again and goes on",
    arguments: [FlowEvent.cancelRequested, .overdue])
  func reopened(_ event: FlowEvent) throws {
    let info = ActionCodeInfo(kind: .passwordReset, email: "a@example.com")
    var step = try opened(.passwordReset, checked: info)
    step.now = 2000
    _ = step(event)
    #expect(step.flow.stage.isEnd && step.flow.code == nil)
    #expect(step(.linkOpened(code: Self.code)) == [.save, .checkCode(Self.code)])
    #expect(step.flow.stage == .waitingForPassword && step.flow.expiresAt == 2600 && step.flow.endedAt == nil)
    _ = step(.codeChecked(info))
    #expect(step(.passwordProvided(Self.password)).count == 2)

    // What was agreed to before it was given up isn't agreed to any more.
    var recovery = try opened(.recoverEmail)
    _ = recovery(.confirmed)
    _ = recovery(event)
    _ = recovery(.linkOpened(code: Self.code))
    _ = recovery(.codeChecked(ActionCodeInfo(kind: .recoverEmail, email: "a@example.com")))
    #expect(recovery.flow.stage == .waitingForConfirmation)
  }

  @Test("a code that is used up between its check and its use has changed the account")
  func usedUpMeanwhile() throws {
    var step = try opened(.verifyEmail, checked: ActionCodeInfo(kind: .verifyEmail, email: "a@example.com"))
    let actions = step(.exchangeFailed(AuthFailure(.invalidActionCode)))
    #expect(actions == [.save, .accountChanged(email: "a@example.com", previousEmail: nil)])
    #expect(step.flow.stage == .failed)
  }

  @Test("what the server did although it was given up is looked at")
  func givenUpTooLate() throws {
    var step = try opened(.verifyEmail, checked: ActionCodeInfo(kind: .verifyEmail, email: "a@example.com"))
    _ = step(.cancelRequested)
    #expect(step(.performed) == [.accountChanged(email: "a@example.com", previousEmail: nil)])
    #expect(step.flow.stage == .cancelled)
  }

  @Test(
    "B120: a used code ends it, and the account that a browser may have used it for is looked at",
    arguments: [AuthError.invalidActionCode, .expiredActionCode, .userDisabled])
  func refused(_ error: AuthError) throws {
    var step = try opened(.verifyEmail)
    let looks: [FlowAction] = error == .invalidActionCode ? [.accountChanged(email: nil, previousEmail: nil)] : []
    #expect(step(.codeCheckFailed(AuthFailure(error))) == [.save] + looks)
    #expect(step.flow.stage == .failed && step.flow.error == error && step.flow.code == nil)
  }

  @Test("an address that was given back is anybody's, unless the server says whose it was")
  func recovered() throws {
    for previous in [nil, "thief@example.com"] {
      let info = ActionCodeInfo(kind: .recoverEmail, email: "a@example.com", previousEmail: previous)
      var step = try opened(.recoverEmail, checked: info)
      _ = step(.confirmed)
      let email = previous.map { _ in "a@example.com" }
      #expect(step(.performed) == [.save, .accountChanged(email: email, previousEmail: previous)])
    }
  }

  @Test("after temporary trouble a second click tries a verification again, and a confirmation the others")
  func transient() throws {
    var unchecked = try opened(.verifyEmail)
    #expect(unchecked(.codeCheckFailed(AuthFailure(.networkUnavailable))) == [.save])
    #expect(unchecked.flow.stage == .waitingForConfirmation && unchecked.flow.error == .networkUnavailable)
    #expect(unchecked(.linkOpened(code: Self.code)) == [.save, .checkCode(Self.code)])

    var checked = try opened(.verifyEmail, checked: ActionCodeInfo(kind: .verifyEmail, email: "a@example.com"))
    _ = checked(.exchangeFailed(AuthFailure(.serviceUnavailable)))
    #expect(checked.flow.stage == .waitingForConfirmation)
    #expect(checked(.linkOpened(code: Self.code)) == [.save, .applyCode(Self.code)])

    var recovery = try opened(.recoverEmail, checked: ActionCodeInfo(kind: .recoverEmail, email: "a@example.com"))
    _ = recovery(.confirmed)
    _ = recovery(.exchangeFailed(AuthFailure(.serviceUnavailable)))
    #expect(recovery.flow.stage == .waitingForConfirmation)
    #expect(recovery(.linkOpened(code: Self.code)) == [])
    #expect(recovery(.confirmed) == [.save, .applyCode(Self.code)])
  }

  @Test("a restart goes on where it was: once, and never without the agreement")
  func restarted() throws {
    var waiting = try opened(.recoverEmail)
    #expect(try waiting.restart() == [.checkCode(Self.code)])
    #expect(waiting.flow.stage == .waitingForConfirmation)

    let info = ActionCodeInfo(kind: .verifyEmail, email: "a@example.com")
    var applying = try opened(.verifyEmail, checked: info)
    #expect(try applying.restart() == [.save, .applyCode(Self.code)])
    // The server refuses what the first try has spent: the account is looked at all the same.
    let actions = applying(.exchangeFailed(AuthFailure(.invalidActionCode)))
    #expect(actions == [.save, .accountChanged(email: "a@example.com", previousEmail: nil)])
    #expect(applying.flow.stage == .failed)

    var resetting = try opened(.passwordReset, checked: ActionCodeInfo(kind: .passwordReset, email: "a@example.com"))
    _ = resetting(.passwordProvided(Self.password))
    #expect(try resetting.restart().first == .save)
    #expect(resetting.flow.stage == .waitingForPassword)
  }
}

@Suite("Delete flow", .timeLimit(.minutes(1)))
struct DeleteUserFlowTests {
  private func rig() throws -> FlowRig { try FlowRig(.none, purpose: .deleteUser) { $0.protectedUID = "u1" } }

  @Test("deleting ends the session with the row")
  func deletes() throws {
    var step = try rig()
    #expect(step(.started) == [.save, .deleteUser])
    #expect(step(.performed) == [.endSession])
    #expect(step.flow.stage == .succeeded)
  }

  @Test("a sign-in that is too old parks it; it's retried once after a new one")
  func parked() throws {
    var step = try rig()
    _ = step(.started)
    #expect(step(.exchangeFailed(AuthFailure(.requiresRecentLogin))) == [.save])
    #expect(step.flow.stage == .reauthenticationRequired)
    #expect(try step.restart() == [])
    #expect(step(.reauthenticated) == [.save, .deleteUser])
    _ = step(.exchangeFailed(AuthFailure(.requiresRecentLogin)))
    #expect(step.flow.stage == .failed && step.flow.error == .requiresRecentLogin)
  }

  @Test("temporary trouble waits for another agreement; an account that a lost request deleted is deleted")
  func transient() throws {
    var step = try rig()
    _ = step(.started)
    #expect(step(.exchangeFailed(AuthFailure(.networkUnavailable))) == [.save])
    #expect(step.flow.stage == .waitingForConfirmation && step.flow.error == .networkUnavailable)
    #expect(step(.confirmed) == [.save, .deleteUser])
    #expect(step(.exchangeFailed(AuthFailure(.userNotFound))) == [.endSession])
  }

  @Test("a parked operation can be given up")
  func cancelled() throws {
    var step = try rig()
    _ = step(.started)
    _ = step(.exchangeFailed(AuthFailure(.requiresRecentLogin)))
    #expect(step(.cancelRequested) == [.save])
    #expect(step(.reauthenticated) == [])
    #expect(step.flow.stage == .cancelled)
  }
}
