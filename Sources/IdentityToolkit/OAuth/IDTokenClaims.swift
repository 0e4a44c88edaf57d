public import AuthCore
import Crypto

/// Who a provider says it was, after every check (OpenID Connect Core 3.1.3.7).
public struct IDTokenClaims: Sendable, Hashable {
  /// `iss`.
  public let issuer: String
  /// `sub`: 1 to 255 bytes.
  public let subject: String
  /// Everything in the token.
  public let claims: [String: JSONValue]

  /// `email`.
  public var email: String? { claims["email"]?.string.flatMap { $0.isEmpty ? nil : $0 } }
  /// `email_verified`, which Apple writes as a text.
  public var emailVerified: Bool { claims["email_verified"] == true || claims["email_verified"] == "true" }
}

extension OpenIDClient {
  /// Whether to believe an ID token: its signature by the provider's keys, and what it says.
  ///
  /// - Parameter now: Unix seconds.
  /// - Throws: `issuerMismatch`, `nonceMismatch`, or `invalidProviderResponse`, whose `serverCode` names the check: `NO_ISSUER`,
  ///   `TOO_LONG`, `MALFORMED`, `ALG`, `CRITICAL`, `UNKNOWN_KEY`, `SIGNATURE`, `JWKS`, `AUDIENCE`, `AUTHORIZED_PARTY`,
  ///   `EXPIRED`, `ISSUED_AT`, `NOT_BEFORE`, `SUBJECT`. What waiting may mend as such.
  public func verify(
    idToken: Secret<String>, authorization: PendingAuthorization.Client, now: Int64
  ) async throws(AuthFailure) -> IDTokenClaims {
    let metadata = authorization.metadata
    guard let issuer = metadata.issuer, let address = metadata.jwksURI,
      let url = EndpointURL(address, allowsLocal: issuer.hasPrefix("http://"))
    else { throw AuthFailure(.invalidProviderResponse, serverCode: "NO_ISSUER") }
    let payload = try await payload(idToken.reveal(), keysAt: url)
    return try IDTokenCheck(authorization: authorization, issuer: issuer, now: now).claims(payload)
  }

  /// The signed part. Keys that don't fit are fetched anew, for providers change them (OpenID Connect Core 10.1.1).
  private func payload(_ token: String, keysAt url: EndpointURL) async throws(AuthFailure) -> [UInt8] {
    // What no key could have signed isn't worth a request.
    if let error = Self.check(token, []).error, error != .unknownKey { throw Self.failure(error) }
    var result = Self.check(token, try await documents.document(at: url, read: Self.keys))
    if result.error == .unknownKey || result.error == .signature, let newer = try await documents.newer(at: url) {
      result = Self.check(token, try Self.keys(newer))
    }
    switch result {
    case .success(let payload): return payload
    case .failure(let error): throw Self.failure(error)
    }
  }

  private static func keys(_ document: JSONValue) throws(AuthFailure) -> [JSONWebKey] {
    guard let keys = JSONWebKey.set(document) else { throw AuthFailure(.invalidProviderResponse, serverCode: "JWKS") }
    return keys
  }

  private static func check(_ token: String, _ keys: [JSONWebKey]) -> Result<[UInt8], JWSError> {
    do throws(JWSError) { return .success(try JWS.verify(token, keys: keys)) } catch { return .failure(error) }
  }

  private static func failure(_ error: JWSError) -> AuthFailure {
    switch error {
    case .tooLong: AuthFailure(.invalidProviderResponse, serverCode: "TOO_LONG")
    case .malformed: AuthFailure(.invalidProviderResponse, serverCode: "MALFORMED")
    case .algorithm: AuthFailure(.invalidProviderResponse, serverCode: "ALG")
    case .critical: AuthFailure(.invalidProviderResponse, serverCode: "CRITICAL")
    case .unknownKey: AuthFailure(.invalidProviderResponse, serverCode: "UNKNOWN_KEY")
    case .signature: AuthFailure(.invalidProviderResponse, serverCode: "SIGNATURE")
    case .unavailable: AuthFailure(.internal, serverCode: "CRYPTO")
    }
  }
}

extension Result {
  fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
