import DBus
import EventLoop
import TestSupport
import Testing

@Suite("Prepared results", .loopRunning, .timeLimit(.minutes(1)))
struct PreparedResultsTests {
  static let values: [DBusValue] = [
    .string("token"), .int64(-7), .dict(["list": .array(of: "v", [.variant(.double(0.5))]), "flag": .boolean(true)]),
  ]

  static func interface(_ handler: Method.Handler) -> Interface {
    let out = [Argument("token", "s"), Argument("until", "x"), Argument("claims", "a{sv}")]
    return Interface(Rig.name, methods: [Method("Give", out: out, handler: handler)])
  }

  @Test("every caller gets them, again and again, as its own reply")
  @LoopActor func manyCallers() async throws {
    let prepared = try PreparedResults(Self.values)
    let rig = try await Rig.start(Self.interface(.prepared { _ in .now(prepared) }))
    let other = try await Connection.open(.address(rig.bus.address))
    for _ in 0..<3 {
      #expect(try await rig.call("Give") == Self.values)
      let reply = try await other.call(
        destination: Rig.name, path: Rig.path, interface: Rig.name, member: "Give")
      #expect(reply == Self.values)
    }
    #expect(rig.service.callsInFlight == 0)
    other.close()
  }

  @Test("a handler may wait for them, and is answered meanwhile no second time")
  @LoopActor func later() async throws {
    let gate = CallTests.Gate()
    let entered = Recorder<Bool>()
    let rig = try await Rig.start(
      Self.interface(
        .prepared { _ in
          .later { () async throws(DBusError) in
            entered.record(true)
            await gate.wait()
            return try PreparedResults(Self.values)
          }
        }))
    async let reply = rig.call("Give")
    #expect(await entered.first(1) == [true])
    #expect(rig.service.callsInFlight == 1)
    gate.open()
    #expect(try await reply == Self.values)
    #expect(rig.service.callsInFlight == 0)
  }

  @Test("a refusal is told at once and after waiting")
  @LoopActor func refusals() async throws {
    let atOnce = try await Rig.start(Self.interface(.prepared { _ throws(DBusError) in throw .accessDenied("no") }))
    #expect(await atOnce.error("Give") == DBusError.Name.accessDenied)
    let afterwards = try await Rig.start(
      Self.interface(.prepared { _ in .later { () async throws(DBusError) in throw .accessDenied("no") } }))
    #expect(await afterwards.error("Give") == DBusError.Name.accessDenied)
  }

  @Test("results of other types than the table promises don't go out")
  @LoopActor func otherTypes() async throws {
    let prepared = try PreparedResults([.string("token")])
    for answer in [Method.PreparedAnswer.now(prepared), .later { prepared }] {
      let rig = try await Rig.start(Self.interface(.prepared { _ in answer }))
      #expect(await rig.error("Give") == DBusError.Name.failed)
      #expect(rig.service.callsInFlight == 0)
    }
  }

  @Test("what can't be sent is refused when they are made")
  @LoopActor func unsendable() {
    #expect(throws: DBusError.self) { try PreparedResults([.string("a\0b")]) }
    #expect(throws: DBusError.self) { try PreparedResults([.structure([])]) }
  }
}
