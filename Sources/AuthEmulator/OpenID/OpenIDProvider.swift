public import AuthCore

/// A client that a provider knows.
public struct OpenIDClient: Sendable, Equatable {
  /// The client id.
  public var id: String
  /// Nil for a public client.
  public var secret: String?
  /// Where its redirects may go; of a loopback address any port counts (RFC 8252, section 7.3).
  public var redirectURIs: [String]

  /// - Parameters:
  ///   - id: the client id.
  ///   - secret: nil for a public client.
  ///   - redirectURIs: where its redirects may go; of a loopback address any port counts.
  public init(id: String, secret: String? = nil, redirectURIs: [String]) {
    (self.id, self.secret, self.redirectURIs) = (id, secret, redirectURIs)
  }
}

/// How an OpenID provider of the emulator behaves.
public struct OpenIDSettings: Sendable, Equatable {
  /// The clients it knows; none: it takes everybody, whatever the redirect URI.
  public var clients: [OpenIDClient] = []
  /// The issuer it calls itself in discovery document, tokens and redirects, as Microsoft has one with a placeholder in the
  /// document; nil: the address that discovery is below.
  public var issuer: String?
  /// Whether it signs with ES256 instead of RS256.
  public var usesES256 = false
  /// Whether it promises `iss` in its redirects, and sends it (RFC 9207).
  public var sendsIssuer = true
  /// What the ID tokens say besides, or instead.
  public var extraClaims: [String: JSONValue] = [:]

  /// The provider as it is at first.
  public init() {}

  var algorithm: SigningKey.Algorithm { usesES256 ? .es256 : .rs256 }
}

/// An OpenID provider, OpenID Connect Core 1.0 as far as native apps use it: the code flow with PKCE.
struct OpenIDProvider: Sendable {
  /// What a code stands for.
  struct Grant: Sendable {
    let clientID: String
    let redirectURI: String
    let challenge: String
    let nonce: String?
    let scopes: Set<String>
    let account: ProviderAccount
    let issuedAt: Int64
    var isUsed = false
  }

  var settings = OpenIDSettings()
  var grants: [String: Grant] = [:]
  /// The keys of the set; the last one of the algorithm signs.
  private(set) var keys: [SigningKey] = []

  /// The clients it knows by that name; nil where it knows only others.
  func client(_ id: String) -> OpenIDClient? {
    settings.clients.isEmpty ? OpenIDClient(id: id, redirectURIs: []) : settings.clients.first { $0.id == id }
  }

  /// The key that signs.
  var signingKey: SigningKey? { keys.last { $0.algorithm == settings.algorithm } }

  /// Makes the key that signs, where that hasn't been done.
  mutating func makeKey() {
    if signingKey == nil, let key = SigningKey(settings.algorithm) { keys.append(key) }
  }

  /// Signs with a new key from now on.
  /// - Parameter keepsOld: whether the old ones stay in the set.
  mutating func rotateKeys(keepsOld: Bool) {
    if keepsOld { makeKey() } else { keys = [] }
    if let key = SigningKey(settings.algorithm) { keys.append(key) }
  }
}

extension OpenIDClient {
  /// Whether its redirects may go there. A client without any address may go everywhere.
  func admits(redirectURI: String) -> Bool {
    redirectURIs.isEmpty || redirectURIs.contains { Self.withoutPort($0) == Self.withoutPort(redirectURI) }
  }

  /// The address, of a loopback one without its port.
  private static func withoutPort(_ address: String) -> String {
    for host in ["http://127.0.0.1", "http://[::1]", "http://localhost"] where address.hasPrefix(host) {
      let rest = address.dropFirst(host.count)
      guard rest.first == ":" else { return address }
      return host + rest.dropFirst().drop { "0123456789".contains($0) }
    }
    return address
  }
}

/// The addresses of the providers.
enum OpenID {
  static let base = "/emulator/openid"

  /// An endpoint of the provider without a name, and of those with one.
  static func paths(_ endpoint: String) -> [String] { ["\(base)/\(endpoint)", "\(base)/{provider}/\(endpoint)"] }
}

extension Call {
  /// The name of the provider that is called; empty for the one without.
  var provider: String { captures["provider"] ?? "" }
}

extension World {
  /// A provider; whoever is asked for first is there.
  subscript(openID name: String) -> OpenIDProvider {
    get { providers.openID[name] ?? OpenIDProvider() }
    set { providers.openID[name] = newValue }
  }

  /// The issuer that a provider calls itself.
  func statedIssuer(_ name: String) -> String { self[openID: name].settings.issuer ?? issuer(name) }

  /// The address of a provider.
  func issuer(_ name: String) -> String {
    origin + OpenID.base + (name.isEmpty ? "" : "/" + URLText.encodeComponent(name))
  }
}
