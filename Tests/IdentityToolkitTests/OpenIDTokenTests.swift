import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import IdentityToolkit

@Suite("ID tokens of providers", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct OpenIDTokenTests {
  private static let now = FakeProvider.now

  private func key(_ kind: SigningKey.Kind = .p256) throws -> SigningKey { try FakeProvider.key(kind) }

  @Test("a good one is believed", arguments: SigningKey.Kind.allCases) @LoopActor
  func good(_ kind: SigningKey.Kind) async throws {
    let provider = try FakeProvider(keys: [try key(.rsa), try key()])
    let claims = try await provider.verify(try key(kind).token(provider.claims()))
    #expect(claims.issuer == provider.issuer)
    #expect(claims.subject == "alice")
    #expect(claims.email == "alice@example.com" && !claims.emailVerified)
    #expect(claims.claims["aud"] == "client-1")
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let changes: [String: JSONValue]
    /// Nil for a token that is believed.
    var failure: AuthFailure?
    var testDescription: String { JSONValue.object(changes).text }

    init(_ changes: [String: JSONValue], _ code: String? = nil, _ error: AuthError = .invalidProviderResponse) {
      self.changes = changes
      failure = code.map { AuthFailure(error, serverCode: $0) }
    }
  }

  static let cases = [
    Case(["iss": "https://evil.example"], "ID_TOKEN", .issuerMismatch), Case(["iss": nil], "ID_TOKEN", .issuerMismatch),
    Case(["iss": 1], "ID_TOKEN", .issuerMismatch),
    Case(["aud": "client-2"], "AUDIENCE"), Case(["aud": nil], "AUDIENCE"), Case(["aud": []], "AUDIENCE"),
    Case(["aud": ["client-2", "client-3"], "azp": "client-1"], "AUDIENCE"), Case(["aud": "client-1 "], "AUDIENCE"),
    Case(["aud": ["client-1"]]), Case(["aud": ["client-1"], "azp": "client-1"]),
    Case(["aud": ["client-2", "client-1"], "azp": "client-1"]), Case(["azp": "client-1"]),
    Case(["aud": ["client-2", "client-1"]], "AUTHORIZED_PARTY"),
    Case(["aud": ["client-2", "client-1"], "azp": "client-2"], "AUTHORIZED_PARTY"),
    Case(["aud": ["client-1", 7]], "AUTHORIZED_PARTY"),
    Case(["azp": "client-2"], "AUTHORIZED_PARTY"), Case(["azp": 1], "AUTHORIZED_PARTY"),
    Case(["exp": .integer(now - 59)]), Case(["exp": .integer(now - 60)], "EXPIRED"), Case(["exp": nil], "EXPIRED"),
    Case(["exp": "1900000000"], "EXPIRED"), Case(["exp": .number(1_800_000_100.5)]),
    Case(["exp": .integer(.min)], "EXPIRED"),
    Case(["exp": .integer(.max)]), Case(["exp": .number(1e300)], "EXPIRED"),
    Case(["iat": .integer(now + 600)]), Case(["iat": .integer(now + 601)], "ISSUED_AT"),
    Case(["iat": nil], "ISSUED_AT"),
    Case(["iat": "0"], "ISSUED_AT"),
    Case(["nbf": .integer(now + 60)]), Case(["nbf": .integer(now + 61)], "NOT_BEFORE"),
    Case(["nbf": "x"], "NOT_BEFORE"),
    Case(["nonce": nil], "ID_TOKEN", .nonceMismatch), Case(["nonce": "raw"], "ID_TOKEN", .nonceMismatch),
    Case(["nonce": ""], "ID_TOKEN", .nonceMismatch), Case(["nonce": 1], "ID_TOKEN", .nonceMismatch),
    Case(["sub": nil], "SUBJECT"), Case(["sub": ""], "SUBJECT"), Case(["sub": 1], "SUBJECT"),
    Case(["sub": .string(String(repeating: "s", count: 255))]),
    Case(["sub": .string(String(repeating: "s", count: 256))], "SUBJECT"),
  ]

  @Test("each claim is checked, and its refusal named", arguments: cases) @LoopActor func claim(_ item: Case)
    async throws
  {
    let provider = try FakeProvider(keys: [try key()])
    let token = try key().token(provider.claims(item.changes))
    guard let expected = item.failure else {
      _ = try await provider.verify(token)
      return
    }
    #expect(try await failure { () throws(AuthFailure) in try await provider.verify(token) } == expected)
  }

  @Test("the nonce is the hash in lower case alone") @LoopActor func upperCaseNonce() async throws {
    let provider = try FakeProvider(keys: [try key()])
    let token = try key().token(provider.claims(["nonce": .string(FakeProvider.nonce.uppercased())]))
    let error = try await failure { () throws(AuthFailure) in try await provider.verify(token) }
    #expect(error.error == .nonceMismatch)
  }

  @Test("claims that come twice are refused") @LoopActor func repeatedClaims() async throws {
    let provider = try FakeProvider(keys: [try key()])
    let token = try key().token(String(provider.claims().dropLast()) + #","sub":"bob"}"#)
    let error = try await failure { () throws(AuthFailure) in try await provider.verify(token) }
    #expect(error == AuthFailure(.invalidProviderResponse, serverCode: "MALFORMED"))
  }

  @Test(
    "Apple's text for a verified address counts",
    arguments: [(true, true), ("true", true), ("false", false), (1, false)] as [(JSONValue, Bool)])
  @LoopActor func verifiedEmail(_ value: JSONValue, _ verified: Bool) async throws {
    let provider = try FakeProvider(keys: [try key()])
    let token = try key().token(provider.claims(["email_verified": value]))
    #expect(try await provider.verify(token).emailVerified == verified)
  }

  @Test(
    "what isn't signed by the provider is refused",
    arguments: [
      ("none", "ALG"), ("HS256", "ALG"), ("PS256", "ALG"), ("RS256", "UNKNOWN_KEY"), ("ES256", "SIGNATURE"),
    ]) @LoopActor func unsigned(_ algorithm: String, _ code: String) async throws
  {
    let provider = try FakeProvider(keys: [try key()])
    let stranger = try SigningKey(.p256, id: "ec-1")
    let token = try stranger.token(provider.claims(), header: #"{"alg":"\#(algorithm)","kid":"ec-1"}"#)
    let error = try await failure { () throws(AuthFailure) in try await provider.verify(token) }
    #expect(error == AuthFailure(.invalidProviderResponse, serverCode: code))
    // What no key could have signed costs no request.
    #expect(provider.count("/keys") == (code == "ALG" ? 0 : 1))
  }

  @Test(
    "odd tokens",
    arguments: [
      ("", "MALFORMED"), ("a.b", "MALFORMED"), ("x.y.z", "MALFORMED"),
      (String(repeating: "a", count: 65537), "TOO_LONG"),
    ]) @LoopActor func odd(_ token: String, _ code: String) async throws
  {
    let provider = try FakeProvider(keys: [try key()])
    let error = try await failure { () throws(AuthFailure) in try await provider.verify(token) }
    #expect(error == AuthFailure(.invalidProviderResponse, serverCode: code))
    #expect(provider.server.requests.isEmpty)
  }

  @Test("OAuth 2.0 has no ID token to believe") @LoopActor func noIssuer() async throws {
    let provider = try FakeProvider(keys: [try key()])
    let token = try key().token(provider.claims())
    for change: @LoopActor (inout ProviderMetadata) -> Void in [
      { $0.issuer = nil }, { $0.jwksURI = nil }, { $0.jwksURI = "http://192.0.2.1/" },
      { $0.issuer = "https://a.example" },
    ] {
      let error = try await failure { () throws(AuthFailure) in try await provider.verify(token, change: change) }
      #expect(error == AuthFailure(.invalidProviderResponse, serverCode: "NO_ISSUER"))
    }
    #expect(provider.server.requests.isEmpty)
  }
}
