public import AuthCore

/// The daemon's own file, `linkd.json` (cli-and-config: Files).
public struct DaemonConfiguration: Sendable, Hashable {
  /// Where the store's key is to be kept; decided once, at the first start.
  public enum KeyStore: String, Sendable, Hashable {
    case auto, file
    case secretService = "secret-service"
  }

  /// The app that a call without an app means.
  public var defaultApp: AppID?
  /// `key-store`.
  public var keyStore: KeyStore = .auto
  /// Seconds without work after which the daemon ends; 0 never; nil the daemon's default.
  public var idleExit: Int64?
  /// The whole object as it was read.
  private var members: [String: JSONValue] = [:]
  /// What was wrong with the file; then everything else is at its default, and ``save(_:)`` refuses.
  public private(set) var error: ConfigurationError?

  private static let order = ["default-app", "key-store", "idle-exit"]

  /// Everything at its default.
  public init() {}

  /// Reads the content of a file.
  public init(_ content: [UInt8]) throws(ConfigurationError) {
    let members = Members(try JSONText.decodeObject(content))
    self.members = members.values
    defaultApp = try members.string("default-app", "an app's id") { AppID($0) != nil }.flatMap(AppID.init)
    let store = try members.string("key-store", "auto, secret-service or file") { KeyStore(rawValue: $0) != nil }
    keyStore = store.flatMap(KeyStore.init(rawValue:)) ?? .auto
    guard let value = members.values["idle-exit"], value != .null else { return }
    guard let seconds = value.integer, seconds >= 0 else {
      throw members.error("idle-exit", "a number of seconds, 0 for never")
    }
    idleExit = seconds
  }

  /// Reads the user's file. One that is absent is all defaults; one that is damaged too, with ``error`` set.
  public static func load(_ directories: Directories) -> DaemonConfiguration {
    do throws(ConfigurationError) {
      return try DaemonConfiguration(try bytes(directories.daemonFile) ?? Array("{}".utf8))
    } catch {
      var fallback = DaemonConfiguration()
      fallback.error = error
      return fallback
    }
  }

  private static func bytes(_ file: String) throws(ConfigurationError) -> [UInt8]? {
    do throws(WholeFile.Fault) {
      return try WholeFile.read(file)
    } catch {
      if error.isAbsent { return nil }
      throw .file(error.path, error.reason)
    }
  }

  /// The file's text; keys that linkd doesn't know are kept.
  public var text: String {
    var members = members
    members["default-app"] = defaultApp.map { .string($0.value) }
    members["key-store"] = keyStore == .auto && members["key-store"] == nil ? nil : .string(keyStore.rawValue)
    members["idle-exit"] = idleExit.map(JSONValue.integer)
    return JSONText.pretty(members, order: Self.order)
  }

  /// Writes the user's file.
  /// - Throws: `file`; what was wrong with the file that was read, which isn't overwritten.
  public func save(_ directories: Directories) throws(ConfigurationError) {
    if let error { throw error }
    do throws(WholeFile.Fault) {
      try WholeFile.replace(directories.daemonFile, with: Array(text.utf8))
    } catch {
      throw .file(error.path, error.reason)
    }
  }
}
