public import AuthCore

/// `redirect_uri` as it's sent, and the URIs that the browser may come back to (cli-and-config: Provider keys).
public struct ReturnURIs: Sendable, Hashable {
  /// `redirect_uri`.
  public let uri: String
  /// Where the browser may come back: without query.
  public let returns: [String]

  /// By a listener at `port`.
  public init(loopback provider: Provider, port: UInt16, promisesIssuer: Bool) {
    self.init(loopback: provider, at: String(port), promisesIssuer: promisesIssuer)
  }

  private init(loopback provider: Provider, at port: String, promisesIssuer: Bool) {
    let client = provider.client
    func atPort(_ uri: String) -> String { uri.replacing("{port}", with: port) }
    let own = client.redirectURI.flatMap { $0.hasPrefix("http://") ? $0 : nil }
    uri = atPort(
      own ?? "http://\(client.loopbackHost):{port}/callback\(Self.ending(provider, promisesIssuer))")
    let listed = client.returnURIs.filter { $0.hasPrefix("http://") }.map(atPort)
    returns = listed.isEmpty ? [uri] : listed
  }

  /// By one of the app's schemes; nil where it has none.
  public init?(scheme provider: Provider, _ app: App, promisesIssuer: Bool) {
    let client = provider.client
    let listed = client.returnURIs.filter { !$0.hasPrefix("http://") }
    if let own = client.redirectURI, !own.hasPrefix("http://"), !own.hasPrefix("https://") || !listed.isEmpty {
      uri = own
      returns = listed.isEmpty ? [own] : listed
    } else if let google = provider.reversedClientID, client.redirectURI?.hasPrefix("https://") != true {
      uri = "\(google):/oauth2redirect"
      returns = listed.isEmpty ? [uri, "\(uri)/google"] : listed
    } else {
      // Some desktops' lists of schemes take no digits.
      let hasDigit: (String) -> Bool = { $0.contains { $0.isNumber } }
      guard let scheme = app.schemes.first(where: { !hasDigit($0) }) ?? app.schemes.first else { return nil }
      let plain = "\(scheme)://oauth/callback\(Self.ending(provider, promisesIssuer))"
      uri = client.redirectURI.flatMap { $0.hasPrefix("https://") ? $0 : nil } ?? plain
      returns = listed.isEmpty ? [plain] + Self.facebookReturns(provider, app) : listed
    }
  }

  /// For people: what may have to be registered at the provider, or, by Firebase's page, where that comes back. `*` is any
  /// port; there are both endings where only the provider knows whether it promises `iss`.
  public static func possible(_ provider: Provider, _ app: App) -> [String] {
    let client = provider.client
    let promises: [Bool]
    switch client.kind {
    case .handler: return AuthorizationURL.handlerScheme(app).map { ["\($0)://firebaseauth/link"] } ?? []
    case .oauth2: promises = [false]
    case .openID: promises = [true, false]
    }
    let port = loopbackPort(client)
    let isLoopback = client.redirectURI?.hasPrefix("http://") ?? true
    var uris: [String] = []
    if client.redirect == .loopback || client.redirect == .auto && isLoopback {
      uris += promises.map { ReturnURIs(loopback: provider, at: port == 0 ? "*" : "\(port)", promisesIssuer: $0).uri }
    }
    if client.redirect == .scheme || client.redirect == .auto && client.redirectURI?.hasPrefix("http://") != true {
      uris += promises.compactMap { ReturnURIs(scheme: provider, app, promisesIssuer: $0)?.uri }
    }
    var seen: Set<String> = []
    return uris.filter { seen.insert($0).inserted }
  }

  /// Facebook's own way back to an app (cli-and-config: return-uri).
  private static func facebookReturns(_ provider: Provider, _ app: App) -> [String] {
    guard provider.id == "facebook.com" else { return [] }
    let isOwn: (String) -> Bool = {
      $0.hasPrefix("fb") && $0.count > 2 && $0.dropFirst(2).utf8.allSatisfy(ASCII.isDigit)
    }
    return app.schemes.filter(isOwn).map { "\($0)://authorize" }
  }

  /// The configured port: of the redirect URI, else of the listener; 0 lets the system choose.
  public static func loopbackPort(_ client: ProviderClient) -> UInt16 {
    let named = client.redirectURI.flatMap { PendingAuthorization(url: Secret(""), returnURIs: [$0]).loopbackPort }
    if let named, client.redirectURI?.contains("{port}") == false { return named }
    return client.loopbackPort
  }

  /// A provider that doesn't say who it is gets a return path of its own (RFC 9700 4.4.2.2).
  private static func ending(_ provider: Provider, _ promisesIssuer: Bool) -> String {
    promisesIssuer ? "" : "/\(provider.id)"
  }
}
