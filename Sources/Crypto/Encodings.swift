/// Base 64 with the URL alphabet and without padding (RFC 4648 section 5; RFC 7515 section 2).
public enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Four characters for each three bytes, two or three for the rest.
  public static func encode(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    out.reserveCapacity((bytes.count * 4 + 2) / 3)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        out.append(alphabet[Int(bits >> count & 63)])
      }
    }
    if count > 0 { out.append(alphabet[Int(bits << (6 - count) & 63)]) }
    return String(decoding: out, as: UTF8.self)
  }

  /// The bytes of `text`. Throws `malformed` for padding, white space, the other alphabet, a length no bytes have, and for
  /// unused bits that aren't zero: each value has one spelling.
  public static func decode(_ text: String) throws(CryptoError) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count * 3 / 4)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for character in text.utf8 {
      guard let value = value(of: character) else { throw .malformed }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        out.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    guard count < 6, bits & (1 << count - 1) == 0 else { throw .malformed }
    return out
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}

/// Hexadecimal, lower case (RFC 4648 section 8).
public enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Two digits a byte, lower case.
  public static func encode(_ bytes: [UInt8]) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      out.append(digits[Int(byte >> 4)])
      out.append(digits[Int(byte & 15)])
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// The bytes of `text`, in either case. Throws `malformed` for an odd length and for anything that is no digit.
  public static func decode(_ text: String) throws(CryptoError) -> [UInt8] {
    var out: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      guard let value = value(of: character) else { throw .malformed }
      if let first = high {
        out.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    guard high == nil else { throw .malformed }
    return out
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
