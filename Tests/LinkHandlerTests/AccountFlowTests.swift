import AuthCore
import LinkHandler
import Testing

/// What is done to the signed-in account: both kinds walk the same stages.
@Suite("Account flow", .timeLimit(.minutes(1)))
struct AccountFlowTests {
  private func rig(_ purpose: FlowPurpose) throws -> FlowRig {
    try FlowRig(.none, purpose: purpose) {
      $0.protectedUID = "u1"
      if purpose == .unlink { $0.linkProvider = "google.com" }
    }
  }

  private func request(_ purpose: FlowPurpose) -> FlowAction {
    purpose == .unlink ? .unlink(providerID: "google.com") : .deleteUser
  }

  private func exchanging(_ purpose: FlowPurpose) throws -> FlowRig {
    var run = try rig(purpose)
    #expect(run(.started) == [.save, request(purpose)])
    #expect(run.stage == .exchanging && run.flow.sequence == 2)
    return run
  }

  // Identity-toolkit 8.4: the session outlives an unlink, not a deletion.
  @Test("unlinking keeps the session, deleting ends it, both say whose it was about")
  func performed() throws {
    var unlink = try exchanging(.unlink)
    #expect(unlink(.performed) == [.save])
    #expect(unlink.stage == .succeeded && unlink.flow.resultUID == "u1" && unlink.flow.endedAt == 1000)
    var deleted = try exchanging(.deleteUser)
    #expect(deleted(.performed) == [.endSession])
    #expect(deleted.stage == .succeeded && deleted.flow.resultUID == nil)
    for var run in [unlink, deleted] { #expect(run(.performed) == []) }
  }

  @Test("a sign-in that is too old parks it once; it goes on by itself", arguments: [FlowPurpose.unlink, .deleteUser])
  func parked(_ purpose: FlowPurpose) throws {
    var run = try exchanging(purpose)
    run.now = 1200
    #expect(run(.exchangeFailed(AuthFailure(.requiresRecentLogin))) == [.save])
    #expect(run.stage == .reauthenticationRequired && run.flow.expiresAt == 1800)
    #expect(run(.confirmed) == [.refuse(.noSuchFlow)])
    #expect(try run.restart() == [])
    #expect(run(.reauthenticated) == [.save, request(purpose)])
    #expect(run.stage == .exchanging && run.flow.error == nil)
    #expect(run(.exchangeFailed(AuthFailure(.requiresRecentLogin))) == [.save])
    #expect(run.stage == .failed && run.flow.error == .requiresRecentLogin)
  }

  @Test("a sign-in that the daemon's end came after lets it go on at the next start")
  func parkedOverRestart() throws {
    var run = try exchanging(.unlink)
    _ = run(.exchangeFailed(AuthFailure(.requiresRecentLogin)))
    var row = run.flow
    row.isConfirmed = true
    run.machine = try #require(FlowMachine(row))
    #expect(try run.restart() == [.save, request(.unlink)])
    #expect(run.stage == .exchanging)
  }

  @Test("trouble waits for somebody to agree again", arguments: [FlowPurpose.unlink, .deleteUser])
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
    "what fails for good ends it", arguments: [AuthError.noCurrentUser, .userMismatch, .tokenRevoked, .userNotFound])
  func refused(_ error: AuthError) throws {
    for purpose in [FlowPurpose.unlink, .deleteUser] {
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
  }

  @Test(
    "given up at each stage, it does nothing more",
    arguments: [(FlowEvent.cancelRequested, FlowStage.cancelled), (.overdue, .expired)])
  func ended(_ event: FlowEvent, _ stage: FlowStage) throws {
    var parked = try exchanging(.unlink)
    _ = parked(.exchangeFailed(AuthFailure(.requiresRecentLogin)))
    var troubled = try exchanging(.deleteUser)
    _ = troubled(.exchangeFailed(AuthFailure(.serviceUnavailable)))
    for var run in [try rig(.unlink), try exchanging(.deleteUser), parked, troubled] {
      #expect(run(event) == [.save])
      #expect(run.stage == stage)
      for late in [FlowEvent.performed, .reauthenticated, .started, .restored, .overdue] { #expect(run(late) == []) }
      #expect(run(.confirmed) == [.refuse(.noSuchFlow)])
      #expect(run.stage == stage)
    }
  }

  @Test("nothing else is asked of a person")
  func refuses() throws {
    var run = try exchanging(.unlink)
    let asked: [FlowEvent] = [
      .emailProvided("a@example.com"), .passwordProvided(Secret("p")), .resendRequested,
      .conflict(.resolved(.keep, current: nil)),
    ]
    for event in asked { #expect(run(event) == [.refuse(.noSuchFlow)]) }
    #expect(run.stage == .exchanging)
  }
}
