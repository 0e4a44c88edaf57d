public import AuthCore

/// One app's file under `apps.d`: the app, and the JSON it came from with whatever else somebody wrote into it.
public struct AppFile: Sendable, Hashable {
  /// What the file says.
  public let app: App
  /// The whole object, keys that linkd doesn't know included.
  public let members: [String: JSONValue]
  /// For the person: keys that mean nothing to linkd (`options.mfa-enable`), and what may not work.
  public let warnings: [String]
  /// Those among them that are about the console's file that it was made of.
  public let originWarnings: [String]
  /// Paths of the keys that mean nothing where they stand.
  public let doubtfulKeys: [String]

  /// Checks every key.
  /// - Throws: `key` for the first that isn't as it must be.
  public init(_ members: [String: JSONValue], warnings: [String] = []) throws(ConfigurationError) {
    let (app, doubts) = try AppKeys.read(members)
    self.app = app
    self.members = members
    self.warnings = warnings + doubts.map(\.text)
    doubtfulKeys = doubts.map(\.key)
    originWarnings = warnings
  }

  /// Reads the content of a file.
  /// - Throws: `syntax` for what isn't a JSON object; `key`.
  public static func read(_ content: [UInt8]) throws(ConfigurationError) -> AppFile {
    try AppFile(JSONText.decodeObject(content))
  }

  /// The file's text: canonical JSON, a key a line in the order of the documentation.
  public var text: String { JSONText.pretty(members, order: AppKeys.order) }

  /// Writes `<id>.json` among the user's apps (0600: a provider's client secret may be in it).
  /// - Throws: `file`.
  public func write(_ directories: Directories) throws(ConfigurationError) {
    do throws(WholeFile.Fault) {
      try WholeFile.replace(Self.path(app.id, directories), with: Array(text.utf8), mode: 0o600)
    } catch {
      throw .file(error.path, error.reason)
    }
  }

  /// Removes the user's file of an app, whatever its name.
  /// - Throws: `file`, also where only a package has such an app: its file isn't the user's to remove.
  public static func remove(_ id: AppID, _ directories: Directories) throws(ConfigurationError) {
    let found = AppDirectory.load(directories)
    let all =
      found.files.map { ($0.file, $0.content.app.id) }
      + found.damaged.compactMap { damage in
        damage.id.map { (damage.file, $0) }
      }
    let files = all.filter { $0.1 == id }.map(\.0)
    let own = files.filter { $0.hasPrefix("\(directories.userApps)/") }
    guard !own.isEmpty else {
      guard let file = files.first else { return }
      throw .file(file, "belongs to an installed package; remove that instead")
    }
    do throws(WholeFile.Fault) {
      for file in own { try WholeFile.remove(file) }
    } catch {
      throw .file(error.path, error.reason)
    }
  }

  private static func path(_ id: AppID, _ directories: Directories) -> String { "\(directories.userApps)/\(id).json" }
}
