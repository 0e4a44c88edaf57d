public import AuthCore

/// `accounts:revokeToken` (identity-toolkit 2.19).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v2/accounts/revokeToken
extension IdentityToolkit {
  private struct Request: Encodable {
    let providerId = "apple.com"
    /// An authorization code.
    let tokenType = "3"
    let token: String
    let idToken: String
  }

  private struct Answer: Decodable {}

  /// Tells Apple that the app is done with somebody, as its rules want it before an account goes. A code counts once.
  ///
  /// - Parameter code: Apple's authorization code.
  /// - Throws: `tokenRevoked`, `invalidProviderResponse`, `serviceUnavailable` at Firebase's emulator, which hasn't it, …
  public func revokeAppleToken(
    code: Secret<String>, idToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) {
    let _: Answer = try await call(
      .identityToolkit, "v2/accounts:revokeToken", Request(token: code.reveal(), idToken: idToken.reveal()), project,
      once: true)
  }
}
