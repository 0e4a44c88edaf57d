import CDBus
public import EventLoop

/// A private connection to a bus, on the event loop. It stays open, and alive, until ``close()`` or the loss of the bus.
@LoopActor
public final class Connection {
  /// The name the bus gave this connection, for example `:1.42`.
  public private(set) var uniqueName = ""
  /// False once closed or lost.
  public private(set) var isOpen = true
  /// Called once when the bus is lost; not after ``close()``.
  public var onDisconnect: (@LoopActor () -> Void)?
  /// Called when another connection took over a name that this one owned.
  public var onNameLost: (@LoopActor (_ name: String) -> Void)?
  /// Who callers are. Without it everyone is an ordinary process of the user.
  public var callerIdentity: CallerIdentity?

  private let handle: OpaquePointer
  private let watches = WatchBridge()
  private var dispatchHook: EventLoop.Hook?
  private var flushWaiters: [CheckedContinuation<Void, Never>] = []
  let pending = PendingCalls()
  let subscriptions = Subscriptions()
  let objects = ObjectServer()

  /// Messages handled before the loop's other work gets its turn again.
  private static let messagesPerTurn = 32
  /// How often messages wait for jobs in a row. Tasks that never rest don't keep them away for ever.
  private static let patience = 16
  private var waited = 0

  /// Connects and says Hello without blocking the loop. Throws NoServer and its like when there is no bus.
  public static func open(_ address: Address = .session) async throws(DBusError) -> Connection {
    let connection = Connection(handle: try address.connect())
    do throws(DBusError) {
      try connection.attach()
      connection.uniqueName = try await connection.callBus("Hello").first?.asString ?? ""
      dbus_bus_set_unique_name(connection.handle, connection.uniqueName)
      return connection
    } catch {
      connection.close()
      throw error
    }
  }

  private init(handle: OpaquePointer) { self.handle = handle }

  private func attach() throws(DBusError) {
    subscriptions.connection = self
    objects.connection = self
    guard watches.attach(to: handle) else { throw .noMemory }
    let added = dbus_connection_add_filter(
      handle,
      { _, message, context in
        onLoop(context, message) { (connection: Connection, message) in connection.receive(message) }
          ? DBUS_HANDLER_RESULT_HANDLED : DBUS_HANDLER_RESULT_NOT_YET_HANDLED
      }, Unmanaged.passUnretained(self).toOpaque(), nil)
    guard added != 0 else { throw .noMemory }
    // The hook is what keeps an open connection alive.
    dispatchHook = EventLoop.shared.beforePoll { self.dispatch() }
  }

  /// Closes the socket. Calls under way fail with Disconnected; ``onDisconnect`` isn't called.
  public func close() { end() }

  private func end() {
    guard isOpen else { return }
    isOpen = false
    dispatchHook?.cancel()
    dispatchHook = nil
    watches.detach(from: handle)
    dbus_connection_close(handle)
    dbus_connection_unref(handle)
    pending.failAll(.disconnected)
    subscriptions.endAll()
    resumeFlushWaiters()
  }

  // MARK: Receiving

  /// Handles waiting messages, a bounded number, and says whether there are more. What a message sets off on the loop
  /// (the task that waited for a reply, an async handler) runs before the next message is looked at: so nobody sees
  /// a later signal before an earlier reply.
  private func dispatch() -> Bool {
    if EventLoop.shared.hasJobs, waited < Self.patience {
      waited += 1
      return true
    }
    waited = 0
    for _ in 0..<Self.messagesPerTurn {
      if dbus_connection_dispatch(handle) != DBUS_DISPATCH_DATA_REMAINS || !isOpen || EventLoop.shared.hasJobs { break }
    }
    guard isOpen else { return false }
    if !flushWaiters.isEmpty, dbus_connection_has_messages_to_send(handle) == 0 { resumeFlushWaiters() }
    return dbus_connection_get_dispatch_status(handle) == DBUS_DISPATCH_DATA_REMAINS
  }

  /// True when the message is dealt with.
  private func receive(_ pointer: OpaquePointer?) -> Bool {
    guard let pointer, isOpen else { return false }
    let message = Message(borrowing: pointer)
    switch message.type {
    case DBUS_MESSAGE_TYPE_METHOD_CALL:
      objects.receive(message)
      return true
    case DBUS_MESSAGE_TYPE_METHOD_RETURN, DBUS_MESSAGE_TYPE_ERROR:
      pending.complete(message)
      return true
    case DBUS_MESSAGE_TYPE_SIGNAL:
      receiveSignal(message)
      return true
    default:
      return false
    }
  }

  private func receiveSignal(_ message: borrowing Message) {
    guard let signal = message.signal else { return }
    // libdbus makes this one up itself; from the wire it would be refused.
    if signal.interface == "org.freedesktop.DBus.Local" {
      if signal.member == "Disconnected" { lose() }
      return
    }
    if signal.sender == BusDriver.name, signal.member == "NameLost", let name = signal.arguments.first?.asString,
      name != uniqueName
    {
      onNameLost?(name)
    }
    subscriptions.deliver(signal)
  }

  private func lose() {
    guard isOpen else { return }
    end()
    onDisconnect.take()?()
  }

  // MARK: Sending

  /// Queues a message, writes what the socket takes at once, and gives the serial.
  @discardableResult
  func send(_ message: borrowing Message) throws(DBusError) -> UInt32 {
    guard isOpen else { throw .disconnected }
    var serial: UInt32 = 0
    guard dbus_connection_send(handle, message.handle, &serial) != 0 else { throw .noMemory }
    return serial
  }

  /// Returns when everything queued has been written to the socket, or the connection is lost.
  public func flush() async {
    await withCheckedContinuation { waiter in
      // Asked here and not before the wait: on the way into it the last byte may go out (see `call`).
      guard isOpen, dbus_connection_has_messages_to_send(handle) != 0 else { return waiter.resume() }
      flushWaiters.append(waiter)
    }
  }

  private func resumeFlushWaiters() {
    let waiters = flushWaiters
    flushWaiters = []
    for waiter in waiters { waiter.resume() }
  }
}
