public import AuthCore

/// `accounts:delete` (identity-toolkit 2.8).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/delete
extension IdentityToolkit {
  private struct Request: Encodable {
    let idToken: String
    let localId: String
    let tenantId: String?
  }

  private struct Answer: Decodable { let kind: String? }

  /// Deletes `idToken`'s account.
  ///
  /// - Throws: `requiresRecentLogin`, `tokenRevoked`, `userNotFound`, `userDisabled`, …
  public func deleteUser(uid: String, idToken: Secret<String>, project: ProjectContext) async throws(AuthFailure) {
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:delete",
      Request(idToken: idToken.reveal(), localId: uid, tenantId: project.tenantID), project,
      once: true)
    // A captive portal may answer with JSON too: nobody is told that an account is gone on such a word.
    guard answer.kind.filled != nil else { throw AuthFailure(.serviceUnavailable, serverCode: "NO_KIND") }
  }
}
