import AuthCore
import EventLoop
import Keyring
import SessionStore

/// The state folder as it was found at the start: a store with its key, or why there is none (behaviour: Storage).
///
/// Locked, absent, wrong key and damage are different faults with different messages; none of them deletes anything, and
/// none keeps the daemon from serving what needs no store.
@LoopActor
final class Storage {
  /// Nil where the file can't be used at all.
  let store: SessionStore?
  /// The key that link tokens are derived from; nil where there is none.
  let key: Secret<[UInt8]>?
  let kind: KeyStoreKind
  /// Why something is missing.
  let fault: AuthFailure?
  /// What health every session has then.
  let health: SessionHealth
  /// Whether sessions can be read and kept.
  var isUsable: Bool { store?.isReadOnly == false && key != nil }
  /// Keeps other daemons away, as long as this lives.
  private let lock: StateLock

  /// Opens what is in the locked folder. A damaged file is set aside with its date, and a new one begun.
  init(holding lock: consuming StateLock, kind: KeyStoreKind, log: Log) {
    var fault: AuthFailure?
    var health = SessionHealth.ok
    let opened = Self.open(lock, log: log, &fault)
    if opened?.isReadOnly == true { log.error("the store can be read alone") }
    if fault != nil { health = opened == nil ? .unreadable : .attentionNeeded }
    var key: Secret<[UInt8]>?
    var kind = kind
    if let store = opened {
      do {
        (key, kind) = try Self.unlock(store, folder: lock.folder, first: kind)
      } catch {
        fault = error
        health = error.error == .keyringLocked || error.error == .keyringAbsent ? .locked : .unreadable
        log.error(
          "the store's key can't be used", ["error": error.error.rawValue, "cause": error.cause ?? "-"])
      }
    }
    store = opened
    self.key = key
    self.kind = kind
    self.fault = fault
    self.health = health
    self.lock = lock
  }

  private static func open(_ lock: borrowing StateLock, log: Log, _ fault: inout AuthFailure?) -> SessionStore? {
    do throws(StoreError) {
      return try SessionStore(holding: lock)
    } catch {
      log.error("the store can't be opened", ["error": error.authError.rawValue, "kind": "\(error)"])
      fault = AuthFailure(error)
      guard error == .unreadable else { return nil }
    }
    do throws(StoreError) {
      let aside = try SessionStore.setAside(holding: lock, now: WallClock.now)
      log.error("the damaged store was set aside", ["file": aside ?? "-"])
      return try SessionStore(holding: lock)
    } catch {
      return nil
    }
  }

  /// The key the file was made with, from the place its header names; at the very first start a new one.
  private static func unlock(
    _ store: SessionStore, folder: String, first: KeyStoreKind
  ) throws(AuthFailure) -> (Secret<[UInt8]>, KeyStoreKind) {
    let keyring = Keyring(folder: folder)
    let header = try named { () throws(StoreError) in try store.header() }
    guard let kind = header.map({ KeyStoreKind(rawValue: $0.keyStore) }) ?? first else {
      throw AuthFailure(.storageUnreadable)
    }
    let found = header == nil ? keyring.firstKey(in: kind) : keyring.key(in: kind)
    guard case .key(let key) = found else { throw AuthFailure(found.authError ?? .internal, cause: found.cause) }
    try named { () throws(StoreError) in
      try store.unlock(key.key, header: StoreHeader(keyID: key.id, keyStore: kind.rawValue))
    }
    return (key.key, kind)
  }

  private static func named<T>(_ body: () throws(StoreError) -> T) throws(AuthFailure) -> T {
    do throws(StoreError) {
      return try body()
    } catch {
      throw AuthFailure(error)
    }
  }
}

extension AuthFailure {
  /// A store's error as a client meets it.
  init(_ error: StoreError) { self.init(error.authError, cause: error.cause) }
}
