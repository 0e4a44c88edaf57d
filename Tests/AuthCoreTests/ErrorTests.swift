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

  @Test("codes are matched exactly", arguments: ["user_disabled", "USER_DISABLED ", "USER", "", "KeyInvalid"])
  func exact(_ code: String) { #expect(ServerErrorTable.error(for: code) == nil) }

  @Test("only haste and quota are temporary among the rows")
  func temporaryRows() {
    let temporary = ServerErrorTable.rows.filter { AuthFailure($0.value).isTransient }.keys.sorted()
    #expect(temporary == ["QUOTA_EXCEEDED", "RESET_PASSWORD_EXCEED_LIMIT", "TOO_MANY_ATTEMPTS_TRY_LATER"])
  }
}
