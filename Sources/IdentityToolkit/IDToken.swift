public import AuthCore
import Crypto

/// Why a text is no ID token. It names no value.
public enum IDTokenError: Error, Sendable, Hashable {
  case tooLong, notThreeParts, notBase64URL, notAnObject, missingClaim
}

/// The payload of an ID token (RFC 7519; identity-toolkit 7.5). The signature isn't checked: the token came from the server
/// over TLS, and is handed on to those who check it.
public struct IDToken: Sendable {
  /// Everything in the payload.
  public let claims: [String: JSONValue]
  /// `exp`, Unix seconds.
  public let expiresAt: Int64
  /// `sub`.
  public let subject: String

  /// `iat`, Unix seconds.
  public var issuedAt: Int64? { claims["iat"]?.integer }
  /// `auth_time`: when the person last signed in, Unix seconds.
  public var authenticatedAt: Int64? { claims["auth_time"]?.integer }
  /// `firebase.sign_in_provider`: `password` (for a mailed link too), `anonymous`, `custom`, `phone`, or a provider's id.
  public var signInProvider: String? { claims["firebase"]?["sign_in_provider"]?.string }

  /// Bytes of a token that is looked at.
  public static let limit = 64 * 1024

  /// - Throws: `IDTokenError` unless `text` is a JWT with `exp` and `sub`.
  public init(_ text: String) throws(IDTokenError) {
    guard text.utf8.count <= Self.limit else { throw .tooLong }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .notThreeParts }
    let payload: [UInt8]
    do throws(CryptoError) { payload = try Base64URL.decode(String(parts[1])) } catch { throw .notBase64URL }
    guard let claims = JSONValue(json: payload)?.object else { throw .notAnObject }
    guard let expiresAt = claims["exp"]?.integer, let subject = claims["sub"]?.string, !subject.isEmpty else {
      throw .missingClaim
    }
    self.claims = claims
    self.expiresAt = expiresAt
    self.subject = subject
  }
}
