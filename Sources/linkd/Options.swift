import AuthCore
import DBus

/// The `a{sv} options` at the end of a call: unknown keys are ignored, a known key of the wrong type is `InvalidArgs`
/// naming it.
struct Options {
  private let values: [String: DBusValue]

  /// The last argument of a call. Its signature has been checked.
  init(_ value: DBusValue?) { values = value?.asDict ?? [:] }

  func string(_ key: String) throws(DBusError) -> String? { try read(key, "a string (s)", \.asString) }
  func bool(_ key: String) throws(DBusError) -> Bool? { try read(key, "a boolean (b)", \.asBool) }
  func uint32(_ key: String) throws(DBusError) -> UInt32? { try read(key, "a number (u)", \.asUInt32) }

  private func read<T>(
    _ key: String, _ expected: String, _ type: KeyPath<DBusValue, T?>
  ) throws(DBusError) -> T? {
    guard let value = values[key] else { return nil }
    guard let typed = value[keyPath: type] else {
      throw .invalidArgs("The option '\(key)' must be \(expected).")
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
