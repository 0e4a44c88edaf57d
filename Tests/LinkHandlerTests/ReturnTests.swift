import AuthCore
import Testing

@testable import LinkHandler

/// Where browsers come back, and who says that they did.
@Suite("Returns", .timeLimit(.minutes(1)))
struct ReturnTests {
  private func pending(_ uris: String...) throws -> PendingReturns {
    let app = try #require(AppID("demo"))
    let waiting = uris.compactMap { PendingReturns.Waiting(app: app, returnURI: $0) }
    try #require(waiting.count == uris.count)
    return PendingReturns(waiting)
  }

  // MARK: PendingReturns

  // Field report B051; behaviour: IPv6 too, a trailing slash is accepted.
  @Test(
    "B051: by loopback: any spelling of this machine, one slash more or less, whatever the query says",
    arguments: [
      "http://127.0.0.1:5000/callback?code=C&state=S", "http://[::1]:5000/callback?code=C",
      "http://127.0.0.1:5000/callback",
      "http://localhost:5000/callback/?x", "HTTP://LOCALHOST:5000/callback#f",
      " <http://127.0.0.1:5000/callback?code=C> ",
    ])
  func loopback(_ url: String) throws {
    #expect(try pending("http://127.0.0.1:5000/callback").contains(url))
    #expect(try pending("com.example.x://oauth/callback", "http://[::1]:5000/callback/").contains(url))
  }

  @Test(
    "B055: strays on the port, other ports, machines, users and schemes are none",
    arguments: [
      "http://127.0.0.1:5000/favicon.ico", "http://127.0.0.1:5000/", "http://127.0.0.1:5000/callback/oidc.x",
      "http://127.0.0.1:5000//callback", "http://127.0.0.1:5000/callback//", "http://127.0.0.1:5000/Callback",
      "http://127.0.0.1:5001/callback", "http://127.0.0.1/callback", "https://127.0.0.1:5000/callback",
      "http://127.0.0.1.evil.example:5000/callback", "http://u@127.0.0.1:5000/callback",
      "http://example.com:5000/callback",
      "com.example.x://oauth/callback", "", "callback", "http:", "http://", "http://[::1:5000/callback",
    ])
  func notLoopback(_ url: String) throws {
    #expect(try !pending("http://127.0.0.1:5000/callback").contains(url))
  }

  @Test("port 80 goes without saying")
  func defaultPort() throws {
    #expect(try pending("http://localhost/callback").contains("http://127.0.0.1:80/callback?code=C"))
    #expect(try pending("http://localhost:80/callback").contains("http://[::1]/callback"))
  }

  // RFC 8252 7.1: one slash, no authority.
  @Test("by scheme: scheme in any case, the rest as it was sent")
  func scheme() throws {
    let own = try pending("com.example.x://oauth/callback/oidc.x", "com.googleusercontent.apps.1:/oauth2redirect")
    for url in [
      "com.example.x://oauth/callback/oidc.x?code=C&state=S", "COM.example.X://oauth/callback/oidc.x/",
      "com.googleusercontent.apps.1:/oauth2redirect?code=C", "com.googleusercontent.apps.1:/oauth2redirect/#x",
    ] {
      #expect(own.contains(url), "\(url)")
    }
    for url in [
      "com.example.x://oauth/callback", "com.example.x://oauth/callback/oidc.y",
      "com.example.y://oauth/callback/oidc.x",
      "com.example.x:/oauth/callback/oidc.x", "com.example.x://oauth:1/callback/oidc.x",
      "com.example.x://u@oauth/callback/oidc.x", "com.googleusercontent.apps.1://oauth2redirect",
      "com.googleusercontent.apps.1:/oauth2redirect/google", "com.googleusercontent.apps.1:oauth2redirect",
    ] {
      #expect(!own.contains(url), "\(url)")
    }
  }

  @Test("where nothing waits, nothing is")
  func nothing() { #expect(!PendingReturns().contains("http://127.0.0.1:5000/callback")) }

  // MARK: The issuer

  private func metadata(_ issuer: String?, promises: Bool = true) -> ProviderMetadata {
    ProviderMetadata(
      issuer: issuer, authorizationEndpoint: "https://a/", tokenEndpoint: "https://t/", promisesIssuer: promises)
  }

  // RFC 9207 2.4.
  @Test("a promised issuer must be there, and one that is there must be this one, byte for byte")
  func issuer() {
    #expect(metadata("https://idp.example").acceptsIssuer("https://idp.example"))
    #expect(!metadata("https://idp.example").acceptsIssuer(nil))
    #expect(metadata("https://idp.example", promises: false).acceptsIssuer(nil))
    for other in [
      "", "https://idp.example/", "https://IDP.example", "https://idp.example.evil", "http://idp.example",
      "https://idp.exampl", "https://evil.example",
    ] {
      #expect(!metadata("https://idp.example").acceptsIssuer(other), "\(other)")
      #expect(!metadata("https://idp.example", promises: false).acceptsIssuer(other), "\(other)")
    }
    // Equal to the eye and to Swift, not byte for byte.
    #expect(!metadata("https://idp.example/\u{e9}").acceptsIssuer("https://idp.example/e\u{301}"))
  }

  @Test("OAuth 2.0 alone knows no issuer, and takes any")
  func noIssuer() {
    #expect(metadata(nil, promises: false).acceptsIssuer(nil))
    #expect(metadata(nil, promises: false).acceptsIssuer("https://github.com/login/oauth"))
  }

  @Test("Microsoft's template stands for one tenant's id, and nothing else")
  func microsoft() {
    let start = "https://login.microsoftonline.com/"
    let template = metadata("\(start){tenantid}/v2.0")
    #expect(template.acceptsIssuer("\(start)9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"))
    #expect(template.acceptsIssuer("\(start)9188040D-6C67-4C5B-B112-36A304B66DAD/v2.0"))
    for other in [
      "\(start)/v2.0", "\(start)a/b/v2.0", "\(start)common/v2.0", "\(start)9188040d/v2.0/", "\(start)9188040d",
      "https://evil.example/9188040d/v2.0", "\(start)a@evil.example/v2.0", "\(start)%61/v2.0", "\(start)v2.0",
      "\(start)\u{ff10}\u{ff21}/v2.0", "\(start)9188040d\n/v2.0",
    ] {
      #expect(!template.acceptsIssuer(other), "\(other)")
    }
    #expect(!metadata("\(start){tenantid}/{tenantid}").acceptsIssuer("\(start)a/a"))
  }
}
