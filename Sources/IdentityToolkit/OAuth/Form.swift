/// `application/x-www-form-urlencoded` (RFC 6749 appendix B).
enum Form {
  static let contentType = "application/x-www-form-urlencoded"

  /// Each value encoded on its own, in the order given.
  static func encode(_ fields: [(name: String, value: String)]) -> String {
    fields.map { "\(escaped($0.name))=\(escaped($0.value))" }.joined(separator: "&")
  }

  /// Unreserved characters as they are (RFC 3986 2.3), the rest percent-encoded.
  static func escaped(_ text: String) -> String {
    var out = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
        UInt8(ascii: "~"):
        out.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        out += byte < 16 ? "%0" : "%"
        out += String(byte, radix: 16, uppercase: true)
      }
    }
    return out
  }

  /// The fields of a form; nil for what is none: a broken escape, a name that comes twice (RFC 6749 5.1), no UTF-8.
  static func decode(_ bytes: [UInt8]) -> [String: String]? {
    var fields: [String: String] = [:]
    for part in bytes.split(separator: UInt8(ascii: "&")) {
      let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard halves.count == 2, let name = text(halves[0]), let value = text(halves[1]), fields[name] == nil else {
        return nil
      }
      fields[name] = value
    }
    return fields
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    var out: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): out.append(0x20)
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
        out.append(high << 4 | low)
      default: out.append(byte)
      }
    }
    return String(validating: out, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}
