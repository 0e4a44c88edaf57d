public import AuthCore

/// What is remembered of one app at one backend.
public struct StoredSession: Sendable, Hashable {
  /// Whose it is.
  public let key: SessionKey
  /// Who is signed in; nil when nobody is, and when `isUnreadable`.
  public let session: Session?
  /// Who was, before a forced sign-out.
  public let lastUser: LastUser?
  /// The server's clock less ours, in seconds, as last seen.
  public let clockSkew: Int64
  /// The highest sequence that was ever saved for the key.
  public let sequence: UInt64
  /// A value is there that can't be opened or understood. It's kept, and no session is saved over it: never take this for
  /// "nobody" (field report B136).
  public let isUnreadable: Bool
}

/// The part of `StoredSession` that needs no key.
public struct SessionOutline: Sendable, Hashable {
  /// Whose it is.
  public let key: SessionKey
  /// The server's clock less ours, in seconds, as last seen.
  public let clockSkew: Int64
  /// The highest sequence that was ever saved for the key.
  public let sequence: UInt64
  /// Whether somebody is signed in.
  public let hasSession: Bool
  /// Whether somebody's forced sign-out is remembered.
  public let hasLastUser: Bool
}

extension SessionStore {
  /// All sessions, sealed parts too. One whose values can't be opened is in the list, marked. Throws `corruptRow` for a row
  /// that doesn't even name its app.
  public func loadSessions() throws(StoreError) -> [StoredSession] {
    let sealer = try key()
    return try sessionRows().map { row throws(StoreError) in try Self.open(row, with: sealer) }
  }

  /// What is remembered of `key`; nil for nothing, not even a sequence.
  public func loadSession(_ key: SessionKey) throws(StoreError) -> StoredSession? {
    let sealer = try self.key()
    let (app, backend) = Self.columns(of: key)
    let statement = try connection.prepare(
      "SELECT \(Self.columns) FROM sessions WHERE app = ? AND backend = ?", app, backend)
    return try statement.step() ? try Self.open(try Self.row(in: statement), with: sealer) : nil
  }

  /// All sessions as far as they can be known without the key.
  public func sessionOutlines() throws(StoreError) -> [SessionOutline] { try sessionRows().map(\.outline) }

  /// Commits `session` in the place of the one its key had, and forgets the last user. The stored sequence never goes back.
  ///
  /// Throws `corruptRow`, and leaves it, when the key has a session that can't be opened: sign out first.
  public func save(_ session: Session, clockSkew: Int64, sequence: UInt64) throws(StoreError) {
    let sealer = try key()
    let body = try sealer.seal(SessionBody.encode(session), at: Self.place("body", of: session.key))
    let (app, backend) = Self.columns(of: session.key)
    try connection.atomically { () throws(StoreError) in
      if try loadSession(session.key)?.isUnreadable == true { throw .corruptRow(table: "sessions") }
      try connection.run(
        """
        INSERT INTO sessions (app, backend, sequence, clock_skew, body) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence), clock_skew = excluded.clock_skew,
          body = excluded.body, last_user = NULL
        """, app, backend, stored(sequence), .integer(clockSkew), .blob(body))
    }
  }

  /// Commits `sequence` for `key`, unless a higher one is stored. Needs no key.
  public func save(sequence: UInt64, for key: SessionKey) throws(StoreError) {
    let (app, backend) = Self.columns(of: key)
    try connection.run(
      """
      INSERT INTO sessions (app, backend, sequence) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence)
      """, app, backend, stored(sequence))
  }

  /// Commits the server's clock less ours, in seconds, for `key`. Needs no key.
  public func save(clockSkew: Int64, for key: SessionKey) throws(StoreError) {
    let (app, backend) = Self.columns(of: key)
    try connection.run(
      """
      INSERT INTO sessions (app, backend, clock_skew) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET clock_skew = excluded.clock_skew
      """, app, backend, .integer(clockSkew))
  }

  /// Drops the session of `key`, also one that can't be opened, and all flows of `uid` (see `deleteFlows`), as one.
  ///
  /// `lastUser` is kept where it's given and forgotten where it isn't. Returns the flows that were dropped. Throws `locked`
  /// when `uid` or `lastUser` is given and there is no key.
  @discardableResult
  public func removeSession(
    _ key: SessionKey, uid: String?, lastUser: LastUser? = nil, sequence: UInt64 = 0
  ) throws(StoreError) -> [FlowID] {
    let sealed = try lastUser.map { user throws(StoreError) in
      try self.key().seal(SessionBody.encode(user), at: Self.place("last_user", of: key))
    }
    let (app, backend) = Self.columns(of: key)
    return try connection.atomically { () throws(StoreError) in
      try connection.run(
        """
        INSERT INTO sessions (app, backend, sequence, last_user) VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence), body = NULL, last_user = excluded.last_user
        """, app, backend, stored(sequence), Value(sealed))
      guard let uid else { return [] }
      return try deleteFlows(of: key, uid: uid)
    }
  }

  // MARK: Rows

  private struct Row {
    let outline: SessionOutline
    let body: [UInt8]?
    let lastUser: [UInt8]?
  }

  private static let columns = "app, backend, sequence, clock_skew, body, last_user"

  private func sessionRows() throws(StoreError) -> [Row] {
    let statement = try connection.prepare("SELECT \(Self.columns) FROM sessions ORDER BY app, backend")
    var rows: [Row] = []
    while try statement.step() { rows.append(try Self.row(in: statement)) }
    return rows
  }

  private static func row(in statement: borrowing Statement) throws(StoreError) -> Row {
    guard let key = SessionKey(app: statement.text(0), backend: statement.text(1)),
      let sequence = UInt64(exactly: statement.integer(2))
    else { throw .corruptRow(table: "sessions") }
    let outline = SessionOutline(
      key: key, clockSkew: statement.integer(3), sequence: sequence, hasSession: !statement.isNull(4),
      hasLastUser: !statement.isNull(5))
    return Row(outline: outline, body: statement.blob(4), lastUser: statement.blob(5))
  }

  private static func open(_ row: Row, with sealer: Sealer) throws(StoreError) -> StoredSession {
    let outline = row.outline
    var session: Session?
    var lastUser: LastUser?
    var isUnreadable = false
    do throws(StoreError) {
      if let body = row.body { session = try open(body, of: outline.key, with: sealer) }
      if let value = row.lastUser { lastUser = try openLastUser(value, of: outline.key, with: sealer) }
    } catch {
      guard case .corruptRow = error else { throw error }
      session = nil
      isUnreadable = true
    }
    return StoredSession(
      key: outline.key, session: session, lastUser: lastUser, clockSkew: outline.clockSkew, sequence: outline.sequence,
      isUnreadable: isUnreadable)
  }

  private static func open(_ body: [UInt8], of key: SessionKey, with sealer: Sealer) throws(StoreError) -> Session {
    let bytes = try sealer.open(body, at: place("body", of: key))
    return try understand("sessions") { () throws(MalformedFields) in try SessionBody.session(bytes, key: key) }
  }

  private static func openLastUser(
    _ value: [UInt8], of key: SessionKey, with sealer: Sealer
  ) throws(StoreError) -> LastUser {
    let bytes = try sealer.open(value, at: place("last_user", of: key))
    return try understand("sessions") { () throws(MalformedFields) in try SessionBody.lastUser(bytes) }
  }

  private static func place(_ column: String, of key: SessionKey) -> Sealer.Place {
    var place = Sealer.Place(table: "sessions", column: column)
    place.bind(key.app.value)
    place.bind(key.backend.description)
    return place
  }

  static func columns(of key: SessionKey) -> (app: Value, backend: Value) {
    (.text(key.app.value), .text(key.backend.description))
  }
}
