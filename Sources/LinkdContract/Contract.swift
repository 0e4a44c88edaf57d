public import AuthCore
public import DBusCore

/// The names of the D-Bus contract (docs: D-Bus API). Other programs are written against them.
public enum Contract {
  /// The well-known name on the session bus.
  public static let busName = "org.linkd.Auth1"
  /// The root object.
  public static let rootPath: ObjectPath = "/org/linkd/Auth1"

  /// The interfaces.
  public enum Interface {
    /// At the root: what becomes of a URL.
    public static let links = "org.linkd.Auth1.Links"
    /// At the root: apps, flows, the handler's registration.
    public static let manager = "org.linkd.Auth1.Manager"
    /// At an app.
    public static let app = "org.linkd.Auth1.App"
    /// At an app: who is signed in.
    public static let session = "org.linkd.Auth1.Session"
    /// At an app: what starts a sign-in.
    public static let signIn = "org.linkd.Auth1.SignIn"
    /// At an app: what changes the signed-in account.
    public static let account = "org.linkd.Auth1.Account"
    /// At a flow.
    public static let flow = "org.linkd.Auth1.Flow"
  }

  /// The object of an app: at its own backend, or at an emulator that a caller named (`emulator` option): nothing
  /// crosses between backends, so each has an object of its own.
  public static func appPath(_ app: AppID, emulator: EmulatorAddress? = nil) -> ObjectPath {
    let path = rootPath.appending(label: "app").appending(label: app.value)
    guard let emulator else { return path }
    return path.appending(label: "emulator").appending(label: emulator.description)
  }

  /// Above all flows.
  public static let flowsPath: ObjectPath = "/org/linkd/Auth1/flow"

  /// The object of a flow. Its id is a path element as it is.
  public static func flowPath(_ flow: FlowID) -> ObjectPath {
    // A flow's id has no character that a path element can't have.
    (try? ObjectPath("\(flowsPath)/\(flow.value)")) ?? flowsPath
  }

  /// The flow that a path names; nil for any other path.
  public static func flowID(path: ObjectPath) -> FlowID? {
    let prefix = "\(flowsPath)/"
    guard path.text.hasPrefix(prefix) else { return nil }
    return FlowID(String(path.text.dropFirst(prefix.count)))
  }

  /// The app that a path names; nil for any other path.
  public static func appID(path: ObjectPath) -> AppID? {
    let prefix = "\(rootPath)/app/"
    guard path.text.hasPrefix(prefix), let label = path.text.dropFirst(prefix.count).split(separator: "/").first,
      let name = ObjectPath.decode(String(label))
    else { return nil }
    return AppID(name)
  }

  /// Whether a path is an app's at an emulator that a caller named.
  public static func isEmulatorVariant(_ path: ObjectPath) -> Bool {
    let prefix = "\(rootPath)/app/"
    guard path.text.hasPrefix(prefix) else { return false }
    // By elements: looking for a text in a text would link the whole of Swift's regular expressions.
    let elements = path.text.dropFirst(prefix.count).split(separator: "/")
    return elements.count > 2 && elements[1] == "emulator"
  }
}
