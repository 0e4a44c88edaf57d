/// Every error a client can meet. The raw value is the name on D-Bus, without its prefix; the name is the contract.
public enum AuthError: String, Error, Sendable, Hashable, CaseIterable {
  // Account
  case invalidCredentials = "InvalidCredentials"
  case invalidEmail = "InvalidEmail"
  case emailMismatch = "EmailMismatch"
  case emailNotFound = "EmailNotFound"
  case emailAlreadyInUse = "EmailAlreadyInUse"
  case weakPassword = "WeakPassword"
  case userDisabled = "UserDisabled"
  case userNotFound = "UserNotFound"
  case userMismatch = "UserMismatch"
  case noCurrentUser = "NoCurrentUser"
  case operationNotAllowed = "OperationNotAllowed"
  case adminOnly = "AdminOnly"
  case tenantMismatch = "TenantMismatch"
  case tooManyRequests = "TooManyRequests"
  case quotaExceeded = "QuotaExceeded"
  case requiresRecentLogin = "RequiresRecentLogin"
  case tokenRevoked = "TokenRevoked"
  // Links
  case invalidActionCode = "InvalidActionCode"
  case expiredActionCode = "ExpiredActionCode"
  case linkCutOff = "LinkCutOff"
  case differentDevice = "DifferentDevice"
  case ambiguousApp = "AmbiguousApp"
  case unauthorizedDomain = "UnauthorizedDomain"
  case invalidContinueURL = "InvalidContinueUrl"
  // Providers
  case accountExistsWithDifferentCredential = "AccountExistsWithDifferentCredential"
  case credentialAlreadyInUse = "CredentialAlreadyInUse"
  case providerAlreadyLinked = "ProviderAlreadyLinked"
  case noSuchProvider = "NoSuchProvider"
  case invalidProviderResponse = "InvalidProviderResponse"
  case stateMismatch = "StateMismatch"
  case issuerMismatch = "IssuerMismatch"
  case nonceMismatch = "NonceMismatch"
  case missingCode = "MissingCode"
  case handlerMissing = "HandlerMissing"
  // Phone and factors
  case invalidPhoneNumber = "InvalidPhoneNumber"
  case invalidVerificationCode = "InvalidVerificationCode"
  case sessionExpired = "SessionExpired"
  case captchaRequired = "CaptchaRequired"
  case captchaFailed = "CaptchaFailed"
  case secondFactorRequired = "SecondFactorRequired"
  case secondFactorExists = "SecondFactorExists"
  case secondFactorLimit = "SecondFactorLimit"
  case unsupportedFirstFactor = "UnsupportedFirstFactor"
  case unverifiedEmail = "UnverifiedEmail"
  case factorNotFound = "FactorNotFound"
  // Service
  case networkUnavailable = "NetworkUnavailable"
  case serviceUnavailable = "ServiceUnavailable"
  case invalidAPIKey = "InvalidApiKey"
  case appNotAuthorized = "AppNotAuthorized"
  case blockingFunction = "BlockingFunction"
  case noSuchApp = "NoSuchApp"
  case noSuchFlow = "NoSuchFlow"
  case accessDenied = "AccessDenied"
  case rateLimited = "RateLimited"
  case cancelled = "Cancelled"
  case keyringLocked = "KeyringLocked"
  case keyringAbsent = "KeyringAbsent"
  case keyringWrongKey = "KeyringWrongKey"
  case storageUnreadable = "StorageUnreadable"
  case storageTooNew = "StorageTooNew"
  case `internal` = "Internal"

  /// Prefix of every name on D-Bus.
  public static let prefix = "org.linkd.Auth1.Error."

  /// The whole name on D-Bus, `org.linkd.Auth1.Error.X`.
  public var dbusName: String { Self.prefix + rawValue }

  /// Reads the whole name; nil for a name of anybody else's.
  public init?(dbusName: String) {
    guard dbusName.hasPrefix(Self.prefix) else { return nil }
    self.init(rawValue: String(dbusName.dropFirst(Self.prefix.count)))
  }

  /// Exit code of a command that failed with it (cli-and-config: Exit codes).
  public var exitCode: Int32 {
    switch self {
    case .networkUnavailable, .serviceUnavailable, .tooManyRequests, .quotaExceeded, .rateLimited, .keyringLocked,
      .keyringAbsent:
      75
    case .accessDenied: 77
    case .cancelled: 130
    case .ambiguousApp: 3
    case .linkCutOff: 65
    case .invalidCredentials, .invalidEmail, .emailMismatch, .emailNotFound, .emailAlreadyInUse, .weakPassword,
      .userDisabled, .userNotFound, .userMismatch, .noCurrentUser, .operationNotAllowed, .adminOnly, .tenantMismatch,
      .requiresRecentLogin, .tokenRevoked, .invalidActionCode, .expiredActionCode, .differentDevice,
      .unauthorizedDomain, .invalidContinueURL, .accountExistsWithDifferentCredential, .credentialAlreadyInUse,
      .providerAlreadyLinked, .noSuchProvider, .invalidProviderResponse, .stateMismatch, .issuerMismatch,
      .nonceMismatch, .missingCode, .handlerMissing, .invalidPhoneNumber, .invalidVerificationCode, .sessionExpired,
      .captchaRequired, .captchaFailed, .secondFactorRequired, .secondFactorExists, .secondFactorLimit,
      .unsupportedFirstFactor, .unverifiedEmail, .factorNotFound, .invalidAPIKey, .appNotAuthorized, .blockingFunction,
      .noSuchApp, .noSuchFlow, .keyringWrongKey, .storageUnreadable, .storageTooNew, .internal:
      1
    }
  }

  /// Id of the text for a person: `error.invalid-action-code`.
  public var textID: String {
    var id = "error."
    for (index, character) in rawValue.enumerated() {
      if index > 0, character.isUppercase { id += "-" }
      id += character.lowercased()
    }
    return id
  }
}

/// An error with what else is known about it: the form in which it travels inside linkd.
public struct AuthFailure: Error, Sendable, Hashable {
  /// What a client meets.
  public var error: AuthError
  /// The server's short code, for the log: a constant of the protocol, never a value.
  public var serverCode: String?
  /// The server's sentence meant for a person (a weak password's reason, a blocking function's message). Untrusted text.
  public var detail: String?
  /// Seconds the server asked to wait.
  public var retryAfter: Int64?
  /// Id of a text that says more exactly what happened, where one name stands for several causes: a full disk.
  public var cause: String?

  /// A failure of kind `error`.
  public init(
    _ error: AuthError, serverCode: String? = nil, detail: String? = nil, retryAfter: Int64? = nil,
    cause: String? = nil
  ) {
    self.error = error
    self.serverCode = serverCode
    self.detail = detail
    self.retryAfter = retryAfter
    self.cause = cause
  }

  /// Id of the text for a person.
  public var textID: String { cause ?? error.textID }

  /// Whether waiting may mend it: the session and the flow stay as they are (behaviour: Tokens).
  public var isTransient: Bool {
    switch error {
    case .networkUnavailable, .serviceUnavailable, .tooManyRequests, .quotaExceeded, .rateLimited, .keyringLocked: true
    default: false
    }
  }
}
