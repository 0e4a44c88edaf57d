public import AuthCore
import CCrypto

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D), the only cipher linkd stores anything with.
///
/// The nonce is 96 random bits for each sealing: safe for 2³² sealings under one key (SP 800-38D 8.3).
public enum AESGCM {
  /// Bytes in a key.
  public static let keyLength = 32
  static let nonceLength = 12
  static let tagLength = 16
  /// Bytes that sealing adds: nonce before, tag behind.
  public static let overhead = nonceLength + tagLength

  /// Nonce, ciphertext and tag of `bytes`, bound to `associatedData`.
  ///
  /// Throws `keyLength`, or `unavailable`.
  public static func seal(
    _ bytes: [UInt8], key: Secret<[UInt8]>, associatedData: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    try seal(bytes, key: key, associatedData: associatedData, nonce: try Random.bytes(nonceLength))
  }

  /// With a nonce of the caller's choice: for the published test vectors alone.
  static func seal(
    _ bytes: [UInt8], key: Secret<[UInt8]>, associatedData: [UInt8], nonce: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    let key = key.reveal()
    guard key.count == keyLength else { throw .keyLength }
    var text = bytes
    var tag = [UInt8](repeating: 0, count: tagLength)
    guard ccrypto_gcm_seal(key, nonce, associatedData, associatedData.count, &text, text.count, &tag) else {
      throw .unavailable
    }
    return nonce + text + tag
  }

  /// What `seal` was given.
  ///
  /// Throws `notAuthentic` when key, associated data or a bit of `sealed` differ, `malformed` when it's too short,
  /// `keyLength`, `unavailable`.
  public static func open(
    _ sealed: [UInt8], key: Secret<[UInt8]>, associatedData: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    let key = key.reveal()
    guard key.count == keyLength else { throw .keyLength }
    guard sealed.count >= overhead else { throw .malformed }
    let nonce = Array(sealed[..<nonceLength])
    let tag = Array(sealed[(sealed.count - tagLength)...])
    var text = Array(sealed[nonceLength..<(sealed.count - tagLength)])
    let result = ccrypto_gcm_open(key, nonce, associatedData, associatedData.count, &text, text.count, tag)
    switch result {
    case 1: return text
    case 0: throw .notAuthentic
    default: throw .unavailable
    }
  }
}
