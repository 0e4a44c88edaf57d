import DBus
import EventLoop

/// `org.freedesktop.LogControl1`: `busctl`'s and `systemctl`'s hold on the log.
@LoopActor
struct LogControlInterface {
  let log: LogSwitch

  var table: Interface {
    Interface(
      "org.freedesktop.LogControl1", methods: [],
      properties: [
        Property("LogLevel", "s", emitsChanged: .false, get: { _ in .string(log.level.name) }, set: setLevel),
        Property("LogTarget", "s", emitsChanged: .const) { _ in .string("console") },
        Property("SyslogIdentifier", "s", emitsChanged: .const) { _ in .string("linkd") },
      ], signals: [])
  }

  private func setLevel(_ caller: Caller, _ value: DBusValue) throws(DBusError) {
    guard caller.sandboxID == nil else { throw .accessDenied("Only the user's own processes may change the log.") }
    guard let level = Log.Level(name: value.asString ?? "") else {
      throw .invalidArgs("LogLevel must be 'err', 'warning', 'info' or 'debug'.")
    }
    log.level = level
  }
}
