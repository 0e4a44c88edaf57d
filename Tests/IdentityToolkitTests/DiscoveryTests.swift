import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import IdentityToolkit

@Suite("OpenID Connect discovery", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct DiscoveryTests {
  private static let path = FakeProvider.discoveryPath

  @LoopActor
  private func refusal(
    _ provider: FakeProvider, _ client: OpenIDClient? = nil, providerID: String = "oidc.test"
  ) async throws -> AuthFailure {
    let client = client ?? OpenIDClient(http: HTTPClient())
    return try await failure { () throws(AuthFailure) in
      try await client.metadata(of: provider.client, providerID: providerID)
    }
  }

  @Test("the document's endpoints are used") @LoopActor func endpoints() async throws {
    let provider = try FakeProvider()
    let client = OpenIDClient(http: HTTPClient())
    #expect(try await client.metadata(of: provider.client, providerID: "oidc.test") == provider.metadata)
    let request = try #require(provider.server.requests.first)
    #expect(request.method == "GET" && request.target == Self.path && request.body.isEmpty)
    #expect(request.headers["accept"] == "application/json")
    #expect(!client.isBusy)
  }

  @Test(
    "what the document promises and wants is known",
    arguments: [
      ("authorization_response_iss_parameter_supported", true, true, false),
      ("authorization_response_iss_parameter_supported", "true", false, false),
      ("token_endpoint_auth_methods_supported", ["client_secret_basic"], false, true),
      ("token_endpoint_auth_methods_supported", ["client_secret_post"], false, false),
      ("token_endpoint_auth_methods_supported", ["none"], false, false),
      // OpenID Connect Discovery 3: without a list it's client_secret_basic.
      ("token_endpoint_auth_methods_supported", nil, false, true),
    ] as [(String, JSONValue, Bool, Bool)])
  @LoopActor func promises(_ name: String, _ value: JSONValue, _ issuer: Bool, _ basic: Bool) async throws {
    let provider = try FakeProvider()
    provider.change { $0.discovery[name] = value }
    let metadata = try await OpenIDClient(http: HTTPClient()).metadata(of: provider.client, providerID: "oidc.test")
    #expect(metadata.promisesIssuer == issuer)
    #expect(metadata.usesBasicAuthentication == basic)
  }

  @Test("one algorithm that can be checked is enough", arguments: [["RS256"], ["ES256"], ["HS256", "ES256"]])
  @LoopActor func algorithms(_ names: [String]) async throws {
    let provider = try FakeProvider()
    provider.change { $0.discovery["id_token_signing_alg_values_supported"] = .array(names.map { .string($0) }) }
    _ = try await OpenIDClient(http: HTTPClient()).metadata(of: provider.client, providerID: "oidc.test")
  }

  @Test("a slash at the issuer's end belongs to its name, not to the path (Discovery 4.1)") @LoopActor
  func slash() async throws {
    let provider = try FakeProvider()
    var configured = provider.client
    configured.kind = .openID(issuer: provider.issuer + "/")
    let client = OpenIDClient(http: HTTPClient())
    let error = try await failure { () throws(AuthFailure) in
      try await client.metadata(of: configured, providerID: "oidc.test")
    }
    #expect(error == AuthFailure(.issuerMismatch, serverCode: "DISCOVERY"))
    #expect(provider.server.requests.map(\.target) == [Self.path])
    provider.change { $0.discovery["issuer"] = .string(provider.issuer + "/") }
    let other = OpenIDClient(http: HTTPClient())
    #expect(try await other.metadata(of: configured, providerID: "oidc.test").issuer == provider.issuer + "/")
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    let name: String
    var value: JSONValue
    let failure: AuthFailure
    var testDescription: String { "\(name): \(value.text)" }

    init(_ name: String, _ value: JSONValue, _ code: String, _ error: AuthError = .invalidProviderResponse) {
      (self.name, self.value, failure) = (name, value, AuthFailure(error, serverCode: code))
    }
  }

  static let bad = [
    Bad("issuer", "https://evil.example", "DISCOVERY", .issuerMismatch),
    Bad("issuer", nil, "DISCOVERY", .issuerMismatch), Bad("issuer", 1, "DISCOVERY", .issuerMismatch),
    Bad("issuer", "http://127.0.0.1/{tenantid}", "DISCOVERY", .issuerMismatch),
    Bad("token_endpoint", nil, "ENDPOINT"), Bad("token_endpoint", "http://example.com/token", "ENDPOINT"),
    Bad("token_endpoint", "/token", "ENDPOINT"), Bad("token_endpoint", "ftp://127.0.0.1/", "ENDPOINT"),
    Bad("token_endpoint", "file:///etc/passwd", "ENDPOINT"), Bad("token_endpoint", ["https://a.example"], "ENDPOINT"),
    Bad("token_endpoint", "https://user@a.example/", "ENDPOINT"),
    Bad("token_endpoint", "https://a.example/#x", "ENDPOINT"),
    Bad("token_endpoint", "https://a.example/\r\nX: y", "ENDPOINT"), Bad("token_endpoint", "https://", "ENDPOINT"),
    Bad("token_endpoint", "http://127.0.0.1.evil.example/", "ENDPOINT"),
    Bad("token_endpoint", "http://localhost.evil.example/", "ENDPOINT"),
    Bad("token_endpoint", "https://exämple.com/", "ENDPOINT"),
    Bad("authorization_endpoint", nil, "ENDPOINT"),
    Bad("authorization_endpoint", "javascript:alert(1)", "ENDPOINT"), Bad("jwks_uri", nil, "ENDPOINT"),
    Bad("jwks_uri", "http://192.0.2.1/keys", "ENDPOINT"),
    Bad("id_token_signing_alg_values_supported", ["HS256", "none"], "ALG"),
    Bad("response_types_supported", ["id_token"], "RESPONSE_TYPE"),
    Bad("response_types_supported", "code", "RESPONSE_TYPE"),
    Bad("code_challenge_methods_supported", ["plain"], "PKCE"), Bad("code_challenge_methods_supported", [], "PKCE"),
  ]

  @Test("a document that can't be used says why", arguments: bad) @LoopActor
  func unusable(_ bad: Bad) async throws {
    let provider = try FakeProvider()
    provider.change { $0.discovery[bad.name] = bad.value }
    #expect(try await refusal(provider) == bad.failure)
  }

  @Test(
    "lists that aren't there forbid nothing",
    arguments: [
      "response_types_supported", "code_challenge_methods_supported", "id_token_signing_alg_values_supported",
    ])
  @LoopActor func absentLists(_ name: String) async throws {
    let provider = try FakeProvider()
    provider.change { $0.discovery[name] = JSONValue.null }
    #expect(
      try await OpenIDClient(http: HTTPClient()).metadata(of: provider.client, providerID: "x") == provider.metadata)
  }

  @Test(
    "only https, or http on this machine, is asked at all",
    arguments: [
      "http://example.com", "http://192.0.2.1", "ftp://a.example", "accounts.example.com", "", "https://a.example/?x=1",
      "https://a.example/#x", "https://u:p@a.example", "http://localhost.example:80", "HTTPS://a.example", "https:///x",
    ])
  @LoopActor func issuers(_ issuer: String) async throws {
    var configured = ProviderClient()
    configured.kind = .openID(issuer: issuer)
    let client = OpenIDClient(http: HTTPClient())
    let error = try await failure { () throws(AuthFailure) in
      try await client.metadata(of: configured, providerID: "oidc.test")
    }
    #expect(error == AuthFailure(.invalidProviderResponse, serverCode: "ISSUER_URL"))
  }

  @Test(
    "addresses that may be asked",
    arguments: [
      ("https://accounts.google.com", false), ("https://a.example:8443/t?x=1", false), ("https://A.Example/", false),
      ("https://[2001:db8::1]/t", false), ("http://[::1]:8080/t", true), ("http://[::1]", true),
      ("http://localhost/t", true), ("http://127.0.0.2:1", true), ("https://127.0.0.1:1", false),
    ])
  func addresses(_ text: String, _ isLocal: Bool) throws {
    let url = try #require(EndpointURL(text))
    #expect(url.text == text && url.isLocal == isLocal)
    #expect((EndpointURL(text, allowsLocal: false) == nil) == isLocal)
  }

  @Test("an https issuer may not name plain endpoints, not even on this machine") func plainEndpoints() throws {
    let issuer = try #require(Issuer("https://a.example", providerID: "oidc.test"))
    let document = FakeProvider.document("https://a.example", ["jwks_uri": "http://127.0.0.1/keys"])
    #expect(throws: AuthFailure(.invalidProviderResponse, serverCode: "ENDPOINT")) { try issuer.metadata(document) }
  }

  // MARK: Microsoft

  static let microsoft = "https://login.microsoftonline.com"

  @Test(
    "Microsoft's issuers for many tenants are a template",
    arguments: [
      ("common", "{tenantid}", "common", true), ("organizations", "{tenantid}", "organizations", true),
      ("consumers", "{tenantid}", "consumers", true), ("{tenantid}", "{tenantid}", "common", true),
      ("consumers", "9188040d-6c67-4c5b-b112-36a304b66dad", "consumers", true),
      ("common", "9188040d-6c67-4c5b-b112-36a304b66dad", "common", false), ("common", "common", "common", false),
      ("contoso", "{tenantid}", "contoso", false), ("contoso", "contoso", "contoso", true),
    ])
  func template(_ configured: String, _ says: String, _ asked: String, _ fits: Bool) throws {
    let issuer = try #require(Issuer("\(Self.microsoft)/\(configured)/v2.0", providerID: "oidc.work"))
    #expect(issuer.discoveryURL.text == "\(Self.microsoft)/\(asked)/v2.0/.well-known/openid-configuration")
    let document = FakeProvider.document("https://a.example", ["issuer": .string("\(Self.microsoft)/\(says)/v2.0")])
    #expect((try? issuer.metadata(document))?.issuer == (fits ? "\(Self.microsoft)/\(says)/v2.0" : nil))
  }

  @Test(
    "nobody else's issuer is a template", arguments: ["https://evil.example", "https://login.microsoftonline.com.evil"])
  func foreignTemplate(_ host: String) throws {
    let issuer = try #require(Issuer("\(host)/common/v2.0", providerID: "oidc.work"))
    let document = FakeProvider.document("https://a.example", ["issuer": .string("\(host)/{tenantid}/v2.0")])
    #expect(throws: AuthFailure(.issuerMismatch, serverCode: "DISCOVERY")) { try issuer.metadata(document) }
    // National clouds have hosts of their own.
    #expect(throws: Never.self) {
      try #require(Issuer("\(host)/common/v2.0", providerID: "microsoft.com")).metadata(document)
    }
  }

  // MARK: OAuth 2.0

  @Test("OAuth 2.0 has the endpoints that are configured, and asks nobody") @LoopActor func oauth2() async throws {
    var configured = ProviderClient()
    configured.kind = .oauth2(
      authorizationEndpoint: "https://github.com/login/oauth/authorize",
      tokenEndpoint: "https://github.com/login/oauth/access_token")
    let client = OpenIDClient(http: HTTPClient())
    #expect(
      try await client.metadata(of: configured, providerID: "github.com")
        == ProviderMetadata(
          authorizationEndpoint: "https://github.com/login/oauth/authorize",
          tokenEndpoint: "https://github.com/login/oauth/access_token"))
    configured.kind = .oauth2(authorizationEndpoint: "https://a.example", tokenEndpoint: "http://a.example")
    let plain = try await failure { () throws(AuthFailure) in
      try await client.metadata(of: configured, providerID: "github.com")
    }
    #expect(plain == AuthFailure(.invalidProviderResponse, serverCode: "ENDPOINT"))
    let handler = try await failure { () throws(AuthFailure) in
      try await client.metadata(of: ProviderClient(), providerID: "github.com")
    }
    #expect(handler.error == .noSuchProvider)
  }
}
