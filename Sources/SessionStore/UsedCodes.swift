public import AuthCore

extension SessionStore {
  /// Commits that the code with this SHA-256 has been spent by `flow`, at `now` (Unix seconds). Whoever spent it first stays
  /// recorded: a second delivery gets the first one's result (behaviour: Pending flows 4). Needs no key.
  public func recordCode(_ hash: [UInt8], flow: FlowID, of key: SessionKey, now: Int64) throws(StoreError) {
    let (app, backend) = Self.columns(of: key)
    try connection.run(
      "INSERT INTO used_codes (hash, app, backend, flow, recorded) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      .blob(hash), app, backend, .text(flow.value), .integer(now))
  }

  /// The flow that spent the code with this SHA-256 within the last day; its row may be gone. Needs no key.
  public func flow(forCodeHash hash: [UInt8], of key: SessionKey) throws(StoreError) -> FlowID? {
    let (app, backend) = Self.columns(of: key)
    let statement = try connection.prepare(
      "SELECT flow FROM used_codes WHERE hash = ? AND app = ? AND backend = ?", .blob(hash), app, backend)
    guard try statement.step() else { return nil }
    guard let id = statement.text(0).flatMap(FlowID.init) else { throw .corruptRow(table: "used_codes") }
    return id
  }
}
