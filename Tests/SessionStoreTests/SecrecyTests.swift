import AuthCore
import Crypto
import Foundation
import Testing

@testable import SessionStore

@Suite(.timeLimit(.minutes(1)))
struct SecrecyTests {
  /// Everything in it that must not be readable on disk.
  private static let planted = [
    "planted-email", "planted-code", "planted-queued", "planted-refresh", "planted-idtoken", "planted-uid",
    "planted-url", "planted-name", "planted-phone", "planted-last", "planted-caller", "planted-answer",
  ]

  private func fill(_ store: SessionStore) throws {
    var flow = makeFlow("a")
    flow.email = "planted-email@example.com"
    flow.code = Secret("planted-code")
    flow.queuedCode = Secret("planted-queued")
    flow.protectedUID = "planted-uid"
    flow.anonymousUID = "planted-uid"
    flow.caller = "planted-caller"
    flow.continueURL = "https://example.com/planted-url"
    flow.answer = TokenGrant(idToken: Secret("planted-answer"), refreshToken: Secret("planted-answer"), expiresIn: 1)
    var session = makeSession(uid: "planted-uid")
    session.refreshToken = Secret("planted-refresh")
    session.idToken = Secret("planted-idtoken")
    session.user.email = "planted-email@example.com"
    session.user.displayName = "planted-name"
    session.user.phoneNumber = "planted-phone"
    try store.transaction { () throws(StoreError) in
      try store.save(flow)
      try store.recordCode(SHA256.hash("planted-code"), flow: flow.id, at: 1)
      try store.save(session, clockSkew: 0, sequence: 1)
      try store.removeSession(
        other, uid: nil, lastUser: LastUser(uid: "u", email: "planted-last", signInMethod: "password", reason: "x"))
    }
  }

  private func occurrences(in folder: String) throws -> [String] {
    var found: [String] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let path = "\(folder)/\(name)"
      // Foundation leaks its buffer when it reads an empty file.
      if try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 0 { continue }
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      for word in Self.planted where data.range(of: Data(word.utf8)) != nil { found.append("\(word) in \(name)") }
    }
    return found
  }

  @Test func nothingReadableOnDisk() throws {
    let fixture = try Fixture()
    do {
      let store = try fixture.open()
      try fill(store)
      #expect(try fixture.names.contains("linkd.sqlite-wal"))
      #expect(try occurrences(in: fixture.lock.folder).isEmpty)
      // Independent of us: all that sqlite3 can dump.
      let dump = try fixture.sqlite3(".dump")
      #expect(dump.contains("INSERT INTO flows"))
      #expect(dump.contains("waiting-for-link"), "the dump does show what stands in the clear")
      for word in Self.planted {
        #expect(!dump.contains(word))
        #expect(!dump.contains(Hex.encode(Array(word.utf8))), "as a blob")
      }
      try store.checkpoint()
      #expect(try occurrences(in: fixture.lock.folder).isEmpty)
    }
    #expect(try occurrences(in: fixture.lock.folder).isEmpty)
  }

  /// Nor is the key beside what it seals.
  @Test func theKeyIsNotInTheFile() throws {
    let fixture = try Fixture()
    let store = try fixture.open()
    try fill(store)
    let data = try Data(contentsOf: URL(fileURLWithPath: fixture.path + "-wal"))
    #expect(data.range(of: Data(fixture.key.reveal())) == nil)
  }

  /// Dropped tokens are gone, not just unlinked: not even their sealed form stays.
  @Test func whatIsDroppedIsGone() throws {
    let fixture = try Fixture()
    let store = try fixture.open()
    try fill(store)
    try store.checkpoint()
    let hex = try fixture.sqlite3("SELECT hex(body) FROM sessions WHERE body NOT NULL; SELECT hex(body) FROM flows;")
    let sealed = try hex.split(separator: "\n").map { Data(try Hex.decode(String($0))) }
    try #require(sealed.count == 2)
    func present() throws -> Int {
      let data = Data(try fixture.bytes)
      return sealed.filter { data.range(of: $0.suffix(64)) != nil }.count
    }
    #expect(try present() == 2)
    try store.removeSession(production, uid: "planted-uid")
    try store.checkpoint()
    #expect(try present() == 0)
    let log = try FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")[.size] as? Int
    #expect(log == 0)
  }

  @Test func errorsCarryNoValues() throws {
    let fixture = try Fixture()
    let store = try fixture.open()
    try fill(store)
    var twin = makeFlow("b")
    twin.linkTokenHash = makeFlow("a").linkTokenHash
    twin.email = "planted-email@example.com"
    #expect {
      try store.save(twin)
    } throws: { error in
      let text = "\(error) \(String(reflecting: error))"
      return error is StoreError && !Self.planted.contains(where: text.contains)
    }
  }
}
