import AuthCore
import FoundationEssentials

/// `GoogleService-Info.plist`, what the console gives for an Apple app; XML or binary.
enum PropertyList {
  /// Their keys, ours, and whether a file without it is of no use.
  private static let keys = [
    ("API_KEY", "api-key", true), ("PROJECT_ID", "project-id", true), ("GOOGLE_APP_ID", "app-id", false),
    ("CLIENT_ID", "client-id", false), ("BUNDLE_ID", "bundle-id", false),
  ]

  static func read(_ content: [UInt8]) throws(ConfigurationError) -> (members: [String: JSONValue], warnings: [String])
  {
    let file: [String: Property]
    do {
      file = try PropertyListDecoder().decode([String: Property].self, from: Data(content))
    } catch {
      throw .syntax("The property list can't be read.")
    }
    var members: [String: JSONValue] = [:]
    for (theirs, ours, isNeeded) in keys {
      guard let text = file[theirs]?.text, !text.isEmpty || !isNeeded else {
        if file[theirs] == nil, !isNeeded { continue }
        throw .key(theirs, expected: "a text")
      }
      if !text.isEmpty { members[ours] = .string(text) }
    }
    return (members, [restricted("iOS", "or set 'send-bundle-header' to true")])
  }

  /// A value of any type; only texts count.
  private struct Property: Decodable {
    let text: String?

    init(from decoder: any Decoder) throws { text = try? decoder.singleValueContainer().decode(String.self) }
  }

  /// Keys of phone apps are often restricted to them in the Google Cloud console; the file doesn't say.
  static func restricted(_ system: String, _ way: String) -> String {
    "If the API key is restricted to \(system) apps, Firebase refuses it here: use a key without that restriction, \(way)."
  }
}

/// `google-services.json`, what the console gives for an Android app. It may describe several.
enum GoogleServices {
  static func read(
    _ object: [String: JSONValue], package: String?
  ) throws(ConfigurationError) -> (members: [String: JSONValue], warnings: [String]) {
    guard let project = object["project_info"]?["project_id"]?.string, !project.isEmpty else {
      throw .key("project_info.project_id", expected: "the Firebase project's id")
    }
    guard let clients = object["client"]?.array, !clients.isEmpty else {
      throw .key("client", expected: "a list of apps")
    }
    let client = try choose(clients, package)
    guard let key = client["api_key"]?.array?.first?["current_key"]?.string else {
      throw .key("client.api_key", expected: "a list with a 'current_key'")
    }
    var members: [String: JSONValue] = ["api-key": .string(key)]
    members["project-id"] = .string(project)
    members["app-id"] = client["client_info"]?["mobilesdk_app_id"]
    // Their client ids can't be used from here: Android's belong to a signed package, the web's ask for a secret.
    return (members, [PropertyList.restricted("Android", "or take the project's web configuration")])
  }

  private static func choose(_ clients: [JSONValue], _ package: String?) throws(ConfigurationError) -> JSONValue {
    let names = clients.map(name)
    if let package {
      if let index = names.firstIndex(of: package) { return clients[index] }
    } else if clients.count == 1 {
      return clients[0]
    }
    let known = names.compactMap(\.self).joined(separator: ", ")
    throw .key("package", expected: "one of the apps in the file: \(known)")
  }

  private static func name(_ client: JSONValue) -> String? {
    client["client_info"]?["android_client_info"]?["package_name"]?.string
  }
}
