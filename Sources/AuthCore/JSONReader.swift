extension JSONValue {
  /// Arrays and objects inside each other: more than any answer or file has.
  public static let nestingLimit = 128

  /// The value that `text`, in UTF-8, is (RFC 8259); nil for anything else, for numbers beyond `Double`, for half a
  /// surrogate pair, and for what is nested deeper than `nestingLimit`. Of members with one name the first counts, unless
  /// `repeatedNames` says that there may be none: what is signed is read by others, who may take the last (RFC 7515 4).
  ///
  /// In time with the text's length, whatever the text: `Codable`, which asks a decoder for one type after another, takes
  /// seconds for a kilobyte of brackets.
  public init?(json text: some Collection<UInt8>, repeatedNames: Bool = true) {
    var reader = JSONReader(Array(text), repeatedNames: repeatedNames)
    guard let value = reader.whole() else { return nil }
    self = value
  }
}

/// Goes over the text once. No `? :` has a `nil` here: it would be JSON's.
private struct JSONReader {
  private let bytes: [UInt8]
  private let repeatedNames: Bool
  private var position = 0

  init(_ bytes: [UInt8], repeatedNames: Bool) {
    self.bytes = bytes
    self.repeatedNames = repeatedNames
  }

  mutating func whole() -> JSONValue? {
    guard let value = value(depth: 0) else { return nil }
    skipSpace()
    guard position == bytes.count else { return nil }
    return value
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { position += 1 }
  }

  /// Steps over white space, and over `byte` if it's there.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) -> JSONValue? {
    skipSpace()
    guard let byte = next, depth <= JSONValue.nestingLimit else { return nil }
    switch byte {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return word("true", .bool(true))
    case UInt8(ascii: "f"): return word("false", .bool(false))
    case UInt8(ascii: "n"): return word("null", .null)
    default: return number()
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) -> JSONValue? {
    let rest = bytes[position...]
    guard word.withUTF8Buffer({ rest.starts(with: $0) }) else { return nil }
    position += word.utf8CodeUnitCount
    return value
  }

  // MARK: Containers

  private mutating func object(depth: Int) -> JSONValue? {
    position += 1
    var members: [String: JSONValue] = [:]
    if take(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      skipSpace()
      guard let key = string(), take(UInt8(ascii: ":")), let value = value(depth: depth + 1) else { return nil }
      if members[key] == nil {
        members[key] = value
      } else if !repeatedNames {
        return nil
      }
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { return nil }
    return .object(members)
  }

  private mutating func array(depth: Int) -> JSONValue? {
    position += 1
    var elements: [JSONValue] = []
    if take(UInt8(ascii: "]")) { return .array(elements) }
    repeat {
      guard let value = value(depth: depth + 1) else { return nil }
      elements.append(value)
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { return nil }
    return .array(elements)
  }

  // MARK: Numbers

  private mutating func number() -> JSONValue? {
    let start = position
    if next == UInt8(ascii: "-") { position += 1 }
    let first = next
    guard let count = digits(), count == 1 || first != UInt8(ascii: "0") else { return nil }
    var isWhole = true
    if next == UInt8(ascii: ".") {
      (isWhole, position) = (false, position + 1)
      guard digits() != nil else { return nil }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      (isWhole, position) = (false, position + 1)
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      guard digits() != nil else { return nil }
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let whole = Int64(text) { return .integer(whole) }
    guard let value = Double(text), value.isFinite else { return nil }
    return Int64(exactly: value).map { .integer($0) } ?? .number(value)
  }

  /// How many digits there are; nil for none.
  private mutating func digits() -> Int? {
    let start = position
    while let byte = next, byte >= 0x30, byte <= 0x39 { position += 1 }
    return position > start ? position - start : nil
  }

  // MARK: Strings

  private mutating func string() -> String? {
    guard next == UInt8(ascii: "\"") else { return nil }
    position += 1
    let start = position
    while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\\") {
      position += 1
      // Most strings have no escape.
      if byte == UInt8(ascii: "\"") { return String(validating: bytes[start..<(position - 1)], as: UTF8.self) }
    }
    return escapedString(Array(bytes[start..<position]))
  }

  /// The rest of a string that begins with `text`.
  private mutating func escapedString(_ text: [UInt8]) -> String? {
    var text = text
    while let byte = next, byte >= 0x20 {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        text += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard let byte = next else { return nil }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return unicode()
    default: return nil
    }
  }

  /// The scalar of four hexadecimal digits, or of a surrogate pair (RFC 8259 7).
  private mutating func unicode() -> Unicode.Scalar? {
    guard let high = hexadecimal() else { return nil }
    guard (0xd800..<0xdc00).contains(high) else { return Unicode.Scalar(high) }
    guard bytes[position...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else { return nil }
    position += 2
    guard let low = hexadecimal(), (0xdc00..<0xe000).contains(low) else { return nil }
    return Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
  }

  private mutating func hexadecimal() -> UInt32? {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Self.digit(byte) else { return nil }
      code = code << 4 | digit
      position += 1
    }
    return code
  }

  private static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}
