public import AuthCore

/// A code that a flow has, or had, in hand.
public struct UsedCode: Sendable, Hashable {
  /// Whose flow it is.
  public let key: SessionKey
  /// Its row may be gone.
  public let flow: FlowID
}

extension SessionStore {
  /// Commits that `flow`, whose row exists, has the code with this SHA-256 in hand, at `now` (Unix seconds).
  ///
  /// Within an app and backend the first flow stays recorded as long as its row exists: a second delivery gets the first one's
  /// result (behaviour: Pending flows 4). Needs no key.
  public func recordCode(_ hash: [UInt8], flow: FlowID, at now: Int64) throws(StoreError) {
    try connection.run(
      """
      INSERT INTO used_codes (hash, app, backend, flow, recorded) SELECT ?1, app, backend, id, ?3 FROM flows WHERE id = ?2
      ON CONFLICT DO UPDATE SET flow = excluded.flow, recorded = excluded.recorded
        WHERE NOT EXISTS (SELECT 1 FROM flows WHERE id = used_codes.flow)
      """, .blob(hash), .text(flow.value), .integer(now))
  }

  /// Who has had the code with this SHA-256 within the last day: one flow for each app and backend, the earliest first.
  /// Needs no key.
  public func uses(ofCodeHash hash: [UInt8]) throws(StoreError) -> [UsedCode] {
    let statement = try connection.prepare(
      "SELECT app, backend, flow FROM used_codes WHERE hash = ? ORDER BY recorded, app, backend", .blob(hash))
    var uses: [UsedCode] = []
    while try statement.step() {
      guard let key = SessionKey(app: statement.text(0), backend: statement.text(1)),
        let flow = statement.text(2).flatMap(FlowID.init)
      else { throw .corruptRow(table: "used_codes") }
      uses.append(UsedCode(key: key, flow: flow))
    }
    return uses
  }

  /// The flow that has had the code with this SHA-256 within the last day; nil where there is none, or its row is gone.
  /// Where several apps or backends had it, the earliest.
  public func flow(codeHash hash: [UInt8]) throws(StoreError) -> Flow? {
    for use in try uses(ofCodeHash: hash) {
      if let flow = try flow(use.flow) { return flow }
    }
    return nil
  }
}
