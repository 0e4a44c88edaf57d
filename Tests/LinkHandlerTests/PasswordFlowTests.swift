import AuthCore
import LinkHandler
import Testing

@Suite("Password flow", .timeLimit(.minutes(1)))
struct PasswordFlowTests {
  static let password = Secret("correct horse")
  static let signIn = FlowAction.signIn(email: "a@example.com", password: password)
  static let signUp = FlowAction.signUp(email: "a@example.com", password: password)

  private func rig(purpose: FlowPurpose = .signIn, isNew: Bool = false) throws -> FlowRig {
    try FlowRig(.password, purpose: purpose) {
      $0.email = "a@example.com"
      $0.wantsNewPassword = isNew
      if purpose != .signIn { $0.protectedUID = "u1" }
    }
  }

  @Test("a right password signs in once the account has been looked up")
  func signsIn() throws {
    var step = try rig()
    #expect(step(.passwordProvided(Self.password)) == [.save, Self.signIn])
    #expect(step.flow.stage == .exchanging)
    #expect(step(.exchanged(FlowRig.grant, uid: "u1")) == [.save, .lookUp(FlowRig.grant, delay: 0)])
    #expect(step(.lookedUp(User(uid: "u1"))) == [.adopt(User(uid: "u1"), FlowRig.grant)])
    #expect(step.flow.stage == .succeeded && step.flow.resultUID == "u1" && !step.flow.isNewUser)
    #expect(step.flow.answer == nil)
  }

  @Test(
    "a wrong password waits for another one, and says so", arguments: [AuthError.invalidCredentials, .weakPassword])
  func wrong(_ error: AuthError) throws {
    var step = try rig()
    _ = step(.passwordProvided(Secret("wrong")))
    step.now = 1200
    #expect(step(.exchangeFailed(AuthFailure(error, detail: "Too short"))) == [.save])
    #expect(step.flow.stage == .waitingForPassword)
    #expect(step.flow.error == error && step.flow.errorDetail == "Too short")
    #expect(step.flow.expiresAt == 1800)
    #expect(step(.passwordProvided(Self.password)) == [.save, Self.signIn])
    #expect(step.flow.error == nil && step.flow.errorDetail == nil)
  }

  @Test(
    "temporary trouble ends nothing", arguments: [AuthError.networkUnavailable, .serviceUnavailable, .tooManyRequests])
  func transient(_ error: AuthError) throws {
    var step = try rig()
    _ = step(.passwordProvided(Self.password))
    #expect(step(.exchangeFailed(AuthFailure(error))) == [.save])
    #expect(step.flow.stage == .waitingForPassword && step.flow.error == error)
  }

  @Test(
    "what another password can't mend ends it",
    arguments: [AuthError.userDisabled, .emailNotFound, .operationNotAllowed])
  func final(_ error: AuthError) throws {
    var step = try rig()
    _ = step(.passwordProvided(Self.password))
    #expect(step(.exchangeFailed(AuthFailure(error))) == [.save])
    #expect(step.flow.stage == .failed && step.flow.error == error && !step.flow.canRetry)
  }

  @Test("a new account is new, and its address counts once")
  func creates() throws {
    var step = try rig(isNew: true)
    #expect(step(.passwordProvided(Self.password)) == [.save, Self.signUp])
    var kept = FlowRig.grant
    kept.isNewUser = true
    #expect(step(.exchanged(FlowRig.grant, uid: "u1")) == [.save, .lookUp(kept, delay: 0)])
    _ = step(.lookedUp(User(uid: "u1")))
    #expect(step.flow.isNewUser)

    var taken = try rig(isNew: true)
    _ = taken(.passwordProvided(Self.password))
    _ = taken(.exchangeFailed(AuthFailure(.emailAlreadyInUse)))
    #expect(taken.flow.stage == .failed && taken.flow.error == .emailAlreadyInUse)
  }

  @Test("an account that an unanswered request made is signed in to, not reported as taken")
  func unanswered() throws {
    var step = try rig(isNew: true)
    _ = step(.passwordProvided(Self.password))
    _ = step(.exchangeFailed(AuthFailure(.networkUnavailable)))
    #expect(step(.passwordProvided(Self.password)) == [.save, Self.signUp])
    #expect(step(.exchangeFailed(AuthFailure(.emailAlreadyInUse))) == [Self.signIn])
    var foreign = step
    #expect(step(.exchanged(FlowRig.grant, uid: "u1")).first == .save)
    _ = step(.lookedUp(User(uid: "u1")))
    #expect(step.flow.stage == .succeeded)
    // Somebody else's account: what counts is that the address is taken.
    _ = foreign(.exchangeFailed(AuthFailure(.invalidCredentials)))
    #expect(foreign.flow.stage == .failed && foreign.flow.error == .emailAlreadyInUse)
  }

  @Test("a password that an unanswered request has linked is found again, another account's isn't taken for it")
  func unansweredLink() throws {
    var step = try rig(purpose: .link, isNew: true)
    _ = step(.passwordProvided(Self.password))
    _ = step(.exchangeFailed(AuthFailure(.networkUnavailable)))
    #expect(step(.passwordProvided(Self.password)) == [.save, Self.signUp])
    #expect(step(.exchangeFailed(AuthFailure(.emailAlreadyInUse))) == [Self.signIn])
    var foreign = step
    #expect(step(.exchanged(FlowRig.grant, uid: "u1")) == [.save, .lookUp(FlowRig.grant, delay: 0)])
    #expect(step(.lookedUp(User(uid: "u1"))) == [.adopt(User(uid: "u1"), FlowRig.grant)])
    #expect(foreign(.exchanged(FlowRig.grant, uid: "u2")) == [.save])
    #expect(foreign.flow.stage == .failed && foreign.flow.error == .emailAlreadyInUse && foreign.flow.answer == nil)
  }

  @Test("an address refused for certain was never ours")
  func refusedThenTaken() throws {
    var step = try rig(isNew: true)
    _ = step(.passwordProvided(Secret("weak")))
    _ = step(.exchangeFailed(AuthFailure(.weakPassword)))
    _ = step(.passwordProvided(Self.password))
    #expect(step(.exchangeFailed(AuthFailure(.emailAlreadyInUse))) == [.save])
    #expect(step.flow.error == .emailAlreadyInUse)
  }

  @Test("after a restart the password is asked for again; an answer that was there is used")
  func restarted() throws {
    var step = try rig()
    _ = step(.passwordProvided(Self.password))
    #expect(try step.restart() == [.save])
    #expect(step.flow.stage == .waitingForPassword && step.flow.error == nil)

    var answered = try rig()
    _ = answered(.passwordProvided(Self.password))
    _ = answered(.exchanged(FlowRig.grant, uid: "u1"))
    #expect(try answered.restart() == [.lookUp(FlowRig.grant, delay: 0)])
  }

  @Test("a password that is given in the last second is tried, not expired")
  func inTime() throws {
    var step = try rig()
    _ = step(.started)
    step.now = 1599
    #expect(step(.passwordProvided(Self.password)) == [.save, Self.signIn])
    #expect(step.flow.expiresAt == 2199)
  }

  @Test("giving up is no failure, whatever went wrong before")
  func givenUp() throws {
    var step = try rig()
    _ = step(.passwordProvided(Self.password))
    _ = step(.exchangeFailed(AuthFailure(.invalidCredentials, detail: "Wrong")))
    #expect(step(.cancelRequested) == [.save])
    #expect(step.flow.stage == .cancelled && step.flow.error == nil && step.flow.errorDetail == nil)
  }

  @Test("another uid than the protected one is UserMismatch, and its tokens are dropped")
  func mismatch() throws {
    var step = try rig(purpose: .reauthenticate)
    _ = step(.passwordProvided(Self.password))
    #expect(step(.exchanged(FlowRig.grant, uid: "other")) == [.save])
    #expect(step.flow.stage == .failed && step.flow.error == .userMismatch && step.flow.answer == nil)
  }

  @Test("linking is a sign-up with the account's token")
  func links() throws {
    var step = try rig(purpose: .link, isNew: true)
    #expect(step(.passwordProvided(Self.password)) == [.save, Self.signUp])
    #expect(step(.exchanged(FlowRig.grant, uid: "u1")) == [.save, .lookUp(FlowRig.grant, delay: 0)])
  }

  @Test("nothing is taken at a stage that waits for nothing, and an end stays an end")
  func refuses() throws {
    var step = try rig()
    _ = step(.passwordProvided(Self.password))
    #expect(step(.passwordProvided(Self.password)) == [.refuse(.noSuchFlow)])
    #expect(step(.confirmed) == [.refuse(.noSuchFlow)])
    #expect(step(.cancelRequested) == [.save])
    #expect(step.flow.stage == .cancelled)
    #expect(step(.exchanged(FlowRig.grant, uid: "u1")) == [])
    #expect(step(.passwordProvided(Self.password)) == [.refuse(.noSuchFlow)])
    #expect(step.flow.stage == .cancelled)
  }

  @Test("no password is in what a machine prints")
  func redacted() throws {
    var step = try rig()
    let actions = step(.passwordProvided(Self.password))
    var text = ""
    dump(step.machine, to: &text)
    dump(actions, to: &text)
    #expect(!"\(step.machine) \(actions) \(text)".contains("correct horse"))
  }
}
