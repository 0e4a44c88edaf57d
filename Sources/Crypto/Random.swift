import CCrypto

/// Bytes nobody can foresee, from the kernel (getrandom(2)).
public enum Random {
  /// `count` fresh bytes. Throws `unavailable` where the kernel has none to give.
  public static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard ccrypto_random(&bytes, count) else { throw .unavailable }
    return bytes
  }
}
