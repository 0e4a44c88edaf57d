public import AuthCore

/// `accounts/mfaSignIn`: the second factor of a sign-in (identity-toolkit 2.18). The answers don't say how long their tokens
/// live: they're refreshed before use.
/// https://cloud.google.com/identity-platform/docs/reference/rest/v2/accounts.mfaSignIn
extension IdentityToolkit {
  private struct Start: Encodable {
    let mfaPendingCredential: String
    let mfaEnrollmentId: String
    /// Wanted by production though it says nothing. The number is the server's, who told a masked one alone.
    let phoneSignInInfo: SMSRequest
    let tenantId: String?
  }

  private struct Started: Decodable { let phoneResponseInfo: SMSSession? }

  private struct Finish: Encodable {
    let mfaPendingCredential: String
    var mfaEnrollmentId: String?
    var phoneVerificationInfo: PhoneCode?
    var totpVerificationInfo: TOTPCode?
    let tenantId: String?
  }

  /// Has a code sent to the phone that is a second factor.
  ///
  /// - Parameters:
  ///   - pending: what the first factor gave.
  ///   - factorUID: which phone.
  ///   - recaptchaToken: as for `sendVerificationCode`.
  ///   - enforcement: what `phoneRecaptcha` said.
  /// - Returns: the session that the code is given back with.
  /// - Throws: `sessionExpired` (the first factor is needed again), `factorNotFound`, `captchaRequired`, `captchaFailed`,
  ///   `tooManyRequests`, `quotaExceeded`, …
  public func startSecondFactor(
    pending: Secret<String>, factorUID: String, recaptchaToken: Secret<String>?,
    enforcement: RecaptchaEnforcement = .off, project: ProjectContext
  ) async throws(AuthFailure) -> Secret<String> {
    let started: Started = try await call(
      .identityToolkit, "v2/accounts/mfaSignIn:start",
      Start(
        mfaPendingCredential: pending.reveal(), mfaEnrollmentId: factorUID,
        phoneSignInInfo: SMSRequest(phoneNumber: nil, recaptchaToken, enforcement), tenantId: project.tenantID),
      project, once: true)
    return try (started.phoneResponseInfo ?? SMSSession(sessionInfo: nil)).session()
  }

  /// Ends a sign-in by the code of a text message. It counts once; a wrong one leaves the session as it is.
  ///
  /// - Throws: `invalidVerificationCode`, `sessionExpired`, `factorNotFound` for another number's code, `userDisabled`, …
  public func finishSecondFactor(
    pending: Secret<String>, code: Secret<String>, sessionInfo: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant {
    try await finish(
      Finish(
        mfaPendingCredential: pending.reveal(),
        phoneVerificationInfo: PhoneCode(sessionInfo: sessionInfo.reveal(), code: code.reveal()),
        tenantId: project.tenantID), project)
  }

  /// Ends a sign-in by what an authenticator app shows.
  ///
  /// - Throws: `invalidVerificationCode`, `sessionExpired`, `factorNotFound`, `operationNotAllowed`, `userDisabled`, …
  public func finishSecondFactor(
    pending: Secret<String>, totpCode: Secret<String>, factorUID: String, project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant {
    let request = Finish(
      mfaPendingCredential: pending.reveal(), mfaEnrollmentId: factorUID,
      totpVerificationInfo: TOTPCode(verificationCode: totpCode.reveal()), tenantId: project.tenantID)
    do throws(AuthFailure) { return try await finish(request, project) } catch { throw Self.withoutTOTP(error) }
  }

  private func finish(_ request: Finish, _ project: ProjectContext) async throws(AuthFailure) -> TokenGrant {
    let answer: FactorGrant = try await call(
      .identityToolkit, "v2/accounts/mfaSignIn:finalize", request, project, once: true)
    return try answer.grant()
  }
}
