import CDBus
import EventLoop

/// Lets the event loop wait for a connection's socket. libdbus makes one watch for reading and one for writing; the
/// loop gets one for both.
@LoopActor
final class WatchBridge {
  private var watches: [OpaquePointer] = []
  private var loopWatch: EventLoop.Watch?

  /// libdbus calls back at once with the watches it has. The bridge has to stay until ``detach(from:)``.
  func attach(to connection: OpaquePointer) -> Bool {
    dbus_connection_set_watch_functions(
      connection,
      { watch, context in
        onLoop(context, watch) { (bridge: WatchBridge, watch) in bridge.add(watch) }
        return 1
      },
      { watch, context in onLoop(context, watch) { (bridge: WatchBridge, watch) in bridge.remove(watch) } },
      { _, context in onLoop(context, nil) { (bridge: WatchBridge, _) in bridge.update() } },
      Unmanaged.passUnretained(self).toOpaque(), nil) != 0
  }

  func detach(from connection: OpaquePointer) {
    dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
    loopWatch?.cancel()
    loopWatch = nil
  }

  private func add(_ watch: OpaquePointer?) {
    guard let watch else { return }
    watches.append(watch)
    update()
  }

  private func remove(_ watch: OpaquePointer?) {
    watches.removeAll { $0 == watch }
    update()
  }

  private func update() {
    guard let first = watches.first else {
      loopWatch?.cancel()
      loopWatch = nil
      return
    }
    var events: FileEvents = []
    for watch in watches where dbus_watch_get_enabled(watch) != 0 {
      let flags = dbus_watch_get_flags(watch)
      if flags & DBUS_WATCH_READABLE.rawValue != 0 { events.insert(.read) }
      if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events.insert(.write) }
    }
    if let loopWatch {
      loopWatch.change(events)
    } else {
      loopWatch = EventLoop.shared.watch(dbus_watch_get_unix_fd(first), events) { [unowned self] in ready($0) }
    }
  }

  private func ready(_ events: FileEvents) {
    var flags: UInt32 = 0
    if events.contains(.read) { flags |= DBUS_WATCH_READABLE.rawValue }
    if events.contains(.write) { flags |= DBUS_WATCH_WRITABLE.rawValue }
    if events.contains(.error) { flags |= DBUS_WATCH_ERROR.rawValue }
    if events.contains(.hangUp) { flags |= DBUS_WATCH_HANGUP.rawValue }
    // Handling one watch may remove the other.
    for watch in watches where watches.contains(watch) && dbus_watch_get_enabled(watch) != 0 {
      let wanted = dbus_watch_get_flags(watch) | DBUS_WATCH_ERROR.rawValue | DBUS_WATCH_HANGUP.rawValue
      if flags & wanted != 0 { dbus_watch_handle(watch, flags & wanted) }
    }
  }
}

/// From a C callback, which libdbus makes on the loop's thread, to the object behind its context. Pointers aren't
/// Sendable; they don't leave the thread here.
func onLoop<Object: AnyObject & Sendable, Result: Sendable>(
  _ context: UnsafeMutableRawPointer?, _ pointer: OpaquePointer?,
  _ body: @LoopActor (Object, OpaquePointer?) -> Result
) -> Result {
  nonisolated(unsafe) let pointer = pointer
  guard let context else { preconditionFailure("libdbus lost a callback's context") }
  let object = Unmanaged<Object>.fromOpaque(context).takeUnretainedValue()
  return LoopActor.assumeIsolated { body(object, pointer) }
}
