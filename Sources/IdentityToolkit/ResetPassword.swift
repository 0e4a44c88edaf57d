public import AuthCore

/// `accounts:resetPassword`: what a code does, and a new password (identity-toolkit 2.6).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/resetPassword
extension IdentityToolkit {
  private struct Request: Encodable {
    let oobCode: String
    var newPassword: String?
    let tenantId: String?
  }

  private struct Answer: Decodable {
    let requestType: String
    let email: String?
    let newEmail: String?
  }

  /// The server's words, and those of links: the reference took the one for the other (identity-toolkit 2.6).
  private static let kinds: [String: LinkKind] = [
    "PASSWORD_RESET": .passwordReset, "VERIFY_EMAIL": .verifyEmail, "RECOVER_EMAIL": .recoverEmail,
    "EMAIL_SIGNIN": .emailSignIn, "VERIFY_AND_CHANGE_EMAIL": .verifyAndChangeEmail,
    "REVERT_SECOND_FACTOR_ADDITION": .revertSecondFactor,
    "resetPassword": .passwordReset, "verifyEmail": .verifyEmail, "recoverEmail": .recoverEmail,
    "signIn": .emailSignIn, "verifyAndChangeEmail": .verifyAndChangeEmail,
    "revertSecondFactorAddition": .revertSecondFactor,
  ]

  /// What a code does. It isn't spent by asking.
  ///
  /// - Throws: `invalidActionCode`, `expiredActionCode`, `userDisabled`, …
  public func checkActionCode(
    _ code: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> ActionCodeInfo {
    let answer = try await reset(Request(oobCode: code.reveal(), tenantId: project.tenantID), project)
    let kind = Self.kinds[answer.requestType]
    let (email, newEmail) = (answer.email.filled, answer.newEmail.filled)
    // Both name the account's address before and after, but a change says them in the other order than a recovery.
    if kind == .verifyAndChangeEmail, let newEmail {
      return ActionCodeInfo(kind: kind, email: newEmail, previousEmail: email)
    }
    return ActionCodeInfo(kind: kind, email: email, previousEmail: newEmail)
  }

  /// Spends a reset code for a new password.
  ///
  /// - Throws: `weakPassword`, `invalidActionCode`, `expiredActionCode`, `userDisabled`, …
  public func confirmPasswordReset(
    _ code: Secret<String>, newPassword: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) {
    _ = try await reset(
      Request(oobCode: code.reveal(), newPassword: newPassword.reveal(), tenantId: project.tenantID), project)
  }

  private func reset(_ request: Request, _ project: ProjectContext) async throws(AuthFailure) -> Answer {
    try await call(
      .identityToolkit, "v1/accounts:resetPassword", request, project, once: request.newPassword != nil)
  }
}
