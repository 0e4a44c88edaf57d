import AuthCore

/// JSON text (RFC 8259) to values and back.
enum JSONText {
  /// The value of the whole text.
  static func decode(_ bytes: some Collection<UInt8>) throws(ConfigurationError) -> JSONValue {
    // Editors put a byte order mark in front.
    let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : Array(bytes)
    guard let value = JSONValue(json: text) else { throw .syntax("The text isn't JSON\(JSONFault.place(in: text)).") }
    return value
  }

  /// An object of a file.
  static func decodeObject(_ bytes: [UInt8]) throws(ConfigurationError) -> [String: JSONValue] {
    guard case .object(let members) = try decode(bytes) else { throw .syntax("The text isn't a JSON object.") }
    return members
  }

  /// An object as people edit it: a member a line, the known ones first and in the order of `order`; the elements of a
  /// list of objects on lines of their own; a line break at the end.
  static func pretty(_ members: [String: JSONValue], order: [String]) -> String {
    let known = order.filter { members[$0] != nil }
    let others = members.keys.filter { !order.contains($0) }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let lines = (known + others).map { key in "  \(JSONValue.string(key).text): \(text(members[key] ?? .null))" }
    return lines.isEmpty ? "{}\n" : "{\n\(lines.joined(separator: ",\n"))\n}\n"
  }

  private static func text(_ value: JSONValue) -> String {
    guard let elements = value.array, elements.contains(where: { $0.object != nil }) else { return value.text }
    return "[\n\(elements.map { "    \($0.text)" }.joined(separator: ",\n"))\n  ]"
  }
}
