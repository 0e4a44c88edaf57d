/// A `mimeapps.list` (MIME applications associations specification 1.0) in which single values are changed and every
/// other byte stays: comments, order, foreign groups, line ends.
struct MimeAppsList {
  /// Groups that say which program opens what.
  enum Group: String {
    case defaults = "Default Applications"
    case added = "Added Associations"
    case removed = "Removed Associations"
    /// Of `mimeinfo.cache`.
    case cache = "MIME Cache"
  }

  /// With their line ends.
  private var lines: [ArraySlice<UInt8>]

  init(_ bytes: [UInt8]) {
    lines = []
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.endIndex
      lines.append(bytes[start..<end])
      start = end
    }
  }

  /// The whole file.
  var bytes: [UInt8] { Array(lines.joined()) }

  // MARK: Reading

  /// What stands for a type, with the number of its line, counted from 1. Of several lines the last one counts, as it does
  /// for GLib.
  func entry(_ type: String, in group: Group) -> (programs: [String], line: Int)? {
    guard let index = indices(of: type, in: group).last else { return nil }
    return (Self.programs(lines[index]), index + 1)
  }

  // MARK: Changing

  /// Puts a program before the others that are the default for a type.
  mutating func setDefault(_ program: String, for type: String) {
    let found = indices(of: type, in: .defaults)
    for index in found {
      let others = Self.programs(lines[index]).filter { $0 != program }
      lines[index] = Self.line(type, [program] + others, end: Self.lineEnd(lines[index]))
    }
    if found.isEmpty { insert(Self.line(type, [program], end: "\n")) }
  }

  /// Takes a program away from the defaults for a type; the line goes where it was the only one.
  mutating func removeDefault(_ program: String, for type: String) {
    for index in indices(of: type, in: .defaults).reversed() {
      let programs = Self.programs(lines[index])
      guard programs.contains(program) else { continue }
      let others = programs.filter { $0 != program }
      if others.isEmpty {
        lines.remove(at: index)
      } else {
        lines[index] = Self.line(type, others, end: Self.lineEnd(lines[index]))
      }
    }
  }

  /// At the end of the group, before the empty lines there; a group that isn't there is added.
  private mutating func insert(_ line: ArraySlice<UInt8>) {
    guard let header = lines.indices.first(where: { Self.header(lines[$0]) == Group.defaults.rawValue }) else {
      endLastLine()
      if !lines.isEmpty { lines.append(ArraySlice("\n".utf8)) }
      lines += [ArraySlice("[\(Group.defaults.rawValue)]\n".utf8), line]
      return
    }
    var end = lines[(header + 1)...].firstIndex { Self.header($0) != nil } ?? lines.endIndex
    while end > header + 1, Self.text(lines[end - 1]).isEmpty { end -= 1 }
    if end == lines.endIndex { endLastLine() }
    lines.insert(line, at: end)
  }

  private mutating func endLastLine() {
    guard let last = lines.last, last.last != UInt8(ascii: "\n") else { return }
    lines[lines.count - 1] = last + [UInt8(ascii: "\n")]
  }

  // MARK: Lines

  private func indices(of type: String, in group: Group) -> [Int] {
    var current: String?
    return lines.indices.filter { index in
      if let header = Self.header(lines[index]) { current = header }
      return current == group.rawValue && Self.key(lines[index]) == type
    }
  }

  private static func text(_ line: ArraySlice<UInt8>) -> Substring {
    var text = Substring(String(decoding: line, as: UTF8.self))
    while text.last?.isWhitespace == true { text.removeLast() }
    while text.first?.isWhitespace == true { text.removeFirst() }
    return text
  }

  private static func header(_ line: ArraySlice<UInt8>) -> String? {
    let text = text(line)
    return text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : nil
  }

  private static func key(_ line: ArraySlice<UInt8>) -> String? {
    let text = text(line)
    guard !text.hasPrefix("#"), let equals = text.firstIndex(of: "=") else { return nil }
    return String(text[..<equals].reversed().drop(while: \.isWhitespace).reversed())
  }

  private static func programs(_ line: ArraySlice<UInt8>) -> [String] {
    let text = text(line)
    guard let equals = text.firstIndex(of: "=") else { return [] }
    return text[text.index(after: equals)...].split(separator: ";").map { String(Self.text(ArraySlice($0.utf8))) }
      .filter { !$0.isEmpty }
  }

  private static func line(_ type: String, _ programs: [String], end: String) -> ArraySlice<UInt8> {
    ArraySlice("\(type)=\(programs.map { "\($0);" }.joined())\(end)".utf8)
  }

  private static func lineEnd(_ line: ArraySlice<UInt8>) -> String {
    guard line.last == UInt8(ascii: "\n") else { return "" }
    return line.dropLast().last == UInt8(ascii: "\r") ? "\r\n" : "\n"
  }
}
