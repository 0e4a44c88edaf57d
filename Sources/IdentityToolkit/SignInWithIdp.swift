public import AuthCore

/// What a provider's credential gives.
public enum ProviderAnswer: Sendable, Hashable {
  /// Signed in, or linked. `uid` where the answer names it; `credential` as the server gives it back, where it does.
  case grant(TokenGrant, uid: String?, credential: OAuthCredential?)
  /// A second factor is wanted; the credential is spent. `credential` as for `grant`.
  case secondFactorRequired(pending: Secret<String>, factors: [SecondFactor], credential: OAuthCredential?)
  /// Another account is in the way. `credential` is the one to go on with.
  case conflict(AccountConflict)
}

/// `accounts:signInWithIdp` (identity-toolkit 2.11).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signInWithIdp
extension IdentityToolkit {
  private struct Request: Encodable {
    let requestUri: String
    let postBody: String
    let pendingToken: String?
    let idToken: String?
    let sessionId: String?
    let autoCreate: Bool
    let returnSecureToken = true
    let returnIdpCredential = true
    let tenantId: String?
  }

  /// Signs in with what a provider gave; with `idToken` the provider is added to that account.
  ///
  /// - Parameter createsAccount: false for who signs in anew, and must be the same person.
  /// - Throws: `invalidProviderResponse`, `nonceMismatch`, `noSuchProvider`, `operationNotAllowed`, `userDisabled`,
  ///   `providerAlreadyLinked`, `tokenRevoked` when linking, `userMismatch` where no account may be made and none is there, …
  ///   Accounts that collide are an answer, not an error.
  public func signInWithIdp(
    _ credential: OAuthCredential, idToken: Secret<String>?, createsAccount: Bool, project: ProjectContext
  ) async throws(AuthFailure) -> ProviderAnswer {
    let request = Request(
      requestUri: credential.requestURI?.reveal() ?? "http://localhost", postBody: Self.postBody(credential),
      pendingToken: credential.pendingToken?.reveal(), idToken: idToken?.reveal(),
      sessionId: credential.sessionID?.reveal(), autoCreate: createsAccount, tenantId: project.tenantID)
    do throws(AuthFailure) {
      let body: ProviderBody = try await call(
        .identityToolkit, "v1/accounts:signInWithIdp", request, project, once: true)
      return try body.answer(to: credential)
    } catch {
      if let kind = ProviderBody.conflict(error) {
        return .conflict(AccountConflict(kind: kind, credential: credential))
      }
      // Identity-toolkit 3.5.
      if !createsAccount, error.error == .userNotFound || error.error == .emailNotFound {
        throw AuthFailure(.userMismatch, serverCode: error.serverCode)
      }
      throw error
    }
  }

  /// A form whose values are encoded, unlike the reference's (identity-toolkit 2.11).
  private static func postBody(_ credential: OAuthCredential) -> String {
    var fields = [(name: "providerId", value: credential.providerID)]
    func add(_ name: String, _ value: String?) {
      if let value = value.filled { fields.append((name: name, value: value)) }
    }
    add("id_token", credential.idToken?.reveal())
    add("nonce", credential.rawNonce?.reveal())
    add("access_token", credential.accessToken?.reveal())
    add("oauth_token_secret", credential.accessTokenSecret?.reveal())
    add("user", credential.fullName.flatMap(user))
    return Form.encode(fields)
  }

  /// Apple's way to say a name; nil for none.
  private static func user(_ name: OAuthCredential.FullName) -> String? {
    var parts: [String: JSONValue] = [:]
    if let given = name.given.filled { parts["firstName"] = .string(given) }
    if let family = name.family.filled { parts["lastName"] = .string(family) }
    return parts.isEmpty ? nil : JSONValue.object(["name": .object(parts)]).text
  }
}

/// The answer of `accounts:signInWithIdp`.
struct ProviderBody: Decodable {
  let providerId: String?
  let localId: String?
  let email: String?
  let idToken: String?
  let refreshToken: String?
  let expiresIn: WholeNumber?
  let isNewUser: Bool?
  let needConfirmation: Bool?
  let oauthIdToken: String?
  let oauthAccessToken: String?
  let oauthTokenSecret: String?
  let oauthExpireIn: WholeNumber?
  let pendingToken: String?
  let mfaPendingCredential: String?
  let mfaInfo: [FactorInfo]?
  let errorMessage: String?

  /// The kind of a refusal that is a conflict (identity-toolkit 3.5).
  static func conflict(_ failure: AuthFailure) -> ConflictKind? {
    switch failure.error {
    case .credentialAlreadyInUse: .credentialAlreadyInUse
    case .emailAlreadyInUse: .emailAlreadyInUse
    case .accountExistsWithDifferentCredential: .accountExistsWithDifferentCredential
    default: nil
    }
  }

  /// In the order of identity-toolkit 1.8 and 2.11: a refusal with status 200 (one without a row says nothing), the account
  /// that exists, the second factor, the tokens.
  ///
  /// - Throws: what `errorMessage` says; `serviceUnavailable` for an answer without tokens.
  func answer(to original: OAuthCredential) throws(AuthFailure) -> ProviderAnswer {
    let returned = returned(original)
    func conflict(_ kind: ConflictKind) -> ProviderAnswer {
      .conflict(AccountConflict(kind: kind, email: email.filled, credential: returned ?? original))
    }
    if let failure = errorMessage.filled.flatMap(ServerFailure.known) {
      guard let kind = Self.conflict(failure) else { throw failure }
      return conflict(kind)
    }
    if needConfirmation == true { return conflict(.accountExistsWithDifferentCredential) }
    if idToken.filled == nil, let pending = mfaPendingCredential.filled {
      return .secondFactorRequired(
        pending: Secret(pending), factors: (mfaInfo ?? []).compactMap(\.factor), credential: returned)
    }
    return .grant(
      try TokenGrant(idToken, refreshToken, expiresIn, isNewUser: isNewUser ?? false), uid: localId.filled,
      credential: returned)
  }

  /// The credential as the server gives it back; nil where it gives nothing.
  private func returned(_ original: OAuthCredential) -> OAuthCredential? {
    var credential = OAuthCredential(providerID: providerId.filled ?? original.providerID)
    credential.idToken = oauthIdToken.filled.map { Secret($0) }
    credential.accessToken = oauthAccessToken.filled.map { Secret($0) }
    credential.accessTokenSecret = oauthTokenSecret.filled.map { Secret($0) }
    credential.pendingToken = pendingToken.filled.map { Secret($0) }
    guard !credential.isEmpty || credential.accessTokenSecret != nil else { return nil }
    credential.expiresIn = oauthExpireIn?.value
    // The nonce is the ID token's, the name is told once.
    if credential.idToken != nil, credential.idToken == original.idToken { credential.rawNonce = original.rawNonce }
    credential.fullName = original.fullName
    return credential
  }
}
