import AuthCore
import DBus
import LinkHandler
import LinkdContract

/// AuthCore's nouns as the dictionaries of the D-Bus contract. An absent value is an absent key.
enum DBusDictionaries {
  /// `User` (contract: Session).
  static func user(_ user: User) -> [String: DBusValue] {
    var out: [String: DBusValue] = [
      "uid": .string(user.uid),
      "email-verified": .boolean(user.emailVerified),
      "is-anonymous": .boolean(user.isAnonymous),
      "providers": .dicts(user.providers.map(provider)),
      "second-factors": .dicts(user.secondFactors.map(factor)),
    ]
    out["email"] = user.email.map(DBusValue.string)
    out["display-name"] = user.displayName.map(DBusValue.string)
    out["photo-url"] = user.photoURL.map(DBusValue.string)
    out["phone-number"] = user.phoneNumber.map(DBusValue.string)
    out["tenant-id"] = user.tenantID.map(DBusValue.string)
    out["created-at"] = user.createdAt.map(DBusValue.int64)
    out["last-sign-in-at"] = user.lastSignInAt.map(DBusValue.int64)
    return out
  }

  /// What of the user is broadcast: `StateChanged`'s `user`.
  static func broadcast(_ user: User?) -> [String: DBusValue] {
    guard let user else { return [:] }
    return ["uid": .string(user.uid), "is-anonymous": .boolean(user.isAnonymous)]
  }

  /// `LastUser`.
  static func lastUser(_ last: LastUser?) -> [String: DBusValue] {
    guard let last else { return [:] }
    var out: [String: DBusValue] = ["uid": .string(last.uid), "sign-in-method": .string(last.signInMethod)]
    out["email"] = last.email.map(DBusValue.string)
    return out
  }

  /// One element of an app's `Providers`.
  static func provider(_ provider: Provider, _ app: App) -> [String: DBusValue] {
    var out: [String: DBusValue] = [
      "id": .string(provider.id), "kind": .string(provider.kind.rawValue),
      "display-name": .string(provider.displayName),
    ]
    out["label"] = provider.label.map(DBusValue.string)
    out["icon"] = provider.icon.map(DBusValue.string)
    out["background-color"] = provider.backgroundColor.map(DBusValue.string)
    out["foreground-color"] = provider.foregroundColor.map(DBusValue.string)
    guard provider.kind == .oauth || provider.kind == .oidc || provider.kind == .saml else { return out }
    switch provider.client.kind {
    case .handler: out["way"] = .string("handler")
    case .openID(let issuer): (out["way"], out["issuer"]) = (.string("oidc"), .string(issuer))
    case .oauth2(let page, _): (out["way"], out["authorization-endpoint"]) = (.string("oauth2"), .string(page))
    }
    out["redirect-uris"] = .strings(ReturnURIs.possible(provider, app))
    return out
  }

  /// An app's `Options`.
  static func options(_ options: AppOptions) -> [String: DBusValue] {
    var out: [String: DBusValue] = [
      "auto-upgrade-anonymous": .boolean(options.autoUpgradeAnonymous),
      "mfa-enabled": .boolean(options.mfaEnabled),
      "allowed-second-factors": .strings(options.allowedSecondFactors),
      "force-same-device": .boolean(options.forceSameDevice),
      "legacy-recovery": .boolean(options.legacyRecovery),
      "keep-provider-tokens": .boolean(options.keepProviderTokens),
    ]
    out["mfa-issuer"] = options.mfaIssuer.map(DBusValue.string)
    out["tos-url"] = options.termsOfServiceURL.map(DBusValue.string)
    out["privacy-policy-url"] = options.privacyPolicyURL.map(DBusValue.string)
    out["logo"] = options.logo.map(DBusValue.string)
    return out
  }

  /// What an action code does (contract: CheckActionCode).
  static func actionCode(_ info: ActionCodeInfo) -> [String: DBusValue] {
    var out: [String: DBusValue] = ["kind": .string((info.kind ?? .none).rawValue)]
    out["email"] = info.email.map(DBusValue.string)
    out["previous-email"] = info.previousEmail.map(DBusValue.string)
    return out
  }

  /// The claims of an ID token (contract: GetIdToken): null left out, eight levels, deeper ones as JSON text.
  static func claims(_ claims: [String: JSONValue], depth: Int = 1) -> DBusValue {
    .dict(claims.filter { !$0.key.utf8.contains(0) }.compactMapValues { claim($0, depth: depth) })
  }

  private static func claim(_ value: JSONValue, depth: Int) -> DBusValue? {
    switch value {
    case .null: return nil
    case .bool(let value): return .boolean(value)
    case .integer(let value): return .int64(value)
    case .number(let value): return .double(value)
    case .string(let value): return .string(value.contains("\0") ? "" : value)
    case .array(let elements):
      guard depth < 8 else { return .string(value.text) }
      return .array(of: "v", elements.compactMap { claim($0, depth: depth + 1).map(DBusValue.variant) })
    case .object(let members):
      guard depth < 8 else { return .string(value.text) }
      return claims(members, depth: depth + 1)
    }
  }

  private static func provider(_ provider: LinkedProvider) -> [String: DBusValue] {
    var out: [String: DBusValue] = ["provider-id": .string(provider.providerID)]
    out["uid"] = provider.uid.map(DBusValue.string)
    out["email"] = provider.email.map(DBusValue.string)
    out["display-name"] = provider.displayName.map(DBusValue.string)
    out["photo-url"] = provider.photoURL.map(DBusValue.string)
    out["phone-number"] = provider.phoneNumber.map(DBusValue.string)
    return out
  }

  /// One element of `second-factors` and `hints`.
  static func factor(_ factor: SecondFactor) -> [String: DBusValue] {
    var out: [String: DBusValue] = ["uid": .string(factor.uid), "kind": .string(factor.kind.rawValue)]
    out["display-name"] = factor.displayName.map(DBusValue.string)
    out["phone-number"] = factor.phoneNumber.map(DBusValue.string)
    out["enrolled-at"] = factor.enrolledAt.map(DBusValue.int64)
    return out
  }
}
