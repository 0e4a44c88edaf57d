import EventLoop
import Testing

/// Starts the loop before the first test that is isolated to it.
struct LoopRunning: SuiteTrait, TestTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    EventLoop.shared.runInBackground()
    try await function()
  }
}

extension Trait where Self == LoopRunning {
  static var loopRunning: Self { LoopRunning() }
}

/// A value that callbacks on the loop change and that tests wait for.
@LoopActor
final class Recorder<Value: Sendable> {
  private(set) var values: [Value] = []
  private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  nonisolated init() {}

  func record(_ value: Value) {
    values.append(value)
    for waiter in waiters where waiter.count <= values.count { waiter.continuation.resume() }
    waiters.removeAll { $0.count <= values.count }
  }

  func first(_ count: Int) async -> [Value] {
    await withCheckedContinuation { waiter in
      // Asked here and not before the wait: a task that isn't the loop's own comes late.
      if values.count < count { waiters.append((count, waiter)) } else { waiter.resume() }
    }
    return Array(values.prefix(count))
  }
}
