public import AuthCore

/// `accounts:sendOobCode`: mails that carry a code (identity-toolkit 2.5).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/sendOobCode
extension IdentityToolkit {
  private struct Request: Encodable {
    let requestType: String
    var email: String?
    var newEmail: String?
    var idToken: String?
    var continueUrl: String?
    var canHandleCodeInApp: Bool?
    var tenantId: String?
    let clientType = ProjectContext.clientType
  }

  private struct Answer: Decodable { let email: String }

  /// Has a sign-in link mailed to `email`; the mail's page leads on to `continueURL`.
  ///
  /// - Throws: `invalidEmail`, `unauthorizedDomain`, `invalidContinueURL`, `operationNotAllowed`, `quotaExceeded`,
  ///   `tooManyRequests`, …
  public func sendSignInLink(
    to email: String, continueURL: String, project: ProjectContext
  ) async throws(AuthFailure) {
    // Without `canHandleCodeInApp` the server mails no link that signs in (field report B040). `iOSBundleId` would lead to
    // an app on a phone.
    try await send(
      Request(
        requestType: "EMAIL_SIGNIN", email: email, continueUrl: continueURL, canHandleCodeInApp: true,
        tenantId: project.tenantID), project)
  }

  /// Has a link mailed to `email` that leads to a new password.
  ///
  /// - Throws: `emailNotFound` where the project tells, `invalidEmail`, `unauthorizedDomain`, `invalidContinueURL`,
  ///   `tooManyRequests`, …
  public func sendPasswordReset(
    to email: String, continueURL: String?, project: ProjectContext
  ) async throws(AuthFailure) {
    try await send(
      Request(
        requestType: "PASSWORD_RESET", email: email, continueUrl: continueURL, tenantId: project.tenantID), project)
  }

  /// Has a link mailed to the account's own address that proves it.
  ///
  /// - Throws: `tokenRevoked`, `userNotFound`, `userDisabled`, `unauthorizedDomain`, `tooManyRequests`, …
  public func sendEmailVerification(
    idToken: Secret<String>, continueURL: String?, project: ProjectContext
  ) async throws(AuthFailure) {
    try await send(
      Request(
        requestType: "VERIFY_EMAIL", idToken: idToken.reveal(), continueUrl: continueURL, tenantId: project.tenantID),
      project)
  }

  /// Has a link mailed to `newEmail` that makes it the account's address. Nothing changes before it's opened; then the tokens
  /// issued before may end.
  ///
  /// - Throws: `emailAlreadyInUse` where the project tells, `invalidEmail`, `requiresRecentLogin`, `tokenRevoked`,
  ///   `unauthorizedDomain`, `tooManyRequests`, …
  public func sendEmailChange(
    to newEmail: String, idToken: Secret<String>, continueURL: String?, project: ProjectContext
  ) async throws(AuthFailure) {
    try await send(
      Request(
        requestType: "VERIFY_AND_CHANGE_EMAIL", newEmail: newEmail, idToken: idToken.reveal(), continueUrl: continueURL,
        tenantId: project.tenantID), project)
  }

  private func send(_ request: Request, _ project: ProjectContext) async throws(AuthFailure) {
    // A captive portal may answer with JSON too: the address comes back from the real one.
    let _: Answer = try await call(.identityToolkit, "v1/accounts:sendOobCode", request, project, once: true)
  }
}
