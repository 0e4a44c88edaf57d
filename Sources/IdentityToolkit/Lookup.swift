public import AuthCore

/// `accounts:lookup` (identity-toolkit 2.9).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/lookup
extension IdentityToolkit {
  private struct Request: Encodable { let idToken: String }

  private struct Answer: Decodable { let users: [Account] }

  private struct Account: Decodable {
    let localId: String
    let email: String?
    let emailVerified: Bool?
    let displayName: String?
    let photoUrl: String?
    let phoneNumber: String?
    let createdAt: WholeNumber?
    let lastLoginAt: WholeNumber?
    let tenantId: String?
    let customAuth: Bool?
    let providerUserInfo: [ProviderInfo]?
    let mfaInfo: [FactorInfo]?
  }

  private struct ProviderInfo: Decodable {
    let providerId: String?
    let federatedId: String?
    let rawId: String?
    let email: String?
    let displayName: String?
    let photoUrl: String?
    let phoneNumber: String?
  }

  /// The account behind `idToken`.
  ///
  /// - Throws: `userNotFound`, `userDisabled`, `tokenRevoked`, …
  public func lookup(idToken: Secret<String>, project: ProjectContext) async throws(AuthFailure) -> User {
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:lookup", Request(idToken: idToken.reveal()), project)
    guard answer.users.count == 1, let account = answer.users.first,
      Optional(account.localId).filled == account.localId
    else {
      throw AuthFailure(.serviceUnavailable, serverCode: "NOT_ONE_USER")
    }
    return user(account, signInProvider: (try? IDToken(idToken.reveal()))?.signInProvider)
  }

  private func user(_ account: Account, signInProvider: String?) -> User {
    var user = User(uid: account.localId)
    user.email = account.email.filled
    user.emailVerified = account.emailVerified ?? false
    user.displayName = account.displayName.filled
    user.photoURL = account.photoUrl.filled
    user.phoneNumber = account.phoneNumber.filled
    user.tenantID = account.tenantId.filled
    // Milliseconds.
    user.createdAt = account.createdAt?.value.map { $0 / 1000 }
    user.lastSignInAt = account.lastLoginAt?.value.map { $0 / 1000 }
    user.providers = (account.providerUserInfo ?? []).compactMap(provider)
    user.secondFactors = (account.mfaInfo ?? []).compactMap(\.factor)
    // The answer has no such field: a guest is who has nothing to sign in with, and, where the token tells, never had.
    user.isAnonymous =
      user.email == nil && user.phoneNumber == nil && user.providers.isEmpty && account.customAuth != true
      && signInProvider ?? "anonymous" == "anonymous"
    return user
  }

  private func provider(_ info: ProviderInfo) -> LinkedProvider? {
    guard let id = info.providerId.filled else { return nil }
    var provider = LinkedProvider(providerID: id)
    provider.uid = info.federatedId.filled ?? info.rawId.filled
    provider.email = info.email.filled
    provider.displayName = info.displayName.filled
    provider.photoURL = info.photoUrl.filled
    provider.phoneNumber = info.phoneNumber.filled
    return provider
  }
}
