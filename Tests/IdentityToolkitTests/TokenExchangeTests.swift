import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import IdentityToolkit

@Suite("Exchange of a code", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct TokenExchangeTests {
  private static let whole =
    #"{"access_token":"AT","token_type":"Bearer","expires_in":3599,"refresh_token":"RT","scope":"openid email","id_token":"IT"}"#
  private static let form = "application/x-www-form-urlencoded"

  @LoopActor
  private func exchange(
    _ provider: FakeProvider, secret: String? = nil, http: HTTPClient? = nil,
    _ change: (inout PendingAuthorization.Client) -> Void = { _ in }
  ) async throws(AuthFailure) -> ProviderTokens {
    var authorization = provider.authorization()
    change(&authorization)
    return try await OpenIDClient(http: http ?? HTTPClient()).exchange(
      code: Secret("4/0A+b&c=d é"), authorization: authorization, secret: secret.map { Secret($0) },
      providerID: "oidc.test")
  }

  private func provider(_ reply: Reply) throws -> FakeProvider {
    let provider = try FakeProvider()
    provider.change { $0.replies["/token"] = reply }
    return provider
  }

  @Test("everything that was granted is understood") @LoopActor func tokens() async throws {
    let provider = try provider(.json(200, Self.whole))
    let tokens = try await exchange(provider)
    #expect(
      tokens
        == ProviderTokens(
          idToken: Secret("IT"), accessToken: Secret("AT"), refreshToken: Secret("RT"), expiresIn: 3599,
          scope: "openid email"))
    #expect(!"\(tokens)".contains("AT"))
  }

  @Test("the form has each value encoded, the secret where there is one, and nothing is in the URL") @LoopActor
  func request() async throws {
    let provider = try provider(.json(200, Self.whole))
    _ = try await exchange(provider)
    _ = try await exchange(provider, secret: "s/e+c r&t")
    _ = try await exchange(provider, secret: "")
    let requests = provider.server.requests
    #expect(requests.allSatisfy { $0.method == "POST" && $0.target == "/token" })
    for request in requests {
      #expect(request.headers["content-type"] == Self.form)
      #expect(request.headers["accept"] == "application/json")
      #expect(request.headers["authorization"] == nil)
      #expect(request.headers["expect"] == nil)
    }
    let fields =
      "grant_type=authorization_code&code=4%2F0A%2Bb%26c%3Dd%20%C3%A9"
      + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback&code_verifier=verifier&client_id=client-1"
    #expect(
      requests.map { String(decoding: $0.body, as: UTF8.self) }
        == [fields, fields + "&client_secret=s%2Fe%2Bc%20r%26t", fields])
  }

  /// RFC 6749 2.3.1: both halves are encoded as in a form; no second way to authenticate beside it.
  @Test("a provider that knows Basic alone gets it") @LoopActor func basic() async throws {
    let provider = try provider(.json(200, Self.whole))
    _ = try await exchange(provider, secret: "a:b c/é") {
      $0.metadata.usesBasicAuthentication = true
      $0.clientID = "client:1"
    }
    _ = try await exchange(provider) { $0.metadata.usesBasicAuthentication = true }
    let (first, second) = (provider.server.requests[0], provider.server.requests[1])
    let expected = Data("client%3A1:a%3Ab%20c%2F%C3%A9".utf8).base64EncodedString()
    #expect(first.headers["authorization"] == "Basic \(expected)")
    #expect(!String(decoding: first.body, as: UTF8.self).contains("client"))
    #expect(second.headers["authorization"] == nil)
    #expect(String(decoding: second.body, as: UTF8.self).contains("client_id=client-1"))
  }

  @Test(
    "Basic credentials in the alphabet and with the padding of RFC 4648 4",
    arguments: ["a", "ab", "abc", "~~~", "???>"])
  @LoopActor func basicAlphabet(_ secret: String) async throws {
    let provider = try provider(.json(200, Self.whole))
    _ = try await exchange(provider, secret: secret) { $0.metadata.usesBasicAuthentication = true }
    let header = try #require(provider.server.requests[0].headers["authorization"])
    let decoded = try #require(Data(base64Encoded: String(header.dropFirst(6))))
    #expect(String(decoding: decoded, as: UTF8.self).removingPercentEncoding == "client-1:" + secret)
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let reply: Reply
    let code: String
    var error = AuthError.invalidProviderResponse
    var testDescription: String { "\(reply)" }

    init(_ reply: Reply, _ code: String, _ error: AuthError = .invalidProviderResponse) {
      (self.reply, self.code, self.error) = (reply, code, error)
    }
  }

  static let refusals =
    [
      "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
      "invalid_scope",
    ].map { Refusal(.json(400, #"{"error":"\#($0)","error_description":"<b>secret</b>"}"#), $0) } + [
      Refusal(.json(401, #"{"error":"invalid_client"}"#), "invalid_client"),
      // GitHub's and Slack's manner.
      Refusal(.json(200, #"{"error":"bad_verification_code","access_token":"AT"}"#), "invalid_grant"),
      Refusal(.json(200, #"{"error":"incorrect_client_credentials"}"#), "invalid_client"),
      Refusal(.json(200, #"{"error":"invalid_grant"}"#), "invalid_grant"),
      Refusal(.json(400, #"{"error":"4/0A+b"}"#), "UNKNOWN"), Refusal(.json(400, #"{"error":{"code":1}}"#), "UNKNOWN"),
      Refusal(.json(400, #"{"error":null}"#), "UNKNOWN"), Refusal(.json(403, #"{"error":"denied"}"#), "UNKNOWN"),
      Refusal(.json(400, #"{"error":"temporarily_unavailable"}"#), "temporarily_unavailable", .serviceUnavailable),
      Refusal(.json(400, "{}"), "HTTP_400", .serviceUnavailable),
      Refusal(.json(400, "<html>"), "HTTP_400", .serviceUnavailable),
      Refusal(.json(404, ""), "HTTP_404", .serviceUnavailable),
      Refusal(.json(500, #"{"error":"invalid_grant"}"#), "HTTP_500", .serviceUnavailable),
      Refusal(.json(502, "<html>"), "HTTP_502", .serviceUnavailable),
      Refusal(.json(429, #"{"error":"invalid_grant"}"#), "HTTP_429", .tooManyRequests),
      Refusal(.json(200, "<html>"), "UNEXPECTED_ANSWER", .serviceUnavailable),
      Refusal(.json(200, "[]"), "UNEXPECTED_ANSWER", .serviceUnavailable),
      Refusal(.json(200, "{}"), "MISSING_TOKENS"),
      Refusal(.json(200, #"{"access_token":"AT","token_type":"bearer"}"#), "MISSING_TOKENS"),
      Refusal(.json(200, #"{"id_token":"","access_token":"AT"}"#), "MISSING_TOKENS"),
      Refusal(.json(200, #"{"id_token":["IT"],"access_token":"AT"}"#), "MISSING_TOKENS"),
      Refusal(.json(200, #"{"id_token":"IT","access_token":"AT","token_type":"mac"}"#), "TOKEN_TYPE"),
      Refusal(.json(200, #"{"id_token":"IT","token_type":1}"#), "TOKEN_TYPE"),
      Refusal(.json(200, #"{"id_token":"IT","id_token":"other"}"#), "UNEXPECTED_ANSWER", .serviceUnavailable),
      Refusal(.close, "UNREACHABLE", .networkUnavailable),
      Refusal(.reset, "UNREACHABLE", .networkUnavailable),
      Refusal(
        .answer(200, headers: ["Content-Type": form], body: "id_token=IT&access_token=AT"), "UNEXPECTED_ANSWER",
        .serviceUnavailable),
    ]

  @Test("a refusal has a word of its own, and none of the server's text", arguments: refusals) @LoopActor
  func refused(_ refusal: Refusal) async throws {
    let provider = try provider(refusal.reply)
    let error = try await failure { () throws(AuthFailure) in try await exchange(provider) }
    #expect(error == AuthFailure(refusal.error, serverCode: refusal.code))
    #expect(provider.count("/token") == 1)
  }

  @Test("the provider's wish to wait is told") @LoopActor func retryAfter() async throws {
    let provider = try provider(.answer(429, headers: ["Retry-After": "7"], body: ""))
    let error = try await failure { () throws(AuthFailure) in try await exchange(provider) }
    #expect(error == AuthFailure(.tooManyRequests, serverCode: "HTTP_429", retryAfter: 7))
  }

  @Test("a redirect takes neither code nor secret elsewhere", arguments: [301, 302, 303, 307, 308]) @LoopActor
  func redirect(_ status: Int) async throws {
    let other = try FakeProvider()
    let provider = try provider(.answer(status, headers: ["Location": other.issuer + "/token"], body: ""))
    let error = try await failure { () throws(AuthFailure) in try await exchange(provider, secret: "s") }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "REDIRECT"))
    #expect(other.server.requests.isEmpty)
  }

  /// libcurl sends again by itself what a kept connection gave no answer to.
  @Test("a code reaches the endpoint once, also when a kept connection is reset") @LoopActor func once() async throws {
    let provider = try provider(.reset)
    let http = HTTPClient()
    _ = try await OpenIDClient(http: http).metadata(of: provider.client, providerID: "oidc.test")
    let error = try await failure { () throws(AuthFailure) in try await exchange(provider, http: http) }
    #expect(error.error == .networkUnavailable)
    #expect(provider.count("/token") == 1)
  }

  @Test(
    "a code goes to no endpoint that isn't secure",
    arguments: ["http://192.0.2.1/token", "http://a.example/token", "ftp://127.0.0.1/", "", "//127.0.0.1/token"])
  @LoopActor func insecure(_ endpoint: String) async throws {
    let provider = try FakeProvider()
    for issuer in [provider.issuer, nil] {
      let error = try await failure { () throws(AuthFailure) in
        try await exchange(provider) { ($0.metadata.tokenEndpoint, $0.metadata.issuer) = (endpoint, issuer) }
      }
      #expect(error == AuthFailure(.invalidProviderResponse, serverCode: "ENDPOINT"))
    }
    let mixed = try await failure { () throws(AuthFailure) in
      try await exchange(provider) { $0.metadata.issuer = "https://a.example" }
    }
    #expect(mixed == AuthFailure(.invalidProviderResponse, serverCode: "ENDPOINT"))
    #expect(provider.server.requests.isEmpty)
  }

  // MARK: OAuth 2.0 alone

  @Test(
    "OAuth 2.0 needs no ID token, and may answer with a form",
    arguments: [
      Reply.json(200, #"{"access_token":"gho_1","token_type":"bearer","expires_in":"28800","scope":"repo,user"}"#),
      .answer(
        200, headers: ["Content-Type": form + "; charset=utf-8"],
        body: "access_token=gho_1&token_type=bearer&expires_in=28800&scope=repo%2Cuser"),
    ])
  @LoopActor func oauth2(_ reply: Reply) async throws {
    let tokens = try await exchange(try provider(reply)) { $0.metadata.issuer = nil }
    #expect(tokens == ProviderTokens(accessToken: Secret("gho_1"), expiresIn: 28800, scope: "repo,user"))
  }

  @Test(
    "a form's refusal is one, too",
    arguments: [
      "error=bad_verification_code&error_description=The+code+is+bad", "error=%ff", "access_token=a&access_token=b",
      "access_token=%4", "access_token",
    ])
  @LoopActor func badForms(_ body: String) async throws {
    let provider = try provider(.answer(200, headers: ["Content-Type": Self.form], body: body))
    let error = try await failure { () throws(AuthFailure) in
      try await exchange(provider) { $0.metadata.issuer = nil }
    }
    #expect(
      error
        == (body.hasPrefix("error=bad")
          ? AuthFailure(.invalidProviderResponse, serverCode: "invalid_grant")
          : AuthFailure(.serviceUnavailable, serverCode: "UNEXPECTED_ANSWER")))
  }

  @Test("odd lifetimes are unknown ones", arguments: ["-1", "\"x\"", "1.5", "null", "1e99", "[]"]) @LoopActor
  func lifetimes(_ value: String) async throws {
    let provider = try provider(.json(200, #"{"access_token":"a","id_token":"i","expires_in":\#(value)}"#))
    #expect(try await exchange(provider).expiresIn == nil)
  }
}
