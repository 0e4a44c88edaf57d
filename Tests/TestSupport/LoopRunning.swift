import EventLoop
public import Testing

/// Starts the loop before the first test that is isolated to it. Suites themselves aren't isolated: Swift Testing would need
/// the loop to list their tests.
public struct LoopRunning: SuiteTrait, TestTrait, TestScoping {
  /// Starts nothing yet.
  public init() {}

  /// See `TestScoping`.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    EventLoop.shared.runInBackground()
    try await function()
  }
}

extension Trait where Self == LoopRunning {
  /// The loop runs in a thread of its own.
  public static var loopRunning: Self { LoopRunning() }
}
