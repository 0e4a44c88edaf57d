import AuthCore

/// The members of a JSON object, read by key with an error that says where and what. `null` counts as absent.
struct Members {
  let values: [String: JSONValue]
  /// Path of the object, with a dot at its end unless it's the whole file: `options.`
  let path: String

  init(_ values: [String: JSONValue], path: String = "") {
    self.values = values
    self.path = path
  }

  func string(
    _ key: String, _ expected: String = "a text", where accepts: (String) -> Bool = { !$0.isEmpty }
  ) throws(ConfigurationError) -> String? {
    guard let value = present(key) else { return nil }
    guard let text = value.string, accepts(text) else { throw error(key, expected) }
    return text
  }

  func required(
    _ key: String, _ expected: String, where accepts: (String) -> Bool
  ) throws(ConfigurationError) -> String {
    guard let text = try string(key, expected, where: accepts) else { throw error(key, expected) }
    return text
  }

  func bool(_ key: String) throws(ConfigurationError) -> Bool? {
    guard let value = present(key) else { return nil }
    guard let flag = value.bool else { throw error(key, "true or false") }
    return flag
  }

  func port(_ key: String) throws(ConfigurationError) -> UInt16? {
    guard let value = present(key) else { return nil }
    guard let number = value.integer, let port = UInt16(exactly: number) else {
      throw error(key, "a port, 0 to 65535")
    }
    return port
  }

  /// - Parameter expected: what one element is.
  func strings(
    _ key: String, _ expected: String, where accepts: (String) -> Bool = { !$0.isEmpty }
  ) throws(ConfigurationError) -> [String]? {
    guard let value = present(key) else { return nil }
    guard let elements = value.array else { throw error(key, "a list, each element \(expected)") }
    var texts: [String] = []
    for (index, element) in elements.enumerated() {
      guard let text = element.string, accepts(text) else { throw error("\(key)[\(index)]", expected) }
      texts.append(text)
    }
    return texts
  }

  func object(_ key: String) throws(ConfigurationError) -> Members? {
    guard let value = present(key) else { return nil }
    guard let members = value.object else { throw error(key, "an object") }
    return Members(members, path: "\(path)\(key).")
  }

  func has(_ key: String) -> Bool { present(key) != nil }

  /// The keys that nobody knows, in order, with what was perhaps meant.
  func doubts(known: [String]) -> [KeyDoubt] {
    values.keys.filter { !known.contains($0) }.sorted().map { key in
      if path.isEmpty, AppKeys.options.contains(key) {
        return KeyDoubt(key: key, text: "The key '\(key)' belongs in 'options'; it has no effect here.")
      }
      let guess = Spelling.nearest(to: key, of: known).map { " Did you mean '\($0)'?" } ?? ""
      return KeyDoubt(
        key: path + key, text: "linkd doesn't know the key '\(path)\(key)'; it's kept as it is.\(guess)")
    }
  }

  func error(_ key: String, _ expected: String) -> ConfigurationError { .key(path + key, expected: expected) }

  private func present(_ key: String) -> JSONValue? {
    guard let value = values[key], value != .null else { return nil }
    return value
  }
}

/// A key that means nothing where it stands.
struct KeyDoubt: Sendable, Hashable {
  /// Its path: `providers[0].clientId`.
  let key: String
  /// For the person.
  let text: String
}
