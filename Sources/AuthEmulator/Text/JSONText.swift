import AuthCore

/// Why a text is no JSON, in the words a JavaScript server uses.
struct JSONSyntaxError: Error {
  let message: String

  static let unexpectedEnd = JSONSyntaxError(message: "Unexpected end of JSON input")

  static func unexpected(_ character: Unicode.Scalar, in text: String) -> JSONSyntaxError {
    JSONSyntaxError(message: "Unexpected token '\(character)', \"\(text)\" is not valid JSON")
  }
}

/// Reads JSON (RFC 8259), strictly. The emulator has a parser of its own, so that what clients send isn't judged by the
/// code that wrote it.
struct JSONText {
  private let bytes: [UInt8]
  private var position = 0

  private static let deepest = 200

  static func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    var text = JSONText(bytes: bytes)
    let value = try text.value(depth: 0)
    text.skipSpace()
    guard text.position == bytes.count else { throw text.unexpected() }
    return value
  }

  static func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue { try parse(Array(text.utf8)) }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func unexpected() -> JSONSyntaxError {
    guard position < bytes.count else { return .unexpectedEnd }
    let scalar = String(decoding: bytes[position...], as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}"
    return .unexpected(scalar, in: String(String(decoding: bytes, as: UTF8.self).prefix(40)))
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || (0x09...0x0a).contains(byte) || byte == 0x0d { position += 1 }
  }

  private mutating func take(_ byte: UInt8) throws(JSONSyntaxError) {
    guard next == byte else { throw unexpected() }
    position += 1
  }

  private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    skipSpace()
    guard let byte = next, depth <= Self.deepest else { throw unexpected() }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
    for byte in word.description.utf8 { try take(byte) }
    return value
  }

  private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    var members: [String: JSONValue] = [:]
    try take(UInt8(ascii: "{"))
    skipSpace()
    if next == UInt8(ascii: "}") {
      position += 1
      return .object(members)
    }
    while true {
      skipSpace()
      let key = try string()
      skipSpace()
      try take(UInt8(ascii: ":"))
      members[key] = try value(depth: depth + 1)
      if try listEnds(with: UInt8(ascii: "}")) { return .object(members) }
    }
  }

  private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    var elements: [JSONValue] = []
    try take(UInt8(ascii: "["))
    skipSpace()
    if next == UInt8(ascii: "]") {
      position += 1
      return .array(elements)
    }
    while true {
      elements.append(try value(depth: depth + 1))
      if try listEnds(with: UInt8(ascii: "]")) { return .array(elements) }
    }
  }

  /// After an element: true at the closing bracket, false at a comma.
  private mutating func listEnds(with bracket: UInt8) throws(JSONSyntaxError) -> Bool {
    skipSpace()
    guard let byte = next, byte == bracket || byte == UInt8(ascii: ",") else { throw unexpected() }
    position += 1
    return byte == bracket
  }

  private mutating func number() throws(JSONSyntaxError) -> JSONValue {
    let start = position
    if next == UInt8(ascii: "-") { position += 1 }
    let first = next
    guard try digits() == 1 || first != UInt8(ascii: "0") else { throw unexpected() }
    var isWhole = true
    if next == UInt8(ascii: ".") {
      (isWhole, position) = (false, position + 1)
      _ = try digits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      (isWhole, position) = (false, position + 1)
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      _ = try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let whole = Int64(text) { return .integer(whole) }
    guard let value = Double(text) else { throw unexpected() }
    return .number(value)
  }

  private mutating func digits() throws(JSONSyntaxError) -> Int {
    let start = position
    while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    guard position > start else { throw unexpected() }
    return position - start
  }

  private mutating func string() throws(JSONSyntaxError) -> String {
    try take(UInt8(ascii: "\""))
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        position += 1
        text += try escape()
      case 0..<0x20: throw unexpected()
      default:
        text.append(byte)
        position += 1
      }
    }
    throw .unexpectedEnd
  }

  private mutating func escape() throws(JSONSyntaxError) -> [UInt8] {
    guard let byte = next else { throw .unexpectedEnd }
    let plain: [UInt8: UInt8] = [
      0x22: 0x22, 0x5c: 0x5c, 0x2f: 0x2f, 0x62: 0x08, 0x66: 0x0c, 0x6e: 0x0a, 0x72: 0x0d, 0x74: 0x09,
    ]
    if let value = plain[byte] {
      position += 1
      return [value]
    }
    try take(UInt8(ascii: "u"))
    var code = try hexadecimal()
    if (0xd800..<0xdc00).contains(code), bytes[position...].starts(with: Array("\\u".utf8)) {
      position += 2
      let low = try hexadecimal()
      code = (0xdc00..<0xe000).contains(low) ? 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00) : 0xfffd
    }
    return Array(String(Character(Unicode.Scalar(code) ?? "\u{FFFD}")).utf8)
  }

  private mutating func hexadecimal() throws(JSONSyntaxError) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw unexpected() }
      code = code << 4 + UInt32(digit)
      position += 1
    }
    return code
  }
}

extension JSONValue {
  /// JSON text over several lines, two spaces a level, as the recorded errors have it.
  var prettyText: String { prettyText(indentation: "") }

  private func prettyText(indentation: String) -> String {
    let inner = indentation + "  "
    switch self {
    case .object(let members) where !members.isEmpty:
      let lines = members.sorted { $0.key < $1.key }.map { key, value in
        "\(inner)\(JSONValue.string(key).text): \(value.prettyText(indentation: inner))"
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(indentation)}"
    case .array(let elements) where !elements.isEmpty:
      let lines = elements.map { inner + $0.prettyText(indentation: inner) }
      return "[\n\(lines.joined(separator: ",\n"))\n\(indentation)]"
    case .object, .array, .null, .bool, .integer, .number, .string: return text
    }
  }
}
