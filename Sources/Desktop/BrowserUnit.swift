import AuthCore
import DBus
import EventLoop
import Glibc

/// `xdg-open` in a transient unit of the user manager: outside of the daemon's unit, in the session's environment
/// (org.freedesktop.systemd1(5)).
@LoopActor
final class BrowserUnit {
  private static let service = "org.freedesktop.systemd1"
  private static let path: ObjectPath = "/org/freedesktop/systemd1"
  private static let manager = "org.freedesktop.systemd1.Manager"
  private let connection: Connection
  private let limits: Browser.Limits
  private let searchPath: String
  /// How many wait for a job: the manager sends its signals while somebody is subscribed.
  private var waiting = 0

  /// - Parameter path: where `xdg-open` is looked for; nil for the daemon's own `PATH`.
  init(connection: Connection, limits: Browser.Limits, path: String?) {
    self.connection = connection
    self.limits = limits
    searchPath = path ?? getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
  }

  func open(_ url: Secret<String>, activationToken: String?) async -> Browser.Outcome {
    guard let program = opener() else { return .unavailable }
    do throws(DBusError) {
      // Without a display `xdg-open` would start a text browser, which hangs where nobody sees it.
      guard try await hasDisplay() else { return .unavailable }
      await beginWaiting()
      defer { endWaiting() }
      return try await start(program, url, activationToken)
    } catch {
      return .unavailable
    }
  }

  private func start(
    _ program: String, _ url: Secret<String>, _ activationToken: String?
  ) async throws(DBusError) -> Browser.Outcome {
    let name = "app-linkd-browser-\(Browser.unguessable()).service"
    let end = try await ExpectedSignal(
      connection, MatchRule(sender: Self.service, path: Self.path, interface: Self.manager, member: "JobRemoved")
    ) { $0.count == 4 && $0[2].asString == name }
    defer { end.cancel() }
    _ = try await call(
      "StartTransientUnit",
      [
        .string(name), .string("fail"), properties(program, url, activationToken),
        .array(of: "(sa(sv))", []),
      ])
    guard let result = await end.wait(limits.job) else { return .opened }
    return result[3].asString == "done" ? .opened : .unavailable
  }

  /// The URL is an argument of `xdg-open` and of the browser, where everybody on the machine can read it: there's no other way
  /// to hand one over, so the caller gives one that is of use to this user alone (docs/design/0005-providers.md).
  private func properties(_ program: String, _ url: Secret<String>, _ activationToken: String?) -> DBusValue {
    // The manager replaces $NAME and ${NAME}; a doubled dollar sign is one.
    let argument = url.reveal().split(separator: "$", omittingEmptySubsequences: false).joined(separator: "$$")
    var list: [(name: String, value: DBusValue)] = [
      ("Description", .string("Browser for a sign-in")),
      // The job ends with `xdg-open`, and with its exit status.
      ("Type", .string("oneshot")),
      (
        "ExecStart",
        .array(
          of: "(sasb)", [.structure([.string(program), .strings([program, argument]), .boolean(false)])])
      ),
      // The browser that it started stays.
      ("KillMode", .string("process")),
      ("CollectMode", .string("inactive-or-failed")),
      // Nothing to read from, and no journal that the URL could get into.
      ("StandardInput", .string("null")), ("StandardOutput", .string("null")), ("StandardError", .string("null")),
    ]
    if let activationToken { list.append(("Environment", .strings(["XDG_ACTIVATION_TOKEN=\(activationToken)"]))) }
    return .array(of: "(sv)", list.map { .structure([.string($0.name), .variant($0.value)]) })
  }

  /// Whether programs of the session can show windows.
  private func hasDisplay() async throws(DBusError) -> Bool {
    let reply = try await connection.call(
      destination: Self.service, path: Self.path, interface: "org.freedesktop.DBus.Properties", member: "Get",
      arguments: [.string(Self.manager), .string("Environment")], timeout: limits.call, autoStart: false)
    let names = ["DISPLAY=", "WAYLAND_DISPLAY="]
    return (reply.first?.asStrings ?? []).contains { variable in
      names.contains { variable.hasPrefix($0) && variable != $0 }
    }
  }

  private func beginWaiting() async {
    waiting += 1
    // Refused where this connection has subscribed before.
    if waiting == 1 { _ = try? await call("Subscribe", []) }
  }

  private func endWaiting() {
    waiting -= 1
    guard waiting == 0 else { return }
    try? connection.send(
      destination: Self.service, path: Self.path, interface: Self.manager, member: "Unsubscribe", autoStart: false)
  }

  private func call(_ member: String, _ arguments: [DBusValue]) async throws(DBusError) -> [DBusValue] {
    try await connection.call(
      destination: Self.service, path: Self.path, interface: Self.manager, member: member, arguments: arguments,
      timeout: limits.call, autoStart: false)
  }

  /// `xdg-open` with its folder, which units need.
  private func opener() -> String? {
    searchPath.split(separator: ":").lazy.map { "\($0)/xdg-open" }.first { $0.hasPrefix("/") && access($0, X_OK) == 0 }
  }
}
