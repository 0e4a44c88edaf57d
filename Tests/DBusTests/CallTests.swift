import DBus
import EventLoop
import TestSupport
import Testing

@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct CallTests {
  /// `Slow` answers when the gate opens.
  @LoopActor
  final class Gate {
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var entered = 0
    nonisolated init() {}

    func wait() async {
      entered += 1
      await withCheckedContinuation { waiters.append($0) }
    }

    func open() {
      for waiter in waiters { waiter.resume() }
      waiters = []
    }
  }

  static func interface(_ gate: Gate = Gate(), seen: Recorder<String> = Recorder()) -> Interface {
    Interface(
      Rig.name,
      methods: [
        Method(
          "Slow", out: [Argument("done", "b")],
          handler: .async { _ in
            await gate.wait()
            return [.boolean(true)]
          }),
        Method(
          "Echo", in: [Argument("n", "i")], out: [Argument("n", "i")], handler: .async { $0.arguments }),
        Method(
          "Note", in: [Argument("text", "s")],
          handler: .sync { call in
            seen.record(call.arguments[0].asString ?? "")
            return []
          }),
      ],
      signals: [SignalDescription("Tick", [Argument("n", "i")])])
  }

  /// A task that isn't the loop's own goes through the loop's queue on its way into the wait. In a busy loop the bus has
  /// answered by then.
  @Test func aReplyThatComesBeforeTheCallerWaitsIsntLost() async throws {
    let rig = try await Rig.start(Self.interface())
    let crowd = Task.onLoop {
      while !Task.isCancelled {
        let end = ContinuousClock.now + .microseconds(300)
        while ContinuousClock.now < end {}
        await Task.yield()
      }
    }
    defer { crowd.cancel() }
    // The loss needs a coincidence of rounds and turns: one call in some hundred.
    for _ in 0..<1000 {
      let reply = try await rig.client.call(
        destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: "GetId", timeout: .seconds(20))
      #expect(reply.count == 1)
    }
  }

  @Test @LoopActor func aCallTimesOutAndTheLateReplyIsIgnored() async throws {
    let gate = Gate()
    let rig = try await Rig.start(Self.interface(gate))
    await #expect(throws: DBusError.noReply) { try await rig.call("Slow", timeout: .milliseconds(30)) }
    // On a busy machine the time may be up before the call arrives.
    while gate.entered == 0 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    #expect(rig.service.callsInFlight == 1)
    gate.open()
    while rig.service.callsInFlight > 0 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    #expect(try await rig.call("Echo", [.int32(1)]) == [.int32(1)])
  }

  @Test(arguments: [true, false]) @LoopActor func aCancelledCallEnds(fromLoop: Bool) async throws {
    let gate = Gate()
    let rig = try await Rig.start(Self.interface(gate))
    let task = Task.onLoop { try await rig.call("Slow", timeout: nil) }
    while gate.entered == 0 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    if fromLoop { task.cancel() } else { await Task.detached { task.cancel() }.value }
    let result = await task.result
    #expect(throws: DBusError.cancelled) { try result.get() }
    let late = Task.onLoop {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await rig.call("Slow", timeout: nil)
    }
    let second = await late.result
    #expect(throws: DBusError.cancelled) { try second.get() }
    gate.open()
  }

  @Test @LoopActor func twoHundredCallsAtOnce() async throws {
    let gate = Gate()
    let rig = try await Rig.start(Self.interface(gate))
    let slow = (0..<100).map { _ in Task.onLoop { try await rig.call("Slow") } }
    let quick = (Int32(0)..<100).map { number in Task.onLoop { try await rig.call("Echo", [.int32(number)]) } }
    for (number, task) in quick.enumerated() { #expect(try await task.value == [.int32(Int32(number))]) }
    while gate.entered < 100 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    #expect(rig.service.callsInFlight == 100)
    gate.open()
    for task in slow { #expect(try await task.value == [.boolean(true)]) }
    #expect(rig.service.callsInFlight == 0)
  }

  @Test @LoopActor func noReplyIsSentWhenNoneIsWanted() async throws {
    let seen = Recorder<String>()
    let rig = try await Rig.start(Self.interface(seen: seen))
    let monitor = try await Connection.open(.address(rig.bus.address))
    for text in ["a", "b"] {
      try monitor.send(
        destination: Rig.name, path: Rig.path, interface: Rig.name, member: "Note", arguments: [.string(text)])
    }
    try monitor.send(destination: Rig.name, path: Rig.path, interface: Rig.name, member: "Nope")
    #expect(await seen.first(2) == ["a", "b"])
    _ = try await rig.call("Echo", [.int32(1)])
    #expect(rig.service.callsInFlight == 0)
    // dbus-send without --print-reply asks for no reply either, and gets none.
    let result = try await Subprocess.run([
      "dbus-send", "--bus=\(rig.bus.address)", "--type=method_call", "--dest=\(Rig.name)", Rig.path.text,
      "\(Rig.name).Note", "string:c",
    ])
    #expect(result.status == 0)
    #expect(await seen.first(3).last == "c")
  }

  @Test @LoopActor func everyCallGetsExactlyOneReply() async throws {
    let rig = try await Rig.start(Self.interface())
    let monitor = try await Connection.open(.address(rig.bus.address))
    let replies = try await rig.python(
      """
      count = 0
      def handler(connection, message):
          global count
          if message.get_type() in (2, 3) and message.get_sender() == bus.get_name_owner("\(Rig.name)"): count += 1
          return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
      import dbus.lowlevel
      for name, args in (("Echo", (5,)), ("Nope", ()), ("Note", ("x",))):
          try: print(proxy.get_dbus_method(name, "\(Rig.name)")(*args))
          except dbus.DBusException as e: print(e.get_dbus_name())
      """)
    #expect(replies.stdout == "5\norg.freedesktop.DBus.Error.UnknownMethod\nNone\n", "\(replies.stderr)")
    monitor.close()
  }

  @Test @LoopActor func aSignalAfterAReplyIsSeenAfterIt() async throws {
    let rig = try await Rig.start(Self.interface())
    var events: [String] = []
    let ticks = Recorder<Int32>()
    _ = try await rig.client.subscribe(MatchRule(sender: Rig.name, member: "Tick")) { signal in
      events.append("tick")
      ticks.record(signal.arguments.first?.asInt32 ?? -1)
    }
    // The service's replies and ticks are in one stream of bytes; the client is kept busy until both are there.
    for number in Int32(0)..<50 {
      let call = Task.onLoop {
        _ = try await rig.call("Echo", [.int32(number)])
        events.append("reply")
      }
      let tick = try await Self.nextCall(rig)
      try rig.service.emit(path: Rig.path, interface: Rig.name, member: "Tick", arguments: [.int32(tick)])
      _ = await ticks.first(Int(number) + 1)
      try await call.value
    }
    #expect(events == (0..<50).flatMap { _ in ["reply", "tick"] })
  }

  /// Waits until the service has answered the call under way.
  @LoopActor
  private static func nextCall(_ rig: Rig) async throws -> Int32 {
    let before = rig.service.lastCallTime
    while rig.service.lastCallTime == before || rig.service.callsInFlight > 0 { await Task.yield() }
    return 1
  }

  @Test @LoopActor func aBurstOfSignalsDoesntStarveTimers() async throws {
    let rig = try await Rig.start(Self.interface())
    let seen = Recorder<Int32>()
    var atTimer: Int?
    _ = try await rig.client.subscribe(MatchRule(sender: Rig.name, member: "Tick")) { signal in
      seen.record(signal.arguments.first?.asInt32 ?? -1)
      if seen.values.count == 1 { EventLoop.shared.after(.zero) { atTimer = seen.values.count } }
    }
    let sender = try await Connection.open(.address(rig.bus.address))
    _ = try await rig.service.releaseName(Rig.name)
    _ = try await sender.requestName(Rig.name)
    for number in Int32(0)..<5000 {
      try sender.emit(path: Rig.path, interface: Rig.name, member: "Tick", arguments: [.int32(number)])
    }
    #expect(await seen.first(5000) == Array(0..<5000))
    #expect(try #require(atTimer) < 5000)
  }

  @Test @LoopActor func flushWaitsForTheQueue() async throws {
    let rig = try await Rig.start(Self.interface())
    let seen = Recorder<Int>()
    _ = try await rig.client.subscribe(MatchRule(member: "Big")) { seen.record($0.arguments[0].asBytes?.count ?? 0) }
    for _ in 0..<20 {
      try rig.service.emit(
        path: "/x", interface: "a.B", member: "Big", arguments: [.bytes(Array(repeating: 1, count: 1_000_000))])
    }
    await rig.service.flush()
    rig.service.close()
    #expect(await seen.first(20) == Array(repeating: 1_000_000, count: 20))
  }
}
