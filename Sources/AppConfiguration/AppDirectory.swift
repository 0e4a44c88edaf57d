public import AuthCore

/// The app files of every folder (cli-and-config: Files): the user's wins over a packaged one, and a damaged file hides
/// no other app.
public struct AppDirectory: Sendable {
  /// A file that says what an app is.
  public struct Entry: Sendable, Hashable {
    /// Absolute path.
    public let file: String
    /// What it says.
    public let content: AppFile
  }

  /// A file that can't be used.
  public struct Damage: Sendable, Hashable {
    /// Absolute path.
    public let file: String
    /// The app it would have been, as far as that can be told from its content or its name.
    public let id: AppID?
    /// Why.
    public let error: ConfigurationError
  }

  /// One entry an app, in the order of the ids.
  public let files: [Entry]
  /// In the order of the folders and names.
  public let damaged: [Damage]

  /// The apps, in the order of their ids.
  public var apps: [App] { files.map(\.content.app) }

  /// Reads every `*.json`. A damaged file also hides the packaged one it stands for: what it would have changed (an
  /// emulator, a domain) must not be passed over in silence.
  public static func load(_ directories: Directories) -> AppDirectory {
    var scan = Scan()
    for folder in directories.appDirectories { scan.read(folder) }
    return AppDirectory(
      files: scan.found.values.sorted { $0.content.app.id < $1.content.app.id }, damaged: scan.damaged)
  }
}

/// One pass over the folders, most important first.
private struct Scan {
  var found: [AppID: AppDirectory.Entry] = [:]
  var damaged: [AppDirectory.Damage] = []
  /// Apps of earlier folders, in whatever condition.
  private var taken: Set<AppID> = []

  mutating func read(_ folder: String) {
    var here: Set<AppID> = []
    for name in WholeFile.names(in: folder) where name.hasSuffix(".json") && !name.hasPrefix(".") {
      let file = "\(folder)/\(name)"
      switch Self.read(file) {
      case .success(let content): take(AppDirectory.Entry(file: file, content: content), &here)
      case .failure(let damage) where damage.id.map(taken.contains) == true: continue
      case .failure(let damage): damaged.append(damage)
      }
    }
    taken.formUnion(here)
    taken.formUnion(damaged.compactMap(\.id))
  }

  private mutating func take(_ entry: AppDirectory.Entry, _ here: inout Set<AppID>) {
    let id = entry.content.app.id
    if taken.contains(id) { return }
    if here.insert(id).inserted {
      found[id] = entry
    } else {
      let error = ConfigurationError.key("id", expected: "an id that no other file in the folder has")
      damaged.append(AppDirectory.Damage(file: entry.file, id: id, error: error))
    }
  }

  private enum Outcome {
    case success(AppFile)
    case failure(AppDirectory.Damage)
  }

  private static func read(_ file: String) -> Outcome {
    var id = AppID(String(file.split(separator: "/").last?.dropLast(5) ?? ""))
    do throws(ConfigurationError) {
      let members = try JSONText.decodeObject(try bytes(of: file))
      id = members["id"]?.string.flatMap(AppID.init) ?? id
      return .success(try AppFile(members))
    } catch {
      return .failure(AppDirectory.Damage(file: file, id: id, error: error))
    }
  }

  private static func bytes(of file: String) throws(ConfigurationError) -> [UInt8] {
    do throws(WholeFile.Fault) {
      return try WholeFile.read(file)
    } catch {
      throw .file(error.path, error.reason)
    }
  }
}

extension AppDirectory.Damage {
  /// Whether the file speaks of the scheme or the host of `link`, as far as its text can still be read: what it said about
  /// them was perhaps that they're the app's.
  public func speaks(of link: String) -> Bool {
    guard let colon = link.firstIndex(of: ":"), let bytes = try? WholeFile.read(file) else { return false }
    let text = String(decoding: bytes, as: UTF8.self)
    let scheme = link[..<colon].lowercased()
    guard scheme == "http" || scheme == "https" else { return text.contains("\"\(scheme)\"") }
    let host = link[colon...].dropFirst(3).prefix { !"/?#".contains($0) }.lowercased()
    return !host.isEmpty && ["\"\(host)\"", "//\(host)/", "//\(host)\""].contains { text.contains($0) }
  }
}
