/// What mail clients and clipboards put around a link is taken off (behaviour: Links 1); inside nothing is touched but
/// `&amp;` for `&`.
enum LinkCleanup {
  /// The link inside `text`.
  static func clean(_ text: [UInt8]) -> Bytes {
    var bytes = text[...]
    trimOutside(&bytes)
    while let last = bytes.last, isTrailingPunctuation(last) { bytes.removeLast() }
    trimOutside(&bytes)
    return repaired(bytes)
  }

  private static func trimOutside(_ bytes: inout Bytes) {
    var length = -1
    while length != bytes.count {
      length = bytes.count
      while let first = bytes.first, isSpace(first) || isOpening(first) { bytes.removeFirst() }
      while let last = bytes.last, isSpace(last) || isClosing(last) { bytes.removeLast() }
      // Byte order mark, zero-width space and joiners, no-break space.
      for mark: StaticString in ["\u{feff}", "\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{a0}"] {
        while bytes.hasPrefix(mark) { bytes.removeFirst(mark.utf8CodeUnitCount) }
        while bytes.hasSuffix(mark) { bytes.removeLast(mark.utf8CodeUnitCount) }
      }
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

  private static func isOpening(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "("): true
    default: false
    }
  }

  private static func isClosing(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
    default: false
    }
  }

  /// Never `-`, `_` or `=`: a code may end in them (field report B045).
  private static func isTrailingPunctuation(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "!"),
      UInt8(ascii: "?"), UInt8(ascii: ")"):
      true
    default: false
    }
  }

  /// `&amp;` between parameters is an `&` that a mail program left in the href (field report B047).
  private static func repaired(_ bytes: Bytes) -> Bytes {
    guard bytes.firstRange(of: "&amp;") != nil else { return bytes }
    var out: [UInt8] = []
    var rest = bytes
    while let range = rest.firstRange(of: "&amp;") {
      out += rest[..<range.lowerBound]
      out.append(UInt8(ascii: "&"))
      rest = rest[range.upperBound...]
    }
    out += rest
    return out[...]
  }
}
