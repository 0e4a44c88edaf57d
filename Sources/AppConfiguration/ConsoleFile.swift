public import AuthCore

/// What the Firebase console gives for an app: a web configuration as JSON or JavaScript, `google-services.json`, or
/// `GoogleService-Info.plist`; an app file of linkd's own as well (cli-and-config: Files).
public enum ConsoleFile {
  /// Makes an app's file of it.
  /// - Parameters:
  ///   - content: the file; its form is told from its content.
  ///   - name: its name, for the error texts.
  ///   - overrides: keys of the app's file, which win; `options` is merged by key; an element of `providers` may be
  ///     JSON text; `package` picks the client of `google-services.json`. Other keys are ignored.
  /// - Throws: `syntax` for what is none of these; `key`.
  public static func read(
    _ content: [UInt8], named name: String, overrides: [String: JSONValue]
  ) throws(ConfigurationError) -> AppFile {
    guard content.count <= WholeFile.limit else { throw .file(name, "larger than 1 MiB") }
    var (members, warnings) = try recognise(content, named: name, package: overrides["package"]?.string)
    for key in AppKeys.order {
      guard let value = overrides[key] else { continue }
      switch key {
      case "options":
        let merged = (members[key]?.object ?? [:]).merging(value.object ?? [:]) { $1 }
        members[key] = value.object == nil ? value : .object(merged)
      case "providers": members[key] = try providers(value)
      default: members[key] = value
      }
    }
    try complete(&members)
    return try AppFile(members, warnings: warnings)
  }

  private typealias Recognised = (members: [String: JSONValue], warnings: [String])

  private static func recognise(
    _ content: [UInt8], named name: String, package: String?
  ) throws(ConfigurationError) -> Recognised {
    if content.starts(with: Array("bplist".utf8)) || contains(content, "<plist") {
      return try PropertyList.read(content)
    }
    if content.first(where: { !$0.isWhiteSpace }) == UInt8(ascii: "{"),
      let object = try? JSONText.decode(content).object
    {
      return try recognise(object, named: name, package: package)
    }
    let object = try JavaScriptObject.find(content)
    return (try web(object), [])
  }

  private static func recognise(
    _ object: [String: JSONValue], named name: String, package: String?
  ) throws(ConfigurationError) -> Recognised {
    if object["project_info"] != nil { return try GoogleServices.read(object, package: package) }
    if object["apiKey"] != nil { return (try web(object), []) }
    // `firebase apps:sdkconfig --json`.
    if let inner = object["result"]?["sdkConfig"]?.object { return (try web(inner), []) }
    if object["api-key"] != nil { return (object, []) }
    throw .syntax("\(name) is none of the files that the Firebase console gives.")
  }

  /// The keys of a web `firebaseConfig`; those of other Firebase products are left out.
  private static func web(_ object: [String: JSONValue]) throws(ConfigurationError) -> [String: JSONValue] {
    let keys = [
      ("apiKey", "api-key"), ("authDomain", "auth-domain"), ("projectId", "project-id"), ("appId", "app-id"),
    ]
    var members: [String: JSONValue] = [:]
    for (theirs, ours) in keys {
      guard let value = object[theirs], value != .null else { continue }
      guard let text = value.string else { throw .key(theirs, expected: "a text in quotes") }
      if !text.isEmpty { members[ours] = .string(text) }
    }
    return members
  }

  // MARK: Completing

  /// What every app's file has, from the project where the console's file has none.
  private static func complete(_ members: inout [String: JSONValue]) throws(ConfigurationError) {
    guard let project = members["project-id"]?.string, !project.isEmpty else {
      throw .key("project-id", expected: "the Firebase project's id")
    }
    if members["id"] == nil { members["id"] = appID(from: project).map { .string($0) } }
    if members["auth-domain"] == nil { members["auth-domain"] = .string("\(project).firebaseapp.com") }
  }

  /// A project's id as an app's: other characters than letters and digits become `-`.
  static func appID(from project: String) -> String? {
    var id = ""
    for byte in project.lowercased().utf8 {
      id += Checks.isLower(byte) || Checks.isDigit(byte) ? String(Unicode.Scalar(byte)) : "-"
    }
    let start = id.drop { !$0.isLetter }
    var valid = start.prefix(63)
    while valid.hasSuffix("-") { valid.removeLast() }
    return AppID(String(valid))?.value
  }

  private static func providers(_ value: JSONValue) throws(ConfigurationError) -> JSONValue {
    guard let elements = value.array else { return value }
    var entries: [JSONValue] = []
    for (index, element) in elements.enumerated() {
      guard case .string(let text) = element else {
        entries.append(element)
        continue
      }
      guard let entry = try? JSONText.decode(text.utf8) else {
        throw .key("providers[\(index)]", expected: "JSON")
      }
      if entry.array?.isEmpty == true {
        throw .key("providers[\(index)]", expected: "an object with an 'id', or a list of such")
      }
      if let list = entry.array { entries += list } else { entries.append(entry) }
    }
    return .array(entries)
  }

  private static func contains(_ content: [UInt8], _ word: String) -> Bool {
    let word = Array(word.utf8)
    let head = content.prefix(2048)
    return head.indices.contains { head[$0...].starts(with: word) }
  }
}

extension UInt8 {
  /// Space, tab, line feed, carriage return; the bytes of a UTF-8 byte order mark too, which editors put in front.
  var isWhiteSpace: Bool { [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].contains(self) }
}
