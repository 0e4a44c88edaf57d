import AuthCore
import DBusCore
import LinkdContract
import Texts

/// A flow as `Flow`'s properties describe it at one moment.
struct FlowReport: Sendable {
  let id: String
  let properties: [String: DBusValue]
  /// Whether a person has chosen the other account instead of linking.
  var hasSwitched = false

  init(path: ObjectPath, properties: [String: DBusValue]) {
    id = Contract.flowID(path: path)?.value ?? path.text
    self.properties = properties
  }

  var stage: FlowStage { FlowStage(rawValue: text("Stage")) ?? .failed }
  var sequence: UInt64 { properties["Sequence"]?.asUInt64 ?? 0 }
  var details: [String: DBusValue] { properties["Details"]?.asDict ?? [:] }
  var errorName: String? { details["error"]?.asString }
  var message: String? {
    // The error is a password's as well, and its text says what to do about that.
    if errorName == AuthError.invalidCredentials.dbusName, text("Method") == SignInMethod.custom.description {
      return Texts.lookup("command.wrong-token", locale: nil)
    }
    return details["message"]?.asString
  }

  var purpose: FlowPurpose? { FlowPurpose(rawValue: text("Purpose")) }
  /// The word of `Method`.
  var methodName: String { text("Method") }

  private func text(_ name: String) -> String { properties[name]?.asString ?? "" }

  /// The line of `--json`: the keys of `Details` flat (cli: --json).
  /// - Parameters:
  ///   - masked: for whoever only looks: the lifetime, and addresses and numbers masked.
  ///   - url: the page to open.
  ///   - setup: of an authenticator app that is added.
  func members(
    masked: Bool = false, url: Secret<String>? = nil, setup: AppSetup? = nil
  ) -> [(key: String, value: JSONValue?)] {
    var out: [(key: String, value: JSONValue?)] = [
      ("flow", .string(id)), ("app", properties["App"]?.json), ("purpose", .string(text("Purpose"))),
      ("method", .string(text("Method"))), ("stage", .string(stage.rawValue)),
      ("sequence", .integer(Int64(clamping: sequence))),
    ]
    if masked {
      out.append(("created-at", properties["CreatedAt"]?.json))
      out.append(("expires-at", properties["ExpiresAt"]?.json))
    }
    let listed = Set(out.map(\.key))
    for (key, value) in details.sorted(by: { $0.key < $1.key }) where !listed.contains(key) {
      out.append((key, masked ? Self.masked(key, value.json) : value.json))
    }
    if let url { out.append(("url", .string(url.reveal()))) }
    if let setup {
      out.append(("secret", .string(setup.secret.reveal())))
      out.append(("otpauth-uri", .string(setup.uri.reveal())))
    }
    return out
  }

  private static func masked(_ key: String, _ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let address) where key.hasSuffix("email"): return .string(EmailAddress.masked(address))
    case .string(let number) where key.hasSuffix("phone-number"): return .string(PhoneMask.masked(number))
    case .array(let elements): return .array(elements.map { masked("", $0) })
    case .object(var members):
      // A sentence says the address or the number, too.
      for (key, secret) in members where key.hasSuffix("email") || key.hasSuffix("phone-number") {
        for (name, sentence) in members where name.hasSuffix("message") {
          guard let full = secret.string.filled, let hidden = masked(key, secret).string else { continue }
          members[name] = sentence.string.map { .string($0.replacing(full, with: hidden)) }
        }
      }
      return .object(Dictionary(uniqueKeysWithValues: members.map { ($0, masked($0, $1)) }))
    default: return value
    }
  }

  /// What a person reads, in the language of `locale`.
  func sentence(locale: String?) -> String {
    if let message = conflictMessage { return Output.printable(message) }
    if let displayMessage { return displayMessage }
    let isPlain = stage == .reauthenticationRequired && errorName == AuthError.requiresRecentLogin.dbusName
    if let message, !isPlain { return [message, triesLeft(locale: locale)].compactMap(\.self).joined(separator: " ") }
    var values: [String: String] = [:]
    for (key, value) in details { values[key] = value.asString.map(Output.printable) }
    values["provider"] = isLinkOfProvider ? Output.printable(text("Method")) : nil
    let user = details["user"]?.json
    let name = user.flatMap(Table.person)
    values["name"] = name.map(Output.printable)
    for key in ["email", "phone-number"] where values[key] == nil {
      values[key] = (user?[key]?.string).map(Output.printable)
    }
    values["factor"] = values["display-name"] ?? Texts.lookup("factor.your-app", locale: locale)
    if values["email"] == nil { values["email"] = Texts.lookup("stage.somebody", locale: locale) }
    let isGuest = stage == .succeeded && user?["is-anonymous"]?.bool == true
    let text = Texts.lookup(isGuest ? "notice.signed-in-guest" : textID(isNamed: name != nil), locale: locale, values)
    return guestTextID.map { "\(text) \(Texts.lookup($0, locale: locale))" } ?? text
  }

  /// Why somebody has to sign in again, in linkd's words.
  private var displayMessage: String? {
    guard stage == .reauthenticationRequired else { return nil }
    return (details["reauthentication"]?.member("display-message")?.asString).filled.map(Output.printable)
  }

  /// What became of the guest who was signed in before.
  private var guestTextID: String? {
    guard stage == .succeeded else { return nil }
    if details["upgraded"]?.asBool == true { return "done.upgraded" }
    return details["previous-uid"] == nil ? nil : "done.guest-data-left"
  }

  private func textID(isNamed: Bool) -> String {
    let kind = details["kind"]?.asString
    if let codeTextID { return codeTextID }
    switch stage {
    case .succeeded: return doneTextID(kind, isNamed: isNamed)
    case .waitingForConfirmation where kind != nil: return "confirm.\(kind ?? "")"
    case .waitingForPassword where details["new"]?.asBool == true: return "stage.waiting-for-new-password"
    case .exchanging where purpose != .signIn: return "stage.working"
    default: return "stage.\(stage.rawValue)"
    }
  }

  private func doneTextID(_ kind: String?, isNamed: Bool) -> String {
    switch purpose {
    case .unlink: return "done.unlink"
    case .link where hasSwitched: break
    case .link where isLinkOfProvider: return "done.link"
    case .link where methodName == SignInMethod.phone.description: return "done.link-phone"
    case .updatePassword, .changeEmail, .changePhone, .enrollFactor, .unenrollFactor:
      return "done.\(purpose?.rawValue ?? "")"
    case .reauthenticate where isNamed: return "done.reauthenticate"
    case .deleteUser where !isNamed: return "done.deleteUser"
    default: break
    }
    if isNamed { return "state.authenticated" }
    return methodName == SignInMethod.actionCode.description && kind != nil ? "done.\(kind ?? "")" : "stage.succeeded"
  }

  /// Whether a provider was added to the account. Every provider's id has a dot.
  private var isLinkOfProvider: Bool {
    text("Purpose") == FlowPurpose.link.rawValue && text("Method").utf8.contains(UInt8(ascii: "."))
  }

  /// Whether the flow waits for an answer that a person gives here.
  var needsAnswer: Bool {
    switch stage {
    case .waitingForEmail, .waitingForPassword, .waitingForConfirmation, .waitingForCode, .secondFactorRequired: true
    case .starting, .waitingForLink, .waitingForRedirect, .waitingForCaptcha, .reauthenticationRequired, .conflict,
      .exchanging, .succeeded, .failed, .cancelled, .expired:
      false
    }
  }

  /// The failure that this stage is for whoever waits; nil for none.
  func failure(exitCode: Int32) -> Failure? {
    errorName.map { Failure(name: $0, message: message ?? $0, exitCode: exitCode) }
  }

  /// How a command ends that waited for this flow.
  func exitCode() -> Int32 {
    switch stage {
    case .succeeded: return 0
    case .cancelled: return 130
    case .expired: return 1
    default: return errorName.map(Failure.exitCode) ?? 1
    }
  }
}
