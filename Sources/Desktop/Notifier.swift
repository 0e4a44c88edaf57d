public import DBus
public import EventLoop

/// Shows one desktop notification at a time: a newer one takes the place of the last (behaviour: Who may ask). Without a
/// notification service nothing is shown, and that's no error.
@LoopActor
public final class Notifier {
  /// Called when the person chooses an action of the notification that is shown, with the token that lets a window come
  /// to the front where the desktop gives one (xdg-activation; field report B084).
  public var onAction: (@LoopActor (_ action: String, _ activationToken: String?) -> Void)?

  private static let service = "org.freedesktop.Notifications"
  private static let path: ObjectPath = "/org/freedesktop/Notifications"
  private let connection: Connection
  /// Name of the desktop file and the icon.
  private let application: String
  private var shown: UInt32 = 0
  private var token: String?
  private var waiting: Notice?
  private var isShowing = false
  private var subscriptions: [Subscription] = []

  /// A notifier on the session bus.
  public init(connection: Connection, application: String = "org.linkd.Auth1") {
    self.connection = connection
    self.application = application
  }

  /// Shows a notification; of several that come while the service is slow, the last.
  public func show(_ notice: Notice) {
    waiting = notice
    if isShowing { return }
    isShowing = true
    Task.onLoop {
      while let next = self.waiting.take() { await self.send(next) }
      self.isShowing = false
    }
  }

  private func send(_ notice: Notice) async {
    do throws(DBusError) {
      if !notice.actions.isEmpty { try await listen() }
      let reply = try await connection.call(
        destination: Self.service, path: Self.path, interface: Self.service, member: "Notify",
        arguments: arguments(notice), timeout: .seconds(5))
      shown = reply.first?.asUInt32 ?? 0
      token = nil
    } catch {
      // Nobody to show it, or too slow: the command line and the bus have said it as well.
    }
  }

  private func arguments(_ notice: Notice) -> [DBusValue] {
    [
      .string(""), .uint32(shown), .string(application), .string(notice.summary), .string(notice.markup),
      .strings(notice.actions.flatMap { [$0.key, $0.label] }), .dict(["desktop-entry": .string(application)]),
      .int32(-1),
    ]
  }

  /// The token is sent before the action that it belongs to.
  private func listen() async throws(DBusError) {
    guard subscriptions.isEmpty else { return }
    for member in ["ActivationToken", "ActionInvoked", "NotificationClosed"] {
      let rule = MatchRule(sender: Self.service, path: Self.path, interface: Self.service, member: member)
      subscriptions.append(try await connection.subscribe(rule) { [weak self] in self?.receive($0) })
    }
  }

  private func receive(_ signal: Signal) {
    guard shown != 0, signal.arguments.first?.asUInt32 == shown else { return }
    switch signal.member {
    case "ActivationToken": token = signal.arguments.last?.asString
    case "ActionInvoked": onAction?(signal.arguments.last?.asString ?? "", token.take())
    default: shown = 0
    }
  }
}
