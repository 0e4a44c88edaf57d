/// Small tools over the bytes of a URL: links are ASCII by their grammar, and bytes are many times faster than characters.
typealias Bytes = ArraySlice<UInt8>

extension Bytes {
  /// The bytes of a literal.
  init(_ text: StaticString) {
    self = text.withUTF8Buffer { ArraySlice($0) }
  }

  /// Valid UTF-8 as text; nil otherwise.
  var text: String? { String(validating: self, as: UTF8.self) }

  /// The text, where the bytes are known to be ASCII.
  var ascii: String { String(decoding: self, as: UTF8.self) }

  /// Equal to `literal` byte for byte.
  func equals(_ literal: StaticString) -> Bool {
    guard count == literal.utf8CodeUnitCount else { return false }
    return literal.withUTF8Buffer { elementsEqual($0) }
  }

  /// Begins with `literal`.
  func hasPrefix(_ literal: StaticString) -> Bool {
    guard count >= literal.utf8CodeUnitCount else { return false }
    return literal.withUTF8Buffer { prefix($0.count).elementsEqual($0) }
  }

  /// Ends with `literal`.
  func hasSuffix(_ literal: StaticString) -> Bool {
    guard count >= literal.utf8CodeUnitCount else { return false }
    return literal.withUTF8Buffer { suffix($0.count).elementsEqual($0) }
  }

  /// Where `literal` first stands.
  func firstRange(of literal: StaticString) -> Range<Int>? {
    literal.withUTF8Buffer { needle in
      guard let first = needle.first, count >= needle.count else { return nil }
      var index = startIndex
      while let found = self[index...].firstIndex(of: first), found + needle.count <= endIndex {
        if self[found..<(found + needle.count)].elementsEqual(needle) { return found..<(found + needle.count) }
        index = found + 1
      }
      return nil
    }
  }

  /// The part before the first `byte`, and the part after it; the second is nil where there is none.
  func cut(at byte: UInt8) -> (head: Bytes, tail: Bytes?) {
    guard let index = firstIndex(of: byte) else { return (self, nil) }
    return (self[..<index], self[(index + 1)...])
  }

  /// ASCII letters in lower case.
  var lowercased: String {
    String(decoding: map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

/// Percent-encoding (RFC 3986 2.1). One call is one level; nothing is ever decoded "until it parses".
enum PercentCoding {
  /// How `+` reads: literally in action links, a space in OAuth responses (application/x-www-form-urlencoded).
  enum Plus { case literal, space }

  /// The decoded text; nil for a broken escape or bytes that aren't UTF-8.
  static func decode(_ bytes: Bytes, plus: Plus = .literal) -> String? {
    guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return bytes.text }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: "%") {
        guard index + 2 < bytes.endIndex, let high = hex(bytes[index + 1]), let low = hex(bytes[index + 2]) else {
          return nil
        }
        out.append(high << 4 | low)
        index += 3
      } else {
        out.append(plus == .space && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        index += 1
      }
    }
    return String(validating: out, as: UTF8.self)
  }

  /// Unreserved characters as they are (RFC 3986 2.3), every other byte as an escape.
  static func encode(_ text: String) -> String {
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

  /// The value of a hexadecimal digit.
  static func hex(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
