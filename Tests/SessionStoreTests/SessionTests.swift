import AuthCore
import Crypto
import Testing

@testable import SessionStore

@Suite(.timeLimit(.minutes(1)))
struct SessionTests {
  @Test func theSequenceNeverGoesBack() throws {
    let fixture = try Fixture()
    let store = try fixture.open()
    func sequence() throws -> UInt64? { try store.loadSession(production)?.sequence }
    #expect(try sequence() == nil)
    try store.save(sequence: 4, for: production)
    try store.save(makeSession(), clockSkew: 0, sequence: 3)
    #expect(try sequence() == 4)
    try store.save(makeSession(), clockSkew: 0, sequence: 10)
    try store.save(sequence: 9, for: production)
    #expect(try sequence() == 10)
    try store.removeSession(production, uid: "uid-1", sequence: 2)
    #expect(try sequence() == 10)
    try store.removeSession(production, uid: "uid-1")
    #expect(try sequence() == 10)
    try store.removeApp(production.app)
    #expect(try sequence() == 10)
    try store.save(makeSession(), clockSkew: 0, sequence: 1)
    #expect(try sequence() == 10)
    try store.save(sequence: .max, for: production)
    #expect(try sequence() == UInt64(Int64.max))
  }

  @Test func emulatorAndProductionApart() throws {
    let store = try Fixture().open()
    try store.save(makeSession(production), clockSkew: 1, sequence: 1)
    try store.save(makeSession(emulator, uid: "uid-2"), clockSkew: 2, sequence: 2)
    #expect(try store.loadSession(production)?.session?.user.uid == "uid-1")
    #expect(try store.loadSession(emulator)?.session?.user.uid == "uid-2")
    try store.removeSession(emulator, uid: "uid-2")
    #expect(try store.loadSession(production)?.session?.user.uid == "uid-1")
    #expect(try store.loadSession(emulator)?.session == nil)
  }

  @Test func signingOut() throws {
    let store = try Fixture().open()
    try store.save(makeSession(), clockSkew: 7, sequence: 1)
    let user = LastUser(uid: "uid-1", email: "a@example.com", signInMethod: "emailLink", reason: "UserDisabled")
    try store.removeSession(production, uid: "uid-1", lastUser: user, sequence: 2)
    let forced = try #require(try store.loadSession(production))
    #expect(forced.session == nil)
    #expect(forced.lastUser == user)
    #expect(forced.sequence == 2)
    #expect(forced.clockSkew == 7)

    // By the person: nobody is remembered.
    try store.removeSession(production, uid: nil, sequence: 3)
    #expect(try store.loadSession(production)?.lastUser == nil)

    // A new session forgets the last user too.
    try store.removeSession(production, uid: nil, lastUser: user, sequence: 4)
    try store.save(makeSession(), clockSkew: 7, sequence: 5)
    #expect(try store.loadSession(production)?.lastUser == nil)
  }

  @Test func signingOutDropsTheFlowsOfThatUID() throws {
    let store = try Fixture().open()
    var protected = makeFlow("protected")
    protected.protectedUID = "uid-1"
    var guest = makeFlow("guest")
    guest.anonymousUID = "uid-1"
    var done = makeFlow("done")
    done.resultUID = "uid-1"
    done.endedAt = 2000
    var another = makeFlow("another")
    another.protectedUID = "uid-2"
    another.anonymousUID = "uid-3"
    var elsewhere = makeFlow("elsewhere", emulator)
    elsewhere.protectedUID = "uid-1"
    var otherApp = makeFlow("otherapp", other)
    otherApp.protectedUID = "uid-1"
    let free = makeFlow("free")
    for flow in [protected, guest, done, another, elsewhere, otherApp, free] { try store.save(flow) }
    try store.save(makeSession(), clockSkew: 0, sequence: 1)

    let dropped = try store.removeSession(production, uid: "uid-1", sequence: 2)
    #expect(Set(dropped) == [protected.id, guest.id, done.id])
    for id in dropped { #expect(try store.flow(id) == nil) }
    for flow in [another, elsewhere, otherApp, free] { #expect(try store.flow(flow.id) == flow) }
  }

  @Test func removingAnApp() throws {
    let store = try Fixture().open()
    for key in [production, emulator, other] {
      let flow = makeFlow(key == production ? "a" : key == emulator ? "b" : "c", key)
      try store.save(makeSession(key), clockSkew: 5, sequence: 3)
      try store.save(flow)
      try store.recordCode(SHA256.hash(flow.id.value), flow: flow.id, at: 1000)
    }
    try store.removeApp(production.app, at: .production)
    #expect(try store.loadSession(production)?.session == nil)
    #expect(try store.loadSession(production)?.clockSkew == 0)
    #expect(try store.flow(FlowID("a")!) == nil)
    #expect(try store.uses(ofCodeHash: SHA256.hash("a")).isEmpty)
    #expect(try store.loadSession(emulator)?.session != nil)
    #expect(try store.flow(FlowID("b")!) != nil)
    #expect(try store.uses(ofCodeHash: SHA256.hash("b")).count == 1)

    try store.removeApp(production.app)
    #expect(try store.loadSession(emulator)?.session == nil)
    #expect(try store.flow(FlowID("b")!) == nil)
    #expect(try store.uses(ofCodeHash: SHA256.hash("b")).isEmpty)
    #expect(try store.loadSession(other)?.session != nil, "other apps are left alone")
    #expect(try store.flow(FlowID("c")!) != nil)
  }
}
