public import AuthCore

/// `accounts:sendOobCode` with `EMAIL_SIGNIN` (identity-toolkit 2.5).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/sendOobCode
extension IdentityToolkit {
  private struct Request: Encodable {
    let requestType = "EMAIL_SIGNIN"
    let email: String
    let continueUrl: String
    // Without it the server mails no link that signs in (field report B040). `iOSBundleId` would lead to an app on a phone.
    let canHandleCodeInApp = true
    let tenantId: String?
    let clientType = ProjectContext.clientType
  }

  private struct Answer: Decodable { let email: String }

  /// Has a sign-in link mailed to `email`; the mail's page leads on to `continueURL`.
  ///
  /// - Throws: `invalidEmail`, `unauthorizedDomain`, `invalidContinueURL`, `operationNotAllowed`, `quotaExceeded`,
  ///   `tooManyRequests`, …
  public func sendSignInLink(
    to email: String, continueURL: String, project: ProjectContext
  ) async throws(AuthFailure) {
    // A captive portal may answer with JSON too: the address comes back from the real one.
    let _: Answer = try await call(
      .identityToolkit, "v1/accounts:sendOobCode",
      Request(email: email, continueUrl: continueURL, tenantId: project.tenantID), project)
  }
}
