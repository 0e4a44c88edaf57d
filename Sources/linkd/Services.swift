import AuthCore
import Crypto
import DBus
import EventLoop
import IdentityToolkit
import SessionStore
import Texts

/// What the daemon's parts share: one of each adapter.
@LoopActor
struct Services {
  let log: Log
  let store: SessionStore
  let toolkit: IdentityToolkit
  let broadcast: Broadcast
  let links: MailedLinks

  /// The wall clock, Unix seconds.
  var now: Int64 { WallClock.now }

  /// Runs a store operation; a fault becomes the error that a client meets.
  func stored<T>(_ body: () throws(StoreError) -> T) throws(AuthFailure) -> T {
    do throws(StoreError) {
      return try body()
    } catch {
      log.error("storage failed", ["error": error])
      throw AuthFailure(error.authError)
    }
  }
}

extension StoreError {
  /// The error that a client meets.
  var authError: AuthError {
    switch self {
    case .tooNew: .storageTooNew
    case .wrongKey: .keyringWrongKey
    case .unreadable, .corruptRow: .storageUnreadable
    default: .internal
    }
  }
}

extension AuthFailure {
  /// The error reply, with a text for a person in `locale`.
  func reply(locale: String?) -> DBusError {
    DBusError(name: error.dbusName, message: message(locale: locale))
  }

  /// What happened and the next step; the server's own sentence where there is one for people.
  func message(locale: String?) -> String {
    let text = Texts.lookup(error.textID, locale: locale)
    guard let detail else { return text }
    return "\(text) (\(Texts.printable(detail)))"
  }
}
