import CSQLite
import Glibc

/// One SQLite connection and its prepared statements: the only door to `CSQLite`.
///
/// Touched from one thread alone: it's opened without SQLite's own mutexes.
final class Connection {
  private let handle: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]

  /// Opens the file at `path`, which exists. A lock is waited for from the first statement on (field report B137).
  init(path: String, busyTimeout: Int32) throws(StoreError) {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard let handle else { throw .failed(code: code) }
    guard code == SQLITE_OK else {
      let error = Self.error(code, of: handle)
      sqlite3_close_v2(handle)
      throw error
    }
    sqlite3_busy_timeout(handle, busyTimeout)
    self.handle = handle
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  /// Whether the file could be opened for reading alone; that stays so for the life of the connection.
  var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  /// Runs statements that have neither parameters nor results worth reading.
  func execute(_ sql: String) throws(StoreError) {
    errno = 0
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw error(code) }
  }

  /// The statement `sql` with `values` bound to its parameters in order; prepared once for the life of the connection.
  func prepare(_ sql: String, _ values: Value...) throws(StoreError) -> Statement {
    let statement = Statement(handle: try prepared(sql), connection: self)
    for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index) + 1) }
    return statement
  }

  /// Runs `sql`, which gives no rows, and says how many it changed.
  @discardableResult
  func run(_ sql: String, _ values: Value...) throws(StoreError) -> Int {
    let statement = Statement(handle: try prepared(sql), connection: self)
    for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index) + 1) }
    while try statement.step() {}
    return Int(sqlite3_changes(handle))
  }

  /// The first column of the first row of `sql`; nil where there is none.
  func integer(_ sql: String) throws(StoreError) -> Int64? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.integer(0) : nil
  }

  private func prepared(_ sql: String) throws(StoreError) -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw error(code) }
    statements[sql] = statement
    return statement
  }

  // MARK: Transactions

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Commits what `body` does as one, or nothing of it. Throws `transactionInProgress` inside another one.
  func transaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    guard !isInTransaction else { throw .transactionInProgress }
    try execute("BEGIN IMMEDIATE")
    do throws(StoreError) {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // Some faults have rolled back already.
      if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
      throw error
    }
  }

  /// Like `transaction`, but part of the one that may be open already.
  func atomically<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    isInTransaction ? try body() : try transaction(body)
  }

  // MARK: Errors

  /// What the last call's result code means.
  func error(_ code: Int32) -> StoreError { Self.error(code, of: handle) }

  /// The one place where SQLite's result codes become ours.
  private static func error(_ code: Int32, of handle: OpaquePointer) -> StoreError {
    switch code & 0xff {
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: return .unreadable
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: return .busy
    case SQLITE_FULL: return .full
    case SQLITE_READONLY, SQLITE_PERM: return .readOnly
    case SQLITE_IOERR, SQLITE_CANTOPEN:
      // SQLite forgets the reason while it rolls a statement back; the thread may still know it.
      let number = sqlite3_system_errno(handle)
      let cause = StoreError.fromErrno(number != 0 ? number : errno)
      if case .failed = cause { return .failed(code: code) }
      return cause
    default: return .failed(code: code)
    }
  }
}
