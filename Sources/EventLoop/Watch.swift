import Glibc

/// What a file descriptor is ready for (poll(2) events).
public struct FileEvents: OptionSet, Sendable, Hashable {
  /// The bits of poll(2).
  public let rawValue: Int16

  /// From poll(2) bits.
  public init(rawValue: Int16) { self.rawValue = rawValue }

  /// Something can be read, or the other end has closed.
  public static let read = FileEvents(rawValue: Int16(POLLIN))
  /// Something can be written.
  public static let write = FileEvents(rawValue: Int16(POLLOUT))
  /// An exceptional condition (out-of-band data, sysfs attributes).
  public static let priority = FileEvents(rawValue: Int16(POLLPRI))
  /// Reported without being asked for.
  public static let error = FileEvents(rawValue: Int16(POLLERR))
  /// Reported without being asked for.
  public static let hangUp = FileEvents(rawValue: Int16(POLLHUP))
  /// The descriptor isn't open. Reported without being asked for.
  public static let invalid = FileEvents(rawValue: Int16(POLLNVAL))
}

extension EventLoop {
  /// Interest in one file descriptor. The descriptor stays its owner's: cancel before closing it.
  @LoopActor
  public final class Watch {
    /// The descriptor.
    public let fileDescriptor: Int32
    let handler: @LoopActor (FileEvents) -> Void
    /// Place in the poll set, nil once cancelled.
    var place: Int?

    init(_ fileDescriptor: Int32, handler: @escaping @LoopActor (FileEvents) -> Void) {
      self.fileDescriptor = fileDescriptor
      self.handler = handler
    }

    /// Waits for other events from now on; an empty set pauses the watch (errors and hang-ups too).
    public func change(_ events: FileEvents) {
      if let place { EventLoop.shared.core.pollSet.change(place, events) }
    }

    /// The handler isn't called any more, not even for events of the turn under way.
    public func cancel() {
      guard let place else { return }
      EventLoop.shared.core.pollSet.remove(at: place)
    }
  }
}

/// The array poll(2) works on, and beside it whom each entry belongs to.
@LoopActor
struct PollSet {
  private var entries: [pollfd] = []
  private var watches: [EventLoop.Watch] = []

  nonisolated init() {}

  mutating func add(_ watch: EventLoop.Watch, _ events: FileEvents) {
    watch.place = entries.count
    watches.append(watch)
    entries.append(pollfd(fd: watch.fileDescriptor, events: 0, revents: 0))
    change(entries.count - 1, events)
  }

  /// poll(2) skips negative descriptors: a paused watch isn't woken by a hang-up it can't act on.
  mutating func change(_ place: Int, _ events: FileEvents) {
    let descriptor = watches[place].fileDescriptor
    entries[place].fd = events.isEmpty ? ~descriptor : descriptor
    entries[place].events = events.rawValue
  }

  mutating func remove(at place: Int) {
    watches[place].place = nil
    let last = entries.count - 1
    if place != last {
      entries[place] = entries[last]
      watches[place] = watches[last]
      watches[place].place = place
    }
    entries.removeLast()
    watches.removeLast()
  }

  /// Waits (`timeout` in milliseconds, -1 for ever) and appends what is ready.
  mutating func poll(timeout: Int32, into ready: inout [(watch: EventLoop.Watch, events: FileEvents)]) {
    var left = Glibc.poll(&entries, nfds_t(entries.count), timeout)
    var index = 0
    while left > 0, index < entries.count {
      if entries[index].revents != 0 {
        ready.append((watches[index], FileEvents(rawValue: entries[index].revents)))
        left -= 1
      }
      index += 1
    }
  }
}
