public import AuthCore

/// `accounts:signInWithPassword` (identity-toolkit 2.2).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signInWithPassword
extension IdentityToolkit {
  private struct Request: Encodable {
    let email: String
    let password: String
    let returnSecureToken = true
    let clientType = ProjectContext.clientType
    let tenantId: String?
  }

  /// Signs in by address and password.
  ///
  /// - Throws: `invalidCredentials` (one of the two is wrong), `emailNotFound` where the project tells, `userDisabled`,
  ///   `operationNotAllowed`, `tooManyRequests`, …
  public func signInWithPassword(
    email: String, password: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> SignInAnswer {
    let body: SignInBody = try await call(
      .identityToolkit, "v1/accounts:signInWithPassword",
      Request(email: email, password: password.reveal(), tenantId: project.tenantID), project)
    return try body.answer()
  }
}
