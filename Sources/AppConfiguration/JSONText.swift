import AuthCore
import FoundationEssentials

/// JSON text (RFC 8259) to values and back.
enum JSONText {
  /// The value of the whole text.
  /// - Parameter relaxed: also what JavaScript allows besides (JSON5): comments, single quotes, bare keys, a comma at the
  ///   end.
  static func decode(_ bytes: some Collection<UInt8>, relaxed: Bool = false) throws(ConfigurationError) -> JSONValue {
    guard relaxed else {
      // Editors put a byte order mark in front.
      let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : Array(bytes)
      guard let value = JSONValue(json: text) else { throw .syntax("The text isn't JSON\(JSONFault.place(in: text)).") }
      return value
    }
    // What isn't UTF-8, the decoder reads as JSON, and as JSON5 it stops the program.
    guard String(validating: bytes, as: UTF8.self) != nil else { throw .syntax("The text isn't UTF-8.") }
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    do {
      return try decoder.decode(JSONValue.self, from: Data(bytes))
    } catch {
      throw .syntax("The text isn't JSON.")
    }
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
