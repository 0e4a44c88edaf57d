import AuthCore
import DBus
import LinkdClient
import TestSupport
import Testing

@Suite("The states of a session", .timeLimit(.minutes(1)))
struct StatesTests {
  @Test("the first value is the current one, with the user as linkd knows them")
  func first() async throws {
    let rig = try await Rig.start()
    await rig.stub.change(.authenticated, uid: "u1", more: ["email": .string("you@example.com")], told: false)
    var states = rig.app.states.makeAsyncIterator()
    let status = try #require(try await states.next())
    #expect(status.state == .authenticated && status.sequence == 2)
    #expect(status.user?.uid == "u1" && status.user?.email == "you@example.com")
  }

  @Test("each change comes once and in order, also of a user who left before linkd could be asked")
  func quick() async throws {
    let rig = try await Rig.start()
    var states = rig.app.states.makeAsyncIterator()
    #expect(try await states.next()?.state == .unauthenticated)
    let uids = (1...50).map { $0 % 2 == 0 ? nil : "u\($0)" }
    await rig.stub.changeAll(uids)
    for uid in uids {
      let status = try #require(try await states.next())
      #expect(status.user?.uid == uid && status.state == (uid == nil ? .unauthenticated : .authenticated))
    }
    await rig.stub.change(.authenticating)
    #expect(try await states.next()?.state == .authenticating)
  }

  @Test("a change of the user's name alone is news, and it is read with the rest")
  func details() async throws {
    let rig = try await Rig.start()
    await rig.stub.change(.authenticated, uid: "u1", told: false)
    var states = rig.app.states.makeAsyncIterator()
    #expect(try await states.next()?.user?.displayName == nil)
    await rig.stub.change(.authenticated, uid: "u1", more: ["display-name": .string("Ada")])
    let status = try #require(try await states.next())
    #expect(status.user?.displayName == "Ada" && status.sequence == 3)
  }

  @Test("a killed linkd: what it committed without a signal is told, and the announcement of the next one isn't news")
  func killed() async throws {
    let rig = try await Rig.start()
    var states = rig.app.states.makeAsyncIterator()
    #expect(try await states.next()?.state == .unauthenticated)
    await rig.stub.change(.authenticated, uid: "u1")
    #expect(try await states.next()?.user?.uid == "u1")
    await rig.stub.change(.authenticated, uid: "u2", told: false)
    await rig.stub.die()
    await rig.stub.jump(64)
    try await rig.stub.restart(rig.bus)
    await rig.stub.tell()
    #expect(try await states.next()?.user?.uid == "u2")
    // Nothing in between: the next value is the next change.
    await rig.stub.die()
    await rig.stub.jump(64)
    try await rig.stub.restart(rig.bus)
    await rig.stub.tell()
    await rig.stub.change(.unauthenticated)
    let last = try #require(try await states.next())
    #expect(last.state == .unauthenticated && last.user == nil)
  }

  @Test("a signal that is still on its way when linkd dies isn't lost")
  func lastSignal() async throws {
    let rig = try await Rig.start()
    var states = rig.app.states.makeAsyncIterator()
    #expect(try await states.next()?.state == .unauthenticated)
    await rig.stub.changeAndDie(uid: "u1")
    #expect(try await states.next()?.user?.uid == "u1")
    try await rig.stub.restart(rig.bus)
    await rig.stub.change(.unauthenticated)
    #expect(try await states.next()?.state == .unauthenticated)
  }

  @Test("numbers that begin anew, as after the store was deleted, are believed of a new linkd")
  func freshStore() async throws {
    let rig = try await Rig.start(StubLinkd.Stored(sequence: 900))
    var states = rig.app.states.makeAsyncIterator()
    #expect(try await states.next()?.sequence == 900)
    await rig.stub.die()
    await rig.stub.forget()
    try await rig.stub.restart(rig.bus)
    await rig.stub.change(.authenticated, uid: "u1")
    let status = try #require(try await states.next())
    #expect(status.user?.uid == "u1" && status.sequence == 2)
  }

  @Test("two iterators see everything; one that stops doesn't disturb the other")
  func two() async throws {
    let rig = try await Rig.start()
    let sequence = rig.app.states
    let short = Task {
      for try await status in sequence where status.user?.uid == "u1" { return true }
      return false
    }
    var long = sequence.makeAsyncIterator()
    #expect(try await long.next()?.state == .unauthenticated)
    await rig.stub.change(.authenticated, uid: "u1")
    #expect(try await short.value)
    #expect(try await long.next()?.user?.uid == "u1")
    await rig.stub.change(.authenticated, uid: "u2")
    #expect(try await long.next()?.user?.uid == "u2")
  }

  @Test("cancelling the task ends the loop without an error")
  func cancelled() async throws {
    let rig = try await Rig.start()
    let (began, start) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      var count = 0
      for try await _ in rig.app.states {
        count += 1
        start.yield()
      }
      return count
    }
    for await _ in began { break }
    task.cancel()
    #expect(try await task.value == 1)
  }

  @Test("the loss of the bus, or of the app, ends the loop with an error that says so")
  func lost() async throws {
    let rig = try await Rig.start()
    var states = rig.app.states.makeAsyncIterator()
    #expect(try await states.next() != nil)
    await rig.stub.die()
    try await rig.stub.restart(rig.bus, without: StubLinkd.app)
    #expect(await failure { () throws(LinkdError) in try await states.next() }?.authError == .noSuchApp)

    let other = try await Rig.start()
    var more = other.app.states.makeAsyncIterator()
    #expect(try await more.next() != nil)
    other.bus.stop()
    guard case .unavailable(let name, _) = await failure({ () throws(LinkdError) in try await more.next() }) else {
      Issue.record("no error")
      return
    }
    #expect(name == DBusError.Name.disconnected)
  }

  @Test("the connection ends with the last proxy")
  func connectionEnds() async throws {
    let bus = try PrivateBus.start()
    let stub = try await StubLinkd.start(bus)
    let before = try await stub.names()
    do {
      let app = try await LinkdService.connect(busAddress: bus.address).app("demo")
      for try await _ in app.states { break }
      #expect(try await stub.names().count == before.count + 1)
    }
    try await eventually { try await stub.names() == before }
  }
}

extension StubLinkd {
  /// One change after another, without a turn of the loop between them.
  func changeAll(_ uids: [String?]) {
    for uid in uids { change(uid == nil ? .unauthenticated : .authenticated, uid: uid) }
  }

  func changeAndDie(uid: String) async {
    change(.authenticated, uid: uid)
    await flush()
    die()
  }

  /// As linkd, which reserves numbers in blocks.
  func jump(_ count: UInt64) { stored.sequence += count }

  func forget() { stored = Stored() }
}

/// Looks again until `condition` holds; gives up after 10 s.
func eventually(_ condition: () async throws -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(10)
  while try await !condition() {
    try #require(ContinuousClock.now < deadline, "waited in vain")
    try await Task.sleep(for: .milliseconds(10))
  }
}
