import AuthCore
import Testing

@testable import AppConfiguration

/// How providers are spoken to (cli-and-config: Provider keys; firebaseui-behaviour 7).
@Suite("Provider clients", .timeLimit(.minutes(1))) struct ProviderClientTests {
  private func provider(_ id: String, _ members: String = "") throws -> Provider {
    let text = "{\"id\": \"\(id)\"\(members.isEmpty ? "" : ", \(members)")}"
    return try ProviderKeys.read(JSONText.decode(text.utf8), path: "providers[0]").0
  }

  private func fault(_ id: String, _ members: String) -> String? {
    let error = #expect(throws: ConfigurationError.self) { _ = try provider(id, members) }
    guard case .key(let key, let expected)? = error, !expected.isEmpty else { return nil }
    #expect(error?.description.contains("SECRET") == false)
    return key
  }

  // MARK: Kinds

  @Test(
    "without a client id, Firebase's page speaks to every provider",
    arguments: [
      "google.com", "apple.com", "facebook.com", "twitter.com", "github.com", "microsoft.com", "yahoo.com", "oidc.x",
      "saml.x", "linkedin.com",
    ])
  func handlerByDefault(_ id: String) throws {
    let client = try provider(id).client
    #expect(client.kind == .handler && client.clientID == "" && client.clientSecret == nil)
    #expect(client.redirect == .auto && client.redirectURI == nil && client.returnURIs == [])
    #expect(client.loopbackHost == "127.0.0.1" && client.loopbackPort == 0)
  }

  @Test("with a client id, whoever is known to serve native apps is asked directly")
  func ownByDefault() throws {
    let member = #""client-id": "c""#
    for (id, issuer) in [
      ("google.com", "https://accounts.google.com"), ("microsoft.com", "https://login.microsoftonline.com/common/v2.0"),
      ("yahoo.com", "https://api.login.yahoo.com"),
    ] {
      let client = try provider(id, member).client
      #expect(client.kind == .openID(issuer: issuer) && client.clientID == "c")
    }
    #expect(
      try provider("github.com", member).client.kind
        == .oauth2(
          authorizationEndpoint: "https://github.com/login/oauth/authorize",
          tokenEndpoint: "https://github.com/login/oauth/access_token"))
    #expect(
      try provider("oidc.x", #"\#(member), "issuer": "https://idp.example""#).client.kind
        == .openID(issuer: "https://idp.example"))
  }

  @Test(
    "those that Firebase's page alone can speak to keep it, whatever client id there is",
    arguments: ["apple.com", "facebook.com", "twitter.com", "saml.x", "oidc.x"])
  func handlerAlways(_ id: String) throws {
    let client = try provider(id, #""client-id": "c""#).client
    #expect(client.kind == .handler && client.clientID == "")
  }

  @Test("'kind' decides, and a configured issuer or endpoint counts before the known one")
  func byWord() throws {
    #expect(try provider("google.com", #""kind": "handler", "client-id": "c""#).client.kind == .handler)
    #expect(
      try provider("google.com", #""kind": "oidc", "client-id": "c""#).client.kind
        == .openID(issuer: "https://accounts.google.com"))
    #expect(
      try provider("microsoft.com", #""client-id": "c", "issuer": "https://login.microsoftonline.com/t/v2.0""#).client
        .kind == .openID(issuer: "https://login.microsoftonline.com/t/v2.0"))
    let endpoints = #""authorization-endpoint": "https://a.example/a", "token-endpoint": "https://a.example/t""#
    let named = ProviderClient.Kind.oauth2(
      authorizationEndpoint: "https://a.example/a", tokenEndpoint: "https://a.example/t")
    for id in ["github.com", "facebook.com", "oidc.x", "google.com"] {
      #expect(try provider(id, #""kind": "oauth2", "client-id": "c", \#(endpoints)"#).client.kind == named)
    }
    #expect(
      try provider("facebook.com", #""kind": "oidc", "client-id": "c", "issuer": "https://www.facebook.com""#).client
        .kind
        == .openID(issuer: "https://www.facebook.com"))
  }

  // MARK: Scopes and parameters

  @Test("scopes: FirebaseUI's by Firebase's page, OpenID Connect's own for an own client")
  func scopes() throws {
    #expect(
      try provider("google.com").scopes == [
        "https://www.googleapis.com/auth/userinfo.email", "https://www.googleapis.com/auth/userinfo.profile",
      ])
    #expect(try provider("facebook.com").scopes == ["email", "public_profile"])
    #expect(try provider("apple.com").scopes == ["name", "email"])
    #expect(try provider("github.com").scopes == ["user"])
    #expect(try provider("oidc.x").scopes == [])
    let own = #""client-id": "c", "issuer": "https://idp.example""#
    #expect(try provider("oidc.x", own).scopes == ["openid", "email", "profile"])
    // OpenID Connect Core 3.1.2.1: `openid` must be there.
    #expect(try provider("oidc.x", #"\#(own), "scopes": ["email"]"#).scopes == ["openid", "email"])
    #expect(try provider("oidc.x", #"\#(own), "scopes": ["email", "openid"]"#).scopes == ["email", "openid"])
    #expect(try provider("oidc.x", #"\#(own), "scopes": []"#).scopes == ["openid"])
    #expect(try provider("github.com", #""client-id": "c", "scopes": ["read:user"]"#).scopes == ["read:user"])
    #expect(try provider("google.com", #""scopes": []"#).scopes == [])
  }

  @Test("custom parameters: FirebaseUI's presets, or the app's own and no others")
  func parameters() throws {
    for id in ["microsoft.com", "yahoo.com"] { #expect(try provider(id).customParameters == ["prompt": "consent"]) }
    #expect(try provider("google.com").customParameters == [:])
    #expect(try provider("microsoft.com", #""custom-parameters": {}"#).customParameters == [:])
    #expect(
      try provider("microsoft.com", #""custom-parameters": {"domain_hint": "x", "empty": ""}"#).customParameters
        == ["domain_hint": "x", "empty": ""])
  }

  // MARK: The way back

  @Test("the way back is as the file says")
  func redirect() throws {
    for word in [ProviderClient.Redirect.scheme, .loopback, .auto] {
      #expect(try provider("oidc.x", #""redirect": "\#(word.rawValue)""#).client.redirect == word)
    }
    let members =
      #""redirect-uri": "http://127.0.0.1:{port}/cb", "return-uri": "com.example.x:/cb", "loopback-port": 65535"#
    let client = try provider("oidc.x", members).client
    #expect(client.redirectURI == "http://127.0.0.1:{port}/cb" && client.returnURIs == ["com.example.x:/cb"])
    #expect(client.loopbackPort == 65535)
    // Field report B052: more than one, and other than what is sent.
    let list = #""return-uri": ["com.example.x:/a", "http://localhost:{port}/b"]"#
    #expect(try provider("oidc.x", list).client.returnURIs == ["com.example.x:/a", "http://localhost:{port}/b"])
    for (host, sent) in [
      ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("[::1]", "[::1]"), ("localhost", "localhost"),
    ] {
      #expect(try provider("oidc.x", #""loopback-host": "\#(host)""#).client.loopbackHost == sent)
    }
  }

  @Test("the scheme of Google's native clients is theirs alone")
  func reversed() throws {
    let id = "1-A.apps.googleusercontent.com"
    #expect(
      try provider("google.com", #""client-id": "\#(id)""#).reversedClientID == "com.googleusercontent.apps.1-a")
    #expect(try provider("google.com", #""client-id": "c""#).reversedClientID == nil)
    #expect(try provider("google.com").reversedClientID == nil)
  }

  @Test("a client secret is printed nowhere")
  func secret() throws {
    let provider = try provider("google.com", #""client-id": "c", "client-secret": "SECRET""#)
    #expect(provider.client.clientSecret?.reveal() == "SECRET")
    var text = ""
    dump(provider, to: &text)
    #expect(!"\(provider)\(text)".contains("SECRET"))
  }

  // MARK: What is refused

  @Test(
    "the wrong key is named, never its value",
    arguments: [
      ("oidc.x", #""kind": "openid""#, "kind"), ("oidc.x", #""kind": 1"#, "kind"),
      ("oidc.x", #""kind": "oidc", "issuer": "https://idp.example""#, "client-id"),
      ("github.com", #""kind": "oauth2""#, "client-id"),
      ("oidc.x", #""kind": "oidc", "client-id": "c""#, "issuer"),
      ("github.com", #""kind": "oidc", "client-id": "c""#, "issuer"),
      ("apple.com", #""kind": "oauth2", "client-id": "c""#, "authorization-endpoint"),
      ("google.com", #""kind": "oauth2", "client-id": "c""#, "authorization-endpoint"),
      (
        "oidc.x", #""kind": "oauth2", "client-id": "c", "authorization-endpoint": "https://a.example/""#,
        "token-endpoint"
      ),
      ("oidc.x", #""issuer": "http://idp.example""#, "issuer"), ("oidc.x", #""issuer": """#, "issuer"),
      ("oidc.x", #""issuer": "https://u:SECRET@idp.example""#, "issuer"),
      ("oidc.x", #""authorization-endpoint": "http://a.example/""#, "authorization-endpoint"),
      ("oidc.x", #""token-endpoint": "ftp://a.example/""#, "token-endpoint"),
      ("oidc.x", #""client-id": """#, "client-id"), ("oidc.x", #""client-id": "a SECRET""#, "client-id"),
      ("oidc.x", #""client-secret": """#, "client-secret"),
      ("oidc.x", #""client-secret": "SECRET\n""#, "client-secret"),
      ("oidc.x", #""client-secret": ["SECRET"]"#, "client-secret"),
      ("oidc.x", #""scopes": "openid email""#, "scopes"), ("oidc.x", #""scopes": ["openid", "a b"]"#, "scopes[1]"),
      ("oidc.x", #""scopes": [""]"#, "scopes[0]"), ("oidc.x", #""custom-parameters": []"#, "custom-parameters"),
      ("oidc.x", #""custom-parameters": {"a": null, "b": {}}"#, "custom-parameters.b"),
      ("oidc.x", #""redirect": "browser""#, "redirect"), ("oidc.x", #""redirect-uri": "/callback""#, "redirect-uri"),
      ("oidc.x", #""redirect-uri": "com.example.x""#, "redirect-uri"),
      ("oidc.x", #""redirect-uri": "a:""#, "redirect-uri"),
      ("oidc.x", #""redirect-uri": "com.example.x:/a b""#, "redirect-uri"),
      ("oidc.x", #""return-uri": "x""#, "return-uri"), ("oidc.x", #""return-uri": 5"#, "return-uri"),
      ("oidc.x", #""return-uri": ["com.x:/a", ":/b"]"#, "return-uri[1]"),
      ("oidc.x", #""loopback-host": "127.0.0.2""#, "loopback-host"),
      ("oidc.x", #""loopback-port": -1"#, "loopback-port"), ("oidc.x", #""loopback-port": 65536"#, "loopback-port"),
      ("oidc.x", #""loopback-port": "80""#, "loopback-port"), ("oidc.x", #""loopback-port": 80.5"#, "loopback-port"),
    ])
  func refused(_ id: String, _ members: String, _ key: String) {
    #expect(fault(id, members) == "providers[0].\(key)", "\(members)")
  }

  @Test("what is null is absent")
  func null() throws {
    let keys = ProviderKeys.order.filter { $0 != "id" }.map { "\"\($0)\": null" }.joined(separator: ", ")
    #expect(try provider("oidc.x", keys) == provider("oidc.x"))
  }

  // MARK: Providers

  private func app(_ providers: Provider...) throws -> App {
    var app = App(id: try #require(AppID("demo")), projectID: "p", apiKey: "k")
    app.providers = providers
    return app
  }

  @Test("a provider that the file has counts as it stands there")
  func listed() throws {
    let own = try provider("google.com", #""client-id": "c", "display-name": "Ours""#)
    #expect(try Providers.find("google.com", in: app(own)) == own)
    let other = try provider("linkedin.com")
    #expect(try Providers.find("linkedin.com", in: app(other)) == other)
  }

  @Test("one that it hasn't goes by Firebase's page, where Firebase can have it")
  func unlisted() throws {
    let app = try app()
    for (id, kind, name) in [
      ("google.com", Provider.Kind.oauth, "Google"), ("twitter.com", .oauth, "X"), ("oidc.x", .oidc, "oidc.x"),
      ("saml.x", .saml, "saml.x"),
    ] {
      let found = try #require(Providers.find(id, in: app))
      #expect(found.id == id && found.kind == kind && found.displayName == name && found.client.kind == .handler)
    }
    #expect(Providers.find("google.com", in: app)?.scopes.count == 2)
    #expect(Providers.find("microsoft.com", in: app)?.customParameters == ["prompt": "consent"])
  }

  @Test(
    "what isn't a provider is none",
    arguments: [
      "", "google", "linkedin.com", "emailLink", "password", "phone", "anonymous", "custom", "oidc.", "saml.", ".x",
      "oidc.a b", "oidc.a/b", "oidc.é", "Google.com", "gooɡle.com", "oidc." + String(repeating: "x", count: 200),
    ])
  func none(_ id: String) throws {
    #expect(try Providers.find(id, in: app()) == nil)
    // Nor is a button that no provider stands behind.
    guard let button = try? provider(id), ![.oauth, .oidc, .saml].contains(button.kind) else { return }
    #expect(try Providers.find(id, in: app(button)) == nil)
  }
}
