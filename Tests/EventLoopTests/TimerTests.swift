import TestSupport
import Testing

@testable import EventLoop

@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct TimerTests {
  let loop = EventLoop.shared

  @Test @LoopActor func timersFireByDeadlineAndThenByAge() async {
    let fired = Recorder<Int>()
    loop.after(.milliseconds(30)) { fired.record(3) }
    loop.after(.milliseconds(10)) { fired.record(1) }
    loop.after(.milliseconds(20)) { fired.record(2) }
    loop.after(.zero) { fired.record(-1) }
    loop.after(.zero) { fired.record(0) }
    #expect(fired.values.isEmpty, "never before the next turn")
    #expect(await fired.first(5) == [-1, 0, 1, 2, 3])
  }

  @Test @LoopActor func timersDontFireEarly() async {
    let start = BootClock.nanoseconds
    let fired = Recorder<UInt64>()
    loop.after(.milliseconds(25)) { fired.record(BootClock.nanoseconds) }
    let end = await fired.first(1)[0]
    #expect(end - start >= 25_000_000)
  }

  @Test @LoopActor func cancelledTimerDoesntFire() async {
    let fired = Recorder<String>()
    let cancelled = loop.after(.milliseconds(5)) { fired.record("cancelled") }
    loop.after(.milliseconds(10)) { fired.record("kept") }
    #expect(cancelled.isPending)
    cancelled.cancel()
    cancelled.cancel()
    #expect(!cancelled.isPending)
    #expect(await fired.first(1) == ["kept"])
  }

  @Test @LoopActor func timerCancelledByOneThatIsDueWithIt() async {
    let fired = Recorder<String>()
    var second: EventLoop.Timer?
    loop.after(.milliseconds(1)) {
      second?.cancel()
      fired.record("first")
    }
    second = loop.after(.milliseconds(1)) { fired.record("second") }
    loop.after(.milliseconds(3)) { fired.record("third") }
    #expect(await fired.first(2) == ["first", "third"])
  }

  @Test @LoopActor func repeatingTimerRunsUntilCancelled() async {
    let fired = Recorder<Int>()
    var timer: EventLoop.Timer?
    timer = loop.every(.milliseconds(2)) {
      fired.record(fired.values.count)
      if fired.values.count == 3 { timer?.cancel() }
    }
    #expect(await fired.first(3) == [0, 1, 2])
    try? await loop.sleep(for: .milliseconds(10))
    #expect(fired.values.count == 3)
  }

  @Test @LoopActor func tenThousandTimersFireInOrderWhileHalfAreCancelled() async {
    let fired = Recorder<Int>()
    let timers = (0..<10_000).map { index in
      loop.after(.microseconds(Int.random(in: 1000...50_000))) { fired.record(index) }
    }
    for (index, timer) in timers.enumerated() where index.isMultiple(of: 2) { timer.cancel() }
    let expected = timers.indices.filter { !$0.isMultiple(of: 2) }
      .sorted { (timers[$0].deadline, $0) < (timers[$1].deadline, $1) }
    let inOrder = await fired.first(5_000) == expected
    #expect(inOrder)
  }

  @Test @LoopActor func timerThatRearmsItselfForNowLetsOthersRun() async {
    let fired = Recorder<Int>()
    var rounds = 0
    @LoopActor func again() {
      rounds += 1
      if fired.values.isEmpty { loop.after(.zero) { again() } }
    }
    again()
    loop.after(.milliseconds(5)) { fired.record(rounds) }
    #expect(await fired.first(1)[0] > 0)
  }

  @Test @LoopActor func farTimersDontOverflow() async {
    let timer = loop.after(.seconds(Int64.max)) {}
    #expect(timer.isPending)
    timer.cancel()
    loop.after(.seconds(-5)) {}.cancel()
    #expect(Duration.seconds(-5).clampedNanoseconds == 0)
    #expect(Duration.seconds(2).clampedNanoseconds == 2_000_000_000)
  }

  @Test @LoopActor func sleepReturnsAfterItsTime() async throws {
    let start = BootClock.nanoseconds
    try await loop.sleep(for: .milliseconds(15))
    #expect(BootClock.nanoseconds - start >= 15_000_000)
  }

  @Test(arguments: [true, false]) @LoopActor func sleepEndsWithItsTask(cancelledFromLoop: Bool) async {
    let task = Task { @LoopActor in try await EventLoop.shared.sleep(for: .seconds(3600)) }
    if cancelledFromLoop { task.cancel() } else { await Task.detached { task.cancel() }.value }
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
  }

  @Test @LoopActor func sleepOfACancelledTaskDoesntStart() async {
    let task = Task { @LoopActor in
      withUnsafeCurrentTask { $0?.cancel() }
      try await EventLoop.shared.sleep(for: .seconds(3600))
    }
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
  }

  @Test @LoopActor func clocksAdvance() {
    let boot = BootClock.nanoseconds
    #expect(BootClock.nanoseconds >= boot)
    #expect(BootClock.seconds == Int64(boot / 1_000_000_000) || BootClock.seconds == Int64(boot / 1_000_000_000) + 1)
    #expect(WallClock.now > 1_700_000_000)
    #expect(abs(WallClock.milliseconds / 1000 - WallClock.now) <= 1)
  }
}
