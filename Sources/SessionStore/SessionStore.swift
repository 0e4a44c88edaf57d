public import AuthCore

/// Sessions, flows and used codes of one user, in one file whose values are sealed (behaviour: Storage).
///
/// Touched from one thread: the daemon owns it on its loop. Every call has been committed durably when it returns
/// (write-ahead log, `synchronous=FULL`), or has changed nothing. Sessions and flows are keyed by app *and* backend.
///
/// Without the key, what stands in the clear can be read (`outlines`), rows can be removed, and everything else throws
/// `locked`: a locked keyring never blocks the start (D-Bus contract: Start order).
public final class SessionStore {
  /// Name of the file in the state folder.
  public static let fileName = "linkd.sqlite"
  /// A file of up to so many pages (of 4 KiB) is checked whole when it's opened: some hundred flows.
  static let pagesCheckedAtOpen: Int64 = 64

  let connection: Connection
  var sealer: Sealer?

  /// Opens the file in the folder of `lock`, or makes it (0600), and brings it to today's form.
  ///
  /// Another process's lock on the file is waited for up to `busyTimeout` milliseconds. Throws `unreadable` for damage that
  /// shows at once (see `check`), `tooNew` for a newer linkd's file, which is left alone, `notOurs`, and what any call may
  /// throw: `busy`, `full`, `readOnly`, `failed`.
  public init(holding lock: borrowing StateLock, busyTimeout: Int32 = 2000) throws(StoreError) {
    let path = lock.folder + "/" + Self.fileName
    try StateFolder.prepareFile(path)
    connection = try Connection(path: path, busyTimeout: busyTimeout)
    // Asked before anything is written.
    _ = try Schema.version(of: connection)
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.execute(
      """
      PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -512; PRAGMA journal_size_limit = 1048576
      """)
    try Schema.migrate(connection)
    if try connection.integer("PRAGMA page_count") ?? 0 <= Self.pagesCheckedAtOpen { try check() }
  }

  /// Whether the file could be opened for reading alone: what is in it can be had, and every change throws `readOnly`.
  public var isReadOnly: Bool { connection.isReadOnly }

  /// Reads the whole file and throws `unreadable` where its structure is damaged.
  ///
  /// Opening does so for a small file, in a fraction of a millisecond. For a big one it would make every activation wait, so
  /// there damage shows where it's met: each call may throw `unreadable`, and each sealed value proves itself.
  public func check() throws(StoreError) {
    let statement = try connection.prepare("PRAGMA quick_check(1)")
    guard try statement.step(), statement.text(0) == "ok" else { throw .unreadable }
  }

  /// Commits what `body` does as one, or nothing of it when `body` throws. Throws `transactionInProgress` inside another.
  public func transaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try connection.transaction(body)
  }

  /// Moves what the log holds into the file and empties the log, so that what was removed is gone from both. For after a
  /// sign-out and before an idle exit; does nothing inside a transaction or while somebody else reads.
  public func checkpoint() throws(StoreError) {
    if connection.isInTransaction { return }
    let statement = try connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)")
    while try statement.step() {}
  }

  /// Drops what is older than a day: used codes, and flows that have ended (behaviour: Pending flows 2 and 4).
  ///
  /// - Parameter now: Unix seconds.
  public func prune(now: Int64) throws(StoreError) {
    let limit = now - 86_400
    try connection.atomically { () throws(StoreError) in
      try connection.run("DELETE FROM used_codes WHERE recorded < ?", .integer(limit))
      try connection.run("DELETE FROM flows WHERE ended < ?", .integer(limit))
    }
  }

  /// Drops everything of `app`, at `backend` or at all of them: sessions, last users, flows, used codes. The sequences alone
  /// stay, since clients may remember them. Needs no key.
  public func removeApp(_ app: AppID, at backend: Backend? = nil) throws(StoreError) {
    let id = Value.text(app.value)
    let backend = Value(backend?.description)
    try connection.atomically { () throws(StoreError) in
      try connection.run(
        """
        UPDATE sessions SET body = NULL, last_user = NULL, clock_skew = 0
        WHERE app = ?1 AND backend = ifnull(?2, backend)
        """, id, backend)
      try connection.run("DELETE FROM flows WHERE app = ?1 AND backend = ifnull(?2, backend)", id, backend)
      try connection.run("DELETE FROM used_codes WHERE app = ?1 AND backend = ifnull(?2, backend)", id, backend)
    }
  }

  /// The sealer, or `locked`.
  func key() throws(StoreError) -> Sealer {
    guard let sealer else { throw .locked }
    return sealer
  }
}

extension SessionKey {
  /// Reads columns `app` and `backend`; nil for what no linkd wrote.
  init?(app: String?, backend: String?) {
    guard let app = app.flatMap(AppID.init), let backend = backend.flatMap(Backend.init) else { return nil }
    self.init(app: app, backend: backend)
  }
}

/// A sequence as it's stored; SQLite has signed numbers alone.
func stored(_ sequence: UInt64) -> Value { .integer(Int64(clamping: sequence)) }

/// What `body` decodes; `corruptRow` where it can't.
func understand<Result>(
  _ table: String, _ body: () throws(MalformedFields) -> Result
) throws(StoreError) -> Result {
  do throws(MalformedFields) {
    return try body()
  } catch {
    throw .corruptRow(table: table)
  }
}
