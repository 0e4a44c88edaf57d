public import AuthCore
import DBus

/// The names of the D-Bus contract (docs: D-Bus API). Other programs are written against them.
public enum Contract {
  /// The well-known name on the session bus.
  public static let busName = "org.linkd.Auth1"
  /// The root object.
  public static let rootPath = "/org/linkd/Auth1"

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
  public static func appPath(_ app: AppID, emulator: EmulatorAddress? = nil) -> String {
    let path = "\(rootPath)/app/\(ObjectPath.encode(app.value))"
    guard let emulator else { return path }
    return "\(path)/emulator/\(ObjectPath.encode(emulator.description))"
  }

  /// The object of a flow.
  public static func flowPath(_ flow: FlowID) -> String { "\(rootPath)/flow/\(flow.value)" }

  /// The app and the flow that a path names; nil for any other path.
  public static func flowID(path: String) -> FlowID? {
    let prefix = "\(rootPath)/flow/"
    guard path.hasPrefix(prefix) else { return nil }
    return FlowID(String(path.dropFirst(prefix.count)))
  }

  /// The app that a path names; nil for any other path.
  public static func appID(path: String) -> AppID? {
    let prefix = "\(rootPath)/app/"
    guard path.hasPrefix(prefix), let label = path.dropFirst(prefix.count).split(separator: "/").first,
      let name = ObjectPath.decode(String(label))
    else { return nil }
    return AppID(name)
  }
}
