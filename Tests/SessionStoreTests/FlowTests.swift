import AuthCore
import Crypto
import Testing

@testable import SessionStore

@Suite(.timeLimit(.minutes(1)))
struct FlowTests {
  @Test func finding() throws {
    let store = try Fixture().open()
    let (a, b) = (makeFlow("a"), makeFlow("b", emulator))
    try store.save(a)
    try store.save(b)
    #expect(try store.flow(a.id) == a)
    #expect(try store.flow(FlowID("c")!) == nil)
    #expect(try store.flow(linkTokenHash: SHA256.hash("token of b")) == b)
    #expect(try store.flow(linkTokenHash: SHA256.hash("token of c")) == nil)
    #expect(try store.flow(linkTokenHash: []) == nil)
  }

  @Test func savingAgainReplaces() throws {
    let store = try Fixture().open()
    var flow = makeFlow("a")
    try store.save(flow)
    flow.stage = .exchanging
    flow.code = Secret("code")
    flow.linkTokenHash = SHA256.hash("a newer token")
    flow.sequence = 2
    try store.save(flow)
    #expect(try store.flow(flow.id) == flow)
    #expect(try store.flow(linkTokenHash: SHA256.hash("a newer token")) == flow)
    #expect(try store.flow(linkTokenHash: SHA256.hash("token of a")) == nil)
    #expect(try store.loadLiveFlows().flows == [flow])
  }

  @Test func liveOnesInOrder() throws {
    let store = try Fixture().open()
    let flows = [
      makeFlow("c", createdAt: 1), makeFlow("a", emulator, createdAt: 2), makeFlow("b", other, createdAt: 3),
    ]
    for flow in flows.reversed() { try store.save(flow) }
    var ended = makeFlow("d")
    ended.stage = .cancelled
    ended.endedAt = 1500
    try store.save(ended)
    #expect(try store.loadLiveFlows().flows == flows)
    #expect(try store.flow(ended.id) == ended, "a second click finds it")
    try store.deleteFlow(flows[0].id)
    #expect(try store.loadLiveFlows().flows == Array(flows.dropFirst()))
    try store.deleteFlow(flows[0].id)
  }

  /// Two flows with one token would make a link ambiguous.
  @Test func aTokenHasOneFlow() throws {
    let store = try Fixture().open()
    try store.save(makeFlow("a"))
    var twin = makeFlow("b")
    twin.linkTokenHash = makeFlow("a").linkTokenHash
    #expect(throws: StoreError.self) { try store.save(twin) }
    #expect(try store.loadLiveFlows().flows == [makeFlow("a")])
    // Without a token there may be many.
    for name in ["c", "d"] {
      var flow = makeFlow(name)
      flow.linkTokenHash = nil
      try store.save(flow)
    }
    #expect(try store.loadLiveFlows().flows.count == 3)
  }

  @Test func pruning() throws {
    let store = try Fixture().open()
    let now: Int64 = 1_000_000
    for (name, endedAt) in [("old", now - 86_401), ("day", now - 86_400), ("live", nil)] as [(String, Int64?)] {
      var flow = makeFlow(name, createdAt: 1)
      flow.stage = endedAt == nil ? .waitingForLink : .succeeded
      flow.endedAt = endedAt
      try store.save(flow)
      try store.recordCode(SHA256.hash(name), flow: flow.id, at: endedAt ?? now)
    }
    try store.prune(now: now)
    #expect(try store.flow(FlowID("old")!) == nil)
    #expect(try store.flow(FlowID("day")!) != nil)
    #expect(try store.flow(FlowID("live")!) != nil, "only its end counts, not its age")
    #expect(try store.uses(ofCodeHash: SHA256.hash("old")).isEmpty)
    #expect(try store.uses(ofCodeHash: SHA256.hash("day")).count == 1)
    #expect(try store.uses(ofCodeHash: SHA256.hash("live")).count == 1)
  }

  @Test func usedCodes() throws {
    let store = try Fixture().open()
    let code = SHA256.hash("code")
    #expect(try store.flow(codeHash: code) == nil)
    #expect(try store.uses(ofCodeHash: code).isEmpty)
    let (first, second, elsewhere) = (makeFlow("first"), makeFlow("second"), makeFlow("elsewhere", emulator))
    for flow in [first, second, elsewhere] { try store.save(flow) }

    try store.recordCode(code, flow: first.id, at: 100)
    try store.recordCode(code, flow: second.id, at: 200)
    #expect(try store.uses(ofCodeHash: code) == [UsedCode(key: production, flow: first.id)])
    #expect(try store.flow(codeHash: code) == first)
    try store.recordCode(code, flow: elsewhere.id, at: 50)
    #expect(try store.uses(ofCodeHash: code).map(\.key) == [emulator, production])

    // A flow that is gone has no result to give.
    try store.deleteFlow(first.id)
    try store.deleteFlow(elsewhere.id)
    #expect(try store.flow(codeHash: code) == nil)
    #expect(try store.uses(ofCodeHash: code).count == 2, "the code stays known as used")
    try store.recordCode(code, flow: second.id, at: 300)
    #expect(try store.flow(codeHash: code) == second)

    try store.recordCode(SHA256.hash("another"), flow: FlowID("unsaved")!, at: 1)
    #expect(try store.uses(ofCodeHash: SHA256.hash("another")).isEmpty)
  }

  @Test func severalAsOne() throws {
    let store = try Fixture().open()
    var flow = makeFlow("a")
    try store.save(flow)
    flow.stage = .succeeded
    flow.endedAt = 2000
    #expect(throws: StoreError.full) {
      try store.transaction { () throws(StoreError) in
        try store.save(flow)
        try store.save(makeSession(), clockSkew: 0, sequence: 8)
        try store.recordCode([1], flow: flow.id, at: 1)
        try store.removeApp(other.app)
        throw .full
      }
    }
    #expect(try store.flow(flow.id) == makeFlow("a"))
    #expect(try store.loadSession(production) == nil)
    #expect(try store.uses(ofCodeHash: [1]).isEmpty)

    let result = try store.transaction { () throws(StoreError) in
      try store.save(flow)
      try store.save(makeSession(), clockSkew: 0, sequence: 8)
      try store.recordCode([1], flow: flow.id, at: 1)
      return try store.removeSession(other, uid: "uid-1")
    }
    #expect(result.isEmpty)
    #expect(try store.flow(flow.id) == flow)
    #expect(try store.loadSession(production)?.session == makeSession())
    #expect(try store.flow(codeHash: [1]) == flow)
  }

  @Test func aTransactionInsideAnotherIsRefused() throws {
    let store = try Fixture().open()
    #expect(throws: StoreError.transactionInProgress) {
      try store.transaction { () throws(StoreError) in
        try store.save(makeFlow("a"))
        try store.transaction { () throws(StoreError) in try store.save(makeFlow("b")) }
      }
    }
    #expect(try store.loadLiveFlows().flows.isEmpty)
    // Refused inside, it leaves the outer one alone.
    try store.transaction { () throws(StoreError) in
      try store.save(makeFlow("a"))
      do throws(StoreError) { try store.transaction { () throws(StoreError) in } } catch {}
      try store.checkpoint()
    }
    #expect(try store.loadLiveFlows().flows == [makeFlow("a")])
  }
}
