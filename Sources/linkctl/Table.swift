import AuthCore
import Glibc

/// Keys and values in two columns, for a person: no raw times, no JSON, nothing without a value. Scripts take `--json`.
enum Table {
  static func print(_ members: [(key: String, value: JSONValue?)], _ output: Output) {
    let rows = members.compactMap { member in
      member.value.flatMap { text(member.key, $0) }.map { (key: member.key, text: $0) }
    }
    let width = rows.map(\.key.count).max() ?? 0
    for row in rows {
      output.line(row.key + String(repeating: " ", count: width - row.key.count + 2) + Output.printable(row.text))
    }
  }

  /// Who a user is: the address, else the number, else the id.
  static func person(_ user: JSONValue) -> String? {
    user["email"]?.string.filled ?? user["phone-number"]?.string.filled ?? user["uid"]?.string
  }

  /// The same, and whether it's a guest.
  static func name(_ user: JSONValue) -> String? {
    guard let name = person(user) else { return nil }
    return user["is-anonymous"]?.bool == true ? "\(name) (guest)" : name
  }

  private static func text(_ key: String, _ value: JSONValue) -> String? {
    switch value {
    case .integer(let seconds) where key.hasSuffix("-at"): return time(seconds) ?? value.text
    case .string(let text): return text.isEmpty ? nil : text
    case .array(let elements):
      return elements.isEmpty ? nil : elements.map { element(key, $0) }.joined(separator: ", ")
    case .object(let members):
      return members.isEmpty ? nil : element(key, value)
    case .null: return nil
    case .bool, .integer, .number: return value.text
    }
  }

  /// One of several: a user, a provider or a factor by its name.
  private static func element(_ key: String, _ value: JSONValue) -> String {
    if key == "second-factors" { return factor(value) }
    return value.string ?? (key == "user" ? name(value) : nil) ?? value["provider-id"]?.string ?? value["id"]?.string
      ?? value["display-name"]?.string ?? value.text
  }

  /// `Work (phone +*******1234)`.
  static func factor(_ value: JSONValue) -> String {
    let what = [value["kind"]?.string, value["phone-number"]?.string].compactMap(\.filled).joined(separator: " ")
    return value["display-name"]?.string.filled.map { "\($0) (\(what))" } ?? what
  }

  /// Seconds since 1970 in the person's own time zone.
  static func time(_ seconds: Int64) -> String? {
    var moment = time_t(seconds)
    var parts = tm()
    guard localtime_r(&moment, &parts) != nil else { return nil }
    var buffer = [CChar](repeating: 0, count: 64)
    let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S %z", &parts)
    return count > 0 ? String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }
}
