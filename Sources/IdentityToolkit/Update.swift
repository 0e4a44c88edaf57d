public import AuthCore

/// `accounts:update`: action codes applied, the profile and the password changed (identity-toolkit 2.7).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/update
extension IdentityToolkit {
  private struct Request: Encodable {
    var oobCode: String?
    var idToken: String?
    var password: String?
    var displayName: String?
    var photoUrl: String?
    var deleteAttribute: [String]?
    var deleteProvider: [String]?
    let returnSecureToken = true
    let tenantId: String?
  }

  private struct Answer: Decodable {
    let localId: String?
    let email: String?
    let idToken: String?
    let refreshToken: String?
    let expiresIn: WholeNumber?

    /// The new tokens; nil where there are none.
    func grant() throws(AuthFailure) -> TokenGrant? {
      guard idToken.filled != nil, refreshToken.filled != nil else { return nil }
      return try TokenGrant(idToken, refreshToken, expiresIn)
    }

    /// A captive portal may answer with JSON too: nobody is told that something changed on such a word.
    func checkAccount() throws(AuthFailure) {
      guard localId.filled != nil || email.filled != nil || idToken.filled != nil else {
        throw AuthFailure(.serviceUnavailable, serverCode: "NO_ACCOUNT")
      }
    }
  }

  /// Spends a code that verifies, changes or recovers an address, or takes a second factor away.
  ///
  /// - Throws: `invalidActionCode`, `expiredActionCode`, `userDisabled`, `emailAlreadyInUse`, …
  public func applyActionCode(_ code: Secret<String>, project: ProjectContext) async throws(AuthFailure) {
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:update", Request(oobCode: code.reveal(), tenantId: project.tenantID), project,
      once: true)
    // A captive portal may answer with JSON too: the account comes back from the real one.
    guard answer.localId.filled != nil || answer.email.filled != nil else {
      throw AuthFailure(.serviceUnavailable, serverCode: "NO_ACCOUNT")
    }
  }

  /// Changes the profile of `idToken`'s account: nil keeps, an empty text clears.
  ///
  /// - Returns: the new tokens, where the answer has some.
  /// - Throws: `tokenRevoked`, `userNotFound`, `userDisabled`, …
  public func updateProfile(
    displayName: String?, photoURL: String?, idToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant? {
    // An empty text isn't stored, it's ignored: what is to go is named (identity-toolkit 9.20).
    let cleared = [("DISPLAY_NAME", displayName), ("PHOTO_URL", photoURL)].filter { $0.1 == "" }.map(\.0)
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:update",
      Request(
        idToken: idToken.reveal(), displayName: displayName.filled, photoUrl: photoURL.filled,
        deleteAttribute: cleared.isEmpty ? nil : cleared, tenantId: project.tenantID), project)
    return try answer.grant()
  }

  /// Takes a way to sign in from `idToken`'s account: `password`, `phone`, or a provider's id. One that it hasn't is no error.
  ///
  /// - Returns: the new tokens, where the answer has some.
  /// - Throws: `tokenRevoked`, `requiresRecentLogin`, `userNotFound`, `userDisabled`, …
  public func unlink(
    providerID: String, idToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant? {
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:update",
      Request(idToken: idToken.reveal(), deleteProvider: [providerID], tenantId: project.tenantID), project)
    try answer.checkAccount()
    return try answer.grant()
  }

  /// Gives `idToken`'s account a password, or another one. The tokens issued before end by that.
  ///
  /// - Returns: the new tokens, where the answer has some.
  /// - Throws: `weakPassword`, `requiresRecentLogin`, `operationNotAllowed`, `tokenRevoked`, `userNotFound`,
  ///   `userDisabled`, …
  public func updatePassword(
    _ password: Secret<String>, idToken: Secret<String>, project: ProjectContext
  ) async throws(AuthFailure) -> TokenGrant? {
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:update",
      Request(idToken: idToken.reveal(), password: password.reveal(), tenantId: project.tenantID), project, once: true)
    try answer.checkAccount()
    return try answer.grant()
  }
}
