import CDBus

/// A connection for short programs: blocking calls, no event loop, no task, no start of the concurrency runtime.
/// Calls that arrive are dropped, and signals too until ``subscribe(_:)``. Not for use in a program that has a
/// `Connection`'s loop.
public final class SyncConnection {
  private var handle: OpaquePointer?
  private var isSubscribed = false
  private var signals: [Signal] = []

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

  /// Has the bus deliver what matches `rule`. From now on signals are kept until ``nextSignal(milliseconds:)`` takes them;
  /// with several rules they come mixed, in the order of their arrival.
  public func subscribe(_ rule: MatchRule) throws(DBusError) {
    isSubscribed = true
    _ = try call(
      destination: BusDriver.name, path: BusDriver.path, interface: BusDriver.interface, member: "AddMatch",
      arguments: [.string(try rule.text())])
  }

  /// Waits for the next signal. Nil if none has come in that time; -1 waits for as long as the bus is there. An interrupted
  /// wait may be shorter. Throws Disconnected.
  public func nextSignal(milliseconds: Int32 = -1) throws(DBusError) -> Signal? {
    drain()
    if signals.isEmpty {
      guard let handle, dbus_connection_read_write(handle, milliseconds) != 0 else { throw .disconnected }
      drain()
    }
    return signals.isEmpty ? nil : signals.removeFirst()
  }

  /// The socket, for programs that wait for other things too; nil once closed. It becomes readable when something arrives
  /// that ``nextSignal(milliseconds:)`` hasn't read yet: ask that first.
  public var descriptor: Int32? {
    var descriptor: Int32 = -1
    guard let handle, dbus_connection_get_unix_fd(handle, &descriptor) != 0 else { return nil }
    return descriptor
  }

  /// Closes the socket. Calls throw Disconnected from then on.
  public func close() {
    guard let handle = handle.take() else { return }
    dbus_connection_close(handle)
    dbus_connection_unref(handle)
  }

  /// A blocking call leaves what else arrived in the queue: without this it would pile up over many calls.
  private func drain() {
    while let pointer = dbus_connection_pop_message(handle) {
      let message = Message(adopting: pointer)
      if isSubscribed, let signal = message.signal { signals.append(signal) }
    }
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
