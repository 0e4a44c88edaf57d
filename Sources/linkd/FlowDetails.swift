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
  func details(session: Session?, app: App?, wayBack: WayBack?, locale: String?) -> [String: DBusValue] {
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
    case .waitingForRedirect, .waitingForCaptcha:
      out["expires-at"] = .int64(expiresAt)
    case .waitingForCode: out.merge(codeDetails) { $1 }
    case .secondFactorRequired:
      out["hints"] = .dicts(secondFactor?.factors.map(DBusDictionaries.factor) ?? [])
      // Of the one that was chosen last.
      if secondFactor?.choice?.kind == .phone { out["can-resend-at"] = canResendAt.map(DBusValue.int64) }
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
      if let way = wayBack?.dictionary(locale: locale) {
        out["reauthentication"] = .dict(way)
        // It needn't be repeated: it goes on by itself.
        if errorCause == nil { out["message"] = way["display-message"] }
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
      if method == .actionCode { out["kind"] = actionKind.map { .string($0.rawValue) } }
      if method == .actionCode || purpose == .changeEmail { out["email"] = email.map(DBusValue.string) }
    case .exchanging, .cancelled, .expired:
      break
    }
    return out
  }

  /// `waiting-for-code`. A number that the starter gave is whole; of a second factor's the server tells a masked one alone.
  private var codeDetails: [String: DBusValue] {
    let factor = secondFactor?.choice
    let isTOTP = factor?.kind == .totp || totpEnrollment != nil
    var out: [String: DBusValue] = ["kind": .string(isTOTP ? "totp" : "phone"), "expires-at": .int64(expiresAt)]
    // Without a message there is no code.
    if isTOTP || verification?.sessionInfo != nil {
      out["code-length"] = .uint32(UInt32(codeLength))
      out["attempts-left"] = verification.map { .uint32(UInt32(max(0, $0.attemptsLeft))) }
    }
    out["phone-number"] = (secondFactor == nil ? phoneNumber : factor?.phoneNumber).map(DBusValue.string)
    out["display-name"] = factor?.displayName.map(DBusValue.string)
    if !isTOTP { out["can-resend-at"] = canResendAt.map(DBusValue.int64) }
    return out
  }

  /// What of the details is broadcast with `StageChanged`.
  var broadcastDetails: [String: DBusValue] {
    var out: [String: DBusValue] = [:]
    out["error"] = error.map { .string($0.dbusName) }
    if stage == .waitingForLink || stage == .waitingForCode { out["can-resend-at"] = canResendAt.map(DBusValue.int64) }
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

  /// Id of what a person is told of the conflict.
  var conflictTextID: String {
    if conflict == .credentialAlreadyInUse, method == .phone { return "conflict.phone-already-in-use" }
    return conflict.map { "conflict.\($0.rawValue)" } ?? ""
  }

  /// `conflict` (contract: Flow).
  private func conflictDetails(locale: String?) -> [String: DBusValue] {
    guard let conflict else { return [:] }
    var out: [String: DBusValue] = [
      "kind": .string(conflict.rawValue), "options": .strings(conflictOptions.map(\.rawValue)),
      "message": .string(
        Texts.lookup(
          conflictTextID, locale: locale, ["email": email ?? "", "phone-number": phoneNumber ?? ""])),
    ]
    out["email"] = email.map(DBusValue.string)
    out["phone-number"] = phoneNumber.map(DBusValue.string)
    if conflict == .anonymousUpgrade { out["anonymous-uid"] = anonymousUID.map(DBusValue.string) }
    // The account that exists; in another conflict, who has signed in with another address since.
    out["existing-uid"] = existingUID.map(DBusValue.string)
    return out
  }
}
