import AuthCore
import EventLoop

/// The service behind the sockets: one state, and the way of a request through faults and router.
final class Service: Sendable {
  struct State: Sendable {
    var world: World
    var log: [RequestRecord] = []
    var faults: [ActiveFault] = []
    var nextID = 1
    var isStopping = false
    /// What the threads of unfinished requests wait for, by the number of the request.
    var waiting: [Int: Latch] = [:]
    var requestCount = 0

    /// Changes a request's entry; nothing where the log was cleared meanwhile.
    mutating func note(_ number: Int, _ change: (inout RequestRecord) -> Void) {
      if let index = log.lastIndex(where: { $0.number == number }) { change(&log[index]) }
    }
  }

  /// Connections have a thread each; one lock keeps the accounts, the codes, the faults and the log in step. A handler
  /// runs as a whole under it, so that two requests with the same code can't both succeed. Nobody waits while holding it.
  let state: Lock<State>
  private let router: Router

  init(project: String, schemes: [String], faults: [Fault]) {
    state = Lock(State(world: World(project: project, schemes: schemes)))
    router = Router(operations: Operation.table)
    for fault in faults { set(fault) }
  }

  /// Sets a fault and says under which number.
  @discardableResult
  func set(_ fault: Fault) -> Int {
    state.withLock { state in
      let id = state.nextID
      state.nextID += 1
      state.faults.append(ActiveFault(id: id, fault))
      return id
    }
  }

  /// Lets the requests go on that a fault holds, and removes it if asked; nil: those of all faults.
  func release(_ id: Int?, removing: Bool) {
    state.withLock { state in
      for index in state.faults.indices where id == nil || state.faults[index].id == id {
        for latch in state.faults[index].held.values { latch.open() }
        state.faults[index].held = [:]
      }
      if removing { state.faults.removeAll { id == nil || $0.id == id } }
    }
  }

  /// Wakes every waiting request; no further one waits.
  func beginStop() {
    state.withLock { state in
      state.isStopping = true
      for latch in state.waiting.values { latch.open() }
    }
  }

  func answer(_ request: HTTPRequest, socket: Int32) -> Reply {
    if Self.isControl(request.path) { return control(request) }
    let (number, hit) = begin(request)
    let reply: Reply
    if let hit {
      reply = answer(request, number: number, hit: hit, socket: socket)
    } else {
      reply = handle(request, number: number, fault: nil)
    }
    if reply.status != 0 { state.withLock { $0.note(number) { $0.status = reply.status } } }
    return dated(reply, clockOffset: hit?.fault.clockOffset ?? 0)
  }

  /// The status page and the control endpoints meet no fault and aren't recorded.
  private static func isControl(_ path: String) -> Bool { path == "/" || path.hasPrefix("/emulator/v1/") }

  private func control(_ request: HTTPRequest) -> Reply {
    if let reply = FaultControl.answer(request, service: self) { return dated(reply, clockOffset: 0) }
    let reply = state.withLock { router.answer(request, world: &$0.world) }
    return dated(reply, clockOffset: 0)
  }

  private func dated(_ reply: Reply, clockOffset: Int64) -> Reply {
    var reply = reply
    let now = state.withLock { $0.world.now } + clockOffset * 1000
    reply.headers.append(("Date", Dates.http(now)))
    return reply
  }

  /// Records the request and takes the fault it meets.
  private func begin(_ request: HTTPRequest) -> (number: Int, hit: ActiveFault?) {
    state.withLock { state in
      let number = state.requestCount
      state.requestCount += 1
      state.log.append(RequestRecord(request, number: number))
      guard let index = state.faults.firstIndex(where: { $0.hits(request.path) }) else { return (number, nil) }
      if let remaining = state.faults[index].remaining { state.faults[index].remaining = remaining - 1 }
      return (number, state.faults[index])
    }
  }

  private func answer(_ request: HTTPRequest, number: Int, hit: ActiveFault, socket: Int32) -> Reply {
    let fault = hit.fault
    if fault.delay > 0, wait(number, socket, milliseconds: fault.delay, heldBy: nil) == .peerGone { return .dropped }
    if fault.hold == .beforeHandling, wait(number, socket, heldBy: hit.id) == .peerGone { return .dropped }
    var own: Reply?
    if fault.letsHandle { own = handle(request, number: number, fault: fault) }
    if fault.hold == .afterHandling || fault.answer == .hang { _ = wait(number, socket, heldBy: hit.id) }
    return fault.damaged(own)
  }

  private func handle(_ request: HTTPRequest, number: Int, fault: Fault?) -> Reply {
    var answers: [FunctionCall.Event: FunctionAnswer] = [:]
    var ids: [String] = []
    while true {
      let reply = state.withLock { state in
        state.note(number) { $0.isHandled = true }
        var world = state.world.beginning(
          clockOffset: fault?.clockOffset ?? 0, openIDFault: fault?.openIDFault, ids: ids, answers: answers)
        let reply = router.answer(request, world: &world)
        // Who waits for a function has done nothing yet; the ids it told are kept.
        if reply.waitsFor == nil { state.world = world.ended() } else { ids = world.givenIDs + world.nextIDs }
        return reply
      }
      guard let call = reply.waitsFor else { return reply }
      answers[call.event] = FunctionClient.ask(call)
    }
  }

  /// Blocks the request's thread until it's woken, its client has gone, or the time is over.
  private func wait(
    _ number: Int, _ socket: Int32, milliseconds: Int? = nil, heldBy fault: Int?
  ) -> Latch.Outcome {
    let latch = Latch()
    let isStopping = state.withLock { state in
      state.waiting[number] = latch
      guard let fault else { return state.isStopping }
      let index = state.faults.firstIndex { $0.id == fault }
      if let index { state.faults[index].held[number] = latch }
      // A fault that was removed meanwhile holds nobody any more.
      return state.isStopping || index == nil
    }
    defer {
      state.withLock { state in
        state.waiting[number] = nil
        for index in state.faults.indices { state.faults[index].held[number] = nil }
      }
    }
    return isStopping ? .opened : latch.wait(socket: socket, milliseconds: milliseconds)
  }
}
