import AppConfiguration
import AuthCore
import Crypto
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
    if provider.client.kind == .handler { return try handlerRequest(wanted, backend: flow.key.backend) }
    let metadata = try await services.openID.metadata(of: provider.client, providerID: provider.id)
    return try ownRequest(wanted, metadata, flow)
  }

  // MARK: Firebase's page

  private func handlerRequest(
    _ wanted: AuthorizationURL.Request, backend: Backend
  ) throws(AuthFailure) -> PendingAuthorization {
    let sessionID = try Self.random()
    let url = AuthorizationURL.handler(
      wanted, sessionHash: Hex.encode(SHA256.hash(sessionID)), agent: "linkd/\(Release.version)",
      backend: backend)
    guard let url, let scheme = AuthorizationURL.handlerScheme(wanted.app) else {
      throw AuthFailure(.handlerMissing, cause: "cause.no-return-scheme")
    }
    return PendingAuthorization(
      url: Secret(url), returnURIs: ["\(scheme)://firebaseauth/link"], sessionID: Secret(sessionID))
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
    return uris
  }

  /// 256 random bits in base64url: a verifier of 43 characters (RFC 7636 4.1).
  private static func random() throws(AuthFailure) -> String {
    do throws(CryptoError) { return Base64URL.encode(try Random.bytes(32)) } catch { throw AuthFailure(.internal) }
  }
}

/// `redirect_uri` as it's sent, and the URIs that the browser may come back to (cli-and-config: Provider keys).
struct ReturnURIs: Equatable {
  let uri: String
  let returns: [String]

  /// By a listener at `port`.
  init(loopback provider: Provider, port: UInt16, promisesIssuer: Bool) {
    let client = provider.client
    func atPort(_ uri: String) -> String { uri.replacing("{port}", with: String(port)) }
    let own = client.redirectURI.flatMap { $0.hasPrefix("http://") ? $0 : nil }
    uri = atPort(
      own ?? "http://\(client.loopbackHost):{port}/callback\(Self.ending(provider, promisesIssuer))")
    let listed = client.returnURIs.filter { $0.hasPrefix("http://") }.map(atPort)
    returns = listed.isEmpty ? [uri] : listed
  }

  /// By one of the app's schemes; nil where it has none.
  init?(scheme provider: Provider, _ app: App, promisesIssuer: Bool) {
    let client = provider.client
    let listed = client.returnURIs.filter { !$0.hasPrefix("http://") }
    if let own = client.redirectURI, !own.hasPrefix("http://"), !own.hasPrefix("https://") || !listed.isEmpty {
      uri = own
      returns = listed.isEmpty ? [own] : listed
    } else if let google = provider.reversedClientID {
      uri = "\(google):/oauth2redirect"
      returns = listed.isEmpty ? [uri, "\(uri)/google"] : listed
    } else {
      // Some desktops' lists of schemes take no digits.
      let hasDigit: (String) -> Bool = { $0.contains { $0.isNumber } }
      guard let scheme = app.schemes.first(where: { !hasDigit($0) }) ?? app.schemes.first else { return nil }
      let plain = "\(scheme)://oauth/callback\(Self.ending(provider, promisesIssuer))"
      uri = client.redirectURI.flatMap { $0.hasPrefix("https://") ? $0 : nil } ?? plain
      returns = listed.isEmpty ? [plain] : listed
    }
  }

  /// The configured port: of the redirect URI, else of the listener; 0 lets the system choose.
  static func loopbackPort(_ client: ProviderClient) -> UInt16 {
    let named = client.redirectURI.flatMap { PendingAuthorization(url: Secret(""), returnURIs: [$0]).loopbackPort }
    if let named, client.redirectURI?.contains("{port}") == false { return named }
    return client.loopbackPort
  }

  /// A provider that doesn't say who it is gets a return path of its own (RFC 9700 4.4.2.2).
  private static func ending(_ provider: Provider, _ promisesIssuer: Bool) -> String {
    promisesIssuer ? "" : "/\(provider.id)"
  }
}
