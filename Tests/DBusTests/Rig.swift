import DBus
import EventLoop
import TestSupport
import Testing

/// A bus, a service named `org.example.Test1` on it, and a client.
@LoopActor
final class Rig {
  nonisolated static let name = "org.example.Test1"
  nonisolated static let path: ObjectPath = "/org/example/Test1"

  let bus: PrivateBus
  let service: Connection
  let client: Connection

  private init(_ bus: PrivateBus, _ service: Connection, _ client: Connection) {
    (self.bus, self.service, self.client) = (bus, service, client)
  }

  /// The connections end with the bus, and the bus with the rig.
  static func start(_ objects: [ExportedObject] = []) async throws -> Rig {
    let bus = try PrivateBus.start()
    let service = try await Connection.open(.address(bus.address))
    let client = try await Connection.open(.address(bus.address))
    for object in objects { service.export(object) }
    #expect(try await service.requestName(name, .doNotQueue) == .primaryOwner)
    return Rig(bus, service, client)
  }

  static func start(_ interfaces: Interface...) async throws -> Rig {
    try await start([ExportedObject(path: path, interfaces: interfaces)])
  }

  func call(
    _ member: String, _ arguments: [DBusValue] = [], path: ObjectPath = Rig.path, interface: String = Rig.name,
    timeout: Duration? = .seconds(25)
  ) async throws(DBusError) -> [DBusValue] {
    try await client.call(
      destination: Rig.name, path: path, interface: interface, member: member, arguments: arguments, timeout: timeout)
  }

  func get(_ property: String, interface: String = Rig.name, path: ObjectPath = Rig.path) async throws(DBusError)
    -> DBusValue?
  {
    try await call(
      "Get", [.string(interface), .string(property)], path: path, interface: "org.freedesktop.DBus.Properties"
    ).first
  }

  /// The name of the error a call ends with.
  func error(
    _ member: String, _ arguments: [DBusValue] = [], path: ObjectPath = Rig.path, interface: String = Rig.name
  ) async -> String? {
    do throws(DBusError) {
      _ = try await call(member, arguments, path: path, interface: interface)
      return nil
    } catch {
      return error.name
    }
  }

  /// Runs `gdbus call` against the service: its output without the newline.
  func gdbus(_ method: String, _ arguments: [String] = [], path: ObjectPath = Rig.path) async throws -> String {
    let result = try await Subprocess.run(
      [
        "gdbus", "call", "--address", bus.address, "--dest", Rig.name, "--object-path", path.text, "--method", method,
        "--",
      ] + arguments)
    return String((result.status == 0 ? result.stdout : result.stderr).dropLast())
  }

  /// Runs a Python script with `bus` (a connection) and `proxy` (the service's object) defined.
  func python(_ script: String) async throws -> Subprocess.Result {
    let prelude = """
      import dbus, dbus.bus, os, sys
      bus = dbus.bus.BusConnection("\(bus.address)")
      proxy = bus.get_object("\(Rig.name)", "\(Rig.path)", introspect=False)

      """
    return try await Subprocess.run(["/usr/bin/python3", "-c", prelude + script])
  }
}
