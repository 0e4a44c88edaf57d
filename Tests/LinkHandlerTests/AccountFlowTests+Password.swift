import AuthCore
import LinkHandler
import Testing

/// A new password, which is nowhere but in memory (identity-toolkit 8.4; behaviour: Reauthentication and parked operations).
extension AccountFlowTests {
  private static let other = Secret("battery staple")
  private var update: FlowAction { .updatePassword(Self.password) }

  @Test("a weak password, with the server's reason: another is asked for")
  func weakPassword() throws {
    var run = try exchanging(.updatePassword)
    run.now = 1300
    #expect(run(.exchangeFailed(AuthFailure(.weakPassword, detail: "Why"))) == [.save])
    #expect(run.stage == .waitingForPassword && run.flow.error == .weakPassword && run.flow.errorDetail == "Why")
    #expect(run.flow.expiresAt == 1900 && run.flow.wantsNewPassword)
    #expect(run(.confirmed) == [.refuse(.noSuchFlow)])
    #expect(run(.passwordProvided(Self.other)) == [.save, .updatePassword(Self.other)])
    #expect(run.flow.error == nil && run(.performed) == [.save] && run.stage == .succeeded)
  }

  @Test("trouble asks for the password again: there's no copy of it")
  func passwordTrouble() throws {
    var run = try exchanging(.updatePassword)
    #expect(run(.exchangeFailed(AuthFailure(.networkUnavailable))) == [.save])
    #expect(run.stage == .waitingForPassword && run.flow.error == .networkUnavailable)
    #expect(run(.reauthenticated) == [])
    #expect(try run.restart() == [])
    #expect(run(.passwordProvided(Self.password)) == [.save, update])
    // The sign-in may be too old after all.
    #expect(run(.exchangeFailed(AuthFailure(.requiresRecentLogin))) == [.save])
    #expect(run.stage == .reauthenticationRequired)
    #expect(run(.reauthenticated) == [.save, update])
  }

  @Test("parked over a restart, the password is asked for again, and then it goes on", arguments: reasons)
  func forgotten(_ reason: AuthError) throws {
    var run = try exchanging(.updatePassword)
    _ = run(.exchangeFailed(AuthFailure(reason)))
    #expect(try run.restart() == [])
    #expect(run.stage == .reauthenticationRequired)
    run.now = 1500
    #expect(run(.reauthenticated) == [.save])
    #expect(run.stage == .waitingForPassword && run.flow.error == nil && run.flow.expiresAt == 2100)
    #expect(run.flow.wantsNewPassword)
    #expect(run(.passwordProvided(Self.password)) == [.save, update])
    #expect(run.stage == .exchanging)
    var done = run
    #expect(done(.performed) == [.save] && done.stage == .succeeded)
    // Once is enough.
    #expect(run(.exchangeFailed(AuthFailure(reason))) == [.save])
    #expect(run.stage == .failed && run.flow.error == reason)
  }

  @Test("found with the password at the server: it's asked for again")
  func restoredPassword() throws {
    var run = try exchanging(.updatePassword)
    run.now = 1200
    #expect(try run.restart() == [.save])
    #expect(run.stage == .waitingForPassword && run.flow.expiresAt == 1800)
    #expect(run(.performed) == [])
    #expect(run(.passwordProvided(Self.password)) == [.save, update])
  }

  @Test("without a password there's one to ask for")
  func noPassword() throws {
    var run = try rig(.updatePassword)
    #expect(run(.started) == [.save])
    #expect(run.stage == .waitingForPassword)
    #expect(run(.passwordProvided(Self.password)) == [.save, update])
  }

  @Test("a word about passwords ends what has none", arguments: agreed)
  func noPasswordAtAll(_ purpose: FlowPurpose) throws {
    var run = try exchanging(purpose)
    #expect(run(.exchangeFailed(AuthFailure(.weakPassword))) == [.save])
    #expect(run.stage == .failed && run.flow.error == .weakPassword)
  }

  @Test("another address is on its way once the mail is")
  func changeEmail() throws {
    var run = try exchanging(.changeEmail)
    #expect(run(.performed) == [.save])
    #expect(run.stage == .succeeded && run.flow.email == "new@example.com" && run.flow.resultUID == "u1")
    for error in [AuthError.invalidEmail, .emailAlreadyInUse] {
      var refused = try exchanging(.changeEmail)
      #expect(refused(.exchangeFailed(AuthFailure(error))) == [.save])
      #expect(refused.stage == .failed && refused.flow.error == error)
    }
  }
}
