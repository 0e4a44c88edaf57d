import CLinux

extension EventLoop {
  /// Something to do once before each poll(2), such as dispatching a queue that no descriptor speaks for.
  @LoopActor
  public final class Hook {
    let body: @LoopActor () -> Bool
    private(set) var isCancelled = false

    init(_ body: @escaping @LoopActor () -> Bool) { self.body = body }

    /// The hook isn't run any more.
    public func cancel() {
      isCancelled = true
      EventLoop.shared.core.remove(self)
    }
  }

  /// Runs `body` before each poll(2). It does a bounded piece of work and says whether more is left, in which case
  /// the loop comes back without sleeping.
  @LoopActor @discardableResult
  public func beforePoll(_ body: @escaping @LoopActor () -> Bool) -> Hook {
    let hook = Hook(body)
    core.add(hook)
    return hook
  }

  /// Calls `handler` whenever the descriptor is ready for one of `events`, or has an error or hung up.
  @LoopActor @discardableResult
  public func watch(
    _ fileDescriptor: Int32, _ events: FileEvents, _ handler: @escaping @LoopActor (FileEvents) -> Void
  ) -> Watch {
    let watch = Watch(fileDescriptor, handler: handler)
    core.pollSet.add(watch, events)
    return watch
  }

  /// Calls `body` once, `delay` from now on the boot clock; never before the next turn, even for 0.
  @LoopActor @discardableResult
  public func after(_ delay: Duration, _ body: @escaping @LoopActor () -> Void) -> Timer {
    core.addTimer(after: delay.clampedNanoseconds, every: nil, body)
  }

  /// Calls `body` every `interval` (at least 1 ms) until the timer is cancelled.
  @LoopActor @discardableResult
  public func every(_ interval: Duration, _ body: @escaping @LoopActor () -> Void) -> Timer {
    let interval = max(interval.clampedNanoseconds, 1_000_000)
    return core.addTimer(after: interval, every: interval, body)
  }

  /// Calls `handler` for each delivery of a UNIX signal, in place of the handler before. The signal is blocked in the
  /// loop's thread and in threads it starts later: call this before there are other threads. Children inherit the
  /// block: start them with a clean signal mask.
  @LoopActor
  public func onSignal(_ signal: Int32, _ handler: @escaping @LoopActor () -> Void) {
    core.signals.handle(signal, handler)
  }

  /// Gives back the memory of code and constants that the process isn't using at the moment. They return from the
  /// page cache at the next use (1 to 2 ms once). For a service that has gone idle.
  public static func dropCleanPages() { clinux_drop_clean_pages() }
}
