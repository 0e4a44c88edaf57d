import CSQLite
import Glibc

/// A value of a column or a parameter.
enum Value {
  case text(String)
  case blob([UInt8])
  case integer(Int64)
  case null

  /// The text, or NULL.
  init(_ text: String?) { self = text.map(Value.text) ?? .null }
  /// The bytes, or NULL.
  init(_ bytes: [UInt8]?) { self = bytes.map(Value.blob) ?? .null }
  /// The number, or NULL.
  init(_ number: Int64?) { self = number.map(Value.integer) ?? .null }
}

/// One use of a prepared statement, which is reset when the use ends.
struct Statement: ~Copyable {
  private let handle: OpaquePointer
  private let connection: Connection

  init(handle: OpaquePointer, connection: Connection) {
    self.handle = handle
    self.connection = connection
  }

  deinit {
    sqlite3_reset(handle)
    // The bound copies of secrets go with it.
    sqlite3_clear_bindings(handle)
  }

  /// Binds parameter `index`, from 1.
  func bind(_ value: Value, at index: Int32) throws(StoreError) {
    let code =
      switch value {
      case .text(let text): csqlite_bind_text(handle, index, text, Int32(clamping: text.utf8.count))
      case .blob(let bytes): csqlite_bind_blob(handle, index, bytes, Int32(clamping: bytes.count))
      case .integer(let number): sqlite3_bind_int64(handle, index, number)
      case .null: sqlite3_bind_null(handle, index)
      }
    guard code == SQLITE_OK else { throw connection.error(code) }
  }

  /// Goes to the next row; false when there is none.
  func step() throws(StoreError) -> Bool {
    errno = 0
    let code = sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw connection.error(code)
    }
  }

  /// The number in `column`, from 0; of NULL, zero.
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// Whether `column` is NULL.
  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The text in `column`; nil for NULL and for what isn't UTF-8.
  func text(_ column: Int32) -> String? {
    guard let start = sqlite3_column_text(handle, column) else { return nil }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    return String(validating: bytes, as: UTF8.self)
  }

  /// A copy of the bytes in `column`; nil for NULL.
  func blob(_ column: Int32) -> [UInt8]? {
    if isNull(column) { return nil }
    let start = sqlite3_column_blob(handle, column)
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }
}
