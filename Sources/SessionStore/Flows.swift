public import AuthCore

/// The part of a flow that needs no key: enough to export it while the keyring is locked. It isn't authenticated.
public struct FlowOutline: Sendable, Hashable {
  /// As in `Flow`, and so are the others.
  public let id: FlowID
  /// Whose flow it is.
  public let key: SessionKey
  /// What it's for.
  public let purpose: FlowPurpose
  /// How somebody signs in by it.
  public let method: SignInMethod
  /// Where it stands.
  public let stage: FlowStage
  /// Grows with each change a client can see.
  public let sequence: UInt64
  /// Unix seconds.
  public let createdAt: Int64
  /// Unix seconds.
  public let expiresAt: Int64
  /// Unix seconds; nil for a live flow.
  public let endedAt: Int64?
}

/// What `loadLiveFlows` found.
public struct LoadedFlows: Sendable, Hashable {
  /// In the order of their beginnings.
  public let flows: [Flow]
  /// Rows that can't be opened or understood. They're kept.
  public let unreadable: [FlowID]
  /// How many such rows have no readable name either.
  public let unnamed: Int
  /// The file is damaged where they stand: there may be more of them than could be reached.
  public let isIncomplete: Bool
}

extension SessionStore {
  private static let columns =
    "id, app, backend, purpose, method, stage, sequence, created, expires, ended, token_hash, body"

  /// Commits `flow`: its row is made, or takes the place of the one it had.
  ///
  /// Throws `failed` when another flow has the same link token.
  public func save(_ flow: Flow) throws(StoreError) {
    let body = try key().seal(FlowBody.encode(flow), at: Self.place(of: flow))
    if try update(flow, body) { return }
    let (app, backend) = Self.columns(of: flow.key)
    try connection.run(
      """
      INSERT INTO flows (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET app = excluded.app, backend = excluded.backend, purpose = excluded.purpose,
        method = excluded.method, stage = excluded.stage, sequence = excluded.sequence, created = excluded.created,
        expires = excluded.expires, ended = excluded.ended, token_hash = excluded.token_hash, body = excluded.body
      """, .text(flow.id.value), app, backend, .text(flow.purpose.rawValue), .text(flow.method.description),
      .text(flow.stage.rawValue), stored(flow.sequence), .integer(flow.createdAt), .integer(flow.expiresAt),
      Value(flow.endedAt), Value(flow.linkTokenHash), .blob(body))
  }

  /// Most saves change nothing that an index has. SQLite writes an index anew for each column that a statement sets, changed
  /// or not: without them a link's commit is three pages instead of seven. False where there is more to write.
  private func update(_ flow: Flow, _ body: [UInt8]) throws(StoreError) -> Bool {
    let (app, backend) = Self.columns(of: flow.key)
    let changes = try connection.run(
      """
      UPDATE flows SET stage = ?1, sequence = ?2, expires = ?3, body = ?4
      WHERE id = ?5 AND app = ?6 AND backend = ?7 AND purpose = ?8 AND method = ?9 AND created = ?10 AND ended IS ?11
        AND token_hash IS ?12
      """, .text(flow.stage.rawValue), stored(flow.sequence), .integer(flow.expiresAt), .blob(body),
      .text(flow.id.value), app, backend, .text(flow.purpose.rawValue), .text(flow.method.description),
      .integer(flow.createdAt), Value(flow.endedAt), Value(flow.linkTokenHash))
    return changes > 0
  }

  /// All flows that haven't ended, as far as a damaged file gives them.
  public func loadLiveFlows() throws(StoreError) -> LoadedFlows {
    let sealer = try key()
    let statement = try connection.prepare(
      "SELECT \(Self.columns) FROM flows WHERE ended IS NULL ORDER BY created, id")
    var flows: [Flow] = []
    var unreadable: [FlowID] = []
    var unnamed = 0
    var isIncomplete = false
    while try Self.step(statement, &isIncomplete) {
      do throws(StoreError) {
        flows.append(try Self.flow(in: statement, with: sealer))
      } catch {
        guard case .corruptRow = error else { throw error }
        if let id = statement.text(0).flatMap(FlowID.init) { unreadable.append(id) } else { unnamed += 1 }
      }
    }
    return LoadedFlows(flows: flows, unreadable: unreadable, unnamed: unnamed, isIncomplete: isIncomplete)
  }

  /// Flows that have ended since `moment` (Unix seconds), as far as they can be opened: they're still to be seen.
  public func flows(endedSince moment: Int64) throws(StoreError) -> [Flow] {
    let sealer = try key()
    let statement = try connection.prepare(
      "SELECT \(Self.columns) FROM flows WHERE ended >= ? ORDER BY ended, id LIMIT 1000", .integer(moment))
    var flows: [Flow] = []
    while try statement.step() {
      do throws(StoreError) {
        flows.append(try Self.flow(in: statement, with: sealer))
      } catch {
        guard case .corruptRow = error else { throw error }
      }
    }
    return flows
  }

  /// The next row; false too where the file is damaged, which `isDamaged` then says.
  private static func step(_ statement: borrowing Statement, _ isDamaged: inout Bool) throws(StoreError) -> Bool {
    do throws(StoreError) {
      return try statement.step()
    } catch {
      guard error == .unreadable else { throw error }
      isDamaged = true
      return false
    }
  }

  /// All flows that haven't ended, as far as they can be known without the key; what can't be understood is left out.
  public func liveFlowOutlines() throws(StoreError) -> [FlowOutline] {
    let statement = try connection.prepare(
      "SELECT \(Self.columns) FROM flows WHERE ended IS NULL ORDER BY created, id")
    var outlines: [FlowOutline] = []
    while try statement.step() {
      if let outline = Self.outline(in: statement) { outlines.append(outline) }
    }
    return outlines
  }

  /// The flow `id`, ended or not; nil where there is none. Throws `corruptRow` for one that can't be opened.
  public func flow(_ id: FlowID) throws(StoreError) -> Flow? {
    try flow(in: try connection.prepare("SELECT \(Self.columns) FROM flows WHERE id = ?", .text(id.value)))
  }

  /// The flow whose link token has this SHA-256, ended or not; nil where there is none. Throws `corruptRow` for one that
  /// can't be opened.
  public func flow(linkTokenHash hash: [UInt8]) throws(StoreError) -> Flow? {
    try flow(in: try connection.prepare("SELECT \(Self.columns) FROM flows WHERE token_hash = ?", .blob(hash)))
  }

  /// Drops the flow `id`, if there is one. Needs no key.
  public func deleteFlow(_ id: FlowID) throws(StoreError) {
    try connection.run("DELETE FROM flows WHERE id = ?", .text(id.value))
  }

  /// Drops the flows of `key`, live or ended, that protect `uid`, began under it as a guest's, or ended with it; returns
  /// them. One that can't be opened is kept: whose it is can't be known.
  @discardableResult
  public func deleteFlows(of key: SessionKey, uid: String) throws(StoreError) -> [FlowID] {
    let sealer = try self.key()
    let (app, backend) = Self.columns(of: key)
    return try connection.atomically { () throws(StoreError) in
      let statement = try connection.prepare(
        "SELECT \(Self.columns) FROM flows WHERE app = ? AND backend = ?", app, backend)
      var ids: [FlowID] = []
      while try statement.step() {
        do throws(StoreError) {
          let flow = try Self.flow(in: statement, with: sealer)
          if [flow.protectedUID, flow.anonymousUID, flow.resultUID].contains(uid) { ids.append(flow.id) }
        } catch {
          guard case .corruptRow = error else { throw error }
        }
      }
      for id in ids { try deleteFlow(id) }
      return ids
    }
  }

  // MARK: Rows

  private func flow(in statement: consuming Statement) throws(StoreError) -> Flow? {
    let sealer = try key()
    return try statement.step() ? try Self.flow(in: statement, with: sealer) : nil
  }

  private static func flow(in row: borrowing Statement, with sealer: Sealer) throws(StoreError) -> Flow {
    guard let outline = outline(in: row), let body = row.blob(11) else { throw .corruptRow(table: "flows") }
    var flow = Flow(
      id: outline.id, key: outline.key, purpose: outline.purpose, method: outline.method, createdAt: outline.createdAt,
      expiresAt: outline.expiresAt)
    flow.stage = outline.stage
    flow.sequence = outline.sequence
    flow.endedAt = outline.endedAt
    flow.linkTokenHash = row.blob(10)
    let bytes = try sealer.open(body, at: place(of: flow))
    try understand("flows") { () throws(MalformedFields) in try FlowBody.decode(bytes, into: &flow) }
    return flow
  }

  private static func outline(in row: borrowing Statement) -> FlowOutline? {
    guard let id = row.text(0).flatMap(FlowID.init), let key = SessionKey(app: row.text(1), backend: row.text(2)),
      let purpose = row.text(3).flatMap(FlowPurpose.init), let method = row.text(4).flatMap(SignInMethod.init),
      let stage = row.text(5).flatMap(FlowStage.init), let sequence = UInt64(exactly: row.integer(6))
    else { return nil }
    return FlowOutline(
      id: id, key: key, purpose: purpose, method: method, stage: stage, sequence: sequence, createdAt: row.integer(7),
      expiresAt: row.integer(8), endedAt: row.isNull(9) ? nil : row.integer(9))
  }

  private static func place(of flow: Flow) -> Sealer.Place {
    var place = Sealer.Place(table: "flows", column: "body")
    place.bind(flow.id.value)
    place.bind(flow.key.app.value)
    place.bind(flow.key.backend.description)
    place.bind(flow.purpose.rawValue)
    place.bind(flow.method.description)
    place.bind(flow.stage.rawValue)
    place.bind(Int64(clamping: flow.sequence))
    place.bind(flow.createdAt)
    place.bind(flow.expiresAt)
    place.bind(flow.endedAt)
    place.bind(flow.linkTokenHash)
    return place
  }
}
