import AppConfiguration
import AuthCore
import Crypto
import Desktop
import EventLoop
import IdentityToolkit
import LinkHandler

/// Makes the authorization requests of flows (behaviour: OAuth and OpenID Connect): where the provider is asked, where the
/// browser comes back, and the values that its answer is checked against.
@LoopActor
final class Authorizations {
  private let services: Services
  private let returns: ReturnListeners

  init(services: Services, returns: ReturnListeners) {
    self.services = services
    self.returns = returns
  }

  /// The request of `flow`. A listener that it comes back to is held for the flow from here on.
  ///
  /// - Throws: `noSuchProvider`, `handlerMissing` where the browser couldn't come back, `issuerMismatch` and
  ///   `invalidProviderResponse` for a discovery document that isn't right, what waiting may mend, and why there is no key.
  func request(for flow: Flow, _ app: App) async throws(AuthFailure) -> PendingAuthorization {
    guard let provider = Providers.find(flow.method.description, in: app) else { throw AuthFailure(.noSuchProvider) }
    let wanted = AuthorizationURL.Request(
      app: app, provider: provider, options: flow.authorizationOptions ?? AuthorizationOptions(),
      token: try services.links.token(for: flow), locale: flow.locale ?? app.languageCode,
      tenantID: flow.tenantID ?? app.tenantID)
    if provider.client.kind == .handler { return try handlerRequest(wanted, flow) }
    let metadata = try await services.openID.metadata(of: provider.client, providerID: provider.id)
    return try ownRequest(wanted, metadata, flow)
  }

  // MARK: Firebase's page

  private func handlerRequest(
    _ wanted: AuthorizationURL.Request, _ flow: Flow
  ) throws(AuthFailure) -> PendingAuthorization {
    let sessionID = try Self.random()
    let url = AuthorizationURL.handler(
      wanted, sessionHash: Hex.encode(SHA256.hash(sessionID)), agent: "linkd/\(Release.version)",
      backend: flow.key.backend)
    guard let url, let scheme = AuthorizationURL.handlerScheme(wanted.app) else {
      throw AuthFailure(.handlerMissing, cause: "cause.no-return-scheme")
    }
    let page = PendingAuthorization(
      url: Secret(url), returnURIs: ["\(scheme)://firebaseauth/link"], sessionID: Secret(sessionID))
    if flow.opensBrowser { try requireHandler(page.returnURIs) }
    return page
  }

  /// The page that tells people from programs before `flow` gets a text message (identity-toolkit 4.7). It comes back by
  /// scheme alone.
  ///
  /// - Throws: `handlerMissing` where it couldn't come back (field report B085), and why there is no key.
  func verificationPage(for flow: Flow, _ app: App) throws(AuthFailure) -> PendingAuthorization {
    let url = AuthorizationURL.verification(
      app: app, token: try services.links.token(for: flow), locale: flow.locale ?? app.languageCode,
      agent: "linkd/\(Release.version)", backend: flow.key.backend)
    guard let url, let scheme = AuthorizationURL.handlerScheme(app) else {
      throw AuthFailure(.handlerMissing, cause: "cause.no-return-scheme")
    }
    let page = PendingAuthorization(url: Secret(url), returnURIs: ["\(scheme)://firebaseauth/link"])
    if flow.opensBrowser { try requireHandler(page.returnURIs) }
    return page
  }

  /// A browser that is opened here must find somebody who takes one of the URIs: else the person would do everything for
  /// nothing (field report B085). Whoever opens it elsewhere pastes the address.
  ///
  /// - Throws: `handlerMissing`.
  func requireHandler(_ returnURIs: [String]) throws(AuthFailure) {
    let schemes = returnURIs.map { String($0.prefix { $0 != ":" }) }
    if schemes.contains("http") || services.handler.registered(schemes).contains(where: { $0.winner != nil }) { return }
    services.log.warning("nobody opens a scheme", ["scheme": schemes.first ?? "-"])
    throw AuthFailure(.handlerMissing)
  }

  // MARK: An own client

  private func ownRequest(
    _ wanted: AuthorizationURL.Request, _ metadata: ProviderMetadata, _ flow: Flow
  ) throws(AuthFailure) -> PendingAuthorization {
    let (verifier, nonce) = (try Self.random(), try Self.random())
    let redirect = try redirect(wanted, promisesIssuer: metadata.promisesIssuer, flow)
    let url = AuthorizationURL.ownClient(
      wanted, endpoint: metadata.authorizationEndpoint, redirectURI: redirect.uri,
      challenge: Base64URL.encode(SHA256.hash(verifier)), nonceHash: Hex.encode(SHA256.hash(nonce)))
    let client = PendingAuthorization.Client(
      metadata: metadata, clientID: wanted.provider.client.clientID, redirectURI: redirect.uri,
      codeVerifier: Secret(verifier), rawNonce: Secret(nonce))
    return PendingAuthorization(url: Secret(url), returnURIs: redirect.returns, client: client)
  }

  /// Where the browser is sent, and where it may arrive: by loopback unless a scheme is wanted, or there's no listener to be
  /// had (RFC 8252 7).
  private func redirect(
    _ wanted: AuthorizationURL.Request, promisesIssuer: Bool, _ flow: Flow
  ) throws(AuthFailure) -> ReturnURIs {
    let client = wanted.provider.client
    var way = wanted.options.redirect == .auto ? client.redirect : wanted.options.redirect
    let isFixed = way != .auto
    if way == .auto { way = client.redirectURI.map { $0.hasPrefix("http://") } ?? true ? .loopback : .scheme }
    if way == .loopback {
      do throws(AuthFailure) {
        let port = try returns.listen(for: flow.id, at: ReturnURIs.loopbackPort(client))
        return ReturnURIs(loopback: wanted.provider, port: port, promisesIssuer: promisesIssuer)
      } catch {
        services.log.warning("no listener for a redirect", ["flow": flow.id, "error": error.error.rawValue])
        if isFixed || client.redirectURI != nil { throw error }
      }
    }
    guard let uris = ReturnURIs(scheme: wanted.provider, wanted.app, promisesIssuer: promisesIssuer) else {
      throw AuthFailure(.handlerMissing, cause: "cause.no-return-scheme")
    }
    if flow.opensBrowser { try requireHandler(uris.returns) }
    return uris
  }

  /// 256 random bits in base64url: a verifier of 43 characters (RFC 7636 4.1).
  private static func random() throws(AuthFailure) -> String {
    do throws(CryptoError) { return Base64URL.encode(try Random.bytes(32)) } catch { throw AuthFailure(.internal) }
  }
}
