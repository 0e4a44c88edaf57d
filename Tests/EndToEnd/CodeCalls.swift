import Foundation
import TestSupport
import Testing

/// A call that linkd makes for text messages and second factors, and how a person brings it about over D-Bus.
enum CodeCall: String, Sendable, CaseIterable {
  case sendCode, verifyCode, linkCode, proof
  case startPhoneEnrollment, startTOTPEnrollment, finishPhoneEnrollment, finishTOTPEnrollment, withdraw
  case startSecondFactor, finishPhoneFactor, finishTOTPFactor
  case changeEmail, updatePassword

  /// Part of the path of its requests.
  var path: String {
    switch self {
    case .sendCode: "accounts:sendVerificationCode"
    case .verifyCode, .linkCode, .proof: "accounts:signInWithPhoneNumber"
    case .startPhoneEnrollment, .startTOTPEnrollment: "mfaEnrollment:start"
    case .finishPhoneEnrollment, .finishTOTPEnrollment: "mfaEnrollment:finalize"
    case .withdraw: "mfaEnrollment:withdraw"
    case .startSecondFactor: "mfaSignIn:start"
    case .finishPhoneFactor, .finishTOTPFactor: "mfaSignIn:finalize"
    case .changeEmail: "accounts:sendOobCode"
    case .updatePassword: "accounts:update"
    }
  }

  private static let anywhere = """
    MISSING_API_KEY PROJECT_DISABLED TENANT_ID_MISMATCH UNSUPPORTED_TENANT_OPERATION INSUFFICIENT_PERMISSION
    INVALID_ARGUMENT QUOTA_EXCEEDED TOO_MANY_ATTEMPTS_TRY_LATER
    """
  private static let ofToken = "INVALID_ID_TOKEN TOKEN_EXPIRED USER_DISABLED USER_NOT_FOUND"
  /// What a wish for a message may be answered where the page is what helps.
  static let ofPage = """
    MISSING_CLIENT_IDENTIFIER MISSING_APP_CREDENTIAL MISSING_IOS_APP_TOKEN MISSING_RECAPTCHA_TOKEN INVALID_RECAPTCHA_TOKEN
    CAPTCHA_CHECK_FAILED INVALID_APP_CREDENTIAL APP_NOT_VERIFIED
    """
  private static let ofCode = "INVALID_CODE MISSING_CODE SESSION_EXPIRED INVALID_SESSION_INFO MISSING_SESSION_INFO"
  private static let ofPending = "INVALID_MFA_PENDING_CREDENTIAL MFA_ENROLLMENT_NOT_FOUND INVALID_PROJECT_ID"

  /// The codes that the protocol knows for it (identity-toolkit 2.5, 2.7, 2.12, 2.13, 2.18).
  var codes: [String] {
    let own =
      switch self {
      case .sendCode:
        """
        \(Self.anywhere) \(Self.ofPage) INVALID_PHONE_NUMBER MISSING_PHONE_NUMBER BILLING_NOT_ENABLED
        OPERATION_NOT_ALLOWED UNSUPPORTED_FIRST_FACTOR
        """
      case .verifyCode:
        "\(Self.anywhere) \(Self.ofCode) USER_DISABLED USER_NOT_FOUND OPERATION_NOT_ALLOWED ADMIN_ONLY_OPERATION"
      case .linkCode:
        "\(Self.ofCode) \(Self.ofToken) UNSUPPORTED_FIRST_FACTOR CREDENTIAL_ALREADY_IN_USE PHONE_NUMBER_EXISTS"
      case .proof: "INVALID_TEMPORARY_PROOF PHONE_NUMBER_EXISTS MISSING_PHONE_NUMBER USER_DISABLED"
      case .startPhoneEnrollment:
        """
        \(Self.ofPage) \(Self.ofToken) INVALID_PHONE_NUMBER CREDENTIAL_TOO_OLD_LOGIN_AGAIN UNVERIFIED_EMAIL
        SECOND_FACTOR_EXISTS SECOND_FACTOR_LIMIT_EXCEEDED UNSUPPORTED_FIRST_FACTOR OPERATION_NOT_ALLOWED QUOTA_EXCEEDED
        """
      case .startTOTPEnrollment:
        """
        \(Self.ofToken) CREDENTIAL_TOO_OLD_LOGIN_AGAIN UNVERIFIED_EMAIL SECOND_FACTOR_LIMIT_EXCEEDED
        UNSUPPORTED_FIRST_FACTOR OPERATION_NOT_ALLOWED
        """
      case .finishPhoneEnrollment, .finishTOTPEnrollment:
        """
        \(Self.ofCode) \(Self.ofToken) CREDENTIAL_TOO_OLD_LOGIN_AGAIN SECOND_FACTOR_EXISTS
        SECOND_FACTOR_LIMIT_EXCEEDED UNVERIFIED_EMAIL QUOTA_EXCEEDED
        """
      case .withdraw:
        """
        \(Self.ofToken) CREDENTIAL_TOO_OLD_LOGIN_AGAIN MFA_ENROLLMENT_NOT_FOUND MISSING_MFA_ENROLLMENT_ID
        TOO_MANY_ATTEMPTS_TRY_LATER
        """
      case .startSecondFactor:
        """
        \(Self.anywhere) \(Self.ofPage) \(Self.ofPending) MISSING_MFA_PENDING_CREDENTIAL MISSING_MFA_ENROLLMENT_ID
        INVALID_PHONE_NUMBER
        """
      case .finishPhoneFactor: "\(Self.anywhere) \(Self.ofCode) \(Self.ofPending) MISSING_CREDENTIAL USER_DISABLED"
      case .finishTOTPFactor:
        "\(Self.ofPending) INVALID_CODE MISSING_CODE MISSING_CREDENTIAL USER_DISABLED QUOTA_EXCEEDED"
      case .changeEmail:
        """
        \(Self.ofToken) CREDENTIAL_TOO_OLD_LOGIN_AGAIN MISSING_NEW_EMAIL INVALID_NEW_EMAIL EMAIL_EXISTS
        OPERATION_NOT_ALLOWED QUOTA_EXCEEDED
        """
      case .updatePassword:
        """
        \(Self.ofToken) CREDENTIAL_TOO_OLD_LOGIN_AGAIN WEAK_PASSWORD PASSWORD_DOES_NOT_MEET_REQUIREMENTS
        EMAIL_CHANGE_NEEDS_VERIFICATION TOO_MANY_ATTEMPTS_TRY_LATER
        """
      }
    return own.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  /// Where a flow stands that met the code, and by which name.
  func expected(_ code: ServerCode) -> FlowState {
    let isTemporary = ["TooManyRequests", "QuotaExceeded"].contains(code.name)
    let isForPage = ["CaptchaRequired", "CaptchaFailed"].contains(code.name)
    let stage: String
    switch self {
    case .sendCode, .startPhoneEnrollment, .startSecondFactor:
      // The page is what helps: it's no error yet.
      if isForPage { return FlowState("waiting-for-captcha") }
      if self == .startSecondFactor {
        stage = Self.endsFirstFactor(code) ? "failed" : "second-factor-required"
      } else {
        stage = isTemporary ? "waiting-for-code" : parks(code) ? "reauthentication-required" : "failed"
      }
    case .verifyCode, .linkCode, .finishPhoneEnrollment, .finishTOTPEnrollment:
      let waits = isTemporary || code.name == "InvalidVerificationCode"
      stage = waits ? "waiting-for-code" : parks(code) ? "reauthentication-required" : "failed"
    case .finishPhoneFactor, .finishTOTPFactor:
      let waits = isTemporary || code.name == "InvalidVerificationCode"
      stage = waits ? "waiting-for-code" : Self.endsFirstFactor(code) ? "failed" : "second-factor-required"
    case .withdraw, .changeEmail:
      stage = isTemporary ? "waiting-for-confirmation" : parks(code) ? "reauthentication-required" : "failed"
    case .updatePassword:
      let waits = isTemporary || code.name == "WeakPassword"
      stage = waits ? "waiting-for-password" : parks(code) ? "reauthentication-required" : "failed"
    case .proof, .startTOTPEnrollment: stage = parks(code) ? "reauthentication-required" : "failed"
    }
    return FlowState(stage, code.name)
  }

  /// An old login, or tokens that have ended: signing in again mends it.
  private func parks(_ code: ServerCode) -> Bool {
    switch self {
    case .sendCode, .verifyCode, .linkCode, .proof: false
    default: ["RequiresRecentLogin", "TokenRevoked"].contains(code.name)
    }
  }

  /// The sign-in begins anew; another factor wouldn't help.
  private static func endsFirstFactor(_ code: ServerCode) -> Bool {
    switch code.name {
    case "SessionExpired": !["SESSION_EXPIRED", "INVALID_SESSION_INFO"].contains(code.code)
    default: ["UserDisabled", "UserNotFound", "TokenRevoked", "TenantMismatch"].contains(code.name)
    }
  }
}

extension CodeCall {
  /// Makes the call fail that way; the flow that made it.
  func drive(_ message: String, number: Int, _ world: World) async throws -> String {
    let address = "user\(number)@example.com", phone = "+15555551\(100 + number)"
    let act = try await prepare(address, phone, world)
    try await world.fault(["path": path, "error": message, "times": 1])
    let flow = try await act()
    try await world.eventually("the call") {
      let faults = try await world.emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/faults")["faults"]
      return (faults as? [[String: Any]])?.first?["remaining"] as? Int == 0
    }
    try await world.clearFaults()
    try await world.eventually("the flow to settle") {
      !["starting", "exchanging"].contains(try await world.flow(flow).stage)
    }
    return flow
  }

  /// Everything up to the call, and what makes it.
  private func prepare(
    _ address: String, _ phone: String, _ world: World
  ) async throws -> @Sendable () async throws -> String {
    func give(_ flow: String, _ code: String) -> @Sendable () async throws -> String {
      { try await called(flow, "ProvideCode", code, world) }
    }
    func sent(_ flow: String) async throws -> @Sendable () async throws -> String {
      try await world.flow(flow, at: "waiting-for-code")
      return give(flow, try await world.message(phone))
    }
    switch self {
    case .sendCode: return { try await world.byPhone(phone, options: "{'open-browser': <false>}") }
    case .verifyCode: return try await sent(try await world.byPhone(phone))
    case .linkCode:
      try await signIn(address, world)
      return try await sent(try await world.byPhone(phone, options: "{'purpose': <'link'>}"))
    case .proof:
      try await world.signIn(phone: phone)
      try await signIn(address, world)
      let flow = try await world.byPhone(phone, options: "{'purpose': <'link'>}")
      try await world.answer(flow, phone, to: "conflict")
      return { try await called(flow, "ResolveConflict", "switch", world) }
    case .startPhoneEnrollment, .startTOTPEnrollment, .changeEmail, .updatePassword:
      try await signIn(address, world)
      return { try await start(world, phone) }
    case .finishPhoneEnrollment:
      try await signIn(address, world)
      return try await sent(try await world.begin("Account.EnrollPhoneFactor", phone, "Mobile"))
    case .finishTOTPEnrollment:
      try await signIn(address, world)
      let (flow, secret, _) = try await world.beginTOTP()
      return give(flow, try await world.totp(secret))
    case .withdraw:
      let account = try await world.withFactors(address)
      let flow = try await world.toSecondFactor(address)
      try await world.answer(flow, code: try await world.totp(account.secret))
      let factor = account.factors["App"] ?? ""
      return { try await world.begin("Account.UnenrollFactor", factor) }
    case .startSecondFactor, .finishPhoneFactor, .finishTOTPFactor:
      let isTOTP = self == .finishTOTPFactor
      let account = try await world.withFactors(address, phones: isTOTP ? [:] : ["Mobile": phone])
      let flow = try await world.begin(
        "SignIn.SignInWithPassword", address, "correct horse", options: "{'open-browser': <false>}")
      try await world.flow(flow, at: "second-factor-required")
      let factor = account.factors[isTOTP ? "App" : "Mobile"] ?? ""
      guard self == .startSecondFactor else {
        try await world.choose(factor, flow)
        return give(flow, isTOTP ? try await world.totp(account.secret) : try await world.message(phone))
      }
      return { try await called(flow, "ChooseFactor", factor, world) }
    }
  }

  /// Calls a method of the flow's, which is taken; the flow.
  private func called(_ flow: String, _ member: String, _ argument: String, _ world: World) async throws -> String {
    let result = try await world.flow(flow, member, argument)
    #expect(result.status == 0, "\(self): \(result)")
    return flow
  }

  /// What is asked of the account that is signed in.
  private func start(_ world: World, _ phone: String) async throws -> String {
    switch self {
    case .startPhoneEnrollment:
      try await world.begin("Account.EnrollPhoneFactor", phone, "Mobile", options: "{'open-browser': <false>}")
    case .startTOTPEnrollment: try await world.begin("Account.EnrollTotpFactor", "App")
    case .changeEmail: try await world.begin("Account.ChangeEmail", "new.\(phone.dropFirst())@example.com")
    default: try await world.begin("Account.UpdatePassword", "another horse battery")
    }
  }

  private func signIn(_ address: String, _ world: World) async throws {
    _ = try await world.verifiedAccount(address)
    let flow = try await world.begin("SignIn.SignInWithPassword", address, "correct horse")
    try await world.flow(flow, at: "succeeded")
  }
}
