/// `{"code":"auth/…","message":"…"}`, of which the code is wanted: a reader of JSON objects (RFC 8259) that goes through the
/// text once, without recursion.
struct FirebaseErrorText {
  private var rest: Bytes

  /// The value of the first `code` of the object in `text`, if it's a plain string of an error code's characters; nil
  /// otherwise, and for what isn't one whole object.
  static func code(_ text: String) -> String? {
    var reader = FirebaseErrorText(rest: Array(text.utf8)[...])
    guard let code = reader.object(), reader.isAtEnd else { return nil }
    let isCode = code.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "-/_".utf8.contains($0) }
    return isCode && (1...64).contains(code.count) ? code[...].ascii : nil
  }

  private mutating func object() -> [UInt8]? {
    guard take(UInt8(ascii: "{")) else { return nil }
    var code: [UInt8]?
    repeat {
      guard let key = string(), take(UInt8(ascii: ":")) else { return nil }
      let value = string()
      guard value != nil || skipValue() else { return nil }
      if code == nil, key.elementsEqual("code".utf8) { code = value }
    } while take(UInt8(ascii: ","))
    return take(UInt8(ascii: "}")) ? code : nil
  }

  /// A string's bytes, with the escapes of one character taken off; nil, and nothing read, where there's none.
  private mutating func string() -> [UInt8]? {
    let start = rest
    guard take(UInt8(ascii: "\"")) else { return nil }
    var out: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return out
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst() else { break }
        // Of the others, none can stand in an error code.
        let isItself = escaped == UInt8(ascii: "/") || escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
        out.append(isItself ? escaped : UInt8(ascii: "?"))
      default: out.append(byte)
      }
    }
    rest = start
    return nil
  }

  /// A number, a word, or an array or object with all it holds.
  private mutating func skipValue() -> Bool {
    var depth = 0
    let start = rest.count
    while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "\""): if string() == nil { return false }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        rest.removeFirst()
      case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
        if depth == 0 { return rest.count < start }
        if byte != UInt8(ascii: ",") { depth -= 1 }
        rest.removeFirst()
      default: rest.removeFirst()
      }
    }
    return false
  }

  private var isAtEnd: Bool { rest.allSatisfy(Self.isSpace) }

  private mutating func take(_ byte: UInt8) -> Bool {
    rest = rest.drop(while: Self.isSpace)
    guard rest.first == byte else { return false }
    rest.removeFirst()
    return true
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
