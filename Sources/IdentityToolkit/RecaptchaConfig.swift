public import AuthCore

/// `recaptchaConfig`: what is asked of somebody who wants a text message (identity-toolkit 2.17).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v2/TopLevel/getRecaptchaConfig
extension IdentityToolkit {
  private struct Config: Decodable {
    struct Provider: Decodable {
      let provider: String?
      let enforcementState: String?
    }
    let recaptchaEnforcementState: [Provider]?
  }

  /// What the project asks of reCAPTCHA Enterprise before it sends a text message. A provider that isn't named and a word
  /// that nobody knows are `off`, and so is an emulator that hasn't the call.
  ///
  /// - Throws: `invalidAPIKey`, `appNotAuthorized`, `networkUnavailable`, `serviceUnavailable`, …
  public func phoneRecaptcha(project: ProjectContext) async throws(AuthFailure) -> RecaptchaEnforcement {
    var query = [
      (name: "clientType", value: ProjectContext.clientType), (name: "version", value: SMSRequest.recaptchaVersion),
    ]
    if let tenantID = project.tenantID { query.append((name: "tenantId", value: tenantID)) }
    let response = try await get("v2/recaptchaConfig", query, project)
    if project.backend.emulator != nil, [404, 501].contains(response.status) { return .off }
    let config: Config = try decode(response)
    let phone = config.recaptchaEnforcementState?.first { $0.provider == "PHONE_PROVIDER" }
    return phone?.enforcementState.flatMap(RecaptchaEnforcement.init) ?? .off
  }
}
