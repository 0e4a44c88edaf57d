import EventLoop
import Foundation
import TestSupport
import Testing

@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct LoopTests {
  let loop = EventLoop.shared

  // MARK: Isolation

  @Test @LoopActor func loopActorRunsOnTheLoop() {
    #expect(loop.isCurrent)
    #expect(LoopActor.assumeIsolated { 42 } == 42)
  }

  @Test func othersDont() async {
    await Task.detached {
      #expect(!EventLoop.shared.isCurrent)
      #expect(EventLoop.shared.isIsolatingCurrentContext() == false)
    }.value
  }

  @Test func assumingIsolationElsewhereStopsTheProgram() async {
    await #expect(processExitsWith: .failure) { LoopActor.assumeIsolated {} }
  }

  @Test @LoopActor func tasksPreferringTheLoopStayOnIt() async {
    let isCurrent = await Task(executorPreference: EventLoop.shared) { await nonisolatedIsCurrent() }.value
    #expect(isCurrent)
  }

  @Test func jobsFromManyThreadsAllRunOnTheLoop() async {
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask { @concurrent in for _ in 0..<20 { await counter.increment() } }
      }
    }
    #expect(await counter.value == 4000)
  }

  @Test @LoopActor func jobsAndHooksDontStarveTimers() async {
    let fired = Recorder<Bool>()
    @LoopActor func spin() { if fired.values.isEmpty { Task { @LoopActor in spin() } } }
    spin()
    let hook = loop.beforePoll { true }
    loop.after(.milliseconds(5)) { fired.record(true) }
    #expect(await fired.first(1) == [true])
    hook.cancel()
  }

  @Test @LoopActor func performIsImmediateOnTheLoopAndSoonElsewhere() async {
    let done = Recorder<String>()
    loop.perform { done.record("here") }
    #expect(done.values == ["here"])
    await Task.detached { EventLoop.shared.perform { done.record("elsewhere") } }.value
    #expect(await done.first(2) == ["here", "elsewhere"])
  }

  // MARK: Descriptors

  @Test @LoopActor func watchReportsReadabilityUntilCancelled() async throws {
    let pipe = try Subprocess.Pipe.make()
    defer {
      close(pipe.read)
      close(pipe.write)
    }
    let bytes = Recorder<UInt8>()
    let watch = loop.watch(pipe.read, .read) { events in
      #expect(events.contains(.read))
      var byte: UInt8 = 0
      if read(pipe.read, &byte, 1) == 1 { bytes.record(byte) }
    }
    _ = write(pipe.write, "ab", 2)
    #expect(await bytes.first(2) == [97, 98])
    watch.cancel()
    watch.cancel()
    _ = write(pipe.write, "c", 1)
    try await loop.sleep(for: .milliseconds(5))
    #expect(bytes.values.count == 2)
  }

  @Test @LoopActor func pausedWatchIsSilentEvenOnHangUp() async throws {
    let pipe = try Subprocess.Pipe.make()
    let seen = Recorder<FileEvents>()
    let watch = loop.watch(pipe.read, .read) { seen.record($0) }
    watch.change([])
    close(pipe.write)
    try await loop.sleep(for: .milliseconds(5))
    #expect(seen.values.isEmpty)
    watch.change(.read)
    #expect(await seen.first(1)[0].contains(.hangUp))
    watch.cancel()
    close(pipe.read)
  }

  @Test @LoopActor func watchCancelledInTheSameTurnIsntCalled() async throws {
    let pipes = [try Subprocess.Pipe.make(), try Subprocess.Pipe.make()]
    let seen = Recorder<Int>()
    let watches = Recorder<EventLoop.Watch>()
    for (index, pipe) in pipes.enumerated() {
      watches.record(
        // Weakly: a watch keeps its handler.
        loop.watch(pipe.read, .read) { [weak watches] _ in
          seen.record(index)
          for watch in watches?.values ?? [] { watch.cancel() }
        })
      _ = write(pipe.write, "x", 1)
    }
    _ = await seen.first(1)
    try await loop.sleep(for: .milliseconds(5))
    withExtendedLifetime(watches) {}
    #expect(seen.values.count == 1)
    for pipe in pipes { [pipe.read, pipe.write].forEach { close($0) } }
  }

  @Test @LoopActor func writableIsReported() async throws {
    let pipe = try Subprocess.Pipe.make()
    let seen = Recorder<FileEvents>()
    let watch = loop.watch(pipe.write, .write) { seen.record($0) }
    #expect(await seen.first(1)[0] == .write)
    watch.cancel()
    [pipe.read, pipe.write].forEach { close($0) }
  }

  // MARK: Signals and memory

  @Test @LoopActor func signalsArriveAsEvents() async {
    let seen = Recorder<Int32>()
    loop.onSignal(SIGUSR1) { seen.record(SIGUSR1) }
    loop.onSignal(SIGUSR2) { seen.record(SIGUSR2) }
    // To this thread alone: the others of the test process haven't blocked them.
    pthread_kill(pthread_self(), SIGUSR2)
    pthread_kill(pthread_self(), SIGUSR1)
    #expect(Set(await seen.first(2)) == [SIGUSR1, SIGUSR2])
  }

  @Test @LoopActor func droppedPagesComeBack() {
    EventLoop.dropCleanPages()
    #expect([3, 1, 2].sorted() == [1, 2, 3])
  }

  @Test func runReturnsAfterStop() async {
    // In a process of its own: the loop of this one is busy.
    await #expect(processExitsWith: .success) {
      EventLoop.shared.stop()
      EventLoop.shared.run()
      await Task.detached {
        // A second run, stopped by a timer and by another thread's job.
        Task { @LoopActor in EventLoop.shared.after(.milliseconds(2)) { EventLoop.shared.stop() } }
        EventLoop.shared.run()
      }.value
    }
  }

  @Test func lockExcludesOthers() async {
    let lock = Lock(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { @concurrent in for _ in 0..<1000 { lock.withLock { $0 += 1 } } }
      }
    }
    #expect(lock.withLock { $0 } == 8000)
  }
}

@concurrent
private func nonisolatedIsCurrent() async -> Bool { EventLoop.shared.isCurrent }

@LoopActor
private final class Counter {
  private(set) var value = 0
  nonisolated init() {}
  func increment() { value += 1 }
}
