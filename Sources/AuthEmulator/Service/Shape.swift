import AuthCore

/// What a field of a request has to look like. Fields without a shape are unknown and dropped.
indirect enum Shape: Sendable {
  case text
  case truth
  case number
  /// One of these words, or its index.
  case word([String])
  case list(Shape)
  case record([String: Shape])
  case anything

  /// The body of a request: an object with these fields.
  static func fields(
    texts: [String] = [], truths: [String] = [], others: [String: Shape] = [:]
  ) -> [String: Shape] {
    others.merging(texts.map { ($0, .text) } + truths.map { ($0, .truth) }) { first, _ in first }
  }

  /// The value as handlers get it: camelCase keys, known fields, numbers as texts, words for indices.
  /// - Parameter path: where the value stands, for the error: empty, or `/name`.
  func admit(_ value: JSONValue, path: String = "") throws(APIError) -> JSONValue {
    switch (self, value) {
    case (.text, .string), (.truth, .bool), (.number, .integer), (.number, .number), (.anything, _): return value
    case (.text, .integer), (.text, .number): return .string(value.text)
    case (.text, _): throw .invalidPayload("\(path) must be string")
    case (.truth, _): throw .invalidPayload("\(path) must be boolean")
    case (.number, .string(let text)):
      guard let number = Int64(text) else { throw .invalidPayload("\(path) must be integer") }
      return .integer(number)
    case (.number, _): throw .invalidPayload("\(path) must be integer")
    case (.word(let words), _): return try Self.word(value, of: words, path: path)
    case (.list(let element), .array(let elements)):
      var admitted: [JSONValue] = []
      for (index, value) in elements.enumerated() {
        admitted.append(try element.admit(value, path: "\(path)/\(index)"))
      }
      return .array(admitted)
    case (.list, _): throw .invalidPayload("\(path) must be array")
    case (.record(let fields), .object(let members)):
      var admitted: [String: JSONValue] = [:]
      for (key, value) in members {
        let name = Self.camelCase(key)
        if let shape = fields[name] { admitted[name] = try shape.admit(value, path: "\(path)/\(name)") }
      }
      return .object(admitted)
    case (.record, _): throw .invalidPayload("\(path) must be object")
    }
  }

  private static func word(_ value: JSONValue, of words: [String], path: String) throws(APIError) -> JSONValue {
    if let text = value.string, words.contains(text) { return value }
    if let index = value.integer, words.indices.contains(Int(clamping: index)) { return .string(words[Int(index)]) }
    throw .invalidPayload("\(path) must be equal to one of the allowed values")
  }

  /// `return_secure_token` and `returnSecureToken` are the same field.
  static func camelCase(_ name: String) -> String {
    let parts = name.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count > 1, !parts.contains(where: \.isEmpty) else { return name }
    return String(parts[0]) + parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}
