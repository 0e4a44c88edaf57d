import AuthCore

/// What the browser brings to a flow by a provider.
extension ProviderFlow {
  /// What isn't the flow's answer leaves it waiting, and tells the person.
  mutating func note(_ failure: AuthFailure) -> [FlowAction] {
    guard flow.stage == .waitingForRedirect, flow.error != failure.error || flow.errorCause != failure.cause else {
      return []
    }
    flow.note(failure)
    return [.save]
  }

  private mutating func note(_ error: AuthError) -> [FlowAction] { note(AuthFailure(error)) }

  mutating func take(_ redirect: OAuthRedirect, at now: Int64) -> [FlowAction] {
    switch redirect.response {
    case .own(let response):
      guard let client = flow.authorization?.client else { return note(.invalidProviderResponse) }
      return take(response, client, redirect.reject, at: now)
    case .handler(let response):
      guard let session = flow.authorization?.sessionID, redirect.reject == nil else {
        return note(.invalidProviderResponse)
      }
      return take(response, sessionID: session, at: now)
    }
  }

  private mutating func take(
    _ response: OAuthRedirect.OwnClientResponse, _ client: PendingAuthorization.Client, _ reject: String?,
    at now: Int64
  ) -> [FlowAction] {
    // A ready token in a URL proves nothing about who asked for it, with or without an issuer (field report B058).
    if response.isFragment { return note(.invalidProviderResponse) }
    guard client.metadata.acceptsIssuer(response.issuer) else { return note(.issuerMismatch) }
    if reject == "missingCode" { return note(.missingCode) }
    if reject != nil { return note(.invalidProviderResponse) }
    if let error = response.error { return refused(error, at: now) }
    guard let code = response.code, !code.reveal().isEmpty else { return note(.missingCode) }
    // One exchange for each code, however often the browser brings it.
    guard code != flow.code else { return [] }
    flow.code = code
    flow.attempts = 1
    tries = 0
    flow.beginExchange(at: now)
    return [.save, .exchangeAuthorizationCode(code, delay: 0)]
  }

  /// RFC 6749 4.1.2.1, and what providers say besides when somebody says no (field report B062).
  private mutating func refused(_ error: String, at now: Int64) -> [FlowAction] {
    switch error {
    case "access_denied", "user_denied", "user_cancelled", "user_cancelled_login", "user_cancelled_authorize",
      "consent_required":
      return flow.end(.cancelled, at: now)
    // The page is still there, and may do it at the second try.
    case "temporarily_unavailable", "server_error": return note(.serviceUnavailable)
    default: return flow.fail(.invalidProviderResponse, at: now)
    }
  }

  private mutating func take(
    _ response: OAuthRedirect.HandlerResponse, sessionID: Secret<String>, at now: Int64
  ) -> [FlowAction] {
    if let url = response.responseURL {
      var credential = OAuthCredential(providerID: flow.method.description)
      credential.requestURI = url
      credential.sessionID = sessionID
      return exchange(credential, at: now)
    }
    switch response.error {
    case "auth/user-cancelled", "auth/cancelled-popup-request", "auth/popup-closed-by-user",
      "auth/web-context-cancelled", "auth/redirect-cancelled-by-user":
      return flow.end(.cancelled, at: now)
    case "auth/network-request-failed": return note(.networkUnavailable)
    case "auth/internal-error": return note(.serviceUnavailable)
    case "auth/operation-not-allowed": return flow.fail(.operationNotAllowed, at: now)
    default: return flow.fail(.invalidProviderResponse, at: now)
    }
  }
}
