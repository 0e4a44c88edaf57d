public import AuthCore
import Glibc

/// What can go wrong with the store. None of them has changed anything on disk.
public enum StoreError: Error, Sendable, Hashable {
  /// The file is damaged, or isn't linkd's.
  case unreadable
  /// A newer linkd wrote the file.
  case tooNew
  /// Another process has the file locked, and kept it so for the whole busy timeout.
  case busy
  /// No room on the file system, or a quota or limit is reached.
  case full
  /// The file, its folder or the file system can't be written to.
  case readOnly
  /// The folder or a file in it belongs to another user, or is no regular file.
  case notOurs
  /// The operation needs the key, which `unlock` hasn't been given.
  case locked
  /// The key isn't the one the file was made with (field report B136).
  case wrongKey
  /// One row's values can't be opened or understood; the row is kept as it is. Names the table.
  case corruptRow(table: String)
  /// A transaction was asked for inside another one.
  case transactionInProgress
  /// The file system or the library failed otherwise: SQLite's extended result code, or a negative errno.
  case failed(code: Int32)

  /// The same in the words of the D-Bus contract.
  public var authError: AuthError {
    switch self {
    case .unreadable, .corruptRow: .storageUnreadable
    case .tooNew: .storageTooNew
    case .locked: .keyringLocked
    case .wrongKey: .keyringWrongKey
    // Waiting may mend it; a full or read-only disk waits for somebody.
    case .busy: .serviceUnavailable
    case .full, .readOnly, .notOurs, .transactionInProgress, .failed: .internal
    }
  }

  /// Id of a text that says more than the error's own; nil where there is nothing more to say.
  public var cause: String? {
    switch self {
    case .busy: "cause.storage-busy"
    case .full: "cause.storage-full"
    case .readOnly: "cause.storage-read-only"
    case .notOurs: "cause.storage-not-ours"
    case .unreadable, .tooNew, .locked, .wrongKey, .corruptRow, .transactionInProgress, .failed: nil
    }
  }

  /// What `number` means for the store.
  static func fromErrno(_ number: Int32) -> StoreError {
    switch number {
    case ENOSPC, EDQUOT, EFBIG: .full
    case EROFS, EACCES, EPERM: .readOnly
    case ELOOP, ENOTDIR, EISDIR: .notOurs
    default: .failed(code: -number)
    }
  }
}
