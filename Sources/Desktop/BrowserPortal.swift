import AuthCore
import DBus
import EventLoop

/// `org.freedesktop.portal.OpenURI` (xdg-desktop-portal's documentation: OpenURI, Request).
@LoopActor
final class BrowserPortal {
  private static let service = "org.freedesktop.portal.Desktop"
  private static let path: ObjectPath = "/org/freedesktop/portal/desktop"
  private let connection: Connection
  private let limits: Browser.Limits

  init(connection: Connection, limits: Browser.Limits) {
    self.connection = connection
    self.limits = limits
  }

  func open(_ url: Secret<String>, parentWindow: String, activationToken: String?) async -> Browser.Outcome {
    let token = "linkd_" + Browser.unguessable()
    var options: [String: DBusValue] = ["handle_token": .string(token), "ask": .boolean(false)]
    options["activation_token"] = activationToken.map(DBusValue.string)
    do throws(DBusError) {
      let response = try await ExpectedSignal(connection, responseRule(token))
      defer { response.cancel() }
      _ = try await connection.call(
        destination: Self.service, path: Self.path, interface: "org.freedesktop.portal.OpenURI", member: "OpenURI",
        arguments: [.string(parentWindow), .string(url.reveal()), .dict(options)], timeout: limits.call)
      return outcome(await response.wait(limits.response))
    } catch {
      // No portal, one that opens nothing here, or one that hangs.
      return .unavailable
    }
  }

  /// The request's path is known before the call: the caller's unique name and its token are in it.
  private func responseRule(_ token: String) throws(DBusError) -> MatchRule {
    let sender = String(connection.uniqueName.dropFirst().map { $0 == "." ? "_" : $0 })
    return MatchRule(
      sender: Self.service, path: try ObjectPath("\(Self.path.text)/request/\(sender)/\(token)"),
      interface: "org.freedesktop.portal.Request", member: "Response")
  }

  private func outcome(_ response: [DBusValue]?) -> Browser.Outcome {
    guard let response else { return .opened }
    switch response.first?.asUInt32 {
    case 0: return .opened
    case 1: return .refused
    default: return .unavailable
    }
  }
}
