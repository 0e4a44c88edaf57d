import AuthCore
import Testing

@testable import SessionStore

@Suite(.timeLimit(.minutes(1)))
struct KeyTests {
  @Test func theFirstKeyIsWrittenDown() throws {
    let fixture = try Fixture()
    let store = try fixture.openLocked()
    #expect(try store.header() == nil)
    #expect(!store.isUnlocked)
    try store.unlock(fixture.key, header: fixture.header)
    #expect(store.isUnlocked)
    #expect(try store.header() == fixture.header)
    #expect(try fixture.openLocked().header() == fixture.header)
  }

  /// B136: another key is told apart from damage, and nothing is taken for absent.
  @Test func anotherKeyIsRefused() throws {
    let fixture = try Fixture()
    let session = makeSession()
    do { try fixture.open().save(session, clockSkew: 0, sequence: 1) }

    let store = try fixture.openLocked()
    let otherKey = Secret([UInt8](repeating: 0x5b, count: 32))
    let otherID = StoreHeader(keyID: [UInt8](repeating: 2, count: 16), keyStore: "file")
    let otherPlace = StoreHeader(keyID: fixture.header.keyID, keyStore: "secret-service")
    #expect(throws: StoreError.wrongKey) { try store.unlock(otherKey, header: fixture.header) }
    #expect(throws: StoreError.wrongKey) { try store.unlock(fixture.key, header: otherID) }
    #expect(throws: StoreError.wrongKey) { try store.unlock(otherKey, header: otherID) }
    #expect(throws: StoreError.wrongKey) { try store.unlock(fixture.key, header: otherPlace) }
    #expect(throws: StoreError.wrongKey) { try store.unlock(Secret([]), header: fixture.header) }
    #expect(!store.isUnlocked)
    #expect(throws: StoreError.locked) { try store.loadSessions() }
    #expect(throws: StoreError.locked) { try store.save(session, clockSkew: 0, sequence: 2) }
    #expect(StoreError.wrongKey.authError == .keyringWrongKey)

    try store.unlock(fixture.key, header: fixture.header)
    #expect(try store.loadSession(production)?.session == session)
  }

  @Test func aDamagedHeaderIsNoWrongKey() throws {
    let fixture = try Fixture()
    do { _ = try fixture.open() }
    for change in ["check_value = x'0102'", "key_id = x'00'", "key_store = 'elsewhere'", "digest = x''"] {
      let saved = try fixture.bytes
      try fixture.sqlite3("UPDATE header SET \(change);")
      let store = try fixture.openLocked()
      #expect(throws: StoreError.unreadable, "\(change)") { try store.header() }
      #expect(throws: StoreError.unreadable) { try store.unlock(fixture.key, header: fixture.header) }
      try fixture.write(saved)
    }
    _ = try fixture.open()
  }

  /// B131: no second key over rows that the first one sealed.
  @Test func aLostHeaderIsNotReplaced() throws {
    let fixture = try Fixture()
    do { try fixture.open().save(makeFlow("a")) }
    try fixture.sqlite3("DELETE FROM header;")
    let store = try fixture.openLocked()
    #expect(throws: StoreError.unreadable) { try store.unlock(fixture.key, header: fixture.header) }
    #expect(!store.isUnlocked)
    #expect(try fixture.sqlite3("SELECT count(*) FROM header; SELECT count(*) FROM flows;") == "0\n1\n")
  }

  @Test func whatWorksWithoutTheKey() throws {
    let fixture = try Fixture()
    let flow = makeFlow("a")
    var ended = makeFlow("b")
    ended.stage = .failed
    ended.endedAt = 1200
    do {
      let store = try fixture.open()
      try store.save(makeSession(), clockSkew: 3, sequence: 9)
      try store.save(flow)
      try store.save(ended)
    }
    let store = try fixture.openLocked()
    #expect(
      try store.sessionOutlines() == [
        SessionOutline(key: production, clockSkew: 3, sequence: 9, hasSession: true, hasLastUser: false)
      ])
    #expect(
      try store.liveFlowOutlines() == [
        FlowOutline(
          id: flow.id, key: flow.key, purpose: .signIn, method: .emailLink, stage: .waitingForLink, sequence: 1,
          createdAt: 1000, expiresAt: 87_400, endedAt: nil)
      ])
    try store.save(sequence: 10, for: production)
    try store.save(clockSkew: -1, for: production)
    #expect(throws: StoreError.locked) { try store.flow(flow.id) }
    #expect(throws: StoreError.locked) { try store.flow(linkTokenHash: [1]) }
    #expect(throws: StoreError.locked) { try store.loadLiveFlows() }
    #expect(throws: StoreError.locked) { try store.save(flow) }
    #expect(throws: StoreError.locked) { try store.deleteFlows(of: production, uid: "uid-1") }
    // As one: the session is still there when its flows can't be looked through.
    #expect(throws: StoreError.locked) { try store.removeSession(production, uid: "uid-1") }
    #expect(try store.sessionOutlines().first?.hasSession == true)
    try store.deleteFlow(flow.id)
    #expect(try store.liveFlowOutlines().isEmpty)
    try store.removeApp(production.app)
    #expect(try store.sessionOutlines().first?.hasSession == false)
  }

  @Test func lockingForgetsTheKey() throws {
    let store = try Fixture().open()
    store.lock()
    #expect(!store.isUnlocked)
    #expect(throws: StoreError.locked) { try store.loadSessions() }
  }

  @Test func printsNoKey() throws {
    let store = try Fixture().open()
    var text = ""
    dump(store, to: &text)
    #expect(text.contains("<redacted>"))
    // The key's bytes, as an array or one a line.
    #expect(!text.contains("90, 90"))
    #expect(!text.contains("- 90\n"))
  }
}

/// Sealed values are bound to their place (behaviour: Storage).
@Suite(.timeLimit(.minutes(1)))
struct SealTests {
  /// B136: what can't be opened is kept and told, and everything else goes on working.
  private func expectCorrupt(_ sql: String, flow: String = "a") throws {
    let fixture = try Fixture()
    do {
      let store = try fixture.open()
      try store.save(makeFlow("a"))
      try store.save(makeFlow("b"))
    }
    try fixture.sqlite3(sql)
    let store = try fixture.open()
    let id = FlowID(flow)!
    #expect(throws: StoreError.corruptRow(table: "flows"), "\(sql)") { try store.flow(id) }
    #expect(try store.flow(FlowID("b")!) == makeFlow("b"))
    let loaded = try store.loadLiveFlows()
    #expect(loaded.flows == [makeFlow("b")])
    #expect(loaded.unreadable == [id])
    #expect(try store.deleteFlows(of: production, uid: "nobody").isEmpty)
    #expect(try fixture.sqlite3("SELECT count(*) FROM flows;") == "2\n", "kept")
  }

  @Test(arguments: [
    "UPDATE flows SET body = (SELECT body FROM flows WHERE id = 'b') WHERE id = 'a';",
    "UPDATE flows SET app = 'other' WHERE id = 'a';",
    "UPDATE flows SET backend = '127.0.0.1:9099' WHERE id = 'a';",
    "UPDATE flows SET purpose = 'reauthenticate' WHERE id = 'a';",
    "UPDATE flows SET method = 'password' WHERE id = 'a';",
    "UPDATE flows SET stage = 'exchanging' WHERE id = 'a';",
    "UPDATE flows SET stage = 'no such stage' WHERE id = 'a';",
    "UPDATE flows SET sequence = 2 WHERE id = 'a';",
    "UPDATE flows SET sequence = -1 WHERE id = 'a';",
    "UPDATE flows SET created = 999 WHERE id = 'a';",
    "UPDATE flows SET expires = 9223372036854775807 WHERE id = 'a';",
    "UPDATE flows SET token_hash = NULL WHERE id = 'a';",
    "UPDATE flows SET token_hash = x'00' WHERE id = 'a';",
    "UPDATE flows SET body = x'' WHERE id = 'a';",
    "UPDATE flows SET body = x'01' WHERE id = 'a';",
    "UPDATE flows SET body = CAST(x'02' || substr(body, 2) AS BLOB) WHERE id = 'a';",
    "UPDATE flows SET body = CAST(substr(body, 1, length(body) - 1) AS BLOB) WHERE id = 'a';",
    "UPDATE flows SET body = zeroblob(1000000) WHERE id = 'a';",
  ])
  func aChangedFlow(sql: String) throws { try expectCorrupt(sql) }

  @Test func aRenamedFlow() throws {
    try expectCorrupt("UPDATE flows SET id = 'c' WHERE id = 'a';", flow: "c")
  }

  @Test func aFlowWithoutAName() throws {
    let fixture = try Fixture()
    do { try fixture.open().save(makeFlow("a")) }
    try fixture.sqlite3("UPDATE flows SET id = 'not/a/name';")
    #expect(
      try fixture.open().loadLiveFlows() == LoadedFlows(flows: [], unreadable: [], unnamed: 1, isIncomplete: false))
  }

  /// A last user and a session of the same row aren't interchangeable, nor are two apps' sessions.
  @Test(arguments: [
    "UPDATE sessions SET body = (SELECT body FROM sessions WHERE app = 'other') WHERE app = 'demo';",
    "UPDATE sessions SET body = (SELECT last_user FROM sessions WHERE app = 'third') WHERE app = 'demo';",
    "UPDATE sessions SET backend = '127.0.0.1:9099' WHERE app = 'demo';",
    "UPDATE sessions SET body = x'00' WHERE app = 'demo';",
    "UPDATE sessions SET last_user = x'00' WHERE app = 'demo';",
  ])
  func aChangedSession(sql: String) throws {
    let fixture = try Fixture()
    do {
      let store = try fixture.open()
      try store.save(makeSession(production), clockSkew: 0, sequence: 1)
      try store.save(makeSession(other, uid: "uid-2"), clockSkew: 0, sequence: 1)
      try store.removeSession(
        SessionKey(app: AppID("third")!, backend: .production), uid: nil,
        lastUser: LastUser(uid: "uid-3", email: nil, signInMethod: "password", reason: "UserDisabled"), sequence: 1)
    }
    try fixture.sqlite3(sql)
    let store = try fixture.open()
    let stored = try store.loadSessions()
    #expect(stored.count == 3)
    #expect(stored.filter(\.isUnreadable).map(\.key.app) == [production.app])
    #expect(stored.first(where: \.isUnreadable)?.session == nil)
    #expect(stored.contains { $0.session == makeSession(other, uid: "uid-2") })
  }

  /// B136: nobody is put in the place of somebody who can't be read, until the person signs out.
  @Test func anUnreadableSessionIsKept() throws {
    let fixture = try Fixture()
    do { try fixture.open().save(makeSession(), clockSkew: 0, sequence: 5) }
    try fixture.sqlite3("UPDATE sessions SET body = x'01020304';")
    let store = try fixture.open()
    var guest = makeSession(uid: "guest")
    guest.user.isAnonymous = true
    #expect(throws: StoreError.corruptRow(table: "sessions")) { try store.save(guest, clockSkew: 0, sequence: 6) }
    #expect(try fixture.sqlite3("SELECT hex(body), sequence FROM sessions;") == "01020304|5\n")

    try store.removeSession(production, uid: nil, sequence: 6)
    #expect(try store.loadSession(production)?.isUnreadable == false)
    try store.save(guest, clockSkew: 0, sequence: 7)
    #expect(try store.loadSession(production)?.session == guest)
  }

  @Test func aSessionRowWithoutAName() throws {
    let fixture = try Fixture()
    do { try fixture.open().save(makeSession(), clockSkew: 0, sequence: 5) }
    try fixture.sqlite3("UPDATE sessions SET app = 'Not An App';")
    let store = try fixture.open()
    #expect(throws: StoreError.corruptRow(table: "sessions")) { try store.loadSessions() }
    #expect(throws: StoreError.corruptRow(table: "sessions")) { try store.sessionOutlines() }
  }
}
