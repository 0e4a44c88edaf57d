/// What can go wrong here. No case carries a value that was meant to be secret.
public enum CryptoError: Error, Sendable, Hashable {
  /// The bytes weren't sealed with this key and this associated data, or were changed since.
  case notAuthentic
  /// The key hasn't the length the algorithm asks for.
  case keyLength
  /// Too short to have been sealed, or not in the alphabet of its encoding.
  case malformed
  /// libgcrypt or the kernel's random source refused to work.
  case unavailable
}
