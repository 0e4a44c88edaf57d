/// What mail clients and clipboards put around a link is taken off (behaviour: Links 1); nothing inside is touched here.
enum LinkCleanup {
  /// The link inside `text`.
  static func clean(_ text: Bytes) -> Bytes {
    var bytes = text
    var length = -1
    while length != bytes.count {
      length = bytes.count
      trimStart(&bytes)
      trimEnd(&bytes)
    }
    return bytes
  }

  private static func trimStart(_ bytes: inout Bytes) {
    while let first = bytes.first {
      if isSpace(first) || isOpening(first) {
        bytes.removeFirst()
      } else if first >= 0x80, let mark = marks.first(where: { bytes.hasPrefix($0) }) {
        bytes.removeFirst(mark.utf8CodeUnitCount)
      } else {
        return
      }
    }
  }

  private static func trimEnd(_ bytes: inout Bytes) {
    while let last = bytes.last {
      if isSpace(last) || isClosing(last) {
        bytes.removeLast()
      } else if last >= 0x80, let mark = marks.first(where: { bytes.hasSuffix($0) }) {
        bytes.removeLast(mark.utf8CodeUnitCount)
      } else {
        return
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

  /// Never `-`, `_` or `=`: a code may end in them (field report B045).
  private static func isClosing(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "."), UInt8(ascii: ","),
      UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "!"), UInt8(ascii: "?"), UInt8(ascii: ")"):
      true
    default: false
    }
  }

  /// Invisible characters, and spaces, quotes and full stops beyond ASCII: never part of a URL (RFC 3986 2).
  private static let marks: [StaticString] = [
    "\u{feff}", "\u{200b}", "\u{200c}", "\u{200d}", "\u{200e}", "\u{200f}", "\u{2060}", "\u{a0}", "\u{3000}",
    "\u{2018}", "\u{2019}", "\u{201c}", "\u{201d}", "\u{201e}", "\u{ab}", "\u{bb}", "\u{2026}", "\u{3002}", "\u{ff0c}",
    "\u{ff08}", "\u{ff09}", "\u{300c}", "\u{300d}",
  ]
}
