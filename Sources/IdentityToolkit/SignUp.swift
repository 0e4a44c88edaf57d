public import AuthCore

/// `accounts:signUp` (identity-toolkit 2.1).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signUp
extension IdentityToolkit {
  private struct Request: Encodable {
    var email: String?
    var password: String?
    var displayName: String?
    var idToken: String?
    let returnSecureToken = true
    let clientType = ProjectContext.clientType
    let tenantId: String?
  }

  /// Makes a guest: an account without address and password.
  ///
  /// - Throws: `operationNotAllowed`, `adminOnly`, …
  public func signUpAnonymously(project: ProjectContext) async throws(AuthFailure) -> SignInAnswer {
    try await signUp(Request(tenantId: project.tenantID), project)
  }

  /// Makes an account; with `idToken`, adds address and password to that one instead.
  ///
  /// - Throws: `emailAlreadyInUse`, `weakPassword`, `invalidEmail`, `operationNotAllowed`, `adminOnly`, `tokenRevoked`, …
  public func signUp(
    email: String, password: Secret<String>, displayName: String? = nil, idToken: Secret<String>?,
    project: ProjectContext
  ) async throws(AuthFailure) -> SignInAnswer {
    try await signUp(
      Request(
        email: email, password: password.reveal(), displayName: displayName, idToken: idToken?.reveal(),
        tenantId: project.tenantID), project)
  }

  private func signUp(_ request: Request, _ project: ProjectContext) async throws(AuthFailure) -> SignInAnswer {
    let body: SignInBody = try await call(.identityToolkit, "v1/accounts:signUp", request, project, once: true)
    return try body.answer()
  }
}
