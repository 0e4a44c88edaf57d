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
    let expiresIn: Seconds?
  }

  /// A new ID token for `refreshToken`.
  ///
  /// - Throws: `tokenRevoked`, `userDisabled`, `userNotFound`: the session is over. Everything else is temporary.
  public func refresh(
    refreshToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant {
    let answer: Answer = try await call(
      .secureToken, "v1/token", Request(refreshToken: refreshToken.reveal()), project)
    guard let token = answer.idToken.filled ?? answer.accessToken.filled else {
      throw AuthFailure(.serviceUnavailable, serverCode: "MISSING_TOKENS")
    }
    return TokenGrant(
      idToken: Secret(token), refreshToken: answer.refreshToken.filled.map(Secret.init) ?? refreshToken,
      expiresIn: answer.expiresIn?.value)
  }
}
