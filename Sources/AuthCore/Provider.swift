/// One way to sign in, with the button that offers it.
public struct Provider: Sendable, Hashable {
  /// What stands behind a button.
  public enum Kind: String, Sendable, Hashable {
    case emailLink = "email-link"
    case password, phone, anonymous, oauth, oidc, saml
  }

  /// `emailLink`, `password`, `phone`, `anonymous`, or a provider id: `google.com`, `oidc.line`.
  public var id: String
  /// What stands behind the button.
  public var kind: Kind
  /// What people call it.
  public var displayName: String
  /// Text of the button.
  public var label: String?
  /// Icon name.
  public var icon: String?
  /// `#rrggbb`.
  public var backgroundColor: String?
  /// `#rrggbb`.
  public var foregroundColor: String?
  /// What is asked of the provider, in the provider's words (RFC 6749 3.3).
  public var scopes: [String] = []
  /// Further parameters of the authorization request: `prompt`, `hd`, ….
  public var customParameters: [String: String] = [:]
  /// Who asks the provider; Firebase's page where the app has no client of its own there.
  public var client = ProviderClient()

  /// A provider without decoration.
  public init(id: String, kind: Kind, displayName: String) {
    self.id = id
    self.kind = kind
    self.displayName = displayName
  }

  /// The scheme that Google's native clients come back by; nil for any other client.
  public var reversedClientID: String? {
    client.clientID.hasSuffix(".apps.googleusercontent.com") ? App.reversed(client.clientID) : nil
  }
}

/// An app's own client at a provider (RFC 6749 2, RFC 8252), or Firebase's page in its stead.
public struct ProviderClient: Sendable, Hashable {
  /// Who speaks to the provider, and where.
  public enum Kind: Sendable, Hashable {
    /// `https://<auth-domain>/__/auth/handler` (identity-toolkit 4.5): no client id, no secret on this machine.
    case handler
    /// OpenID Connect: the endpoints are in the issuer's discovery document, the ID token is checked.
    case openID(issuer: String)
    /// OAuth 2.0 alone: named endpoints, no ID token.
    case oauth2(authorizationEndpoint: String, tokenEndpoint: String)
  }

  /// How the browser comes back.
  public enum Redirect: String, Sendable, Hashable {
    case scheme, loopback
    /// By loopback where the provider allows it, else by scheme.
    case auto
  }

  /// Who speaks to the provider, and where.
  public var kind = Kind.handler
  /// `client_id`; empty for Firebase's page.
  public var clientID = ""
  /// `client_secret`. A native app's is no secret (RFC 8252 8.5), but some providers want one.
  public var clientSecret: Secret<String>?
  /// How the browser comes back.
  public var redirect = Redirect.auto
  /// `redirect_uri` as it's sent, where it isn't the default; `{port}` stands for the listener's port.
  public var redirectURI: String?
  /// The URIs that the browser may come back to, where they aren't the defaults.
  public var returnURIs: [String] = []
  /// Host in the loopback redirect URI: `127.0.0.1`, `[::1]` or `localhost`.
  public var loopbackHost = "127.0.0.1"
  /// Port of the loopback redirect; 0 lets the system choose.
  public var loopbackPort: UInt16 = 0

  /// Firebase's page.
  public init() {}
}
