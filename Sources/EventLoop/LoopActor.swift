/// The loop's thread as a global actor. Whatever owns a C handle is a `@LoopActor final class`, so the compiler
/// keeps the handle on that thread.
@globalActor
public actor LoopActor {
  /// The one instance.
  public static let shared = LoopActor()

  /// The loop itself runs the actor's jobs.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }

  /// The same without touching the instance.
  public static var sharedUnownedExecutor: UnownedSerialExecutor { EventLoop.shared.asUnownedSerialExecutor() }

  /// Runs `body` at once, for code that is known to be on the loop's thread (C callbacks). Stops the program elsewhere.
  public static func assumeIsolated<Result: Sendable, Failure: Error>(
    _ body: @LoopActor () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    EventLoop.shared.checkIsolated()
    // Isolation is part of the type and not of the representation: on the loop's thread the cast only says
    // what was just checked (MainActor.assumeIsolated does the same).
    return try withoutActuallyEscaping(body) { (escaped) throws(Failure) -> Result in
      try unsafeBitCast(escaped, to: (() throws(Failure) -> Result).self)()
    }
  }
}
