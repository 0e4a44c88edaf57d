import AuthCore
import Crypto
import Foundation
import TestSupport
import Testing

@testable import SessionStore

/// B138: damage is told, kept and set aside; it never traps, and never reads as something that wasn't stored.
@Suite(.timeLimit(.minutes(1)))
struct DamageTests {
  /// A file with `count` flows and a session, closed.
  private func filled(_ count: Int) throws -> Fixture {
    let fixture = try Fixture()
    let store = try fixture.open()
    try store.transaction { () throws(StoreError) in
      for index in 0..<count { try store.save(makeFlow("flow\(index)", createdAt: Int64(index))) }
      try store.save(makeSession(), clockSkew: 0, sequence: 1)
    }
    return fixture
  }

  /// Opens, reads everything, writes. Whatever was read must be what was written.
  private func use(_ fixture: Fixture) throws {
    let store = try fixture.open()
    for flow in try store.loadLiveFlows().flows { #expect(flow == makeFlow(flow.id.value, createdAt: flow.createdAt)) }
    for stored in try store.loadSessions() { #expect(stored.session == nil || stored.session == makeSession()) }
    _ = try store.flow(linkTokenHash: SHA256.hash("token of flow1"))
    _ = try store.liveFlowOutlines()
    try store.save(makeFlow("new"))
    try store.prune(now: 1000)
    try store.checkpoint()
  }

  @Test(arguments: [
    ("no database", Array("not a database".utf8)), ("noise", (0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 167) }),
  ])
  func noDatabase(name: String, content: [UInt8]) throws {
    let fixture = try Fixture()
    try fixture.write(content)
    #expect(throws: StoreError.unreadable) { try fixture.openLocked() }
    #expect(try fixture.bytes == content)
  }

  @Test func damageInPageOne() throws {
    let fixture = try filled(3)
    let good = try fixture.bytes
    for (range, value) in [(0..<16, 0), (16..<100, 0xff), (100..<4096, 0), (0..<4096, 0x55)] as [(Range<Int>, UInt8)] {
      var bytes = good
      for index in range { bytes[index] = value }
      try fixture.write(bytes)
      #expect(throws: StoreError.unreadable, "\(range)") { try self.use(fixture) }
    }
  }

  @Test func aCutFile() throws {
    let fixture = try filled(20)
    let good = try fixture.bytes
    for length in stride(from: 4096, to: good.count, by: 4096) {
      try fixture.write(Array(good[..<length]))
      #expect(throws: StoreError.unreadable, "\(length)") { try self.use(fixture) }
    }
  }

  /// A small file is checked whole when it's opened.
  @Test func damageInTheMiddleOfASmallFile() throws {
    let fixture = try filled(20)
    let good = try fixture.bytes
    for page in 1..<(good.count / 4096) {
      var bytes = good
      for index in (page * 4096)..<((page + 1) * 4096) { bytes[index] = 0xa5 }
      try fixture.write(bytes)
      #expect(throws: StoreError.unreadable, "page \(page)") { try self.use(fixture) }
    }
  }

  /// In a big one damage shows where it's met.
  @Test func damageInTheMiddleOfABigFile() throws {
    let fixture = try filled(5000)
    var bytes = try fixture.bytes
    #expect(bytes.count / 4096 > SessionStore.pagesCheckedAtOpen)
    let middle = bytes.count / 8192 * 4096
    for index in middle..<(middle + 40 * 4096) { bytes[index] = 0xa5 }
    try fixture.write(bytes)
    let store = try fixture.open()
    let found = try store.loadLiveFlows()
    #expect(found.isIncomplete && (1..<5000).contains(found.flows.count), "\(found.flows.count)")
    #expect(throws: StoreError.unreadable) { try store.check() }
    #expect(try store.loadSession(production)?.session == makeSession(), "what is whole can still be read")
  }

  /// Bits flipped anywhere, many times over: errors, or the truth.
  @Test func flippedBits() throws {
    let fixture = try filled(12)
    let good = try fixture.bytes
    var random: UInt64 = 0x9e37_79b9_7f4a_7c15
    func next(_ limit: Int) -> Int {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      return Int(random % UInt64(limit))
    }
    var errors = 0
    for _ in 0..<150 {
      var bytes = good
      for _ in 0...next(8) { bytes[next(bytes.count)] ^= 1 << UInt8(next(8)) }
      try fixture.write(bytes)
      do { try use(fixture) } catch is StoreError { errors += 1 }
    }
    #expect(errors > 0)
  }

  @Test func aDamagedLog() throws {
    let fixture = try Fixture()
    let copy: (file: [UInt8], log: [UInt8])
    do {
      let store = try fixture.open()
      for index in 0..<5 { try store.save(makeFlow("flow\(index)", createdAt: Int64(index))) }
      let log = try Data(contentsOf: URL(fileURLWithPath: fixture.path + "-wal"))
      copy = (try fixture.bytes, [UInt8](log))
    }
    #expect(copy.log.count > 4096)
    for position in stride(from: 0, to: copy.log.count, by: 997) {
      try fixture.write(copy.file)
      var log = copy.log
      log[position] ^= 0x10
      try Data(log).write(to: URL(fileURLWithPath: fixture.path + "-wal"))
      // A frame that doesn't prove itself ends the log: commits before it count.
      do { try use(fixture) } catch is StoreError {}
    }
  }

  @Test func settingAside() throws {
    let fixture = try filled(1)
    var bytes = try fixture.bytes
    bytes[0] = 0
    try fixture.write(bytes)
    try Data("a log".utf8).write(to: URL(fileURLWithPath: fixture.path + "-wal"))
    // 2026-01-02 03:04:05 UTC.
    let aside = try SessionStore.setAside(holding: fixture.lock, now: 1_767_323_045)
    #expect(aside == fixture.path + ".damaged-20260102-030405")
    #expect(
      try fixture.names == ["linkd.sqlite.damaged-20260102-030405", "linkd.sqlite.damaged-20260102-030405-wal", "lock"])
    #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: try #require(aside)))) == bytes)
    #expect(try mode(#require(aside)) == 0o600)

    // A new file starts empty, with the same key.
    do {
      let store = try fixture.open()
      #expect(try store.loadLiveFlows().flows.isEmpty)
      try store.save(makeFlow("a"))
    }
    // Within the same second: nothing is overwritten.
    #expect(
      try SessionStore.setAside(holding: fixture.lock, now: 1_767_323_045)
        == fixture.path + ".damaged-20260102-030405-2")
    #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: try #require(aside)))) == bytes)
    #expect(try SessionStore.setAside(holding: fixture.lock, now: 0) == nil)
  }
}
