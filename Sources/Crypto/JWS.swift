import AuthCore
import CCrypto

/// Why a token isn't believed. It names no value.
public enum JWSError: Error, Sendable, Hashable {
  /// More than `JWS.limit` bytes.
  case tooLong
  /// Not three parts of base64url, or a header that is no object of distinct members.
  case malformed
  /// Neither RS256 nor ES256: `none` and what is keyed by a shared secret among them.
  case algorithm
  /// The header asks for an extension (RFC 7515 4.1.11).
  case critical
  /// No key has the token's `kid` and fits its algorithm.
  case unknownKey
  /// The signature is another key's, or another text's.
  case signature
  /// libgcrypt refused to work.
  case unavailable
}

/// Signed tokens in compact form (RFC 7515 7.1).
public enum JWS {
  /// Bytes of a token that is looked at.
  public static let limit = 64 * 1024

  private enum Algorithm: String {
    case rs256 = "RS256"
    case es256 = "ES256"
  }

  /// The payload of `token`, if one of `keys` signed it.
  ///
  /// With a `kid` the keys of that name are tried, without one all that fit the algorithm.
  ///
  /// - Throws: `JWSError`, whatever `token` is.
  public static func verify(_ token: String, keys: [JSONWebKey]) throws(JWSError) -> [UInt8] {
    guard token.utf8.count <= limit else { throw .tooLong }
    let parts = token.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed }
    let (algorithm, kid) = try header(try decode(parts[0]))
    let payload = try decode(parts[1])
    let signature = try decode(parts[2])
    let fitting = keys.prefix(JSONWebKey.setLimit).filter { fits($0, algorithm) && (kid == nil || $0.id == kid) }
    guard !fitting.isEmpty else { throw .unknownKey }
    let digest = SHA256.hash("\(parts[0]).\(parts[1])")
    for key in fitting where try isSigned(digest, signature, key) { return payload }
    throw .signature
  }

  private static func decode(_ part: Substring) throws(JWSError) -> [UInt8] {
    do throws(CryptoError) { return try Base64URL.decode(String(part)) } catch { throw .malformed }
  }

  private static func header(_ bytes: [UInt8]) throws(JWSError) -> (Algorithm, kid: String?) {
    guard let header = JSONValue(json: bytes, repeatedNames: false), header.object != nil else { throw .malformed }
    guard let name = header["alg"]?.string else { throw .malformed }
    guard let algorithm = Algorithm(rawValue: name) else { throw .algorithm }
    // `b64` changes what is signed and must be critical (RFC 7797 6): where it isn't, it's refused all the same.
    guard header["crit"] == nil, header["b64"] == nil else { throw .critical }
    guard let kid = header["kid"] else { return (algorithm, nil) }
    guard let kid = kid.string else { throw .malformed }
    return (algorithm, kid)
  }

  private static func fits(_ key: JSONWebKey, _ algorithm: Algorithm) -> Bool {
    if let own = key.algorithm, own != algorithm.rawValue { return false }
    switch (key.material, algorithm) {
    case (.rsa, .rs256), (.p256, .es256): return true
    case (.rsa, .es256), (.p256, .rs256): return false
    }
  }

  private static func isSigned(
    _ digest: [UInt8], _ signature: [UInt8], _ key: JSONWebKey
  ) throws(JWSError) -> Bool {
    let result: Int32
    switch key.material {
    case .rsa(let modulus, let exponent):
      guard signature.count == modulus.count else { return false }
      result = ccrypto_rsa_verify(modulus, modulus.count, exponent, exponent.count, signature, digest)
    case .p256(let point):
      guard signature.count == 64 else { return false }
      result = ccrypto_p256_verify(point, signature, digest)
    }
    guard result >= 0 else { throw .unavailable }
    return result == 1
  }
}
