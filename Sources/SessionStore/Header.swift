public import AuthCore
import Crypto

/// Which key the file was made with, and where that key is kept: decided once (cli-and-config: Files).
public struct StoreHeader: Sendable, Hashable {
  /// The key's name, not secret.
  public let keyID: [UInt8]
  /// The word for the place: `file` or `secret-service`.
  public let keyStore: String

  /// A header that names the key `keyID` kept in `keyStore`.
  public init(keyID: [UInt8], keyStore: String) {
    self.keyID = keyID
    self.keyStore = keyStore
  }
}

extension SessionStore {
  /// Bytes in the store's key.
  public static let keyLength = AESGCM.keyLength

  /// What the file says about its key; nil before the first `unlock` ever. Throws `unreadable` when it's damaged.
  public func header() throws(StoreError) -> StoreHeader? { try storedHeader()?.header }

  /// Whether `unlock` has succeeded.
  public var isUnlocked: Bool { sealer != nil }

  /// Takes the key. The first time ever, writes `header` into the file; afterwards the key must be the same one.
  ///
  /// Throws `wrongKey` when it isn't, and `unreadable` when the header is damaged, or gone while sealed rows exist: no key is
  /// ever put in the place of another (field reports B131, B136). The store then stays as it was.
  public func unlock(_ key: Secret<[UInt8]>, header: StoreHeader) throws(StoreError) {
    guard key.reveal().count == Self.keyLength else { throw .wrongKey }
    let sealer = Sealer(key: key)
    if let stored = try storedHeader() {
      guard stored.header == header else { throw .wrongKey }
      do throws(StoreError) {
        _ = try sealer.open(stored.checkValue, at: Self.place(of: header))
      } catch {
        if case .corruptRow = error { throw .wrongKey }
        throw error
      }
    } else {
      try write(header, sealer: sealer)
    }
    self.sealer = sealer
  }

  /// Forgets the key; what needs it throws `locked` from now on.
  public func lock() { sealer = nil }

  private func storedHeader() throws(StoreError) -> (header: StoreHeader, checkValue: [UInt8])? {
    let statement = try connection.prepare("SELECT key_id, key_store, check_value, digest FROM header")
    guard try statement.step() else { return nil }
    guard let keyID = statement.blob(0), let keyStore = statement.text(1), let checkValue = statement.blob(2),
      let digest = statement.blob(3)
    else { throw .unreadable }
    let header = StoreHeader(keyID: keyID, keyStore: keyStore)
    guard digest == Self.digest(of: header, checkValue: checkValue) else { throw .unreadable }
    return (header, checkValue)
  }

  private func write(_ header: StoreHeader, sealer: Sealer) throws(StoreError) {
    try connection.atomically { () throws(StoreError) in
      let rows = try connection.integer(
        "SELECT EXISTS (SELECT 1 FROM flows) OR EXISTS (SELECT 1 FROM sessions WHERE body NOT NULL OR last_user NOT NULL)"
      )
      guard rows == 0 else { throw .unreadable }
      let checkValue = try sealer.seal([], at: Self.place(of: header))
      try connection.run(
        "INSERT INTO header (id, key_id, key_store, check_value, digest) VALUES (1, ?, ?, ?, ?)", .blob(header.keyID),
        .text(header.keyStore), .blob(checkValue), .blob(Self.digest(of: header, checkValue: checkValue)))
    }
  }

  /// Tells damage apart from another key.
  private static func digest(of header: StoreHeader, checkValue: [UInt8]) -> [UInt8] {
    SHA256.hash(place(of: header).associatedData + checkValue)
  }

  private static func place(of header: StoreHeader) -> Sealer.Place {
    var place = Sealer.Place(table: "header", column: "check_value")
    place.bind(header.keyID)
    place.bind(header.keyStore)
    return place
  }
}
