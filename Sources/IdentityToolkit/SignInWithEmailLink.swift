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

  private struct Answer: Decodable {
    let idToken: String?
    let refreshToken: String?
    let expiresIn: WholeNumber?
    let localId: String?
    let isNewUser: Bool?
    let mfaPendingCredential: String?
    let mfaInfo: [FactorInfo]?
  }

  /// Spends the code of a link; with `idToken` the address is added to that account.
  ///
  /// - Throws: `invalidActionCode`, `expiredActionCode`, `invalidEmail` for an address the link wasn't sent to,
  ///   `userDisabled`, `emailAlreadyInUse` when linking, `tokenRevoked`, …
  public func signInWithEmailLink(
    email: String, oobCode: Secret<String>, idToken: Secret<String>?, project: ProjectContext
  ) async throws(AuthFailure) -> SignInAnswer {
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:signInWithEmailLink",
      Request(
        email: email, oobCode: oobCode.reveal(), idToken: idToken?.reveal(), tenantId: project.tenantID), project)
    if answer.idToken.filled == nil, let pending = answer.mfaPendingCredential.filled {
      return .secondFactorRequired(
        pending: Secret(pending), factors: (answer.mfaInfo ?? []).compactMap(\.factor))
    }
    let grant = try TokenGrant(
      answer.idToken, answer.refreshToken, answer.expiresIn, isNewUser: answer.isNewUser ?? false)
    return .grant(grant, uid: answer.localId.filled)
  }
}
