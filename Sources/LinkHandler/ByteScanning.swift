/// Small tools over the bytes of a URL: links are ASCII by their grammar, and bytes are many times faster than characters.
typealias Bytes = ArraySlice<UInt8>

extension Bytes {
  /// Valid UTF-8 as text; nil otherwise.
  var text: String? { withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) } }

  /// The text; bytes that aren't UTF-8 are replaced.
  var ascii: String { withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }

  /// Equal to `literal` byte for byte.
  func equals(_ literal: StaticString) -> Bool {
    count == literal.utf8CodeUnitCount && hasPrefix(literal)
  }

  /// Begins with `literal`.
  func hasPrefix(_ literal: StaticString) -> Bool {
    guard count >= literal.utf8CodeUnitCount else { return false }
    return withUnsafeBufferPointer { own in
      literal.withUTF8Buffer { other in
        for index in 0..<other.count where own[index] != other[index] { return false }
        return true
      }
    }
  }

  /// Ends with `literal`.
  func hasSuffix(_ literal: StaticString) -> Bool { suffix(literal.utf8CodeUnitCount).equals(literal) }

  /// Equal to `name`, which is in lower case, whatever the letter case here.
  func isName(_ name: [UInt8]) -> Bool {
    guard count == name.count else { return false }
    var index = startIndex
    for byte in name {
      if ASCII.lower(self[index]) != byte { return false }
      index += 1
    }
    return true
  }

  /// Equal to `name`, which is in lower case, whatever the letter case here.
  func isName(_ name: StaticString) -> Bool {
    guard count == name.utf8CodeUnitCount else { return false }
    return withUnsafeBufferPointer { own in
      name.withUTF8Buffer { other in
        for index in 0..<other.count where ASCII.lower(own[index]) != other[index] { return false }
        return true
      }
    }
  }

  /// Where `literal` first stands.
  func firstRange(of literal: StaticString) -> Range<Int>? {
    let length = literal.utf8CodeUnitCount
    guard length > 0, count >= length else { return nil }
    for index in startIndex...(endIndex - length) where self[index...].hasPrefix(literal) {
      return index..<(index + length)
    }
    return nil
  }

  /// The part before the first `byte`, and the part after it; the second is nil where there is none.
  func cut(at byte: UInt8) -> (head: Bytes, tail: Bytes?) {
    let found = withUnsafeBufferPointer { own in
      for index in 0..<own.count where own[index] == byte { return index }
      return -1
    }
    guard found >= 0 else { return (self, nil) }
    return (self[..<(startIndex + found)], self[(startIndex + found + 1)...])
  }

  /// ASCII letters in lower case.
  var lowercased: String {
    withUnsafeBufferPointer { own in
      String(unsafeUninitializedCapacity: own.count) { out in
        for index in 0..<own.count { out[index] = ASCII.lower(own[index]) }
        return own.count
      }
    }
  }
}

/// Percent-encoding (RFC 3986 2.1). One call is one level; nothing is ever decoded "until it parses".
enum PercentCoding {
  /// How `+` reads: literally in action links, a space in OAuth responses (application/x-www-form-urlencoded).
  enum Plus { case literal, space }

  /// The decoded bytes; nil for a broken escape.
  static func decode(_ bytes: Bytes, plus: Plus = .literal) -> [UInt8]? {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let byte = bytes[index]
      if byte == UInt8(ascii: "%") {
        guard bytes.endIndex - index > 2, let high = hex(bytes[index + 1]), let low = hex(bytes[index + 2]) else {
          return nil
        }
        out.append(high << 4 | low)
        index += 3
      } else {
        out.append(plus == .space && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        index += 1
      }
    }
    return out
  }

  /// The decoded text; nil for a broken escape or bytes that aren't UTF-8.
  static func decodeText(_ bytes: Bytes, plus: Plus = .literal) -> String? {
    let isPlain = bytes.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") }
    return isPlain ? bytes.text : decode(bytes, plus: plus)?[...].text
  }

  /// Unreserved characters as they are (RFC 3986 2.3), every other byte as an escape.
  static func encode(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for byte in text.utf8 {
      if ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-_.~".utf8.contains(byte) {
        out.append(byte)
      } else {
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return out[...].ascii
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
