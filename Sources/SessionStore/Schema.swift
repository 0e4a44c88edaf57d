/// The tables, as steps that lead from an empty file to today's: `user_version` counts the steps taken.
///
/// A step is never changed once released; a new one is added behind. In the clear stands only what linkd must find or show
/// without the key; everything else of a row is one sealed value that is bound to all that stands in the clear beside it.
enum Schema {
  /// Marks the file as linkd's: "lnkd".
  static let applicationID: Int64 = 0x6c6e_6b64

  static let steps = [
    """
    CREATE TABLE header (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      key_id BLOB NOT NULL,
      key_store TEXT NOT NULL,
      check_value BLOB NOT NULL,
      digest BLOB NOT NULL
    ) STRICT;

    CREATE TABLE sessions (
      app TEXT NOT NULL,
      backend TEXT NOT NULL,
      sequence INTEGER NOT NULL DEFAULT 0,
      clock_skew INTEGER NOT NULL DEFAULT 0,
      body BLOB,
      last_user BLOB,
      PRIMARY KEY (app, backend)
    ) STRICT;

    CREATE TABLE flows (
      id TEXT NOT NULL PRIMARY KEY,
      app TEXT NOT NULL,
      backend TEXT NOT NULL,
      purpose TEXT NOT NULL,
      method TEXT NOT NULL,
      stage TEXT NOT NULL,
      sequence INTEGER NOT NULL,
      token_hash BLOB UNIQUE,
      created INTEGER NOT NULL,
      expires INTEGER NOT NULL,
      ended INTEGER,
      body BLOB NOT NULL
    ) STRICT;
    CREATE INDEX flows_of_app ON flows (app, backend);
    CREATE INDEX flows_live ON flows (created) WHERE ended IS NULL;
    CREATE INDEX flows_ended ON flows (ended) WHERE ended IS NOT NULL;

    CREATE TABLE used_codes (
      hash BLOB NOT NULL,
      app TEXT NOT NULL,
      backend TEXT NOT NULL,
      flow TEXT NOT NULL,
      recorded INTEGER NOT NULL,
      PRIMARY KEY (hash, app, backend)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX used_codes_recorded ON used_codes (recorded);
    """
  ]

  /// Takes the steps that the file hasn't taken, all or none. Throws `tooNew` for a file that has taken more than there are,
  /// and `unreadable` for one that isn't linkd's; neither is written to.
  static func migrate(_ connection: Connection, steps: [String] = steps) throws(StoreError) {
    let taken = try version(of: connection, latest: steps.count)
    guard taken < steps.count else { return }
    try connection.transaction { () throws(StoreError) in
      for step in steps[taken...] { try connection.execute(step) }
      try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(steps.count)")
    }
  }

  /// How many steps the file has taken.
  static func version(of connection: Connection, latest: Int = steps.count) throws(StoreError) -> Int {
    let version = try connection.integer("PRAGMA user_version") ?? 0
    let mark = try connection.integer("PRAGMA application_id") ?? 0
    if version == 0, mark == 0 {
      guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else { throw .unreadable }
      return 0
    }
    guard mark == applicationID, version > 0 else { throw .unreadable }
    guard version <= latest else { throw .tooNew }
    return Int(version)
  }
}
