import AuthCore
import LinkHandler
import Testing

/// `redirect_uri`, and where the browser is expected (cli-and-config: Provider keys).
@Suite("Return URIs", .timeLimit(.minutes(1)))
struct ReturnURITests {
  private func provider(_ id: String = "oidc.x", _ change: (inout ProviderClient) -> Void = { _ in }) -> Provider {
    var provider = Provider(id: id, kind: id.hasPrefix("oidc.") ? .oidc : .oauth, displayName: id)
    provider.client.kind = .openID(issuer: "https://idp.example")
    provider.client.clientID = "c"
    change(&provider.client)
    return provider
  }

  private func app(_ schemes: String...) throws -> App {
    var app = App(id: try #require(AppID("demo")), projectID: "p", apiKey: "k")
    app.schemes = schemes
    return app
  }

  private func expect(
    _ uris: ReturnURIs?, _ uri: String, _ returns: [String]? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(uris?.uri == uri, sourceLocation: sourceLocation)
    #expect(uris?.returns == returns ?? [uri], sourceLocation: sourceLocation)
  }

  // RFC 8252 7.3; RFC 9700 4.4.2.2: who doesn't say who it is, has a return path of its own.
  @Test("by loopback: /callback, with the provider's id where it promises no issuer")
  func loopback() {
    expect(ReturnURIs(loopback: provider(), port: 5000, promisesIssuer: true), "http://127.0.0.1:5000/callback")
    expect(ReturnURIs(loopback: provider(), port: 5000, promisesIssuer: false), "http://127.0.0.1:5000/callback/oidc.x")
    let v6 = provider { $0.loopbackHost = "[::1]" }
    expect(ReturnURIs(loopback: v6, port: 5000, promisesIssuer: true), "http://[::1]:5000/callback")
  }

  @Test("a configured URI is sent as it is, with the port filled in; listed ones are expected in its place")
  func loopbackConfigured() {
    let own = provider { $0.redirectURI = "http://localhost:{port}/cb" }
    expect(ReturnURIs(loopback: own, port: 5000, promisesIssuer: false), "http://localhost:5000/cb")
    let listed = provider {
      $0.redirectURI = "http://localhost:{port}/cb"
      $0.returnURIs = ["http://127.0.0.1:{port}/cb", "com.example.x:/cb"]
    }
    expect(
      ReturnURIs(loopback: listed, port: 5000, promisesIssuer: true), "http://localhost:5000/cb",
      ["http://127.0.0.1:5000/cb"])
    // A URI of another way isn't this one's.
    let scheme = provider { $0.redirectURI = "com.example.x:/cb" }
    expect(ReturnURIs(loopback: scheme, port: 5000, promisesIssuer: true), "http://127.0.0.1:5000/callback")
  }

  @Test("what may have to be registered: every way that is open, both endings where only the provider knows")
  func possible() throws {
    let app = try app("com.example.x")
    #expect(
      ReturnURIs.possible(provider(), app) == [
        "http://127.0.0.1:*/callback", "http://127.0.0.1:*/callback/oidc.x", "com.example.x://oauth/callback",
        "com.example.x://oauth/callback/oidc.x",
      ])
    let loopback = provider {
      ($0.redirect, $0.loopbackPort) = (.loopback, 7000)
      $0.kind = .oauth2(authorizationEndpoint: "https://idp.example/a", tokenEndpoint: "https://idp.example/t")
    }
    #expect(ReturnURIs.possible(loopback, app) == ["http://127.0.0.1:7000/callback/oidc.x"])
    #expect(ReturnURIs.possible(provider { $0.redirectURI = "com.example.x:/cb" }, app) == ["com.example.x:/cb"])
    #expect(ReturnURIs.possible(provider { $0.redirectURI = "http://[::1]:{port}/cb" }, app) == ["http://[::1]:*/cb"])
    var page = app
    page.appID = "1:2:web:3"
    #expect(ReturnURIs.possible(provider { $0.kind = .handler }, page) == ["app-1-2-web-3://firebaseauth/link"])
  }

  @Test("the port: of the URI, else the configured one, else the system's choice")
  func port() {
    #expect(ReturnURIs.loopbackPort(provider().client) == 0)
    #expect(ReturnURIs.loopbackPort(provider { $0.loopbackPort = 7000 }.client) == 7000)
    let named = provider {
      $0.redirectURI = "http://127.0.0.1:8000/cb"
      $0.loopbackPort = 7000
    }
    #expect(ReturnURIs.loopbackPort(named.client) == 8000)
    #expect(ReturnURIs.loopbackPort(provider { $0.redirectURI = "http://localhost/cb" }.client) == 80)
    let open = provider {
      $0.redirectURI = "http://127.0.0.1:{port}/cb"
      $0.loopbackPort = 7000
    }
    #expect(ReturnURIs.loopbackPort(open.client) == 7000)
    #expect(ReturnURIs.loopbackPort(provider { $0.redirectURI = "https://app.example.com/cb" }.client) == 0)
  }

  @Test("by scheme: the first one without digits, which every desktop takes, else the first")
  func scheme() throws {
    expect(
      ReturnURIs(scheme: provider(), try app("fb123", "com.example.x"), promisesIssuer: true),
      "com.example.x://oauth/callback")
    expect(
      ReturnURIs(scheme: provider(), try app("app-1-2"), promisesIssuer: false), "app-1-2://oauth/callback/oidc.x")
    #expect(ReturnURIs(scheme: provider(), try app(), promisesIssuer: true) == nil)
  }

  @Test("B052: what is sent and what is expected may differ: a proxy page between")
  func proxy() throws {
    let page = "https://app.example.com/cb"
    let plain = provider { $0.redirectURI = page }
    expect(
      ReturnURIs(scheme: plain, try app("com.example.x"), promisesIssuer: true), page,
      ["com.example.x://oauth/callback"])
    let listed = provider {
      $0.redirectURI = page
      $0.returnURIs = ["com.example.x://oauth/other", "http://127.0.0.1:1/x"]
    }
    expect(ReturnURIs(scheme: listed, try app(), promisesIssuer: true), page, ["com.example.x://oauth/other"])
    // Google's, too.
    let google = provider("google.com") {
      $0.clientID = "1-a.apps.googleusercontent.com"
      $0.redirectURI = page
    }
    expect(
      ReturnURIs(scheme: google, try app("com.example.x"), promisesIssuer: true), page,
      ["com.example.x://oauth/callback"])
  }

  @Test("a configured URI in a scheme is sent and expected")
  func schemeConfigured() throws {
    let own = provider { $0.redirectURI = "com.example.x:/cb" }
    expect(ReturnURIs(scheme: own, try app(), promisesIssuer: false), "com.example.x:/cb")
  }

  @Test("Google's native clients come back by their own scheme, Facebook's by theirs")
  func native() throws {
    let google = provider("google.com") { $0.clientID = "1-A.apps.googleusercontent.com" }
    let uri = "com.googleusercontent.apps.1-a:/oauth2redirect"
    expect(ReturnURIs(scheme: google, try app(), promisesIssuer: true), uri, [uri, "\(uri)/google"])
    let facebook = try app("com.example.x", "fb123", "fbx.y")
    expect(
      ReturnURIs(scheme: provider("facebook.com"), facebook, promisesIssuer: false),
      "com.example.x://oauth/callback/facebook.com",
      ["com.example.x://oauth/callback/facebook.com", "fb123://authorize"])
    expect(
      ReturnURIs(scheme: provider(), facebook, promisesIssuer: true), "com.example.x://oauth/callback")
  }
}
