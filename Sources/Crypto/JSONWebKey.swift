public import AuthCore
import CCrypto

/// A public key that signatures are checked with (RFC 7517): RSA, or ECDSA on P-256.
public struct JSONWebKey: Sendable, Hashable {
  /// The numbers, big-endian.
  enum Material: Sendable, Hashable {
    /// Without leading zeros.
    case rsa(modulus: [UInt8], exponent: [UInt8])
    /// 04, x and y: a point of the curve.
    case p256(point: [UInt8])
  }

  /// `kid`.
  public let id: String?
  /// `alg`: the one algorithm that it's for.
  public let algorithm: String?
  let material: Material

  /// Keys of a set that are looked at; the rest is no set of a provider's.
  public static let setLimit = 100
  /// Bits of a modulus: fewer can be factored (RFC 7518 3.3), more only cost time.
  static let modulusBits = 2048...8192

  /// Nil for what isn't such a key, and for a key that is meant for anything but signatures (RFC 7517 4.2, 4.3).
  public init?(_ json: JSONValue) {
    if let use = json["use"], use != "sig" { return nil }
    if let operations = json["key_ops"], operations.array?.contains("verify") != true { return nil }
    guard let material = Self.rsa(json) ?? Self.p256(json) else { return nil }
    // A name that isn't a text names nothing.
    if let id = json["kid"], id.string == nil { return nil }
    if let algorithm = json["alg"], algorithm.string == nil { return nil }
    id = json["kid"]?.string
    algorithm = json["alg"]?.string
    self.material = material
  }

  /// The usable keys of a set (RFC 7517 5): others are passed over. Nil for what is no set, or has more than `setLimit`.
  public static func set(_ json: JSONValue) -> [JSONWebKey]? {
    guard let keys = json["keys"]?.array, keys.count <= setLimit else { return nil }
    return keys.compactMap { JSONWebKey($0) }
  }

  /// RFC 7518 6.3.1. Exponents beyond 32 bits are nobody's and cost time.
  private static func rsa(_ json: JSONValue) -> Material? {
    guard json["kty"] == "RSA", let modulus = number(json["n"]), let exponent = number(json["e"]),
      let first = modulus.first, let last = modulus.last, last & 1 == 1,
      modulusBits.contains(modulus.count * 8 - first.leadingZeroBitCount),
      exponent.count <= 4, let odd = exponent.last, odd & 1 == 1, exponent != [1]
    else { return nil }
    return .rsa(modulus: modulus, exponent: exponent)
  }

  /// RFC 7518 6.2.1: the coordinates have the curve's length.
  private static func p256(_ json: JSONValue) -> Material? {
    guard json["kty"] == "EC", json["crv"] == "P-256", let x = bytes(json["x"]), let y = bytes(json["y"]),
      x.count == 32, y.count == 32
    else { return nil }
    let point = [4] + x + y
    return ccrypto_p256_holds(point) ? .p256(point: point) : nil
  }

  /// A number without the leading zeros that some write, though they mustn't (RFC 7518 2).
  private static func number(_ json: JSONValue?) -> [UInt8]? {
    bytes(json).map { Array($0.drop { $0 == 0 }) }
  }

  private static func bytes(_ json: JSONValue?) -> [UInt8]? {
    json?.string.flatMap { try? Base64URL.decode($0) }
  }
}
