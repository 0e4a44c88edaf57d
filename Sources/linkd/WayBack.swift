import AppConfiguration
import AuthCore
import DBus
import IdentityToolkit
import Texts

/// How the user can prove who they are, when something wants a fresh sign-in (behaviour: Reauthentication and parked
/// operations).
struct WayBack {
  /// `emailLink`, `password`, `phone`, or a provider.
  let method: SignInMethod
  /// The provider as people know it.
  let providerName: String?
  let email: String?
  let phoneNumber: String?

  /// `reauthentication` (contract: Flow).
  func dictionary(locale: String?) -> [String: DBusValue] {
    var out: [String: DBusValue] = [:]
    out["email"] = email.map(DBusValue.string)
    switch method {
    case .emailLink: out["kind"] = .string("email-link")
    case .phone:
      out["kind"] = .string("phone")
      out["phone-number"] = phoneNumber.map(DBusValue.string)
    case .provider(let id):
      out["kind"] = .string("oauth")
      out["provider-id"] = .string(id)
      out["provider-name"] = providerName.map(DBusValue.string)
    case .custom: out["kind"] = .string("custom")
    case .password, .anonymous, .actionCode, .totp, .none: out["kind"] = .string("password")
    }
    let kind = out["kind"]?.asString ?? ""
    out["display-message"] = .string(
      Texts.lookup(
        "reauthentication.\(kind)", locale: locale,
        ["provider": providerName ?? "", "email": email ?? "", "phone-number": phoneNumber ?? ""]))
    return out
  }
}

extension SessionKeeper {
  /// How who is signed in, or whose session the server has ended, proves who they are; nil where nobody was.
  var wayBack: WayBack? { wayBack(of: machine.user?.uid ?? machine.lastUser?.uid) }

  /// The same for `uid` alone: somebody else may have signed in since.
  func wayBack(of uid: String?) -> WayBack? {
    guard let uid, uid == machine.user?.uid ?? machine.lastUser?.uid else { return nil }
    if let session = machine.session {
      return WayBack(
        method: session.wayBack(app), app: app, email: session.user.email, phoneNumber: session.user.phoneNumber)
    }
    guard let last = machine.lastUser else { return nil }
    return WayBack(
      method: SignInMethod(last.signInMethod) ?? .password, app: app, email: last.email, phoneNumber: last.phoneNumber)
  }
}

extension WayBack {
  fileprivate init(method: SignInMethod, app: App, email: String?, phoneNumber: String?) {
    var name: String?
    if case .provider(let id) = method { name = Providers.find(id, in: app)?.displayName ?? id }
    self.init(method: method, providerName: name, email: email, phoneNumber: phoneNumber)
  }
}

extension Session {
  /// How the user can prove who they are: as they signed in, by the session's own word or the token's, or in another way that
  /// the account has, if that one was taken from it.
  func wayBack(_ app: App) -> SignInMethod {
    switch method {
    case .provider(let id) where has(id): return method
    case .phone where has("phone"), .emailLink, .password: return method
    // The app's own server says who somebody is, unless the account has another way.
    case .custom where user.providers.isEmpty: return method
    default: break
    }
    if let claimed = claimedMethod { return claimed == .password ? byMail(app) : claimed }
    if let other = user.providers.map(\.providerID).first(where: { $0.contains(".") }) { return .provider(other) }
    guard has("password") else { return has("phone") ? .phone : .emailLink }
    return byMail(app)
  }

  private func has(_ provider: String) -> Bool { user.providers.contains { $0.providerID == provider } }

  /// The token's `sign_in_provider`, if the account still has that.
  private var claimedMethod: SignInMethod? {
    guard let token = idToken?.reveal(), let word = (try? IDToken(token))?.signInProvider, has(word) else { return nil }
    return SignInMethod(word)
  }

  /// The server calls a mailed link a password, too: what the app offers decides.
  private func byMail(_ app: App) -> SignInMethod {
    let offered = app.providers.map(\.id)
    return offered.contains("emailLink") && !offered.contains("password") ? .emailLink : .password
  }
}
