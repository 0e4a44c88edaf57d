public import AuthCore

/// The URLs that a browser is sent to for a provider: pure text, every value percent-encoded once.
public enum AuthorizationURL {
  /// What both kinds of pages are asked.
  public struct Request: Sendable {
    /// The app.
    public var app: App
    /// The provider.
    public var provider: Provider
    /// What the caller wants besides.
    public var options: AuthorizationOptions
    /// The flow's token: `state`, or `eventId`.
    public var token: Secret<String>
    /// BCP 47.
    public var locale: String?
    /// Identity Platform tenant.
    public var tenantID: String?

    /// A request for `provider` of `app`.
    public init(
      app: App, provider: Provider, options: AuthorizationOptions, token: Secret<String>, locale: String? = nil,
      tenantID: String? = nil
    ) {
      self.app = app
      self.provider = provider
      self.options = options
      self.token = token
      self.locale = locale
      self.tenantID = tenantID
    }

    /// A provider of OpenID Connect must be asked for `openid` (OpenID Connect Core 3.1.2.1), whatever else is wanted.
    fileprivate var scopes: [String] {
      let wanted = options.scopes ?? provider.scopes
      guard case .openID = provider.client.kind, !wanted.contains("openid") else { return wanted }
      return ["openid"] + wanted
    }

    fileprivate var customParameters: [String: String] {
      var parameters = provider.customParameters.merging(options.customParameters) { _, new in new }
      if let hint = options.loginHint { parameters["login_hint"] = hint }
      return parameters
    }
  }

  /// Firebase's page (identity-toolkit 4.5), with SHA-256 of the raw session id in lower-case hexadecimal; `agent` is what
  /// names this program. Nil for an app that has neither client id nor app id: the page couldn't come back.
  public static func handler(_ request: Request, sessionHash: String, agent: String, backend: Backend) -> String? {
    let app = request.app
    guard let (name, id) = appName(app) else { return nil }
    var query: [(String, String)] = [
      ("apiKey", app.apiKey), ("authType", "signInWithRedirect"),
      ("ibi", bundleID(app)), ("sessionId", sessionHash), ("v", agent),
      ("eventId", request.token.reveal()), ("providerId", request.provider.id), (name, id),
    ]
    if let tenant = request.tenantID { query.append(("tid", tenant)) }
    query.append(("scopes", request.scopes.joined(separator: ",")))
    let parameters = request.customParameters
    if !parameters.isEmpty {
      query.append(
        ("customParameters", JSONValue.object(parameters.mapValues(JSONValue.string)).text))
    }
    if let locale = request.locale { query.append(("hl", locale)) }
    return adding(query, to: handlerPage(app, backend))
  }

  /// Firebase's page that tells people from programs before a text message is sent (identity-toolkit 4.7); nil as for
  /// `handler`.
  public static func verification(
    app: App, token: Secret<String>, locale: String?, agent: String, backend: Backend
  ) -> String? {
    guard let (name, id) = appName(app) else { return nil }
    var query: [(String, String)] = [
      ("apiKey", app.apiKey), ("authType", "verifyApp"), ("ibi", bundleID(app)), ("v", agent),
      ("eventId", token.reveal()), (name, id),
    ]
    if let locale { query.append(("hl", locale)) }
    return adding(query, to: handlerPage(app, backend))
  }

  /// What Firebase's page knows the app by, and its scheme with it.
  private static func appName(_ app: App) -> (String, String)? {
    app.clientID.map { ("clientId", $0) } ?? (app.appID.isEmpty ? nil : ("appId", app.appID))
  }

  /// The page wants one, whatever it is.
  private static func bundleID(_ app: App) -> String { app.bundleID ?? app.schemes.first ?? app.id.value }

  private static func handlerPage(_ app: App, _ backend: Backend) -> String {
    backend.emulator.map { "http://\($0)/emulator/auth/handler" } ?? "https://\(app.authDomain)/__/auth/handler"
  }

  /// The scheme that Firebase's page comes back by (identity-toolkit 4.2); nil where `handler` gives nothing.
  public static func handlerScheme(_ app: App) -> String? {
    app.reversedClientID ?? (app.appID.isEmpty ? nil : App.encodedAppID(app.appID))
  }

  /// An own client's request (RFC 6749 4.1.1, RFC 7636 4.3, OpenID Connect Core 3.1.2.1): `challenge` is the verifier's
  /// SHA-256 in base64url, `nonceHash` the raw nonce's in lower-case hexadecimal.
  public static func ownClient(
    _ request: Request, endpoint: String, redirectURI: String, challenge: String, nonceHash: String
  ) -> String {
    let client = request.provider.client
    var query: [(String, String)] = [
      ("response_type", "code"), ("client_id", client.clientID), ("redirect_uri", redirectURI),
      ("scope", request.scopes.joined(separator: " ")), ("state", request.token.reveal()),
      ("code_challenge", challenge), ("code_challenge_method", "S256"),
    ]
    if case .openID = client.kind { query.append(("nonce", nonceHash)) }
    if let locale = request.locale { query.append(("ui_locales", locale)) }
    // What keeps the flow safe isn't a custom parameter.
    let taken = Set(query.map(\.0)).union(["request", "request_uri", "response_mode", "nonce"])
    for (name, value) in request.customParameters.sorted(by: { $0.key < $1.key }) where !taken.contains(name) {
      query.append((name, value))
    }
    return adding(query, to: endpoint)
  }

  /// Keeps a query that the endpoint has (RFC 6749 3.1).
  private static func adding(_ query: [(String, String)], to url: String) -> String {
    let pairs = query.map { "\(PercentCoding.encode($0.0))=\(PercentCoding.encode($0.1))" }
    let page = url.prefix { $0 != "#" }
    return "\(page)\(page.contains("?") ? "&" : "?")\(pairs.joined(separator: "&"))"
  }
}
