import AuthCore
import LinkHandler
import Testing

/// Another number, and new second factors, for which the sign-in is too old (behaviour: Reauthentication and parked
/// operations).
@Suite("Codes that wait for a sign-in", .timeLimit(.minutes(1)))
struct ParkedCodeTests {
  typealias Rig = CodeRig
  static let purposes = [FlowPurpose.changePhone, .enrollFactor]
  static let reasons = [AuthError.requiresRecentLogin, .tokenRevoked]

  @Test("parked before the message: it's asked for once somebody has signed in again", arguments: purposes, reasons)
  func beforeMessage(_ purpose: FlowPurpose, _ reason: AuthError) throws {
    for isRestarted in [false, true] {
      var run = try Rig.starting(purpose)
      run.now = 1200
      #expect(run(Rig.sendFailed(reason)) == [.save])
      #expect(run.stage == .reauthenticationRequired && run.flow.error == reason && run.flow.expiresAt == 1800)
      if isRestarted { #expect(try run.restart() == []) }
      for event in [Rig.provided(), .resendRequested] { #expect(run(event) == [.refuse(.noSuchFlow)]) }
      run.now = 1700
      #expect(run(.reauthenticated) == [.save, .sendCode])
      #expect(run.stage == .starting && run.flow.error == nil && run.flow.expiresAt == 2300)
      #expect(run(Rig.sent) == [.save])
      _ = run(Rig.provided())
      Rig.expectSuccess(&run)
    }
  }

  @Test("parked with the code at the server: the same message's code does afterwards", arguments: purposes, reasons)
  func withCode(_ purpose: FlowPurpose, _ reason: AuthError) throws {
    for isRestarted in [false, true] {
      var run = try Rig.exchanging(purpose)
      #expect(run(Rig.refused(reason)) == [.save])
      #expect(run.stage == .reauthenticationRequired && run.flow.verification?.code == nil)
      if isRestarted { #expect(try run.restart() == []) }
      run.now = 1100
      #expect(run(.reauthenticated) == [.save])
      #expect(run.stage == .waitingForCode && run.flow.error == nil && run.flow.expiresAt == 1700)
      #expect(run.flow.verification?.sessionInfo == Rig.session && run.flow.verification?.attemptsLeft == 5)
      #expect(run(Rig.provided()) == [.save, .verifyCode(Rig.code)])
      Rig.expectSuccess(&run)
    }
  }

  @Test("an authenticator app, before it has its secret and after it", arguments: reasons)
  func app(_ reason: AuthError) throws {
    var before = try Rig.fresh(.enrollFactor, method: .totp)
    _ = before(.started)
    #expect(before(Rig.sendFailed(reason)) == [.save])
    #expect(before.stage == .reauthenticationRequired)
    #expect(before(.reauthenticated) == [.save, .startTOTPEnrollment(delay: 0)])
    #expect(before(Rig.started) == [.save])
    _ = before(Rig.provided())
    Rig.expectSuccess(&before)

    var enrollment = Rig.enrollment
    enrollment.endsAt = 1500
    var run = try Rig.app(enrollment)
    _ = run(Rig.provided())
    #expect(run(Rig.refused(reason)) == [.save])
    #expect(run.stage == .reauthenticationRequired && run.flow.totpEnrollment == enrollment)
    #expect(run.flow.expiresAt == 1600)
    run.now = 1400
    #expect(run(.reauthenticated) == [.save])
    // The app has that secret already, which is good until then.
    #expect(run.stage == .waitingForCode && run.flow.totpEnrollment == enrollment && run.flow.expiresAt == 1500)
    _ = run(Rig.provided())
    Rig.expectSuccess(&run)
  }

  @Test("a secret whose time is over meanwhile is made anew")
  func newSecret() throws {
    var enrollment = Rig.enrollment
    enrollment.endsAt = 1300
    var run = try Rig.app(enrollment)
    _ = run(Rig.provided())
    _ = run(Rig.refused(.requiresRecentLogin))
    run.now = 1300
    #expect(run(.reauthenticated) == [.save, .startTOTPEnrollment(delay: 0)])
    #expect(run.stage == .starting && run.flow.totpEnrollment == nil && run.flow.expiresAt == 1900)
    #expect(run(Rig.started) == [.save])
    #expect(run.stage == .waitingForCode && run.flow.expiresAt == 1900)
  }

  @Test("once is enough: who is still refused then is refused", arguments: purposes, reasons)
  func once(_ purpose: FlowPurpose, _ reason: AuthError) throws {
    for isRestarted in [false, true] {
      var run = try Rig.starting(purpose)
      _ = run(Rig.sendFailed(reason))
      _ = run(.reauthenticated)
      if isRestarted { _ = try run.restart() }
      var later = run
      #expect(run(Rig.sendFailed(reason)) == [.save])
      #expect(run.stage == .failed && run.flow.error == reason && run.flow.secretsLeft == [])
      _ = later(Rig.sent)
      _ = later(Rig.provided())
      #expect(later(Rig.refused(reason)) == [.save])
      #expect(later.stage == .failed && later.flow.error == reason)
    }
  }

  @Test("what isn't done to the account waits for no sign-in", arguments: [FlowPurpose.signIn, .link, .reauthenticate])
  func notParked(_ purpose: FlowPurpose) throws {
    for reason in Self.reasons {
      var run = try Rig.exchanging(purpose)
      #expect(run(Rig.refused(reason)) == [.save])
      #expect(run.stage == .failed && run.flow.error == reason)
      var starting = try Rig.starting(purpose)
      _ = starting(Rig.sendFailed(reason))
      #expect(starting.stage == .failed && starting.flow.error == reason)
    }
  }

  @Test("parked, it can be given up, and its time ends")
  func ends() throws {
    for purpose in Self.purposes {
      var run = try Rig.exchanging(purpose)
      _ = run(Rig.refused(.requiresRecentLogin))
      var overdue = try run.restarted()
      #expect(run(.cancelRequested) == [.save])
      #expect(run.stage == .cancelled && run.flow.error == nil && run.flow.secretsLeft == [])
      #expect(run(.reauthenticated) == [])
      overdue.now = 1600
      #expect(overdue(.restored) == [.save])
      #expect(overdue.stage == .expired && overdue.flow.secretsLeft == [])
    }
  }
}
