public import AuthCore

/// What is told to be revoked.
public enum AppleToken: Sendable, Hashable {
  /// OAuth's access token, as a sign-in gives it.
  case accessToken(Secret<String>)
  /// An authorization code that nobody has exchanged.
  case authorizationCode(Secret<String>)
}

/// `accounts:revokeToken` (identity-toolkit 2.19).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v2/accounts/revokeToken
extension IdentityToolkit {
  private struct Request: Encodable {
    let providerId = "apple.com"
    let tokenType: String
    let token: String
    let idToken: String
  }

  private struct Answer: Decodable {}

  /// Tells Apple that the app is done with somebody, as its rules want it before an account goes.
  ///
  /// - Throws: `tokenRevoked`, `invalidProviderResponse`, `serviceUnavailable` at Firebase's emulator, which hasn't it, …
  public func revokeAppleToken(
    _ token: AppleToken, idToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) {
    let (type, value) =
      switch token {
      case .accessToken(let token): ("2", token)
      case .authorizationCode(let code): ("3", code)
      }
    let _: Answer = try await call(
      .identityToolkit, "v2/accounts:revokeToken",
      Request(tokenType: type, token: value.reveal(), idToken: idToken.reveal()), project, once: true)
  }
}
