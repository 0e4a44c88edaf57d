import AuthCore
import Crypto
import LinkHandler

/// The link tokens of mailed links, and the continue URLs that carry them (behaviour: Pending flows 1).
///
/// A token isn't kept anywhere: it's derived from the flow's id and beginning under a key of its own, so that a second mail
/// carries the same one, and only its SHA-256 is stored and compared.
struct MailedLinks: Sendable {
  private let storeKey: Secret<[UInt8]>?
  /// Why there is no key.
  private let fault: AuthFailure?

  /// `storeKey` is the store's master key, from which the tokens' key is derived; nil while there is none.
  init(storeKey: Secret<[UInt8]>?, fault: AuthFailure?) {
    self.storeKey = storeKey
    self.fault = fault
  }

  /// 256 bits in base64url.
  ///
  /// - Throws: why there is no key.
  func token(for flow: Flow) throws(AuthFailure) -> Secret<String> {
    guard let storeKey else { throw fault ?? AuthFailure(.keyringAbsent) }
    let message = Array("\(flow.id)\n\(flow.key.app)\n\(flow.key.backend)\n\(flow.createdAt)".utf8)
    do throws(CryptoError) {
      let key = try HMACSHA256.authenticate(Array("linkd link token".utf8), key: storeKey.reveal())
      return Secret(Base64URL.encode(try HMACSHA256.authenticate(message, key: key)))
    } catch {
      throw AuthFailure(.internal)
    }
  }

  /// What the row keeps of the token.
  func hash(for flow: Flow) throws(AuthFailure) -> [UInt8] { SHA256.hash(try token(for: flow).reveal()) }

  /// The continue URL of the mail: the caller's or the app's, with the token and FirebaseUI's parameters added.
  ///
  /// - Throws: `invalidContinueURL`.
  func continueURL(for flow: Flow, app: App) throws(AuthFailure) -> String {
    let hints = LinkHints(
      sessionID: try token(for: flow), anonymousUID: flow.anonymousUID, sameDevice: flow.forceSameDevice,
      providerID: flow.linkProvider)
    do throws(ContinueURLError) {
      return try ContinueURL.adding(hints, to: try base(flow, app))
    } catch {
      throw AuthFailure(.invalidContinueURL)
    }
  }

  /// The continue URL of a mail that linkd waits for nothing from: as it is, if it's one.
  ///
  /// - Throws: `invalidContinueURL`.
  static func plain(_ url: String?) throws(AuthFailure) -> String? {
    guard let url else { return nil }
    do throws(ContinueURLError) { return try ContinueURL.adding(LinkHints(), to: url) } catch {
      throw AuthFailure(.invalidContinueURL)
    }
  }

  private func base(_ flow: Flow, _ app: App) throws(ContinueURLError) -> String {
    if let url = flow.continueURL ?? app.continueURL { return url }
    if app.continueMode == .loopback { return "http://localhost:\(app.loopbackPort)/sign-in" }
    if let emulator = flow.key.backend.emulator { return "http://\(emulator)/emulator/continue" }
    // Nothing of ours is hosted: the person pastes the address bar of the project's own page.
    if app.continueMode == .paste { return "https://\(app.authDomain)/" }
    throw .missing
  }
}
