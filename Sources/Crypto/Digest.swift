import CCrypto

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
  /// Bytes in a digest.
  public static let length = 32

  /// The 32-byte digest of `bytes`.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: length)
    ccrypto_sha256(bytes, bytes.count, &digest)
    return digest
  }

  /// The 32-byte digest of the UTF-8 bytes of `text`.
  public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }
}

/// HMAC with SHA-256 (RFC 2104, RFC 4231).
public enum HMACSHA256 {
  /// The 32-byte code of `bytes`. Throws `unavailable` where the library refuses the key (its FIPS mode asks for 14 bytes).
  public static func authenticate(_ bytes: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: SHA256.length)
    guard ccrypto_hmac_sha256(key, key.count, bytes, bytes.count, &code) else { throw .unavailable }
    return code
  }
}

/// Whether `a` and `b` are equal, in a time that depends on their lengths alone: for digests, tokens, nonces and states.
public func equalInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
  a.count == b.count && ccrypto_equal(a, b, a.count)
}
