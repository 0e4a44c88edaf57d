public import AuthCore

/// `accounts:sendVerificationCode`: text messages for the first factor (identity-toolkit 2.12).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/sendVerificationCode
extension IdentityToolkit {
  /// Has a code sent to `phoneNumber`.
  ///
  /// - Parameters:
  ///   - phoneNumber: E.164.
  ///   - recaptchaToken: what the handler's page gave; nil for the emulator, for numbers for tests, and for the first try of
  ///     a project whose reCAPTCHA Enterprise listens. It counts once.
  ///   - enforcement: what `phoneRecaptcha` said.
  /// - Returns: the session that the code is given back with.
  /// - Throws: `invalidPhoneNumber`, `captchaRequired` and `captchaFailed` (the page is needed, again), `tooManyRequests`,
  ///   `quotaExceeded`, `operationNotAllowed`, `unsupportedFirstFactor` for a number that is a second factor, …
  public func sendVerificationCode(
    to phoneNumber: String, recaptchaToken: Secret<String>?, enforcement: RecaptchaEnforcement = .off,
    project: ProjectContext
  ) async throws(AuthFailure) -> Secret<String> {
    var request = SMSRequest(phoneNumber: phoneNumber, recaptchaToken, enforcement)
    request.clientType = ProjectContext.clientType
    request.tenantId = project.tenantID
    let answer: SMSSession = try await call(
      .identityToolkit, "v1/accounts:sendVerificationCode", request, project, once: true)
    return try answer.session()
  }
}

/// The wish for a text message: a call of its own, or an object in those for second factors (identity-toolkit 2.12, 2.18).
struct SMSRequest: Encodable {
  static let recaptchaVersion = "RECAPTCHA_ENTERPRISE"
  /// What stands for a token of reCAPTCHA Enterprise that couldn't be got.
  private static let noToken = "NO_RECAPTCHA"

  let phoneNumber: String?
  let recaptchaToken: String?
  let captchaResponse: String?
  let recaptchaVersion: String?
  var clientType: String?
  var tenantId: String?

  /// By identity-toolkit 6.5 as far as it goes without Google's library for phones: where reCAPTCHA Enterprise listens, it's
  /// told that there is no token of its own, and the page's counts.
  init(phoneNumber: String?, _ recaptchaToken: Secret<String>?, _ enforcement: RecaptchaEnforcement) {
    self.phoneNumber = phoneNumber
    self.recaptchaToken = recaptchaToken?.reveal()
    let isHeard = enforcement == .audit
    captchaResponse = isHeard ? Self.noToken : nil
    recaptchaVersion = isHeard ? Self.recaptchaVersion : nil
    clientType = isHeard ? ProjectContext.clientType : nil
  }
}

/// What a text message belongs to.
struct SMSSession: Decodable {
  let sessionInfo: String?

  /// - Throws: `serviceUnavailable` where there is none.
  func session() throws(AuthFailure) -> Secret<String> {
    guard let sessionInfo = sessionInfo.filled else {
      throw AuthFailure(.serviceUnavailable, serverCode: "NO_SESSION")
    }
    return Secret(sessionInfo)
  }
}
