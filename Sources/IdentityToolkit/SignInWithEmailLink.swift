public import AuthCore

/// What a first factor gives.
public enum SignInAnswer: Sendable, Hashable {
  /// Signed in. `uid` where the answer names it.
  case grant(TokenGrant, uid: String?)
  /// A second factor is wanted; the first one is spent.
  case secondFactorRequired(pending: Secret<String>, factors: [SecondFactor])
}

/// `accounts:signInWithEmailLink` (identity-toolkit 2.3).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signInWithEmailLink
extension IdentityToolkit {
  private struct Request: Encodable {
    let email: String
    let oobCode: String
    let idToken: String?
    let tenantId: String?
  }

  /// Spends the code of a link; with `idToken` the address is added to that account.
  ///
  /// - Throws: `invalidActionCode`, `expiredActionCode`, `invalidEmail` for an address the link wasn't sent to,
  ///   `userDisabled`, `emailAlreadyInUse` when linking, `tokenRevoked`, …
  public func signInWithEmailLink(
    email: String, oobCode: Secret<String>, idToken: Secret<String>?, project: ProjectContext
  ) async throws(AuthFailure) -> SignInAnswer {
    let body: SignInBody = try await call(
      .identityToolkit, "v1/accounts:signInWithEmailLink",
      Request(
        email: email, oobCode: oobCode.reveal(), idToken: idToken?.reveal(), tenantId: project.tenantID), project,
      once: true)
    return try body.answer()
  }
}
