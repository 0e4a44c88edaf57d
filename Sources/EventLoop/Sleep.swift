extension EventLoop {
  /// Suspends the task, counted on the boot clock. Throws as soon as the task is cancelled.
  @LoopActor
  public func sleep(for duration: Duration) async throws(CancellationError) {
    let sleeper = Sleeper()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in sleeper.start(duration, continuation) }
    } onCancel: {
      perform { sleeper.end() }
    }
    // A cancellation that came after the end of the sleep counts as well.
    if Task.isCancelled { throw CancellationError() }
  }

  /// Runs `body` on the loop: at once when that is where the caller is, otherwise soon.
  public nonisolated func perform(_ body: @escaping @Sendable @LoopActor () -> Void) {
    if isCurrent {
      LoopActor.assumeIsolated { body() }
    } else {
      Task.onLoop { body() }
    }
  }
}

/// One sleeping task: its timer and its cancellation may come in any order; the first wakes it.
@LoopActor
private final class Sleeper {
  private var timer: EventLoop.Timer?
  private var continuation: CheckedContinuation<Void, Never>?
  private var ended = false

  func start(_ duration: Duration, _ continuation: CheckedContinuation<Void, Never>) {
    if ended || Task.isCancelled { return continuation.resume() }
    self.continuation = continuation
    timer = EventLoop.shared.after(duration) { self.end() }
  }

  func end() {
    ended = true
    timer?.cancel()
    timer = nil
    continuation.take()?.resume()
  }
}
