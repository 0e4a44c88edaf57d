/// Links as they come from a command line or a pasted mail.
public enum LinkText {
  /// Whether `text` is meant as a link: a scheme (RFC 3986 3.1), a colon and something after it, whatever a mail client put
  /// in front; no file path and no option (field report B079). Whether it can be used, the parser says.
  public static func looksLikeLink(_ text: String) -> Bool {
    let bytes = trimmed(text) { scalar in
      // What the parser takes off: quotes of every kind, and what can't be seen.
      scalar.isASCII ? "<(\"'".unicodeScalars.contains(scalar) : !scalar.properties.isAlphabetic
    }.utf8
    guard let first = bytes.first, isLetter(first) else { return false }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
    guard bytes[..<colon].allSatisfy(isSchemeByte) else { return false }
    let rest = bytes[bytes.index(after: colon)...]
    return !rest.isEmpty
  }

  /// The lines of a mail put together again: a client has broken the link, and only the first part was clickable
  /// (field report B046). White space at the ends of lines goes; what stands inside a line stays.
  public static func joinLines(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { trimmed(String($0)) { _ in false } }.joined()
  }

  /// Without white space at the ends, and without what is opening at the beginning.
  private static func trimmed(_ text: String, _ isOpening: (Unicode.Scalar) -> Bool) -> Substring {
    var scalars = text.unicodeScalars[...]
    while let first = scalars.first, first.properties.isWhitespace || isOpening(first) { scalars.removeFirst() }
    while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
    return Substring(scalars)
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
