package import CDBus
import Glibc

/// Where a bus listens.
public enum Address: Sendable, Hashable {
  /// The user's session bus: `DBUS_SESSION_BUS_ADDRESS`, else the socket `bus` in `XDG_RUNTIME_DIR`.
  case session
  /// An address such as `unix:path=/run/user/1000/bus`.
  case address(String)

  /// The address as text. Throws NoServer when there is no session bus to be found.
  package func resolved() throws(DBusError) -> String {
    if case .address(let text) = self {
      try Validation.require(string: text)
      return text
    }
    if let text = variable("DBUS_SESSION_BUS_ADDRESS") { return text }
    guard let directory = variable("XDG_RUNTIME_DIR"), access(directory + "/bus", F_OK) == 0,
      let escaped = dbus_address_escape_value(directory + "/bus")
    else { throw .noServer("DBUS_SESSION_BUS_ADDRESS isn't set and XDG_RUNTIME_DIR has no bus") }
    defer { dbus_free(escaped) }
    return "unix:path=" + String(cString: escaped)
  }

  /// A private connection: the socket is connected, nothing is sent yet.
  package func connect() throws(DBusError) -> OpaquePointer {
    let text = try resolved()
    var error = CDBus.DBusError()
    dbus_error_init(&error)
    guard let handle = dbus_connection_open_private(text, &error) else { throw DBusError(taking: &error) }
    dbus_connection_set_exit_on_disconnect(handle, 0)
    return handle
  }

  private func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}

extension DBusError {
  /// Copies libdbus' error and frees it.
  package init(taking error: inout CDBus.DBusError) {
    self.init(
      name: error.name.map { String(cString: $0) } ?? Name.failed,
      message: error.message.map { String(cString: $0) } ?? "")
    dbus_error_free(&error)
  }
}

/// The bus itself as a peer.
package enum BusDriver {
  package static let name = "org.freedesktop.DBus"
  package static let interface = "org.freedesktop.DBus"
  package static let path: ObjectPath = "/org/freedesktop/DBus"
}
