/// The one table from a server's short code to `AuthError` (identity-toolkit 3.3 and what it lists as unmapped).
public enum ServerErrorTable {
  /// A row for every code the server is known to send.
  public static let rows: [String: AuthError] = [
    // Account
    "USER_NOT_FOUND": .userNotFound,
    "EMAIL_NOT_FOUND": .emailNotFound,
    "INVALID_IDENTIFIER": .invalidEmail,
    "MISSING_IDENTIFIER": .invalidEmail,
    "INVALID_EMAIL": .invalidEmail,
    "MISSING_EMAIL": .invalidEmail,
    "MISSING_NEW_EMAIL": .invalidEmail,
    "INVALID_NEW_EMAIL": .invalidEmail,
    "INVALID_RECIPIENT_EMAIL": .invalidEmail,
    "EMAIL_EXISTS": .emailAlreadyInUse,
    "INVALID_PASSWORD": .invalidCredentials,
    "MISSING_PASSWORD": .invalidCredentials,
    "INVALID_LOGIN_CREDENTIALS": .invalidCredentials,
    "WEAK_PASSWORD": .weakPassword,
    "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": .weakPassword,
    "USER_DISABLED": .userDisabled,
    "INVALID_ID_TOKEN": .tokenRevoked,
    "MISSING_ID_TOKEN": .tokenRevoked,
    "TOKEN_EXPIRED": .tokenRevoked,
    "INVALID_REFRESH_TOKEN": .tokenRevoked,
    "MISSING_REFRESH_TOKEN": .tokenRevoked,
    "CREDENTIAL_TOO_OLD_LOGIN_AGAIN": .requiresRecentLogin,
    "OPERATION_NOT_ALLOWED": .operationNotAllowed,
    "PASSWORD_LOGIN_DISABLED": .operationNotAllowed,
    "PROJECT_DISABLED": .operationNotAllowed,
    "UNSUPPORTED_TENANT_OPERATION": .operationNotAllowed,
    // Text messages cost money, and nobody pays for this project.
    "BILLING_NOT_ENABLED": .operationNotAllowed,
    "ADMIN_ONLY_OPERATION": .adminOnly,
    "TENANT_ID_MISMATCH": .tenantMismatch,
    "INVALID_TENANT_ID": .tenantMismatch,
    "TENANT_NOT_FOUND": .tenantMismatch,
    "TOO_MANY_ATTEMPTS_TRY_LATER": .tooManyRequests,
    "RESET_PASSWORD_EXCEED_LIMIT": .tooManyRequests,
    "QUOTA_EXCEEDED": .quotaExceeded,
    // Links
    "INVALID_OOB_CODE": .invalidActionCode,
    "MISSING_OOB_CODE": .invalidActionCode,
    "EXPIRED_OOB_CODE": .expiredActionCode,
    "UNAUTHORIZED_DOMAIN": .unauthorizedDomain,
    "INVALID_HOSTING_LINK_DOMAIN": .unauthorizedDomain,
    "INVALID_CONTINUE_URI": .invalidContinueURL,
    "MISSING_CONTINUE_URI": .invalidContinueURL,
    // Providers
    "INVALID_CUSTOM_TOKEN": .invalidCredentials,
    "MISSING_CUSTOM_TOKEN": .invalidCredentials,
    "CREDENTIAL_MISMATCH": .invalidCredentials,
    "INVALID_CLAIMS": .invalidCredentials,
    "FORBIDDEN_CLAIM": .invalidCredentials,
    "INVALID_CREDENTIAL_ID": .invalidCredentials,
    "PASSKEY_CREDENTIAL_NOT_FOUND": .invalidCredentials,
    "INVALID_IDP_RESPONSE": .invalidProviderResponse,
    "INVALID_PENDING_TOKEN": .invalidProviderResponse,
    "REJECTED_CREDENTIAL": .invalidProviderResponse,
    "INVALID_PROVIDER_ID": .noSuchProvider,
    "INVALID_CREDENTIAL_OR_PROVIDER_ID": .noSuchProvider,
    "MISSING_OR_INVALID_NONCE": .nonceMismatch,
    "FEDERATED_USER_ID_ALREADY_LINKED": .credentialAlreadyInUse,
    "CREDENTIAL_ALREADY_IN_USE": .credentialAlreadyInUse,
    "PROVIDER_ALREADY_LINKED": .providerAlreadyLinked,
    "MISSING_REQUEST_URI": .invalidProviderResponse,
    "INVALID_REQUEST_URI": .invalidProviderResponse,
    // Phone and factors
    "INVALID_PHONE_NUMBER": .invalidPhoneNumber,
    "MISSING_PHONE_NUMBER": .invalidPhoneNumber,
    "PHONE_NUMBER_EXISTS": .credentialAlreadyInUse,
    "INVALID_TEMPORARY_PROOF": .sessionExpired,
    "INVALID_CODE": .invalidVerificationCode,
    "MISSING_CODE": .invalidVerificationCode,
    "INVALID_SESSION_INFO": .sessionExpired,
    "MISSING_SESSION_INFO": .sessionExpired,
    "SESSION_EXPIRED": .sessionExpired,
    "INVALID_MFA_PENDING_CREDENTIAL": .sessionExpired,
    "MISSING_MFA_PENDING_CREDENTIAL": .sessionExpired,
    "MISSING_CREDENTIAL": .sessionExpired,
    "INVALID_PROJECT_ID": .sessionExpired,
    "MISSING_CLIENT_IDENTIFIER": .captchaRequired,
    "MISSING_RECAPTCHA_TOKEN": .captchaRequired,
    "CAPTCHA_REQUIRED": .captchaRequired,
    "CAPTCHA_REQUIRED_INVALID_PASSWORD": .captchaRequired,
    "MISSING_RECAPTCHA_VERSION": .captchaRequired,
    "INVALID_RECAPTCHA_VERSION": .captchaFailed,
    "MISSING_APP_CREDENTIAL": .captchaRequired,
    "MISSING_IOS_APP_TOKEN": .captchaRequired,
    "APP_NOT_VERIFIED": .captchaFailed,
    "CAPTCHA_CHECK_FAILED": .captchaFailed,
    "INVALID_APP_CREDENTIAL": .captchaFailed,
    "INVALID_RECAPTCHA_TOKEN": .captchaFailed,
    "INVALID_RECAPTCHA_ACTION": .captchaFailed,
    "RECAPTCHA_NOT_ENABLED": .captchaFailed,
    "MISSING_MFA_ENROLLMENT_ID": .factorNotFound,
    "MFA_ENROLLMENT_NOT_FOUND": .factorNotFound,
    "SECOND_FACTOR_EXISTS": .secondFactorExists,
    "SECOND_FACTOR_LIMIT_EXCEEDED": .secondFactorLimit,
    "UNSUPPORTED_FIRST_FACTOR": .unsupportedFirstFactor,
    "UNVERIFIED_EMAIL": .unverifiedEmail,
    // An account with a second factor takes a new address only once it's verified.
    "EMAIL_CHANGE_NEEDS_VERIFICATION": .unverifiedEmail,
    // Service
    "MISSING_API_KEY": .invalidAPIKey,
    "MISSING_IOS_BUNDLE_ID": .appNotAuthorized,
    "MISSING_ANDROID_PACKAGE_NAME": .appNotAuthorized,
    "PROJECT_NUMBER_MISMATCH": .appNotAuthorized,
    "INSUFFICIENT_PERMISSION": .appNotAuthorized,
    "CONFIGURATION_NOT_FOUND": .operationNotAllowed,
    "BLOCKING_FUNCTION_ERROR_RESPONSE": .blockingFunction,
    // Faults of linkd's own making: there's nothing a person could do.
    "INVALID_MESSAGE_PAYLOAD": .internal,
    "INVALID_SENDER": .internal,
    "INVALID_REQ_TYPE": .internal,
    "MISSING_REQ_TYPE": .internal,
    "MISSING_CLIENT_TYPE": .internal,
    "INVALID_GRANT_TYPE": .internal,
    "MISSING_GRANT_TYPE": .internal,
    "MISSING_AUTHENTICATOR_RESPONSE": .internal,
    "INVALID_ARGUMENT": .internal,
    "UNEXPECTED_PARAMETER": .internal,
  ]

  /// Splits `message` at its first colon into short code and detail, both trimmed; the short code also ends at the first
  /// space, so that `CODE ((detail))` is found (identity-toolkit 3.2).
  public static func split(_ message: String) -> (code: String, detail: String?) {
    let parts = message.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let head = trimmed(parts.first ?? "")
    let words = head.split(separator: " ", maxSplits: 1)
    let code = words.first.map(String.init) ?? ""
    let rest = parts.count > 1 ? trimmed(parts[1]) : words.count > 1 ? String(words[1]) : ""
    return (code, rest.isEmpty ? nil : rest)
  }

  /// The row of `code`; nil for a code without one, which becomes `Internal` with a log id.
  public static func error(for code: String) -> AuthError? { rows[code] }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
