public import AuthCore

/// The token service (identity-toolkit 2.20).
/// https://cloud.google.com/identity-platform/docs/use-rest-api#section-refresh-token
extension IdentityToolkit {
  private struct Request: Encodable {
    let grantType = "refresh_token"
    let refreshToken: String
  }

  private struct Answer: Decodable {
    enum CodingKeys: String, CodingKey {
      case accessToken = "access_token"
      case idToken = "id_token"
      case refreshToken = "refresh_token"
      case expiresIn = "expires_in"
    }
    let accessToken: String?
    let idToken: String?
    let refreshToken: String?
    let expiresIn: WholeNumber?
  }

  /// A new ID token for `refreshToken`.
  ///
  /// - Throws: `tokenRevoked`, `userDisabled`, `userNotFound`: the session is over. Everything else is temporary.
  public func refresh(
    refreshToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant {
    let answer: Answer = try await call(
      .secureToken, "v1/token", Request(refreshToken: refreshToken.reveal()), project)
    // Both names hold the same token.
    return try TokenGrant(
      answer.idToken.filled ?? answer.accessToken, answer.refreshToken.filled ?? refreshToken.reveal(),
      answer.expiresIn)
  }
}
