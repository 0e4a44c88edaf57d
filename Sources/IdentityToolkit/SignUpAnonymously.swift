public import AuthCore

/// `accounts:signUp` without address and password: a guest (identity-toolkit 2.1).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signUp
extension IdentityToolkit {
  private struct Request: Encodable {
    let returnSecureToken = true
    let clientType = ProjectContext.clientType
    let tenantId: String?
  }

  private struct Answer: Decodable {
    let idToken: String
    let refreshToken: String
    let expiresIn: WholeNumber?
  }

  /// Makes an account without a name.
  ///
  /// - Throws: `operationNotAllowed`, `adminOnly`, …
  public func signUpAnonymously(project: ProjectContext) async throws(AuthFailure) -> TokenGrant {
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:signUp", Request(tenantId: project.tenantID), project)
    return try TokenGrant(answer.idToken, answer.refreshToken, answer.expiresIn, isNewUser: true)
  }
}
