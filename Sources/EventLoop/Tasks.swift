extension Task where Failure == Never {
  /// Starts a task that stays on the loop's thread. `Task { @LoopActor in … }` is isolated to it as well, but Swift
  /// resumes a task that waited for a continuation on its preferred executor, and without a preference that is the
  /// global pool: each reply, timer or sleep would wake another thread and come back late, behind later events.
  @discardableResult
  public static func onLoop(_ body: @escaping @LoopActor () async -> Success) -> Task {
    Task(executorPreference: EventLoop.shared, operation: body)
  }

  /// The same, run up to its first suspension before this returns.
  @LoopActor @discardableResult
  public static func immediateOnLoop(_ body: @escaping @LoopActor () async -> Success) -> Task {
    Task.immediate(executorPreference: EventLoop.shared, operation: body)
  }
}

extension Task where Failure == any Error {
  /// Starts a task that stays on the loop's thread, and may throw.
  @discardableResult
  public static func onLoop(_ body: @escaping @LoopActor () async throws -> Success) -> Task {
    Task(executorPreference: EventLoop.shared, operation: body)
  }
}
