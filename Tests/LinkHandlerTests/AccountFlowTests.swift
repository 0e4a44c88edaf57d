import AuthCore
import LinkHandler
import Testing

/// What is done to the signed-in account: all kinds walk the same stages.
@Suite("Account flow", .timeLimit(.minutes(1)))
struct AccountFlowTests {
  /// The account is looked at anew, whatever has changed.
  static let look = FlowAction.accountChanged(email: nil, previousEmail: nil)

  static let password = Secret("correct horse")
  static let all: [FlowPurpose] = [.updatePassword, .changeEmail, .unlink, .deleteUser, .unenrollFactor]
  /// Those for which trouble waits for somebody to agree again.
  static let agreed = all.filter { $0 != .updatePassword }
  static let reasons = [AuthError.requiresRecentLogin, .tokenRevoked]

  func rig(_ purpose: FlowPurpose) throws -> FlowRig {
    try FlowRig(.none, purpose: purpose) {
      $0.protectedUID = "u1"
      switch purpose {
      case .unlink: $0.linkProvider = "google.com"
      case .changeEmail: $0.email = "new@example.com"
      case .unenrollFactor: $0.factorUID = "m1"
      case .updatePassword: $0.wantsNewPassword = true
      default: break
      }
    }
  }

  private func request(_ purpose: FlowPurpose) -> FlowAction {
    switch purpose {
    case .unlink: .unlink(providerID: "google.com")
    case .changeEmail: .changeEmail(to: "new@example.com")
    case .unenrollFactor: .unenrollFactor(uid: "m1")
    case .updatePassword: .updatePassword(Self.password)
    default: .deleteUser
    }
  }

  func exchanging(_ purpose: FlowPurpose) throws -> FlowRig {
    var run = try rig(purpose)
    let event: FlowEvent = purpose == .updatePassword ? .passwordProvided(Self.password) : .started
    #expect(run(event) == [.save, request(purpose)])
    #expect(run.stage == .exchanging && run.flow.sequence == 2)
    return run
  }

  // Identity-toolkit 8.4: the session outlives all of it but a deletion.
  @Test("deleting ends the session, the rest keeps it, all say whose it was about")
  func performed() throws {
    for purpose in Self.all where purpose != .deleteUser {
      var run = try exchanging(purpose)
      #expect(run(.performed) == [.save])
      #expect(run.stage == .succeeded && run.flow.resultUID == "u1" && run.flow.endedAt == 1000)
      #expect(run(.performed) == [] && run(.exchangeFailed(AuthFailure(.userDisabled))) == [])
    }
    var deleted = try exchanging(.deleteUser)
    #expect(deleted(.performed) == [.endSession])
    #expect(deleted.stage == .succeeded && deleted.flow.resultUID == nil)
    #expect(deleted(.performed) == [])
  }

  // Behaviour, Reauthentication and parked operations: too old a login, or a dead token.
  @Test("a sign-in that counts no more parks it once; it goes on by itself", arguments: all, reasons)
  func parked(_ purpose: FlowPurpose, _ reason: AuthError) throws {
    var run = try exchanging(purpose)
    run.now = 1200
    #expect(run(.exchangeFailed(AuthFailure(reason))) == [.save])
    #expect(run.stage == .reauthenticationRequired && run.flow.error == reason && run.flow.expiresAt == 1800)
    for event in [FlowEvent.confirmed, .resendRequested, .passwordProvided(Secret("other"))] {
      #expect(run(event) == [.refuse(.noSuchFlow)])
    }
    #expect(run(.exchangeFailed(AuthFailure(.userDisabled))) == [] && run(.performed) == [])
    // In the last second: what was parked in time isn't given up on its way.
    run.now = 1799
    #expect(run(.reauthenticated) == [.save, request(purpose)])
    #expect(run.stage == .exchanging && run.flow.error == nil && run.flow.expiresAt == 2399)
    #expect(run(.reauthenticated) == [])
    var done = run
    #expect(done(.performed) == [purpose == .deleteUser ? .endSession : .save])
    #expect(run(.exchangeFailed(AuthFailure(reason))) == [.save])
    #expect(run.stage == .failed && run.flow.error == reason)
    #expect(run(.reauthenticated) == [])
  }

  @Test("parked over a restart it goes on, too; parked a second time it isn't", arguments: agreed, reasons)
  func parkedOverRestart(_ purpose: FlowPurpose, _ reason: AuthError) throws {
    var run = try exchanging(purpose)
    _ = run(.exchangeFailed(AuthFailure(reason)))
    #expect(try run.restart() == [])
    #expect(run(.reauthenticated) == [.save, request(purpose)])
    #expect(try run.restart() == [.save, request(purpose)])
    #expect(run(.exchangeFailed(AuthFailure(reason))) == [.save])
    #expect(run.stage == .failed && run.flow.error == reason)
  }

  @Test("a sign-in that the daemon's end came after lets it go on at the next start")
  func signedInBeforeRestart() throws {
    var run = try exchanging(.unlink)
    _ = run(.exchangeFailed(AuthFailure(.requiresRecentLogin)))
    var row = run.flow
    row.isConfirmed = true
    run.machine = try #require(FlowMachine(row))
    #expect(try run.restart() == [.save, request(.unlink)])
    #expect(run.stage == .exchanging)
  }

  @Test("trouble waits for somebody to agree again", arguments: agreed)
  func trouble(_ purpose: FlowPurpose) throws {
    var run = try exchanging(purpose)
    #expect(run(.exchangeFailed(AuthFailure(.networkUnavailable))) == [.save])
    #expect(run.stage == .waitingForConfirmation && run.flow.error == .networkUnavailable)
    #expect(run(.reauthenticated) == [])
    #expect(try run.restart() == [])
    // In the last second: what was agreed to in time isn't given up on its way.
    run.now = 1599
    #expect(run(.confirmed) == [.save, request(purpose)])
    #expect(run.stage == .exchanging && run.flow.error == nil && run.flow.expiresAt == 2199)
    #expect(run(.confirmed) == [.refuse(.noSuchFlow)])
    // The sign-in may be too old after all.
    #expect(run(.exchangeFailed(AuthFailure(.requiresRecentLogin))) == [.save])
    #expect(run.stage == .reauthenticationRequired)
  }

  @Test(
    "what fails for good ends it",
    arguments: [
      AuthError.noCurrentUser, .userMismatch, .userNotFound, .userDisabled, .emailAlreadyInUse, .factorNotFound,
      .operationNotAllowed,
    ])
  func refused(_ error: AuthError) throws {
    for purpose in Self.all {
      var run = try exchanging(purpose)
      #expect(run(.exchangeFailed(AuthFailure(error))) == [.save])
      #expect(run.stage == .failed && run.flow.error == error)
    }
  }

  @Test("found half done: tried again; an account that is gone then has been deleted")
  func restored() throws {
    var unlink = try exchanging(.unlink)
    #expect(try unlink.restart() == [.save, request(.unlink)])
    #expect(unlink(.performed) == [.save])
    var deleted = try exchanging(.deleteUser)
    #expect(try deleted.restart() == [.save, .deleteUser])
    #expect(deleted(.exchangeFailed(AuthFailure(.userNotFound))) == [.endSession])
    #expect(deleted.stage == .succeeded)
    // That somebody's account is gone isn't what unlinking wanted.
    var gone = try exchanging(.unlink)
    _ = try gone.restart()
    #expect(gone(.exchangeFailed(AuthFailure(.userNotFound))) == [.save])
    #expect(gone.stage == .failed)
    // A factor that is gone was taken away by the unanswered try.
    var factor = try exchanging(.unenrollFactor)
    #expect(try factor.restart() == [.save, request(.unenrollFactor)])
    #expect(factor(.exchangeFailed(AuthFailure(.factorNotFound))) == [.save, Self.look])
    #expect(factor.stage == .succeeded && factor.flow.resultUID == "u1" && factor.flow.error == nil)
    var mail = try exchanging(.changeEmail)
    #expect(try mail.restart() == [.save, request(.changeEmail)])
  }

  @Test(
    "given up at each stage, it does nothing more",
    arguments: [(FlowEvent.cancelRequested, FlowStage.cancelled), (.overdue, .expired)])
  func ended(_ event: FlowEvent, _ stage: FlowStage) throws {
    var parked = try exchanging(.unlink)
    _ = parked(.exchangeFailed(AuthFailure(.requiresRecentLogin)))
    var troubled = try exchanging(.deleteUser)
    _ = troubled(.exchangeFailed(AuthFailure(.serviceUnavailable)))
    var password = try exchanging(.updatePassword)
    _ = password(.exchangeFailed(AuthFailure(.weakPassword)))
    for var run in [try rig(.unlink), try exchanging(.deleteUser), parked, troubled, password] {
      #expect(run(event) == [.save])
      #expect(run.stage == stage)
      for late in [FlowEvent.performed, .reauthenticated, .started, .restored, .overdue] { #expect(run(late) == []) }
      #expect(
        run(.confirmed) == [.refuse(.noSuchFlow)] && run(.passwordProvided(Self.password)) == [.refuse(.noSuchFlow)])
      #expect(run.stage == stage)
    }
  }

  @Test("nothing else is asked of a person")
  func refuses() throws {
    let asked: [FlowEvent] = [
      .emailProvided("a@example.com"), .passwordProvided(Secret("p")), .resendRequested,
      .conflict(.resolved(.keep, current: nil)), CodeRig.provided(), .verification(.factorChosen("m1")),
    ]
    for purpose in Self.all {
      var run = try exchanging(purpose)
      for event in asked { #expect(run(event) == [.refuse(.noSuchFlow)]) }
      #expect(run.stage == .exchanging)
    }
  }
}
