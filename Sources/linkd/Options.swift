import AuthCore
import DBus

/// The `a{sv} options` at the end of a call: unknown keys are ignored, a known key of the wrong type is `InvalidArgs`
/// naming it.
struct Options {
  /// Bytes of a text: much of this goes into rows, requests and links.
  private static let textLimit = 32 * 1024
  private static let listLimit = 8 * 1024
  private let values: [String: DBusValue]
  private var kind = "option"

  /// No options.
  init() { values = [:] }

  /// A dictionary that isn't the options, and what its members are called in errors.
  init(_ value: DBusValue, called kind: String) {
    values = value.asDict ?? [:]
    self.kind = kind
  }

  /// The last argument of a call. Its signature has been checked.
  ///
  /// - Throws: `InvalidArgs` for an option that every method knows, if it has another type, whether it's used or not.
  init(_ call: MethodCall) throws(DBusError) {
    values = call.arguments.last?.asDict ?? [:]
    for key in values.keys {
      switch key {
      case "locale", "purpose", "parent-window", "activation-token", "handle-token": _ = try string(key)
      case "open-browser", "start-page", "opens-here": _ = try bool(key)
      case "emulator":
        guard let text = try string(key), !text.isEmpty, EmulatorAddress(text) == nil else { continue }
        throw .invalidArgs("The option 'emulator' must be HOST:PORT, such as '127.0.0.1:9099'.")
      default: continue
      }
    }
  }

  func string(_ key: String) throws(DBusError) -> String? {
    let text = try read(key, "a string (s)", \.asString)
    guard text?.utf8.count ?? 0 <= Self.textLimit else {
      throw .invalidArgs("The \(kind) '\(key)' must have at most \(Self.textLimit) bytes.")
    }
    return text
  }
  func bool(_ key: String) throws(DBusError) -> Bool? { try read(key, "a boolean (b)", \.asBool) }
  func strings(_ key: String) throws(DBusError) -> [String]? {
    let texts = try read(key, "a list of strings (as)", \.asStrings)
    try checkTotal(key, texts ?? [])
    return texts
  }

  /// Lists become parts of a URL, which a command line must hold.
  private func checkTotal(_ key: String, _ texts: [String]) throws(DBusError) {
    guard texts.reduce(0, { $0 + $1.utf8.count + 1 }) <= Self.listLimit else {
      throw .invalidArgs("The \(kind) '\(key)' must have at most \(Self.listLimit) bytes in all.")
    }
  }

  /// A dictionary of texts (a{ss}).
  func texts(_ key: String) throws(DBusError) -> [String: String]? {
    guard let value = values[key] else { return nil }
    var texts: [String: String] = [:]
    for entry in value.asEntries ?? [] {
      guard case .string(let name) = entry.key, case .string(let text) = entry.value else { continue }
      texts[name] = text
    }
    guard case .dictionary(.string, .string, let entries) = value, entries.count == texts.count else {
      throw .invalidArgs("The \(kind) '\(key)' must be texts by name (a{ss}).")
    }
    try checkTotal(key, texts.map { $0.key + $0.value })
    return texts
  }

  func uint32(_ key: String) throws(DBusError) -> UInt32? { try read(key, "a number (u)", \.asUInt32) }

  private func read<T>(
    _ key: String, _ expected: String, _ type: KeyPath<DBusValue, T?>
  ) throws(DBusError) -> T? {
    guard let value = values[key] else { return nil }
    guard let typed = value[keyPath: type] else {
      throw .invalidArgs("The \(kind) '\(key)' must be \(expected).")
    }
    return typed
  }

  /// All of them as JSON: `AddApp` takes the keys of the app's file.
  var json: [String: JSONValue] { values.compactMapValues(Self.json) }

  private static func json(_ value: DBusValue) -> JSONValue? {
    if let text = value.asString { return .string(text) }
    if let flag = value.asBool { return .bool(flag) }
    if let list = value.asStrings { return .array(list.map(JSONValue.string)) }
    if let number = value.asInteger { return .integer(number) }
    if let members = value.asDict { return .object(members.compactMapValues(json)) }
    return value.asArray.map { .array($0.compactMap(json)) }
  }
}
