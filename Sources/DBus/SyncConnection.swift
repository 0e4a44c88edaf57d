import CDBus

/// A connection for short programs: blocking calls, no event loop, no task, no start of the concurrency runtime.
/// Signals and calls that arrive are dropped. Not for use in a program that has a ``Connection``'s loop.
public final class SyncConnection {
  private var handle: OpaquePointer?

  /// Connects and says Hello. Throws NoServer and its like when there is no bus, NoReply when it is stuck.
  public init(_ address: Address = .session, timeoutMilliseconds: Int32 = 25_000) throws(DBusError) {
    handle = try address.connect()
    do throws(DBusError) {
      let reply = try call(
        destination: BusDriver.name, path: BusDriver.path, interface: BusDriver.interface, member: "Hello",
        timeoutMilliseconds: timeoutMilliseconds)
      uniqueName = reply.first?.asString ?? ""
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// The name the bus gave this connection.
  public private(set) var uniqueName = ""

  /// Calls a method and waits for the reply. A time of -1 means libdbus' default of 25 seconds.
  public func call(
    destination: String, path: ObjectPath, interface: String, member: String, arguments: [DBusValue] = [],
    timeoutMilliseconds: Int32 = 25_000, autoStart: Bool = true
  ) throws(DBusError) -> [DBusValue] {
    guard let handle else { throw .disconnected }
    let message = try Message.call(
      member, interface: interface, path: path, destination: destination, arguments: arguments)
    if !autoStart { message.setAutoStart(false) }
    var error = CDBus.DBusError()
    dbus_error_init(&error)
    let timeout = max(timeoutMilliseconds, -1)
    guard let reply = dbus_connection_send_with_reply_and_block(handle, message.handle, timeout, &error)
    else { throw DBusError(taking: &error) }
    let result = Message(adopting: reply).arguments()
    drain()
    return result
  }

  /// Closes the socket. Calls throw Disconnected from then on.
  public func close() {
    guard let handle = handle.take() else { return }
    dbus_connection_close(handle)
    dbus_connection_unref(handle)
  }

  /// A blocking call leaves what else arrived in the queue: without this it would pile up over many calls.
  private func drain() {
    while let message = dbus_connection_pop_message(handle) { dbus_message_unref(message) }
  }
}

/// One call in a program that has nothing else to do with the bus.
public enum Bus {
  /// Connects, calls, waits for the reply and closes. Synchronous: no event loop, no task.
  public static func callOnce(
    destination: String, path: ObjectPath, interface: String, member: String, arguments: [DBusValue] = [],
    timeoutMilliseconds: Int32 = 25_000, address: Address = .session, autoStart: Bool = true
  ) throws(DBusError) -> [DBusValue] {
    let connection = try SyncConnection(address, timeoutMilliseconds: timeoutMilliseconds)
    defer { connection.close() }
    return try connection.call(
      destination: destination, path: path, interface: interface, member: member, arguments: arguments,
      timeoutMilliseconds: timeoutMilliseconds, autoStart: autoStart)
  }
}
