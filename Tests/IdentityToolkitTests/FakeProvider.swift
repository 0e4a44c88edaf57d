import AuthCore
import EventLoop
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IdentityToolkit

/// An OpenID provider on this machine: discovery, keys and a token endpoint, each to be broken.
final class FakeProvider: Sendable {
  struct State {
    /// Replaces members of the discovery document; `.null` takes them out.
    var discovery: [String: JSONValue] = [:]
    /// Members of the key set, as JSON texts.
    var keys: [String] = []
    /// Headers of discovery document and key set.
    var headers = ["Content-Type": "application/json"]
    /// What is said instead, by path.
    var replies: [String: Reply] = [:]
  }

  static let discoveryPath = "/.well-known/openid-configuration"
  let server: ScriptedServer
  private let state: Box

  private final class Box: Sendable {
    let state = Mutex(State())
  }

  init(keys: [SigningKey] = []) throws {
    let box = Box()
    box.state.withLock { $0.keys = keys.map(\.jwk) }
    server = try ScriptedServer { request in
      let state = box.state.withLock { $0 }
      if let reply = state.replies[request.target] { return reply }
      let issuer = "http://\(request.headers["host"] ?? "")"
      switch request.target {
      case Self.discoveryPath:
        return .answer(200, headers: state.headers, body: Self.document(issuer, state.discovery).text)
      case "/keys":
        return .answer(200, headers: state.headers, body: "{\"keys\":[\(state.keys.joined(separator: ","))]}")
      default: return .json(404, "{}")
      }
    }
    state = box
  }

  static func document(_ issuer: String, _ changes: [String: JSONValue]) -> JSONValue {
    var document: [String: JSONValue] = [
      "issuer": .string(issuer), "authorization_endpoint": .string(issuer + "/authorize"),
      "token_endpoint": .string(issuer + "/token"), "jwks_uri": .string(issuer + "/keys"),
      "response_types_supported": ["code", "id_token"], "code_challenge_methods_supported": ["plain", "S256"],
      "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
    ]
    document.merge(changes) { $1 }
    return .object(document.filter { $0.value != .null })
  }

  func change(_ body: (inout State) -> Void) { state.state.withLock { body(&$0) } }

  /// As it's configured, and as it calls itself.
  var issuer: String { "http://127.0.0.1:\(server.port)" }

  /// How often `path` was asked for.
  func count(_ path: String) -> Int { server.requests.filter { $0.target == path }.count }

  var client: ProviderClient {
    var client = ProviderClient()
    client.kind = .openID(issuer: issuer)
    client.clientID = "client-1"
    return client
  }

  var metadata: ProviderMetadata {
    ProviderMetadata(
      issuer: issuer, authorizationEndpoint: issuer + "/authorize", tokenEndpoint: issuer + "/token",
      jwksURI: issuer + "/keys")
  }

  /// What a request to it left behind.
  func authorization() -> PendingAuthorization.Client {
    PendingAuthorization.Client(
      metadata: metadata, clientID: "client-1", redirectURI: "http://127.0.0.1:1/callback",
      codeVerifier: Secret("verifier"), rawNonce: Secret("raw"))
  }
}

extension FakeProvider {
  /// Unix seconds at which tokens are looked at.
  static let now: Int64 = 1_800_000_000
  /// What `sha256sum` says of `raw`.
  static let nonce = "d7439bee24773bcbfa2d0a97947ee36227b10d1022b1a55847e928965bb6bfde"
  private static let keys = Result { [try SigningKey(.rsa, id: "rsa-1"), try SigningKey(.p256, id: "ec-1")] }

  /// Made once: openssl takes a while to find primes.
  static func key(_ kind: SigningKey.Kind) throws -> SigningKey {
    try #require(try keys.get().first { $0.kind == kind })
  }

  /// Claims of a good token with `changes`; `.null` takes one out.
  func claims(_ changes: [String: JSONValue] = [:]) -> String {
    var claims: [String: JSONValue] = [
      "iss": .string(issuer), "sub": "alice", "aud": "client-1", "exp": .integer(Self.now + 3600),
      "iat": .integer(Self.now - 5), "nonce": .string(Self.nonce), "email": "alice@example.com",
    ]
    claims.merge(changes) { $1 }
    return JSONValue.object(claims.filter { $0.value != .null }).text
  }

  @LoopActor
  func verify(
    _ token: String, _ client: OpenIDClient? = nil, change: @LoopActor (inout ProviderMetadata) -> Void = { _ in }
  ) async throws(AuthFailure) -> IDTokenClaims {
    var authorization = authorization()
    change(&authorization.metadata)
    return try await (client ?? OpenIDClient(http: HTTPClient())).verify(
      idToken: Secret(token), authorization: authorization, now: Self.now)
  }
}

/// A clock that goes when it's told.
@LoopActor
final class TestClock {
  var seconds: Int64 = 1000
  nonisolated init() {}
}
