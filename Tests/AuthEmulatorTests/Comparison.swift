import AuthCore
import Foundation

/// Compares an answer with the recorded one, field by field. Of fields that vary from run to run the form is compared:
/// type, length, and what tokens and links hold besides ids, codes and times.
struct Comparison {
  let variable: Set<String>
  private(set) var differences: [String] = []

  init(variable: Set<String>) { self.variable = variable }

  mutating func compare(_ have: JSONValue?, with want: JSONValue?, at path: String = "", key: String = "body") {
    switch (have, want) {
    case (.object(let have), .object(let want)):
      for name in Set(have.keys).union(want.keys).sorted() {
        compare(have[name], with: want[name], at: "\(path)/\(name)", key: name)
      }
    case (.array(let have), .array(let want)) where have.count == want.count:
      for (index, pair) in zip(have, want).enumerated() {
        compare(pair.0, with: pair.1, at: "\(path)/\(index)", key: key)
      }
    case (.string(let have), .string(let want)) where variable.contains(key) || Token(refresh: want) != nil:
      if Self.form(have, key: key) != Self.form(want, key: key) { note(path, .string(have), .string(want)) }
    case (.string(let have), .string(let want)) where want.hasPrefix("{"):
      // JSON in a text: the order of members is free.
      if Self.json(have) != Self.json(want) { note(path, .string(have), .string(want)) }
    case (.integer, .integer) where variable.contains(key): break
    case (.bool, .bool) where variable.contains(key): break
    case (nil, .array), (nil, .object), (nil, .string), (nil, .integer), (nil, .number), (nil, .bool), (nil, .null):
      note(path, nil, want)
    default: if have != want { note(path, have, want) }
    }
  }

  mutating func note(_ path: String, _ have: JSONValue?, _ want: JSONValue?) {
    differences.append("\(path): \(have?.text ?? "nothing"), recorded \(want?.text ?? "nothing")")
  }

  private static func json(_ text: String) -> JSONValue? {
    try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
  }

  /// What must be the same about a value that varies.
  private static func form(_ text: String, key: String) -> String {
    if let token = Token(jwt: text) { return token.form }
    if let token = Token(refresh: text) { return token.form }
    let plain = text.replacing(#/http:\/\/127\.0\.0\.1:\d+/#, with: "ORIGIN").replacing(
      #/salt=[^:]+/#, with: "salt=SALT")
    let codeless = plain.replacing(#/oobCode=[A-Za-z0-9_-]{54}/#, with: "oobCode=CODE")
    if codeless != text { return codeless }
    switch key {
    case "oobCode", "sessionInfo", "sessionId", "temporaryProof", "code", "salt", "localId":
      return text.count > 5 ? "\(text.count) characters" : text
    default: return ""
    }
  }
}

/// A token's content, without what differs each time.
struct Token {
  let content: JSONValue

  init?(jwt text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let content = Self.decode(parts[1]), content.object != nil else { return nil }
    self.content = content
  }

  init?(refresh text: String) {
    guard let content = Self.decode(Substring(text)), content["_AuthEmulatorRefreshToken"] != nil else { return nil }
    self.content = content
  }

  static func decode(_ text: Substring) -> JSONValue? {
    var padded = String(text).replacing("-", with: "+").replacing("_", with: "/")
    padded += String(repeating: "=", count: (4 - padded.count % 4) % 4)
    return Data(base64Encoded: padded).flatMap { try? JSONDecoder().decode(JSONValue.self, from: $0) }
  }

  var issuedAt: Int64? { content["iat"]?.integer }

  var form: String {
    var members = content.object ?? [:]
    let life = (members["exp"]?.integer ?? 0) - (members["iat"]?.integer ?? 0)
    let isConsistent = members["sub"] == members["user_id"]
    for name in ["iat", "exp", "auth_time", "sub", "user_id", "localId"] where members[name] != nil {
      members[name] = "…"
    }
    for (parent, name) in [("firebase", "second_factor_identifier"), ("secondFactor", "identifier")] {
      guard let id = members[parent]?[name]?.string, let holder = members[parent] else { continue }
      members[parent] = holder.setting(.string("\(id.count) characters"), at: [Substring(name)])
    }
    return "\(JSONValue.object(members).text) life \(life) \(isConsistent)"
  }
}
