import Glibc

/// The folders of the XDG base directory specification 0.8, and linkd's own inside them (cli-and-config: Files).
public struct Directories: Sendable, Hashable {
  /// `$XDG_CONFIG_HOME`.
  public let configHome: String
  /// `$XDG_DATA_HOME`.
  public let dataHome: String
  /// `$XDG_CONFIG_DIRS`, most important first.
  public let configDirs: [String]
  /// `$XDG_DATA_DIRS`, most important first.
  public let dataDirs: [String]
  /// linkd's own configuration: `$LINKD_CONFIG_DIR`, else `$XDG_CONFIG_HOME/linkd`.
  public let config: String
  /// linkd's state: `$LINKD_STATE_DIR`, else `$XDG_STATE_HOME/linkd`.
  public let state: String
  /// `$XDG_RUNTIME_DIR/linkd`; nil where there is no runtime folder.
  public let runtime: String?
  /// Lower case, in the order in which their lists of default programs count: `$XDG_CURRENT_DESKTOP`.
  public let desktops: [String]

  /// From an environment. A relative path counts as absent, as the specification says.
  public init(environment: [String: String]) {
    func folder(_ name: String) -> String? { environment[name].flatMap(Self.absolute) }
    func folders(_ name: String, else fallback: [String]) -> [String] {
      let given = (environment[name] ?? "").split(separator: ":").compactMap { Self.absolute(String($0)) }
      return given.isEmpty ? fallback : given
    }
    let home = folder("HOME") ?? Self.homeOfUser
    configHome = folder("XDG_CONFIG_HOME") ?? "\(home)/.config"
    dataHome = folder("XDG_DATA_HOME") ?? "\(home)/.local/share"
    configDirs = folders("XDG_CONFIG_DIRS", else: ["/etc/xdg"])
    dataDirs = folders("XDG_DATA_DIRS", else: ["/usr/local/share", "/usr/share"])
    config = folder("LINKD_CONFIG_DIR") ?? "\(configHome)/linkd"
    state = folder("LINKD_STATE_DIR") ?? "\(folder("XDG_STATE_HOME") ?? "\(home)/.local/state")/linkd"
    runtime = folder("XDG_RUNTIME_DIR").map { "\($0)/linkd" }
    desktops = (environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").map { $0.lowercased() }
  }

  /// Where the user's own app files are, and where linkd writes them.
  public var userApps: String { "\(config)/apps.d" }

  /// Every folder with app files; a file in an earlier one wins.
  public var appDirectories: [String] {
    var all = [userApps]
    for folder in (configDirs + dataDirs).map({ "\($0)/linkd/apps.d" }) where !all.contains(folder) {
      all.append(folder)
    }
    return all
  }

  /// The daemon's own file.
  public var daemonFile: String { "\(config)/linkd.json" }

  private static func absolute(_ path: String) -> String? {
    guard path.hasPrefix("/") else { return nil }
    var path = Substring(path)
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return String(path)
  }

  /// From the user database, for a process without `HOME`.
  private static var homeOfUser: String {
    guard let entry = getpwuid(geteuid()), let folder = entry.pointee.pw_dir else { return "/" }
    return absolute(String(cString: folder)) ?? "/"
  }
}
