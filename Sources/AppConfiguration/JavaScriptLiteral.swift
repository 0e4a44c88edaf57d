import AuthCore

/// An object literal of JavaScript as JSON: comments go, bare keys and single quotes become texts in double quotes, a comma at
/// the end goes. What would have to be computed isn't taken.
///
/// FoundationEssentials reads JSON5, but stops the program at some that is none (`0x0x1F`, a bare key that isn't UTF-8).
struct JavaScriptLiteral {
  private let text: [UInt8]
  private var position = 0
  private var json: [UInt8] = []

  private init(_ text: [UInt8]) { self.text = text }

  /// The object that `literal` is; nil where a value would have to be computed, and for what is no literal.
  static func object(_ literal: some Collection<UInt8>) -> [String: JSONValue]? {
    var reader = JavaScriptLiteral(Array(literal))
    while reader.position < reader.text.count {
      guard reader.step() else { return nil }
    }
    return JSONValue(json: reader.json)?.object
  }

  /// Takes one token over. False for one that isn't known.
  private mutating func step() -> Bool {
    switch text[position] {
    case 0x20, 0x09, 0x0a, 0x0d: position += 1
    case UInt8(ascii: "/"): return skipComment()
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      if json.last == UInt8(ascii: ",") { json.removeLast() }
      take()
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: ","): take()
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): return string()
    case let byte where Self.isWord(byte): word()
    default: return false
    }
    return true
  }

  private mutating func take() {
    json.append(text[position])
    position += 1
  }

  private func at(_ index: Int) -> UInt8? { text.indices.contains(index) ? text[index] : nil }

  private mutating func skipComment() -> Bool {
    let (isLine, isBlock) = (at(position + 1) == UInt8(ascii: "/"), at(position + 1) == UInt8(ascii: "*"))
    guard isLine || isBlock else { return false }
    position += 2
    while let byte = at(position) {
      position += 1
      if isLine, byte == 0x0a { return true }
      if isBlock, byte == UInt8(ascii: "*"), at(position) == UInt8(ascii: "/") {
        position += 1
        return true
      }
    }
    return isLine
  }

  /// A number and the words of JSON stay as they are, and are judged with the whole; before a colon a word is a key.
  private mutating func word() {
    let start = position
    while let byte = at(position), Self.isWord(byte) { position += 1 }
    let word = text[start..<position]
    var next = position
    while let byte = at(next), byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { next += 1 }
    let isKey = at(next) == UInt8(ascii: ":") && json.last != UInt8(ascii: ":")
    json += isKey ? [UInt8(ascii: "\"")] + word + [UInt8(ascii: "\"")] : Array(word)
  }

  /// ASCII's part of ECMAScript's IdentifierName, and what numbers are made of.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "."),
      UInt8(ascii: "-"), UInt8(ascii: "+"):
      true
    default: false
    }
  }

  /// A text in any quotes. A template with a substitution would have to be computed.
  private mutating func string() -> Bool {
    let quote = text[position]
    position += 1
    json.append(UInt8(ascii: "\""))
    while let byte = at(position), byte != quote {
      switch byte {
      case UInt8(ascii: "\\"): guard escape() else { return false }
      case UInt8(ascii: "$") where quote == UInt8(ascii: "`") && at(position + 1) == UInt8(ascii: "{"): return false
      case 0x0a, 0x0d:
        guard quote == UInt8(ascii: "`") else { return false }
        json += Array("\\n".utf8)
        position += 1
      case UInt8(ascii: "\""):
        json += Array("\\\"".utf8)
        position += 1
      default: take()
      }
    }
    guard at(position) == quote else { return false }
    position += 1
    json.append(UInt8(ascii: "\""))
    return true
  }

  /// JSON's escapes, and the quotes that JSON needn't escape. Others are in no configuration.
  private mutating func escape() -> Bool {
    guard let byte = at(position + 1) else { return false }
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "`"): json.append(byte)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "u"):
      json += [UInt8(ascii: "\\"), byte]
    default: return false
    }
    position += 2
    return true
  }
}
