public import EventLoop

/// What callbacks on the loop recorded, and a way to wait for it.
@LoopActor
public final class Recorder<Value: Sendable> {
  /// In the order in which they came.
  public private(set) var values: [Value] = []
  private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  /// Nothing has come yet.
  nonisolated public init() {}

  /// Notes `value` and wakes who waits for that many.
  public func record(_ value: Value) {
    values.append(value)
    for waiter in waiters where waiter.count <= values.count { waiter.continuation.resume() }
    waiters.removeAll { $0.count <= values.count }
  }

  /// Waits until there are `count` values, and gives these.
  public func first(_ count: Int) async -> [Value] {
    await withCheckedContinuation { waiter in
      // Asked here and not before the wait: a task that isn't the loop's own comes late.
      if values.count < count { waiters.append((count, waiter)) } else { waiter.resume() }
    }
    return Array(values.prefix(count))
  }
}
