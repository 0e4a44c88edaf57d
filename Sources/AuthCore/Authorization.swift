/// Where a provider is asked (OpenID Connect Discovery 1.0, RFC 8414).
public struct ProviderMetadata: Sendable, Hashable {
  /// `issuer`; nil for OAuth 2.0 without discovery. Microsoft's holds `{tenantid}`.
  public var issuer: String?
  /// `authorization_endpoint`.
  public var authorizationEndpoint: String
  /// `token_endpoint`.
  public var tokenEndpoint: String
  /// `jwks_uri`.
  public var jwksURI: String?
  /// `authorization_response_iss_parameter_supported` (RFC 9207).
  public var promisesIssuer: Bool
  /// Whether a client secret goes into the `Authorization` header (`client_secret_basic`, RFC 6749 2.3.1) and not into the form.
  public var usesBasicAuthentication: Bool

  /// Every field by name.
  public init(
    issuer: String? = nil, authorizationEndpoint: String, tokenEndpoint: String, jwksURI: String? = nil,
    promisesIssuer: Bool = false, usesBasicAuthentication: Bool = false
  ) {
    self.issuer = issuer
    self.authorizationEndpoint = authorizationEndpoint
    self.tokenEndpoint = tokenEndpoint
    self.jwksURI = jwksURI
    self.promisesIssuer = promisesIssuer
    self.usesBasicAuthentication = usesBasicAuthentication
  }
}

/// An authorization request that has gone to the browser, and what its answer is checked against: part of the flow's row.
public struct PendingAuthorization: Sendable, Hashable {
  /// What the browser is to open.
  public var url: Secret<String>
  /// Where it may come back: URIs without query.
  public var returnURIs: [String]
  /// Raw session id of Firebase's page; nil for an own client.
  public var sessionID: Secret<String>?
  /// The own client's side; nil for Firebase's page.
  public var client: Client?

  /// What an own client remembers of its request (RFC 7636, OpenID Connect Core 3.1.2.1).
  public struct Client: Sendable, Hashable {
    /// The endpoints as they were when the browser opened: another answer's are never mixed in.
    public var metadata: ProviderMetadata
    /// `client_id`.
    public var clientID: String
    /// `redirect_uri` as it was sent.
    public var redirectURI: String
    /// PKCE verifier.
    public var codeVerifier: Secret<String>
    /// The raw nonce; the request carries its SHA-256.
    public var rawNonce: Secret<String>

    /// Every field by name.
    public init(
      metadata: ProviderMetadata, clientID: String, redirectURI: String, codeVerifier: Secret<String>,
      rawNonce: Secret<String>
    ) {
      self.metadata = metadata
      self.clientID = clientID
      self.redirectURI = redirectURI
      self.codeVerifier = codeVerifier
      self.rawNonce = rawNonce
    }
  }

  /// A request that goes to `url` and comes back to one of `returnURIs`.
  public init(url: Secret<String>, returnURIs: [String], sessionID: Secret<String>? = nil, client: Client? = nil) {
    self.url = url
    self.returnURIs = returnURIs
    self.sessionID = sessionID
    self.client = client
  }

  /// The port that a listener must hold; nil for a return by scheme.
  public var loopbackPort: UInt16? {
    for uri in returnURIs where uri.hasPrefix("http://") {
      let authority = uri.dropFirst(7).prefix { $0 != "/" }
      guard let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") else { return 80 }
      return UInt16(authority[authority.index(after: colon)...])
    }
    return nil
  }
}

/// What a caller wants of an authorization request besides the app's configuration.
public struct AuthorizationOptions: Sendable, Hashable {
  /// Instead of the configured ones.
  public var scopes: [String]?
  /// Besides the configured ones.
  public var customParameters: [String: String] = [:]
  /// `login_hint`: an address.
  public var loginHint: String?
  /// How the browser is to come back.
  public var redirect = ProviderClient.Redirect.auto

  /// Nothing but the configuration.
  public init() {}
}
