/// What a project asks of somebody who wants a text message, and how long its code counts. The recorded service asks for
/// nothing, and its codes count for ever.
public struct PhoneSettings: Sendable, Equatable {
  /// What the project says of reCAPTCHA Enterprise (identity-toolkit 2.17).
  public enum Enforcement: String, Sendable, CaseIterable {
    case off = "OFF"
    case audit = "AUDIT"
    case enforce = "ENFORCE"
  }

  /// Whether a text message takes a token of the handler's page (`authType=verifyApp`), a fresh one each time.
  public var needsCaptcha = false
  /// Nil: `recaptchaConfig` isn't there, as in the recorded service. With `audit` who has no token is told so by
  /// `INVALID_APP_CREDENTIAL`, with `enforce` everybody, for nobody here has one of reCAPTCHA Enterprise.
  public var enforcement: Enforcement?
  /// Seconds that a token of the page counts; reCAPTCHA's do for two minutes.
  public var captchaLifetime: Int64 = 120
  /// The codes of numbers for tests, which need no token, by number.
  public var testNumbers: [String: String] = [:]
  /// Seconds that a code counts, then `SESSION_EXPIRED`; nil: for ever.
  public var codeLifetime: Int64?
  /// Wrong codes that a message bears, then `TOO_MANY_ATTEMPTS_TRY_LATER`, whatever the code; nil: any number.
  public var attempts: Int?
  /// Messages to a number within an hour, then `TOO_MANY_ATTEMPTS_TRY_LATER`; nil: any number. Numbers for tests get none.
  public var messages: Int?
  /// Messages of the project in all, then `QUOTA_EXCEEDED`; nil: any number.
  public var quota: Int?
  /// Seconds that a temporary proof counts, then `INVALID_TEMPORARY_PROOF`.
  public var proofLifetime: Int64 = 3600

  /// The recorded service's: nothing is asked.
  public init() {}
}

/// What second factors are like.
public struct FactorSettings: Sendable, Equatable {
  /// The hash of an authenticator app (RFC 6238).
  public enum Algorithm: String, Sendable, CaseIterable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
  }

  /// Seconds that the first factor alone counts, then `INVALID_MFA_PENDING_CREDENTIAL`; nil: for ever.
  public var pendingLifetime: Int64?
  /// Seconds from the start of an authenticator app's enrollment to its last moment, then `SESSION_EXPIRED`.
  public var enrollmentLifetime: Int64 = 300
  /// Seconds that a code of the apps to come counts.
  public var period: Int64 = 30
  /// Digits of their codes, 6 to 8.
  public var digits = 6
  /// Their hash.
  public var algorithm = Algorithm.sha1
  /// Wrong codes of an authenticator app that a sign-in or an enrollment bears, then `TOO_MANY_ATTEMPTS_TRY_LATER`, whatever
  /// the code; nil: any number.
  public var attempts: Int?
  /// Second factors of an account, then `SECOND_FACTOR_LIMIT_EXCEEDED`.
  public var limit = 5
  /// Whether a new factor is told by mail, with a code that takes it away (`REVERT_SECOND_FACTOR_ADDITION`), as in production.
  public var mailsAdditions = false
  /// Whether who takes a factor away gets no tokens with the answer, which a client has to bear (identity-toolkit 8.9).
  public var hasQuietRemovals = false

  /// As production's, but the first factor counts for ever and nothing is mailed.
  public init() {}
}
