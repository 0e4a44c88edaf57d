public import AuthCore

/// `accounts:signInWithCustomToken` (identity-toolkit 2.4).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signInWithCustomToken
extension IdentityToolkit {
  private struct Request: Encodable {
    let token: String
    let returnSecureToken = true
    let tenantId: String?
  }

  /// Signs in with a token that the app's own server made.
  ///
  /// - Throws: `invalidCredentials` for a token that isn't this project's, `userDisabled`, …
  public func signInWithCustomToken(
    _ token: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> SignInAnswer {
    let body: SignInBody = try await call(
      .identityToolkit, "v1/accounts:signInWithCustomToken",
      Request(token: token.reveal(), tenantId: project.tenantID), project, once: true)
    return try body.answer()
  }
}
