import CLinux
import Glibc
import Synchronization

/// The process's only loop: one poll(2) that is at once the executor of ``LoopActor``, a task executor, and the
/// place where timers, file descriptors and signals are waited for. One thread, by design.
///
/// A program calls ``run()`` on its main thread; tests and clients call ``runInBackground()``.
/// Start tasks with `Task.onLoop { … }`: see there.
public final class EventLoop: SerialExecutor, TaskExecutor {
  /// There is one loop.
  public static let shared = EventLoop()

  private let wakeDescriptor = clinux_eventfd()
  private let jobs = Lock<[UnownedJob]>([])
  /// pthread_t of the thread inside ``run()``, 0 while there is none.
  private let thread = Atomic<UInt>(0)
  private let stopRequested = Atomic<Bool>(false)
  private let background = Lock(false)
  /// Everything that only the loop's thread touches.
  let core = LoopCore()

  private init() {}

  // MARK: Executor

  /// Queues a job of the concurrency runtime. Wakes the loop only when it may be asleep: off its thread, and
  /// the first of a batch.
  public func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    let first = jobs.withLock { queue in
      queue.append(unowned)
      return queue.count == 1
    }
    if first && !isCurrent { wake() }
  }

  /// Resolves the protocols' two defaults.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Whether the caller is on the loop's thread.
  public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Answers `assumeIsolated` and its like.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Stops the program when called off the loop's thread.
  public func checkIsolated() { precondition(isCurrent, "not on the event loop's thread") }

  // MARK: Running

  /// Turns the loop on the calling thread until ``stop()``.
  public func run() {
    let (free, _) = thread.compareExchange(
      expected: 0, desired: UInt(pthread_self()), ordering: .sequentiallyConsistent)
    precondition(free, "the event loop runs already")
    defer { thread.store(0, ordering: .sequentiallyConsistent) }
    LoopActor.assumeIsolated { core.prepare(wakeDescriptor: wakeDescriptor) }
    while !stopRequested.exchange(false, ordering: .sequentiallyConsistent) {
      LoopActor.assumeIsolated { core.turn(self) }
    }
  }

  /// Starts a thread that runs the loop for the rest of the process. Later calls do nothing.
  public func runInBackground() {
    let started = background.withLock { started in
      defer { started = true }
      return started
    }
    if started { return }
    var handle = pthread_t()
    pthread_create(
      &handle, nil,
      { _ in
        clinux_name_thread("event-loop")
        EventLoop.shared.run()
        return nil
      }, nil)
    pthread_detach(handle)
  }

  /// Lets ``run()`` return after the turn under way. May be called from any thread, and before ``run()``.
  public func stop() {
    stopRequested.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  private func wake() {
    var one: UInt64 = 1
    _ = write(wakeDescriptor, &one, 8)
  }

  // MARK: For the core

  /// Runs what is queued now (not what these jobs queue in turn) and says whether there was anything.
  @LoopActor
  func runJobs(_ batch: inout [UnownedJob]) -> Bool {
    jobs.withLock { swap(&$0, &batch) }
    if batch.isEmpty { return false }
    let serial = asUnownedSerialExecutor()
    let task = asUnownedTaskExecutor()
    // As both executors: a task that prefers the loop then goes on without another trip through the queue.
    for job in batch { job.runSynchronously(isolatedTo: serial, taskExecutor: task) }
    batch.removeAll(keepingCapacity: true)
    return true
  }

  /// Whether jobs wait for their turn.
  @LoopActor
  public var hasJobs: Bool { jobs.withLock { !$0.isEmpty } }
}
