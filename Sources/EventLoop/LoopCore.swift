import CLinux
import Glibc

/// The part of the loop that belongs to its thread.
@LoopActor
final class LoopCore {
  var timers = TimerHeap()
  var pollSet = PollSet()
  let signals = SignalWatcher()
  private var hooks: [EventLoop.Hook] = []
  private var jobBatch: [UnownedJob] = []
  private var ready: [(watch: EventLoop.Watch, events: FileEvents)] = []
  private var timerDescriptor: Int32 = -1
  /// Boot time for which the timerfd is set, `.max` when it isn't.
  private var armed = UInt64.max
  private var timersMade: UInt64 = 0

  /// Rounds of jobs and hooks before timers and descriptors get their turn again.
  private static let roundsPerTurn = 16

  nonisolated init() {}

  func prepare(wakeDescriptor: Int32) {
    if timerDescriptor >= 0 { return }
    timerDescriptor = clinux_boot_timerfd()
    precondition(timerDescriptor >= 0 && wakeDescriptor >= 0, "no descriptors left for the event loop")
    EventLoop.shared.watch(wakeDescriptor, .read) { _ in drainCounter(wakeDescriptor) }
    EventLoop.shared.watch(timerDescriptor, .read) { [unowned self] _ in
      drainCounter(timerDescriptor)
      armed = .max
    }
  }

  /// Jobs and hooks until none has work left (bounded), due timers, then one poll(2).
  func turn(_ loop: EventLoop) {
    var busy = true
    var rounds = 0
    while busy && rounds < Self.roundsPerTurn {
      let ran = loop.runJobs(&jobBatch)
      busy = runHooks() || ran
      rounds += 1
    }
    let fired = runDueTimers()
    armTimer()
    pollSet.poll(timeout: busy || fired || loop.hasJobs ? 0 : -1, into: &ready)
    // By index: a handler may add to nothing here, but may cancel watches further on.
    for index in ready.indices where ready[index].watch.place != nil {
      ready[index].watch.handler(ready[index].events)
    }
    ready.removeAll(keepingCapacity: true)
  }

  // MARK: Hooks

  func add(_ hook: EventLoop.Hook) { hooks.append(hook) }
  func remove(_ hook: EventLoop.Hook) { hooks.removeAll { $0 === hook } }

  private func runHooks() -> Bool {
    var more = false
    for hook in hooks where !hook.isCancelled { more = hook.body() || more }
    return more
  }

  // MARK: Timers

  func addTimer(
    after delay: UInt64, every interval: UInt64?, _ body: @escaping @LoopActor () -> Void
  ) -> EventLoop.Timer {
    timersMade += 1
    let (deadline, overflow) = BootClock.nanoseconds.addingReportingOverflow(delay)
    let timer = EventLoop.Timer(
      deadline: overflow ? .max : deadline, order: timersMade, interval: interval, body: body)
    timers.insert(timer)
    return timer
  }

  /// Fires what was due when it was entered, so that a timer that sets another for now can't hold the loop.
  private func runDueTimers() -> Bool {
    guard !timers.isEmpty else { return false }
    let now = BootClock.nanoseconds
    let newest = timersMade
    var fired = false
    while let timer = timers.earliest, timer.deadline <= now, timer.order <= newest {
      timers.remove(at: 0)
      let body = timer.body
      if let interval = timer.interval {
        // Missed beats (a suspended machine) are skipped, not made up for.
        timer.deadline += interval * ((now - timer.deadline) / interval + 1)
        timers.insert(timer)
      } else {
        timer.body = nil
      }
      body?()
      fired = true
    }
    return fired
  }

  /// Sets the timerfd only when it would fire too late: one needless wake-up costs less than a system call per timer.
  private func armTimer() {
    guard let earliest = timers.earliest, earliest.deadline < armed else { return }
    armed = earliest.deadline
    // 0 would disarm.
    _ = clinux_timerfd_set(timerDescriptor, max(armed, 1))
  }
}

private func drainCounter(_ descriptor: Int32) {
  var count: UInt64 = 0
  _ = read(descriptor, &count, 8)
}
