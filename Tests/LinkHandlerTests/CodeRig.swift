import AuthCore
import LinkHandler
import Testing

/// Flows that end with a code, and what comes for them.
enum CodeRig {
  static let number = "+15555550100"
  static let session = Secret("SI"), otherSession = Secret("SI2")
  static let code = Secret("123456"), wrongCode = Secret("654321")
  static let token = Secret("CAPTCHA")
  static let proof = PhoneCredential.temporaryProof(Secret("TP"), phoneNumber: number)

  /// The page that tells people from programs.
  static let page = PendingAuthorization(
    url: Secret("https://x.firebaseapp.com/__/auth/handler?…"), returnURIs: ["com.example.x://firebaseauth/link"])

  static let enrollment = TOTPEnrollment(
    secret: Secret("JBSWY3DP"), digits: 6, period: 30, algorithm: "SHA1", sessionInfo: Secret("TSI"), endsAt: nil)

  // MARK: What happens

  static let sent = FlowEvent.verification(.codeSent(sessionInfo: session))
  static let sentAgain = FlowEvent.verification(.codeSent(sessionInfo: otherSession))
  static let pageWanted = FlowEvent.verification(.captchaRequired)
  static let pageReady = FlowEvent.verification(.pageReady(page))
  static let numberTaken = FlowEvent.verification(.numberTaken(proof))
  static let started = FlowEvent.verification(.enrollmentStarted(enrollment))

  static func provided(_ code: Secret<String> = code) -> FlowEvent { .verification(.codeProvided(code)) }
  static func sendFailed(_ error: AuthError, retryAfter: Int64? = nil) -> FlowEvent {
    .verification(.sendFailed(AuthFailure(error, retryAfter: retryAfter)))
  }
  static func refused(_ error: AuthError = .invalidVerificationCode, _ serverCode: String? = nil) -> FlowEvent {
    .exchangeFailed(AuthFailure(error, serverCode: serverCode))
  }

  static func returned(token: Secret<String>? = nil, error: String? = nil) -> FlowEvent {
    var page = AppVerificationReturn()
    (page.eventID, page.recaptchaToken, page.error) = (Secret("E"), token, error)
    if token == nil, error == nil { page.reject = "missingToken" }
    return .verification(.pageReturned(page))
  }

  // MARK: What a flow of a purpose ends with

  /// Every use of a code as the first factor, or to make a factor of it.
  static let phones: [FlowPurpose] = [.signIn, .link, .reauthenticate, .changePhone, .enrollFactor]

  static func fresh(
    _ purpose: FlowPurpose = .signIn, method: SignInMethod = .phone, _ change: (inout Flow) -> Void = { _ in }
  ) throws -> FlowRig {
    try FlowRig(method, purpose: purpose) {
      if method == .phone { $0.phoneNumber = number }
      if purpose != .signIn { $0.protectedUID = "u1" }
      if purpose == .link { $0.linkUID = "u1" }
      if purpose == .enrollFactor { $0.displayName = "Mine" }
      change(&$0)
    }
  }

  /// A guest's, whose account is to get the number.
  static let guest: @Sendable (inout Flow) -> Void = {
    $0.anonymousUID = "g1"
    $0.linkUID = "g1"
  }

  // MARK: Flows at their stages

  static func starting(_ purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try fresh(purpose, change)
    #expect(run(.started) == [.save, .sendCode])
    return run
  }

  static func waiting(_ purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try starting(purpose, change)
    #expect(run(sent) == [.save])
    #expect(run.stage == .waitingForCode)
    return run
  }

  static func exchanging(
    _ purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }
  ) throws -> FlowRig {
    var run = try waiting(purpose, change)
    #expect(run(provided()) == [.save, .verifyCode(code)])
    #expect(run.stage == .exchanging)
    return run
  }

  static func atPage(_ purpose: FlowPurpose = .signIn) throws -> FlowRig {
    var run = try starting(purpose)
    #expect(run(pageWanted) == [.prepareVerificationPage])
    #expect(run(pageReady) == [.save, .openBrowser])
    #expect(run.stage == .waitingForCaptcha)
    return run
  }

  /// An authenticator app that has the secret.
  static func app(_ enrollment: TOTPEnrollment = enrollment) throws -> FlowRig {
    var run = try fresh(.enrollFactor, method: .totp)
    #expect(run(.started) == [.save, .startTOTPEnrollment(delay: 0)])
    #expect(run(.verification(.enrollmentStarted(enrollment))) == [.save])
    #expect(run.stage == .waitingForCode)
    return run
  }

  /// The answer to a code is the account's new tokens, whatever it was for.
  static func expectSuccess(_ run: inout FlowRig, _ uid: String = "u1") {
    #expect(run(.exchanged(FlowRig.grant, uid: nil)) == [.save, .lookUp(FlowRig.grant, delay: 0)])
    #expect(run(.lookedUp(User(uid: uid))) == [.adopt(User(uid: uid), FlowRig.grant)])
    #expect(run.stage == .succeeded && run.flow.resultUID == uid && run.flow.error == nil)
    #expect(run.flow.secretsLeft == [] && run.flow.endedAt == run.now)
  }

  /// A flow that waits for nothing but a code, of each kind.
  static func allWaiting() throws -> [FlowRig] { try phones.map { try waiting($0) } + [app()] }
}
