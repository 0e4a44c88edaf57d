/// Where a text stops being JSON. The decoder doesn't say, and who edits a file by hand wants to know.
struct JSONFault {
  private let text: [UInt8]
  private var index = 0
  private static let maximumDepth = 256

  /// ` (line 3, column 5)`, or nothing where no fault is found.
  static func place(in text: some Collection<UInt8>) -> String {
    var scan = JSONFault(text: Array(text))
    if scan.value(depth: 0), scan.isAtEnd { return "" }
    let before = scan.text.prefix(scan.index)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let column = String(decoding: before[start...], as: UTF8.self).count + 1
    return " (line \(line), column \(column))"
  }

  private init(text: [UInt8]) { self.text = text }

  /// Goes over one value and the white space around it; false at the first byte that can't be.
  private mutating func value(depth: Int) -> Bool {
    skipSpace()
    guard depth < Self.maximumDepth, let byte = peek else { return false }
    let isValue =
      switch byte {
      case UInt8(ascii: "{"): list(close: "}", depth) { $0.string() && $0.take(":") && $0.value(depth: depth + 1) }
      case UInt8(ascii: "["): list(close: "]", depth) { $0.value(depth: depth + 1) }
      case UInt8(ascii: "\""): string()
      default: word()
      }
    skipSpace()
    return isValue
  }

  private mutating func list(close: Character, _ depth: Int, _ element: (inout Self) -> Bool) -> Bool {
    index += 1
    if take(close) { return true }
    repeat {
      skipSpace()
      guard element(&self) else { return false }
    } while take(",")
    return take(close)
  }

  private mutating func string() -> Bool {
    guard peek == UInt8(ascii: "\"") else { return false }
    var end = index + 1
    while end < text.count, text[end] != UInt8(ascii: "\""), text[end] >= 0x20 {
      end += text[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard end < text.count, text[end] == UInt8(ascii: "\"") else { return false }
    index = end + 1
    return true
  }

  /// A number, true, false or null.
  private mutating func word() -> Bool {
    let end = text[index...].firstIndex { !(Checks.isLetter($0) || Checks.isDigit($0) || "+-.".utf8.contains($0)) }
    let word = String(decoding: text[index..<(end ?? text.count)], as: UTF8.self)
    guard ["true", "false", "null"].contains(word) || (Double(word) != nil && !word.hasPrefix("+")) else {
      return false
    }
    index += word.utf8.count
    return true
  }

  private mutating func take(_ character: Character) -> Bool {
    skipSpace()
    guard let peek, peek == character.asciiValue else { return false }
    index += 1
    return true
  }

  private mutating func skipSpace() { while peek?.isWhiteSpace == true { index += 1 } }

  private var peek: UInt8? { index < text.count ? text[index] : nil }
  private var isAtEnd: Bool { index == text.count }
}
