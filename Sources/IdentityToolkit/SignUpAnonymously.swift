public import AuthCore

/// `accounts:signUp` without address and password: a guest (identity-toolkit 2.1).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signUp
extension IdentityToolkit {
  private struct Request: Encodable {
    let returnSecureToken = true
    let tenantId: String?
  }

  private struct Answer: Decodable {
    let idToken: String?
    let refreshToken: String?
    let expiresIn: Seconds?
  }

  /// Makes an account without a name.
  ///
  /// - Throws: `operationNotAllowed`, `adminOnly`, …
  public func signUpAnonymously(project: ProjectContext) async throws(AuthFailure) -> TokenGrant {
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:signUp", Request(tenantId: project.tenantID), project)
    guard let idToken = answer.idToken.filled, let refreshToken = answer.refreshToken.filled else {
      throw AuthFailure(.serviceUnavailable, serverCode: "MISSING_TOKENS")
    }
    return TokenGrant(
      idToken: Secret(idToken), refreshToken: Secret(refreshToken), expiresIn: answer.expiresIn?.value,
      isNewUser: true)
  }
}
