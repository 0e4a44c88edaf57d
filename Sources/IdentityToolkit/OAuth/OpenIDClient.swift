public import AuthCore
public import EventLoop

/// An app's own clients at providers (RFC 8252): where to ask, the exchange of a code, and whether to believe an ID token.
///
/// Providers are asked by HTTPS, on this machine also by plain HTTP. Nothing secret is put into a URL, redirects aren't
/// followed, and what one provider gave goes to that provider's endpoints alone.
@LoopActor
public final class OpenIDClient {
  let http: HTTPClient
  let documents: DocumentCache

  /// Providers are asked through `http`.
  public convenience init(http: HTTPClient) { self.init(http: http, clock: { BootClock.seconds }) }

  /// With a clock of the caller's choice, in seconds: how old documents are.
  init(http: HTTPClient, clock: @escaping () -> Int64) {
    self.http = http
    documents = DocumentCache(http: http, now: clock)
  }

  /// Whether a request is under way.
  public var isBusy: Bool { http.isBusy }

  /// Where `client` asks its provider.
  ///
  /// - Throws: `issuerMismatch` for another issuer's document, `invalidProviderResponse` for one that can't be used,
  ///   `noSuchProvider` for Firebase's page, which needs none; what waiting may mend as such.
  public func metadata(
    of client: ProviderClient, providerID: String
  ) async throws(AuthFailure) -> ProviderMetadata {
    switch client.kind {
    case .handler: throw AuthFailure(.noSuchProvider, serverCode: "NO_CLIENT")
    case .oauth2(let authorizationEndpoint, let tokenEndpoint):
      guard EndpointURL(authorizationEndpoint) != nil, EndpointURL(tokenEndpoint) != nil else {
        throw AuthFailure(.invalidProviderResponse, serverCode: "ENDPOINT")
      }
      return ProviderMetadata(authorizationEndpoint: authorizationEndpoint, tokenEndpoint: tokenEndpoint)
    case .openID(let issuer):
      guard let issuer = Issuer(issuer, providerID: providerID) else {
        throw AuthFailure(.invalidProviderResponse, serverCode: "ISSUER_URL")
      }
      return try await documents.document(at: issuer.discoveryURL, read: issuer.metadata)
    }
  }
}
