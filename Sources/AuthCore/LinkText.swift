/// Links as they come from a command line or a pasted mail.
public enum LinkText {
  /// Whether `text` is meant as a link: a scheme (RFC 3986 3.1), a colon and something after it; no file path
  /// (field report B079).
  public static func looksLikeLink(_ text: String) -> Bool {
    let bytes = trimmed(text).utf8
    guard let first = bytes.first, isLetter(first) else { return false }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
    guard bytes[..<colon].allSatisfy(isSchemeByte) else { return false }
    let rest = bytes[bytes.index(after: colon)...]
    return !rest.isEmpty
  }

  /// The lines of a mail put together again: a client has broken the link, and only the first part was clickable
  /// (field report B046). White space at the ends of lines goes; what stands inside a line stays.
  public static func joinLines(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { String(trimmed(String($0))) }.joined()
  }

  private static func trimmed(_ text: String) -> Substring {
    var text = Substring(text)
    while let first = text.first, first.isWhitespace || first == "<" || first == "\"" || first == "'" {
      text.removeFirst()
    }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return text
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: false
    }
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: isLetter(byte)
    }
  }
}
