import AuthCore
import Foundation
import LinkHandler
import Testing

/// What the browser is sent to. The test constants are identity-toolkit 4.5's.
@Suite("Authorization URLs", .timeLimit(.minutes(1)))
struct AuthorizationURLTests {
  private static let sessionHash = "261305762671a58cae5b74990bcfc236c2336fb04a0fbac626166d9491d2884c"

  private func app(_ change: (inout App) -> Void = { _ in }) throws -> App {
    var app = App(id: try #require(AppID("demo")), projectID: "test", apiKey: "asdfghjkl")
    app.authDomain = "test.firebaseapp.com"
    app.appID = "1:123456789:ios:123abc456def"
    app.clientID = "123456.apps.googleusercontent.com"
    app.bundleID = "com.example.app"
    change(&app)
    return app
  }

  private func request(
    _ id: String, _ app: App, _ change: (inout Provider, inout AuthorizationOptions) -> Void = { _, _ in },
    locale: String? = nil, tenant: String? = nil
  ) -> AuthorizationURL.Request {
    var provider = Provider(id: id, kind: .oauth, displayName: id)
    var options = AuthorizationOptions()
    change(&provider, &options)
    return AuthorizationURL.Request(
      app: app, provider: provider, options: options, token: Secret("QWERTYUIOP"), locale: locale, tenantID: tenant)
  }

  private func page(_ request: AuthorizationURL.Request, backend: Backend = .production) throws -> URLComponents {
    let url = AuthorizationURL.handler(request, sessionHash: Self.sessionHash, agent: "linkd/1 x", backend: backend)
    return try #require(url.flatMap { URLComponents(string: $0) })
  }

  private func items(_ url: URLComponents) -> [[String]] { (url.queryItems ?? []).map { [$0.name, $0.value ?? ""] } }

  // MARK: Firebase's page

  @Test("the page gets its parameters in the order of identity-toolkit 4.5")
  func handler() throws {
    let request = request(
      "github.com", try app(),
      { provider, options in
        provider.scopes = ["read:user", "user:email"]
        options.loginHint = "a+b@c.com"
      }, locale: "en", tenant: "tenantID")
    let url = try page(request)
    #expect(url.scheme == "https" && url.host == "test.firebaseapp.com" && url.path == "/__/auth/handler")
    #expect(
      items(url) == [
        ["apiKey", "asdfghjkl"], ["authType", "signInWithRedirect"], ["ibi", "com.example.app"],
        ["sessionId", Self.sessionHash], ["v", "linkd/1 x"], ["eventId", "QWERTYUIOP"], ["providerId", "github.com"],
        ["clientId", "123456.apps.googleusercontent.com"], ["tid", "tenantID"], ["scopes", "read:user,user:email"],
        ["customParameters", #"{"login_hint":"a+b@c.com"}"#], ["hl", "en"],
      ])
    // A literal plus would be a space there.
    #expect(url.percentEncodedQuery?.contains("+") == false)
    #expect(url.percentEncodedQuery?.contains("a%2Bb") == true && url.fragment == nil)
  }

  @Test("what isn't set is left out, but for the scopes; without a client id the app id says where to come back")
  func handlerMinimal() throws {
    let bare = try app {
      $0.clientID = nil
      $0.bundleID = nil
      $0.schemes = ["com.example.linkd"]
    }
    #expect(
      items(try page(request("oidc.x", bare))) == [
        ["apiKey", "asdfghjkl"], ["authType", "signInWithRedirect"], ["ibi", "com.example.linkd"],
        ["sessionId", Self.sessionHash], ["v", "linkd/1 x"], ["eventId", "QWERTYUIOP"], ["providerId", "oidc.x"],
        ["appId", "1:123456789:ios:123abc456def"], ["scopes", ""],
      ])
    #expect(AuthorizationURL.handlerScheme(bare) == "app-1-123456789-ios-123abc456def")
    #expect(AuthorizationURL.handlerScheme(try app()) == "com.googleusercontent.apps.123456")
    // Identity-toolkit 4.9: the page wants an `ibi`.
    let nameless = try app { $0.bundleID = nil }
    #expect(items(try page(request("oidc.x", nameless))).contains(["ibi", "demo"]))
  }

  @Test("an app that the page couldn't come back to gets none")
  func noHandler() throws {
    let app = try app {
      $0.clientID = nil
      $0.appID = ""
    }
    #expect(
      AuthorizationURL.handler(request("x.y", app), sessionHash: "", agent: "", backend: .production) == nil)
    #expect(AuthorizationURL.handlerScheme(app) == nil)
  }

  @Test("an emulator has the page at its own address (identity-toolkit 4.4)")
  func emulator() throws {
    let address = try #require(EmulatorAddress("emulatorhost:12345"))
    let url = try page(request("github.com", try app()), backend: .emulator(address))
    #expect(url.scheme == "http" && url.host == "emulatorhost" && url.port == 12345)
    #expect(url.path == "/emulator/auth/handler")
  }

  // Identity-toolkit 4.5, regression vector.
  @Test("a custom parameter stays inside the custom parameters, whatever is in it")
  func injection() throws {
    let hint = #"x"}&tid=attacker-tenant&clientId=000000.apps.googleusercontent.com&junk={"a":"b"#
    let url = try page(request("github.com", try app(), { $1.customParameters = ["login_hint": hint] }))
    let names = items(url).map { $0[0] }
    #expect(!names.contains("tid") && !names.contains("junk") && Set(names).count == names.count)
    #expect(items(url).filter { $0[0] == "clientId" } == [["clientId", "123456.apps.googleusercontent.com"]])
    let json = try #require(items(url).first { $0[0] == "customParameters" }?[1])
    #expect(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: String] == ["login_hint": hint])
    // Nor do scopes, the locale, the tenant or names leave their places.
    let evil = request(
      "github.com", try app(), { $1.scopes = ["a&tid=t#x", "b"] }, locale: "en&tid=t", tenant: "t&hl=x")
    let other = try page(evil)
    #expect(items(other).filter { $0[0] == "tid" } == [["tid", "t&hl=x"]])
    #expect(items(other).filter { $0[0] == "hl" } == [["hl", "en&tid=t"]])
    #expect(items(other).contains(["scopes", "a&tid=t#x,b"]))
  }

  @Test("a caller's parameters come before the app's own, name by name; a hint before both")
  func merged() throws {
    let request = request("github.com", try app()) { provider, options in
      provider.customParameters = ["prompt": "consent", "hd": "example.com", "login_hint": "p"]
      options.customParameters = ["prompt": "none", "login_hint": "o"]
      options.loginHint = "a@example.com"
    }
    let url = try page(request)
    let json = try #require(items(url).first { $0[0] == "customParameters" }?[1])
    #expect(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: String]
        == ["prompt": "none", "hd": "example.com", "login_hint": "a@example.com"])
  }

  // MARK: An own client

  private func own(
    _ endpoint: String = "https://idp.example/authorize",
    kind: ProviderClient.Kind = .openID(issuer: "https://idp.example"),
    _ change: (inout Provider, inout AuthorizationOptions) -> Void = { _, _ in }, locale: String? = nil
  ) throws -> String {
    let request = request(
      "oidc.x", try app(),
      { provider, options in
        provider.client.kind = kind
        provider.client.clientID = "c 1"
        provider.scopes = ["openid", "email"]
        change(&provider, &options)
      }, locale: locale)
    // RFC 7636, appendix B: the challenge.
    return AuthorizationURL.ownClient(
      request, endpoint: endpoint, redirectURI: "http://127.0.0.1:5000/callback",
      challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", nonceHash: "abc")
  }

  private func own(items url: String) throws -> [[String]] { items(try #require(URLComponents(string: url))) }

  @Test("RFC 6749 4.1.1, RFC 7636 4.3, OpenID Connect Core 3.1.2.1: what is asked")
  func ownClient() throws {
    let url = try own(locale: "de")
    #expect(url.hasPrefix("https://idp.example/authorize?response_type=code&client_id=c%201&"))
    #expect(
      try own(items: url) == [
        ["response_type", "code"], ["client_id", "c 1"], ["redirect_uri", "http://127.0.0.1:5000/callback"],
        ["scope", "openid email"], ["state", "QWERTYUIOP"],
        ["code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"], ["code_challenge_method", "S256"],
        ["nonce", "abc"], ["ui_locales", "de"],
      ])
  }

  @Test("OAuth 2.0 alone has no nonce")
  func plainOAuth() throws {
    let kind = ProviderClient.Kind.oauth2(authorizationEndpoint: "https://a/", tokenEndpoint: "https://t/")
    let url = try own(kind: kind) { provider, _ in provider.scopes = ["user"] }
    #expect(try own(items: url).contains(["scope", "user"]))
    #expect(try !own(items: url).contains { $0[0] == "nonce" })
  }

  @Test("a caller's scopes stand in for the app's, but OpenID Connect's own is always asked for")
  func scopes() throws {
    let narrow = try own(items: try own { $1.scopes = ["email"] })
    #expect(narrow.contains(["scope", "openid email"]))
    #expect(try own(items: try own { $1.scopes = ["email", "openid"] }).contains(["scope", "email openid"]))
    let kind = ProviderClient.Kind.oauth2(authorizationEndpoint: "https://a/", tokenEndpoint: "https://t/")
    #expect(try own(items: try own(kind: kind) { $1.scopes = ["email"] }).contains(["scope", "email"]))
  }

  @Test("what keeps the flow safe isn't a custom parameter; what else is wanted comes in order, encoded once")
  func customParameters() throws {
    let taken = [
      "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
      "nonce",
      "request", "request_uri", "response_mode",
    ]
    let url = try own { _, options in
      for name in taken { options.customParameters[name] = "evil" }
      options.customParameters["prompt"] = "select_account"
      options.customParameters["access_type&state"] = "off+line&state=evil#x"
    }
    #expect(!url.contains("evil#") && url.components(separatedBy: "evil").count == 2)
    let items = try own(items: url)
    #expect(Set(items.map { $0[0] }).count == items.count)
    #expect(items.suffix(2) == [["access_type&state", "off+line&state=evil#x"], ["prompt", "select_account"]])
    // The nonce is nobody's in OAuth 2.0, either.
    let kind = ProviderClient.Kind.oauth2(authorizationEndpoint: "https://a/", tokenEndpoint: "https://t/")
    #expect(try !own(kind: kind) { $1.customParameters["nonce"] = "evil" }.contains("evil"))
  }

  // RFC 6749 3.1.
  @Test("an endpoint keeps its query, and has no fragment")
  func endpointQuery() throws {
    #expect(
      try own("https://idp.example/a?p=B2C_1&x=%20").hasPrefix(
        "https://idp.example/a?p=B2C_1&x=%20&response_type=code&"))
    #expect(try own("https://idp.example/a#top").hasPrefix("https://idp.example/a?response_type=code&"))
  }
}
