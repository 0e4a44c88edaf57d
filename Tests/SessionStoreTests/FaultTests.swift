import AuthCore
import Foundation
import TestSupport
import Testing

@testable import SessionStore

/// A process that isn't linkd and has the file locked until it's told to let go.
private final class Holder {
  private let pid: Int32
  private let input: Subprocess.Pipe
  private let output: Subprocess.Pipe

  /// Returns once `sql` has been run.
  init(_ path: String, _ sql: String) throws {
    input = try .make()
    output = try .make()
    pid = try Subprocess.spawn(["sqlite3", "-batch", path], stdin: input.read, stdout: output.write)
    close(input.read)
    close(output.write)
    send(sql + " SELECT 'held';\n")
    var byte: UInt8 = 0
    while read(output.read, &byte, 1) == 1, byte != UInt8(ascii: "\n") {}
  }

  func send(_ text: String) { _ = write(input.write, text, text.utf8.count) }

  /// Waits for its end.
  func finish() {
    close(input.write)
    Subprocess.wait(pid)
    close(output.read)
  }
}

@Suite(.timeLimit(.minutes(1)))
struct FaultTests {
  @Test(
    "B137: a lock that's held at the start is waited for, also by the switch to the write-ahead log",
    arguments: [true, false])
  func openingWaits(isNew: Bool) throws {
    let fixture = try Fixture()
    if !isNew { _ = try fixture.open() }
    let holder = try Holder(fixture.path, "BEGIN EXCLUSIVE;")
    // It lets go while we wait, or before: the outcome is the same.
    holder.send(".system sleep 0.2\nCOMMIT;\n")
    let store = try fixture.openLocked(busyTimeout: 20_000)
    try store.unlock(fixture.key, header: fixture.header)
    try store.save(makeFlow("a"))
    holder.finish()
    #expect(try store.flow(FlowID("a")!) == makeFlow("a"))
  }

  @Test func aLockedFileIsBusy() throws {
    let fixture = try Fixture()
    let store = try fixture.openLocked(busyTimeout: 10)
    try store.unlock(fixture.key, header: fixture.header)
    try store.save(makeFlow("a"))
    let holder = try Holder(fixture.path, "BEGIN IMMEDIATE;")
    #expect(throws: StoreError.busy) { try store.save(makeFlow("b")) }
    #expect(throws: StoreError.busy) { try store.removeApp(production.app) }
    #expect(throws: StoreError.busy) {
      try store.transaction { () throws(StoreError) in try store.save(makeFlow("b")) }
    }
    #expect(try store.loadLiveFlows().flows == [makeFlow("a")], "reading goes on")
    holder.finish()
    try store.save(makeFlow("b"))
    #expect(try store.loadLiveFlows().flows.count == 2)
    #expect(StoreError.busy.authError.exitCode == 75)
    #expect(StoreError.busy.cause == "cause.storage-busy")
  }

  @Test func aFullDisk() throws {
    let fixture = try Fixture()
    let store = try fixture.open()
    try store.save(makeFlow("a"))
    let pages = try #require(try store.connection.integer("PRAGMA page_count"))
    _ = try store.connection.integer("PRAGMA max_page_count = \(pages)")
    var big = makeFlow("b")
    big.continueURL = String(repeating: "x", count: 100_000)
    #expect(throws: StoreError.full) { try store.save(big) }
    #expect(throws: StoreError.full) {
      try store.transaction { () throws(StoreError) in
        try store.deleteFlow(FlowID("a")!)
        try store.save(big)
      }
    }
    // Not the server's doing, and nothing that waiting mends.
    #expect(StoreError.full.authError == .internal && StoreError.full.cause == "cause.storage-full")
    #expect(try store.loadLiveFlows().flows == [makeFlow("a")])
    _ = try store.connection.integer("PRAGMA max_page_count = 100000")
    try store.save(big)
    #expect(try store.flow(big.id) == big)
  }

  /// The real thing: a limit on the size of files, in a process of its own.
  @Test func aFileThatMayNotGrow() async throws {
    let scratch = try Scratch()
    let folder = scratch.file("state")
    await #expect(processExitsWith: .success) { [folder = folder as String] in
      guard let lock = try StateLock.acquire(folder: folder) else { exit(2) }
      let store = try SessionStore(holding: lock)
      try store.unlock(
        Secret([UInt8](repeating: 0x5a, count: 32)),
        header: StoreHeader(keyID: [UInt8](repeating: 1, count: 16), keyStore: "file"))
      try store.save(makeFlow("a"))
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
      guard setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limit) == 0 else { exit(3) }
      var big = makeFlow("b")
      big.continueURL = String(repeating: "x", count: 300_000)
      do throws(StoreError) {
        try store.save(big)
        exit(4)
      } catch {
        guard error == .full else { exit(5) }
      }
      guard try store.loadLiveFlows().flows == [makeFlow("a")] else { exit(6) }
      try store.save(makeFlow("c"))
      exit(0)
    }
  }

  @Test func aReadOnlyDatabase() throws {
    let fixture = try Fixture()
    let store = try fixture.open()
    try store.save(makeFlow("a"))
    try store.connection.execute("PRAGMA query_only = ON")
    #expect(throws: StoreError.readOnly) { try store.save(makeFlow("b")) }
    #expect(try store.loadLiveFlows().flows == [makeFlow("a")])
  }

  @Test(.enabled(if: geteuid() != 0, "permissions don't bind root"))
  func aReadOnlyFolder() throws {
    let fixture = try Fixture()
    do { try fixture.open().save(makeFlow("a")) }
    try #require(chmod(fixture.path, 0o400) == 0 && chmod(fixture.lock.folder, 0o500) == 0)
    defer { chmod(fixture.lock.folder, 0o700) }
    #expect(throws: StoreError.readOnly) { try fixture.openLocked() }
    #expect(throws: StoreError.readOnly) { _ = try StateLock.acquire(folder: fixture.lock.folder + "/below") }
    try #require(chmod(fixture.lock.folder, 0o700) == 0 && chmod(fixture.path, 0o600) == 0)
    #expect(try fixture.open().loadLiveFlows().flows == [makeFlow("a")])
  }

  @Test func errnosBecomeErrors() {
    #expect(StoreError.fromErrno(ENOSPC) == .full)
    #expect(StoreError.fromErrno(EDQUOT) == .full)
    #expect(StoreError.fromErrno(EROFS) == .readOnly)
    #expect(StoreError.fromErrno(EACCES) == .readOnly)
    #expect(StoreError.fromErrno(ELOOP) == .notOurs)
    #expect(StoreError.fromErrno(EIO) == .failed(code: -EIO))
  }

  @Test func aFileThatVanished() throws {
    let fixture = try Fixture()
    try #require(rmdir(fixture.scratch.file("none")) != 0)
    #expect(throws: StoreError.failed(code: 14)) {
      _ = try Connection(path: fixture.scratch.file("none/linkd.sqlite"), busyTimeout: 1)
    }
  }
}
