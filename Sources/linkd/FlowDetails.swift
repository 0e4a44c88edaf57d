import AuthCore
import DBus
import LinkHandler
import Texts

/// `Details` of a flow, stage by stage.
extension Flow {
  /// When a mailed link is probably too old; the server alone ends a code, and the row is kept for longer (behaviour:
  /// Pending flows 2).
  var advisedExpiry: Int64 {
    method == .emailLink ? min(expiresAt, createdAt + EmailLinkFlow.adviceLifetime) : expiresAt
  }

  /// `Details` (contract: Flow), for a caller that may see everything.
  func details(session: Session?, app: App?, locale: String?) -> [String: DBusValue] {
    var out: [String: DBusValue] = [:]
    if let failure {
      out["error"] = .string(failure.error.dbusName)
      out["message"] = .string(failure.message(locale: locale))
    }
    switch stage {
    case .starting, .waitingForLink:
      out["email"] = email.map(DBusValue.string)
      out["expires-at"] = .int64(advisedExpiry)
      out["can-resend-at"] = canResendAt.map(DBusValue.int64)
      // A guest's link is spent, and another is on its way.
      if conflict == .anonymousUpgrade {
        out["message"] = .string(Texts.lookup("conflict.new-link-sent", locale: locale))
      }
    case .waitingForRedirect:
      out["expires-at"] = .int64(expiresAt)
    case .conflict:
      out["conflict"] = .dict(conflictDetails(locale: locale))
      out["recovery"] = recovery(app).map(DBusValue.dict)
      out["expires-at"] = .int64(expiresAt)
    case .waitingForEmail:
      out["kind"] = .string(LinkKind.emailSignIn.rawValue)
    case .waitingForPassword:
      out["email"] = email.map(DBusValue.string)
      out["new"] = .boolean(wantsNewPassword || method == .actionCode)
      out["expires-at"] = .int64(expiresAt)
    case .waitingForConfirmation:
      out["kind"] = actionKind.map { .string($0.rawValue) }
      out["email"] = email.map(DBusValue.string)
      out["previous-email"] = previousEmail.map(DBusValue.string)
      out["expires-at"] = .int64(expiresAt)
    case .reauthenticationRequired:
      out["reauthentication"] = session.flatMap { session in
        app.map { .dict(DBusDictionaries.reauthentication(session, $0)) }
      }
      out["expires-at"] = .int64(expiresAt)
    case .failed:
      out["retry"] = .boolean(canRetry)
      out["can-resend-at"] = canRetry ? canResendAt.map(DBusValue.int64) : nil
    case .succeeded:
      if let user = session?.user, user.uid == resultUID { out["user"] = .dict(DBusDictionaries.user(user)) }
      if resultUID != nil { out["is-new-user"] = .boolean(isNewUser) }
      if anonymousUID != nil || previousUID != nil { out["upgraded"] = .boolean(isUpgraded) }
      out["previous-uid"] = previousUID.map(DBusValue.string)
      if method == .actionCode {
        out["kind"] = actionKind.map { .string($0.rawValue) }
        out["email"] = email.map(DBusValue.string)
      }
    case .waitingForCaptcha, .waitingForCode, .secondFactorRequired, .exchanging, .cancelled, .expired:
      break
    }
    return out
  }

  /// What of the details is broadcast with `StageChanged`.
  var broadcastDetails: [String: DBusValue] {
    var out: [String: DBusValue] = [:]
    out["error"] = error.map { .string($0.dbusName) }
    if stage == .waitingForLink { out["can-resend-at"] = canResendAt.map(DBusValue.int64) }
    if stage == .succeeded, resultUID != nil { out["is-new-user"] = .boolean(isNewUser) }
    if stage == .succeeded, anonymousUID != nil || previousUID != nil { out["upgraded"] = .boolean(isUpgraded) }
    return out
  }

  /// `recovery` (contract: Flow): the ways into the account that the app has, and those it hasn't. None where all that's left
  /// is what was just tried (firebaseui-behaviour 3.5).
  private func recovery(_ app: App?) -> [String: DBusValue]? {
    guard let app, app.options.legacyRecovery, let email else { return nil }
    let listed = Set(app.providers.map(\.id))
    var seen: Set<String> = []
    let methods = signInMethods.filter { seen.insert($0).inserted }
    // An app that lists nothing has everything.
    let options = methods.filter { listed.isEmpty || listed.contains($0) }
    guard !options.isEmpty, options != [method.description] else { return nil }
    return [
      "email": .string(email), "options": .strings(options),
      "unavailable": .strings(methods.filter { !options.contains($0) }),
    ]
  }

  /// `conflict` (contract: Flow).
  private func conflictDetails(locale: String?) -> [String: DBusValue] {
    guard let conflict else { return [:] }
    var out: [String: DBusValue] = [
      "kind": .string(conflict.rawValue), "options": .strings(conflictOptions.map(\.rawValue)),
      "message": .string(Texts.lookup("conflict.\(conflict.rawValue)", locale: locale, ["email": email ?? ""])),
    ]
    out["email"] = email.map(DBusValue.string)
    if conflict == .anonymousUpgrade { out["anonymous-uid"] = anonymousUID.map(DBusValue.string) }
    // The account that exists; in another conflict, who has signed in with another address since.
    out["existing-uid"] = existingUID.map(DBusValue.string)
    return out
  }
}

extension DBusDictionaries {
  /// How the user can prove who they are (contract: Flow, `reauthentication`).
  static func reauthentication(_ session: Session, _ app: App) -> [String: DBusValue] {
    var out: [String: DBusValue] = [:]
    out["email"] = session.user.email.map(DBusValue.string)
    switch session.wayBack(app) {
    case .emailLink: out["kind"] = .string("email-link")
    case .phone:
      out["kind"] = .string("phone")
      out["phone-number"] = session.user.phoneNumber.map(DBusValue.string)
    case .provider(let id):
      out["kind"] = .string("oauth")
      out["provider-id"] = .string(id)
    case .password, .anonymous, .custom, .actionCode, .totp, .none: out["kind"] = .string("password")
    }
    return out
  }
}

extension Session {
  /// How the user can prove who they are: as they signed in, or in another way that the account has, if that one was taken
  /// from it.
  func wayBack(_ app: App) -> SignInMethod {
    guard case .provider(let id) = method else { return method }
    let linked = user.providers.map(\.providerID)
    if linked.contains(id) { return method }
    if let other = linked.first(where: { $0.contains(".") }) { return .provider(other) }
    guard linked.contains("password") else { return linked.contains("phone") ? .phone : .emailLink }
    // The server calls a mailed link that, too: what the app offers decides.
    let offered = app.providers.map(\.id)
    return offered.contains("emailLink") && !offered.contains("password") ? .emailLink : .password
  }
}
