public import AuthCore

/// `accounts:createAuthUri`: the ways in which an address signs in (identity-toolkit 2.10).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/createAuthUri
extension IdentityToolkit {
  private struct Request: Encodable {
    let identifier: String
    let continueUri = "http://www.google.com/"
    let tenantId: String?
  }

  private struct Answer: Decodable {
    let sessionId: String?
    let signinMethods: [String]?
  }

  /// `password`, `emailLink` and provider ids; empty where nobody has the address or the project doesn't tell.
  ///
  /// - Throws: `invalidEmail`, `tooManyRequests`, …
  public func fetchSignInMethods(email: String, project: ProjectContext) async throws(AuthFailure) -> [String] {
    let answer: Answer = try await call(
      .identityToolkit, "v1/accounts:createAuthUri", Request(identifier: email, tenantId: project.tenantID), project)
    guard answer.sessionId.filled != nil else {
      throw AuthFailure(.serviceUnavailable, serverCode: "NO_SESSION")
    }
    return (answer.signinMethods ?? []).compactMap { Optional($0).filled }
  }
}
