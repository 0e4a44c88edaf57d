import AuthCore
import DBus
import Desktop
import EventLoop
import IdentityToolkit
import SessionStore
import Texts

/// What the daemon's parts share: one of each adapter.
@LoopActor
struct Services {
  let log: Log
  let storage: Storage
  let toolkit: IdentityToolkit
  let openID: OpenIDClient
  let browser: Browser
  let broadcast: Broadcast
  let links: MailedLinks
  let handler: SchemeRegistration

  /// The wall clock, Unix seconds.
  var now: Int64 { WallClock.now }

  /// Runs a store operation; a fault becomes the error that a client meets.
  func stored<T>(_ body: (SessionStore) throws(StoreError) -> T) throws(AuthFailure) -> T {
    guard let store = storage.store else { throw storage.fault ?? AuthFailure(.internal) }
    do throws(StoreError) {
      return try body(store)
    } catch {
      log.error("storage failed", ["error": error.authError.rawValue, "kind": "\(error)"])
      // Without the key, why it's missing is what a person needs to know.
      if error == .locked, let fault = storage.fault { throw fault }
      throw AuthFailure(error)
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
    let text = Texts.lookup(textID, locale: locale)
    guard let detail else { return text }
    return "\(text) (\(Texts.printable(detail)))"
  }
}
