public import AuthCore

/// `accounts/mfaEnrollment`: second factors come and go (identity-toolkit 2.18). None of the answers says how long its tokens
/// live: they're refreshed before use.
/// https://cloud.google.com/identity-platform/docs/reference/rest/v2/accounts.mfaEnrollment
extension IdentityToolkit {
  private struct Start: Encodable {
    let idToken: String
    var phoneEnrollmentInfo: SMSRequest?
    var totpEnrollmentInfo: EmptyObject?
    let tenantId: String?
  }

  private struct Started: Decodable {
    let phoneSessionInfo: SMSSession?
    let totpSessionInfo: TOTPSession?
  }

  private struct Finish: Encodable {
    let idToken: String
    let displayName: String?
    var phoneVerificationInfo: PhoneCode?
    var totpVerificationInfo: TOTPCode?
    let tenantId: String?
  }

  private struct Withdraw: Encodable {
    let idToken: String
    let mfaEnrollmentId: String
    let tenantId: String?
  }

  /// Has a code sent to a number that is to be a second factor.
  ///
  /// - Parameters:
  ///   - phoneNumber: E.164.
  ///   - recaptchaToken: as for `sendVerificationCode`.
  ///   - enforcement: what `phoneRecaptcha` said.
  /// - Returns: the session that the code is given back with.
  /// - Throws: `unverifiedEmail`, `secondFactorExists`, `secondFactorLimit`, `unsupportedFirstFactor`,
  ///   `operationNotAllowed`, `requiresRecentLogin`, `tokenRevoked`, and what `sendVerificationCode` throws.
  public func startPhoneEnrollment(
    phoneNumber: String, recaptchaToken: Secret<String>?, enforcement: RecaptchaEnforcement = .off,
    idToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> Secret<String> {
    let started: Started = try await call(
      .identityToolkit, "v2/accounts/mfaEnrollment:start",
      Start(
        idToken: idToken.reveal(),
        phoneEnrollmentInfo: SMSRequest(phoneNumber: phoneNumber, recaptchaToken, enforcement),
        tenantId: project.tenantID), project, once: true)
    return try (started.phoneSessionInfo ?? SMSSession(sessionInfo: nil)).session()
  }

  /// Begins with an authenticator app. Nothing has changed before `finishTOTPEnrollment`.
  ///
  /// - Throws: `operationNotAllowed` where the project has none, `unverifiedEmail`, `secondFactorLimit`,
  ///   `unsupportedFirstFactor`, `requiresRecentLogin`, `tokenRevoked`, …
  public func startTOTPEnrollment(
    idToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> TOTPEnrollment {
    let request = Start(idToken: idToken.reveal(), totpEnrollmentInfo: EmptyObject(), tenantId: project.tenantID)
    do throws(AuthFailure) {
      let started: Started = try await call(
        .identityToolkit, "v2/accounts/mfaEnrollment:start", request, project)
      guard let session = started.totpSessionInfo else {
        throw AuthFailure(.serviceUnavailable, serverCode: "NO_SESSION")
      }
      return try session.enrollment()
    } catch {
      throw Self.withoutTOTP(error)
    }
  }

  /// Makes a phone a second factor.
  ///
  /// - Parameters:
  ///   - code: of the text message; it counts once, and a wrong one leaves the session as it is.
  ///   - sessionInfo: what `startPhoneEnrollment` gave.
  ///   - displayName: for people.
  /// - Throws: `invalidVerificationCode`, `sessionExpired`, `secondFactorExists`, `tokenRevoked`, …
  public func finishPhoneEnrollment(
    code: Secret<String>, sessionInfo: Secret<String>, displayName: String?, idToken: Secret<String>,
    project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant {
    try await finish(
      Finish(
        idToken: idToken.reveal(), displayName: displayName.filled,
        phoneVerificationInfo: PhoneCode(sessionInfo: sessionInfo.reveal(), code: code.reveal()),
        tenantId: project.tenantID), project)
  }

  /// Makes an authenticator app a second factor.
  ///
  /// - Parameters:
  ///   - code: what the app shows.
  ///   - sessionInfo: what `startTOTPEnrollment` gave.
  ///   - displayName: for people.
  /// - Throws: `invalidVerificationCode`, `sessionExpired`, `operationNotAllowed`, `tokenRevoked`, …
  public func finishTOTPEnrollment(
    code: Secret<String>, sessionInfo: Secret<String>, displayName: String?, idToken: Secret<String>,
    project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant {
    let request = Finish(
      idToken: idToken.reveal(), displayName: displayName.filled,
      totpVerificationInfo: TOTPCode(sessionInfo: sessionInfo.reveal(), verificationCode: code.reveal()),
      tenantId: project.tenantID)
    do throws(AuthFailure) { return try await finish(request, project) } catch { throw Self.withoutTOTP(error) }
  }

  /// Takes a second factor away.
  ///
  /// - Returns: the new tokens, where the answer has some. Where it has none, the old ones may be dead: a refresh tells.
  /// - Throws: `factorNotFound`, `requiresRecentLogin`, `tokenRevoked`, …
  public func withdrawSecondFactor(
    _ factorUID: String, idToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant? {
    let answer: FactorGrant = try await call(
      .identityToolkit, "v2/accounts/mfaEnrollment:withdraw",
      Withdraw(idToken: idToken.reveal(), mfaEnrollmentId: factorUID, tenantId: project.tenantID), project, once: true)
    guard answer.idToken.filled != nil, answer.refreshToken.filled != nil else { return nil }
    return try answer.grant()
  }

  private func finish(_ request: Finish, _ project: ProjectContext) async throws(AuthFailure) -> TokenGrant {
    let answer: FactorGrant = try await call(
      .identityToolkit, "v2/accounts/mfaEnrollment:finalize", request, project, once: true)
    return try answer.grant()
  }

  /// Who knows no authenticator apps asks for a phone, in words for programmers: Firebase's emulator.
  static func withoutTOTP(_ failure: AuthFailure) -> AuthFailure {
    failure.serverCode == "INVALID_ARGUMENT"
      ? AuthFailure(.operationNotAllowed, serverCode: failure.serverCode) : failure
  }
}
