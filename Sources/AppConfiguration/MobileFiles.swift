import AuthCore
import FoundationEssentials

/// `GoogleService-Info.plist`, what the console gives for an Apple app; XML or binary.
enum PropertyList {
  private struct Content: Decodable {
    let API_KEY: String?
    let PROJECT_ID: String?
    let GOOGLE_APP_ID: String?
    let CLIENT_ID: String?
    let BUNDLE_ID: String?
  }

  static func read(_ content: [UInt8]) throws(ConfigurationError) -> (members: [String: JSONValue], warnings: [String])
  {
    let file: Content
    do {
      file = try PropertyListDecoder().decode(Content.self, from: Data(content))
    } catch {
      throw .syntax("The property list can't be read.")
    }
    guard file.API_KEY != nil, file.PROJECT_ID != nil else {
      throw .syntax("The property list isn't a GoogleService-Info.plist with API_KEY and PROJECT_ID.")
    }
    let pairs = [
      ("api-key", file.API_KEY), ("project-id", file.PROJECT_ID), ("app-id", file.GOOGLE_APP_ID),
      ("client-id", file.CLIENT_ID), ("bundle-id", file.BUNDLE_ID),
    ]
    var members: [String: JSONValue] = [:]
    for case (let key, let value?) in pairs where !value.isEmpty { members[key] = .string(value) }
    return (members, [restricted("iOS", "or set 'send-bundle-header' to true")])
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
    let clients = object["client"]?.array ?? []
    let client = try choose(clients, package)
    guard let key = client["api_key"]?.array?.first?["current_key"]?.string else {
      throw .key("client.api_key", expected: "a list with a 'current_key'")
    }
    var members: [String: JSONValue] = ["api-key": .string(key)]
    members["project-id"] = object["project_info"]?["project_id"]
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
