public import AuthCore
import Glibc

/// Where the store's key is kept; the raw value stands in the database's header and on D-Bus (`KeyStore`).
public enum KeyStoreKind: String, Sendable, Hashable, CaseIterable {
  case file
  case secretService = "secret-service"
}

/// The store's key with its name.
public struct StoreKey: Sendable, Hashable {
  /// Bytes in a key.
  public static let length = 32
  /// Bytes in a key's name.
  public static let idLength = 16

  /// 256 random bits.
  public let key: Secret<[UInt8]>
  /// 128 random bits that say nothing about the key.
  public let id: [UInt8]

  /// Wraps a key that a key store gave.
  public init(key: Secret<[UInt8]>, id: [UInt8]) {
    self.key = key
    self.id = id
  }
}

/// What asking a key store came to. Locked, absent and failed are three states with three messages, and none of them is a
/// reason to make another key or to delete anything (field report B131).
public enum KeyLookup: Sendable, Hashable {
  case key(StoreKey)
  /// It's there, and somebody must unlock it first.
  case locked
  /// The key store, or the key in it, doesn't exist.
  case absent
  case failed(KeyringError)

  /// What the result means for a client; nil for a key.
  public var authError: AuthError? {
    switch self {
    case .key: nil
    case .locked: .keyringLocked
    case .absent: .keyringAbsent
    case .failed(let error): error.authError
    }
  }

  /// Id of a text that says more than the error's own; nil where there is nothing more to say.
  public var cause: String? {
    if case .failed(let error) = self { error.cause } else { nil }
  }
}

/// What can go wrong with a key store.
public enum KeyringError: Error, Sendable, Hashable {
  /// Others may read or write the key, or it belongs to somebody else, or is no regular file: it isn't used.
  case permissions
  /// What is there isn't a key.
  case malformed
  /// A key is there already: it's never overwritten.
  case exists
  /// The kernel has no random bytes.
  case noRandom
  /// The file system failed.
  case system(errno: Int32)

  /// The same in the words of the D-Bus contract.
  public var authError: AuthError {
    switch self {
    case .malformed: .keyringWrongKey
    case .permissions, .exists, .noRandom, .system: .internal
    }
  }

  /// Id of a text that says more than the error's own; nil where there is nothing more to say.
  public var cause: String? {
    switch self {
    case .permissions: "cause.key-permissions"
    case .system(ENOSPC), .system(EDQUOT), .system(EFBIG): "cause.storage-full"
    case .system(EROFS), .system(EACCES), .system(EPERM): "cause.storage-read-only"
    case .malformed, .exists, .noRandom, .system: nil
    }
  }
}
