import AuthCore
import Crypto
import Glibc

/// Seals values of columns with the store's key, each bound to the place it stands in: a value that was moved to another
/// row, column or table, or beside which something was changed, doesn't open (behaviour: Storage).
struct Sealer {
  /// What a sealed value is bound to: its table and column, and everything that stands in the clear in its row.
  struct Place {
    let table: String
    private var fields = FieldWriter()

    init(table: String, column: String) {
      self.table = table
      fields.put(0, Int64(Sealer.version))
      fields.put(1, table)
      fields.put(2, column)
    }

    /// Adds a column of the row. Each call gives a field, an absent value too.
    mutating func bind(_ value: String) { fields.put(3, value) }
    mutating func bind(_ value: Int64?) { if let value { fields.put(4, value) } else { fields.put(5, true) } }
    mutating func bind(_ value: [UInt8]?) { if let value { fields.put(6, value) } else { fields.put(5, true) } }

    var associatedData: [UInt8] { fields.bytes }
  }

  /// Of the sealed form and of what it's bound to.
  private static let version: UInt8 = 1
  private let key: Secret<[UInt8]>

  init(key: Secret<[UInt8]>) { self.key = key }

  /// The version, then nonce, ciphertext and tag.
  func seal(_ bytes: [UInt8], at place: Place) throws(StoreError) -> [UInt8] {
    do throws(CryptoError) {
      return [Self.version] + (try AESGCM.seal(bytes, key: key, associatedData: place.associatedData))
    } catch {
      throw Self.error(error, in: place)
    }
  }

  /// What `seal` was given. Throws `corruptRow` when it can't be had.
  func open(_ sealed: [UInt8], at place: Place) throws(StoreError) -> [UInt8] {
    guard sealed.first == Self.version else { throw .corruptRow(table: place.table) }
    do throws(CryptoError) {
      return try AESGCM.open(Array(sealed.dropFirst()), key: key, associatedData: place.associatedData)
    } catch {
      throw Self.error(error, in: place)
    }
  }

  private static func error(_ error: CryptoError, in place: Place) -> StoreError {
    switch error {
    case .notAuthentic, .malformed: .corruptRow(table: place.table)
    case .keyLength: .wrongKey
    case .unavailable: .failed(code: -ENOSYS)
    }
  }
}
