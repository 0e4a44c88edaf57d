import AuthCore
import Testing

@Suite("Errors", .timeLimit(.minutes(1)))
struct ErrorTests {
  /// The names of the D-Bus contract, page by page.
  static let names = """
    InvalidCredentials InvalidEmail EmailMismatch EmailNotFound EmailAlreadyInUse WeakPassword UserDisabled UserNotFound
    UserMismatch NoCurrentUser OperationNotAllowed AdminOnly TenantMismatch TooManyRequests QuotaExceeded
    RequiresRecentLogin TokenRevoked
    InvalidActionCode ExpiredActionCode LinkCutOff DifferentDevice AmbiguousApp UnauthorizedDomain InvalidContinueUrl
    AccountExistsWithDifferentCredential CredentialAlreadyInUse ProviderAlreadyLinked NoSuchProvider
    InvalidProviderResponse StateMismatch IssuerMismatch NonceMismatch MissingCode HandlerMissing
    InvalidPhoneNumber InvalidVerificationCode SessionExpired CaptchaRequired CaptchaFailed SecondFactorRequired
    SecondFactorExists SecondFactorLimit UnsupportedFirstFactor UnverifiedEmail FactorNotFound
    NetworkUnavailable ServiceUnavailable InvalidApiKey AppNotAuthorized BlockingFunction NoSuchApp NoSuchFlow
    AccessDenied RateLimited Cancelled KeyringLocked KeyringAbsent KeyringWrongKey StorageUnreadable StorageTooNew
    Internal
    """.split(whereSeparator: \.isWhitespace).map(String.init)

  @Test("the names are those of the contract")
  func contract() {
    #expect(AuthError.allCases.map(\.rawValue).sorted() == Self.names.sorted())
  }

  @Test("a name on D-Bus and back", arguments: AuthError.allCases)
  func dbusName(_ error: AuthError) {
    #expect(error.dbusName == "org.linkd.Auth1.Error.\(error.rawValue)")
    #expect(AuthError(dbusName: error.dbusName) == error)
  }

  @Test(
    "names of nobody",
    arguments: [
      "", "Internal", "org.linkd.Auth1.Error.", "org.linkd.Auth1.Error.internal", "org.linkd.Auth1.Error.Nothing",
      "org.freedesktop.DBus.Error.AccessDenied", "xorg.linkd.Auth1.Error.Internal",
    ])
  func foreignName(_ name: String) { #expect(AuthError(dbusName: name) == nil) }

  @Test("exit codes")
  func exitCodes() {
    let others: [AuthError: Int32] = [
      .ambiguousApp: 3, .linkCutOff: 65, .accessDenied: 77, .cancelled: 130,
      .networkUnavailable: 75, .serviceUnavailable: 75, .tooManyRequests: 75, .quotaExceeded: 75, .rateLimited: 75,
      .keyringLocked: 75, .keyringAbsent: 75,
    ]
    for error in AuthError.allCases { #expect(error.exitCode == others[error] ?? 1, "\(error)") }
  }

  @Test("ids of texts")
  func textIDs() {
    #expect(AuthError.invalidActionCode.textID == "error.invalid-action-code")
    #expect(AuthError.invalidAPIKey.textID == "error.invalid-api-key")
    #expect(AuthError.internal.textID == "error.internal")
    #expect(Set(AuthError.allCases.map(\.textID)).count == AuthError.allCases.count)
  }

  @Test("what waiting may mend")
  func transient() {
    let transient: Set<AuthError> = [
      .networkUnavailable, .serviceUnavailable, .tooManyRequests, .quotaExceeded, .rateLimited, .keyringLocked,
    ]
    for error in AuthError.allCases { #expect(AuthFailure(error).isTransient == transient.contains(error), "\(error)") }
  }

  @Test(
    "the server's sentence is split into code and detail",
    arguments: [
      ("USER_DISABLED", "USER_DISABLED", nil as String?),
      ("USER_DISABLED : The user has been disabled.", "USER_DISABLED", "The user has been disabled."),
      ("INVALID_EMAIL:", "INVALID_EMAIL", nil), ("INVALID_CUSTOM_TOKEN :", "INVALID_CUSTOM_TOKEN", nil),
      ("EMAIL_NOT_FOUND: fake custom message", "EMAIL_NOT_FOUND", "fake custom message"),
      ("INVALID_IDP_RESPONSE ((x))", "INVALID_IDP_RESPONSE", "((x))"),
      ("INVALID_IDP_RESPONSE ((x)) : y", "INVALID_IDP_RESPONSE", "y"),
      ("  A_B\t:\n c : d: e ", "A_B", "c : d: e"), ("", "", nil), (":", "", nil), (" : x", "", "x"),
      ("A::b", "A", ":b"),
    ])
  func split(_ message: String, _ code: String, _ detail: String?) {
    let parts = ServerErrorTable.split(message)
    #expect(parts.code == code)
    #expect(parts.detail == detail)
  }

  /// Every code the service is known to send (identity-toolkit 3.3 and what it lists as unmapped), by what it means.
  static let meanings: [(AuthError, String)] = [
    (.userNotFound, "USER_NOT_FOUND"), (.emailNotFound, "EMAIL_NOT_FOUND"),
    (.invalidEmail, "INVALID_IDENTIFIER INVALID_EMAIL INVALID_RECIPIENT_EMAIL MISSING_EMAIL MISSING_NEW_EMAIL"),
    (.tokenRevoked, "INVALID_ID_TOKEN TOKEN_EXPIRED INVALID_REFRESH_TOKEN MISSING_ID_TOKEN"),
    (.requiresRecentLogin, "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"), (.emailAlreadyInUse, "EMAIL_EXISTS"),
    (
      .operationNotAllowed,
      "OPERATION_NOT_ALLOWED PASSWORD_LOGIN_DISABLED EMAIL_CHANGE_NEEDS_VERIFICATION UNSUPPORTED_TENANT_OPERATION PROJECT_DISABLED"
    ), (.userDisabled, "USER_DISABLED"), (.expiredActionCode, "EXPIRED_OOB_CODE"),
    (.invalidActionCode, "INVALID_OOB_CODE MISSING_OOB_CODE"),
    (.weakPassword, "WEAK_PASSWORD PASSWORD_DOES_NOT_MEET_REQUIREMENTS"),
    (.tooManyRequests, "TOO_MANY_ATTEMPTS_TRY_LATER"), (.quotaExceeded, "QUOTA_EXCEEDED"),
    (.unauthorizedDomain, "UNAUTHORIZED_DOMAIN INVALID_HOSTING_LINK_DOMAIN"),
    (.invalidContinueURL, "INVALID_CONTINUE_URI MISSING_CONTINUE_URI"),
    (
      .invalidCredentials,
      "INVALID_PASSWORD MISSING_PASSWORD INVALID_LOGIN_CREDENTIALS INVALID_CUSTOM_TOKEN CREDENTIAL_MISMATCH"
    ), (.invalidProviderResponse, "INVALID_IDP_RESPONSE INVALID_PENDING_TOKEN REJECTED_CREDENTIAL"),
    (.invalidPhoneNumber, "INVALID_PHONE_NUMBER MISSING_PHONE_NUMBER"),
    (
      .captchaFailed,
      "APP_NOT_VERIFIED CAPTCHA_CHECK_FAILED INVALID_APP_CREDENTIAL INVALID_RECAPTCHA_TOKEN INVALID_RECAPTCHA_ACTION RECAPTCHA_NOT_ENABLED"
    ),
    (
      .captchaRequired,
      "MISSING_APP_CREDENTIAL MISSING_IOS_APP_TOKEN MISSING_CLIENT_IDENTIFIER MISSING_RECAPTCHA_TOKEN CAPTCHA_REQUIRED CAPTCHA_REQUIRED_INVALID_PASSWORD"
    ),
    (.invalidVerificationCode, "INVALID_CODE MISSING_CODE"),
    (
      .sessionExpired,
      "SESSION_EXPIRED INVALID_SESSION_INFO MISSING_SESSION_INFO INVALID_MFA_PENDING_CREDENTIAL MISSING_MFA_PENDING_CREDENTIAL INVALID_TEMPORARY_PROOF"
    ), (.adminOnly, "ADMIN_ONLY_OPERATION"), (.blockingFunction, "BLOCKING_FUNCTION_ERROR_RESPONSE"),
    (.noSuchProvider, "INVALID_PROVIDER_ID"), (.factorNotFound, "MFA_ENROLLMENT_NOT_FOUND MISSING_MFA_ENROLLMENT_ID"),
    (.nonceMismatch, "MISSING_OR_INVALID_NONCE"), (.secondFactorExists, "SECOND_FACTOR_EXISTS"),
    (.secondFactorLimit, "SECOND_FACTOR_LIMIT_EXCEEDED"), (.tenantMismatch, "TENANT_ID_MISMATCH"),
    (.unsupportedFirstFactor, "UNSUPPORTED_FIRST_FACTOR"), (.unverifiedEmail, "UNVERIFIED_EMAIL"),
    (.credentialAlreadyInUse, "FEDERATED_USER_ID_ALREADY_LINKED PHONE_NUMBER_EXISTS"),
    (.invalidAPIKey, "MISSING_API_KEY"), (.appNotAuthorized, "MISSING_IOS_BUNDLE_ID MISSING_ANDROID_PACKAGE_NAME"),
    (.internal, "INVALID_MESSAGE_PAYLOAD INVALID_SENDER INVALID_REQ_TYPE MISSING_CLIENT_TYPE INVALID_GRANT_TYPE"),
  ]

  @Test("each code of the service has its row", arguments: meanings)
  func row(_ error: AuthError, _ codes: String) {
    for code in codes.split(separator: " ") { #expect(ServerErrorTable.error(for: String(code)) == error, "\(code)") }
  }

  @Test("codes are matched exactly", arguments: ["user_disabled", "USER_DISABLED ", "USER", "", "KeyInvalid"])
  func exact(_ code: String) { #expect(ServerErrorTable.error(for: code) == nil) }

  @Test("only haste and quota are temporary among the rows")
  func temporaryRows() {
    let temporary = ServerErrorTable.rows.filter { AuthFailure($0.value).isTransient }.keys.sorted()
    #expect(temporary == ["QUOTA_EXCEEDED", "RESET_PASSWORD_EXCEED_LIMIT", "TOO_MANY_ATTEMPTS_TRY_LATER"])
  }
}
