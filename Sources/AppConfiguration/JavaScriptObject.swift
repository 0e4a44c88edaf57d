import AuthCore

/// Finds the `firebaseConfig` in JavaScript, or in HTML with JavaScript, as the console offers it to be copied.
/// Nothing is run: an object literal is cut out and read.
enum JavaScriptObject {
  /// The first object literal with an `apiKey`.
  /// - Throws: `syntax`.
  static func find(_ text: [UInt8]) throws(ConfigurationError) -> [String: JSONValue] {
    var damaged = 0
    for literal in literals(in: text) where contains(literal, "apiKey") {
      guard let object = JavaScriptLiteral.object(literal) else {
        damaged += 1
        // Nobody's file has many: looking at each would take long.
        if damaged == 16 { break }
        continue
      }
      if object["apiKey"] != nil { return object }
    }
    throw .syntax(
      damaged > 0
        ? "The firebaseConfig has values that aren't plain texts in quotes."
        : "There's no Firebase configuration in the file: an object with 'apiKey' and 'projectId'.")
  }

  /// A configuration has about 600 bytes.
  private static let maximumLength = 16 * 1024
  /// Objects inside each other: a configuration has one, and each byte is looked at so many times at most.
  private static let maximumHeight = 8

  private static func contains(_ text: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
    word.withUTF8Buffer { word in text.indices.contains { text[$0...].starts(with: word) } }
  }

  /// Every balanced `{…}` of a likely size and height, in the order of their beginnings.
  private static func literals(in text: [UInt8]) -> [ArraySlice<UInt8>] {
    var open: [(start: Int, height: Int)] = []
    var found: [(start: Int, end: Int)] = []
    var scanner = Scanner(text: text)
    while let (byte, index) = scanner.next() {
      if byte == UInt8(ascii: "{") {
        open.append((index, 1))
      } else if byte == UInt8(ascii: "}"), let (start, height) = open.popLast() {
        if index - start < maximumLength, height <= maximumHeight { found.append((start, index)) }
        if let outer = open.indices.last { open[outer].height = max(open[outer].height, height + 1) }
      }
    }
    return found.sorted { $0.start < $1.start }.map { text[$0.start...$0.end] }
  }

  /// The bytes outside of strings and comments.
  private struct Scanner {
    let text: [UInt8]
    private var index = 0

    init(text: [UInt8]) { self.text = text }

    mutating func next() -> (UInt8, Int)? {
      while index < text.count {
        let start = index
        switch text[start] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): skipString()
        case UInt8(ascii: "/") where following == UInt8(ascii: "/"): skip(past: "\n")
        case UInt8(ascii: "/") where following == UInt8(ascii: "*"):
          index += 2
          skip(past: "*/")
        case let byte:
          index += 1
          return (byte, start)
        }
      }
      return nil
    }

    private var following: UInt8? { index + 1 < text.count ? text[index + 1] : nil }

    /// An apostrophe in HTML text isn't the beginning of a string: in JavaScript none goes over the end of its line.
    private mutating func skipString() {
      let quote = text[index]
      index += 1
      while index < text.count, text[index] != quote {
        if text[index] == UInt8(ascii: "\n"), quote != UInt8(ascii: "`") { return }
        index += text[index] == UInt8(ascii: "\\") ? 2 : 1
      }
      index += 1
    }

    private mutating func skip(past end: String) {
      let end = Array(end.utf8)
      while index < text.count, !text[index...].starts(with: end) { index += 1 }
      index += end.count
    }
  }
}
