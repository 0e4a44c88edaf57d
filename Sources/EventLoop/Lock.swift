import Glibc

/// A value behind a pthread mutex. ThreadSanitizer follows it, unlike `Synchronization.Mutex`, which it reports falsely.
public final class Lock<Value>: @unchecked Sendable {
  // @unchecked: `value` is touched between lock and unlock of `mutex` alone.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value

  /// Guards a first value.
  public init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` with the value while no other thread has it. Not reentrant.
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
