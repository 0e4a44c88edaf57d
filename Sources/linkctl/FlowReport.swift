import AuthCore
import DBusCore
import LinkdContract
import Texts

/// A flow as `Flow`'s properties describe it at one moment.
struct FlowReport: Sendable {
  let id: String
  let properties: [String: DBusValue]

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

  private func text(_ name: String) -> String { properties[name]?.asString ?? "" }

  /// The line of `--json`: the keys of `Details` flat (cli: --json).
  /// - Parameters:
  ///   - masked: for whoever only looks: the lifetime, and addresses masked.
  ///   - url: the page to open.
  func members(masked: Bool = false, url: Secret<String>? = nil) -> [(key: String, value: JSONValue?)] {
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
    return out
  }

  private static func masked(_ key: String, _ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let address) where key.hasSuffix("email"): return .string(EmailAddress.masked(address))
    case .object(var members):
      // A sentence about a conflict says the address, too.
      if let address = members["email"]?.string, let sentence = members["message"]?.string {
        members["message"] = .string(sentence.replacing(address, with: EmailAddress.masked(address)))
      }
      return .object(Dictionary(uniqueKeysWithValues: members.map { ($0, masked($0, $1)) }))
    default: return value
    }
  }

  /// What a person reads, in the language of `locale`.
  func sentence(locale: String?) -> String {
    if let message = conflictMessage { return Output.printable(message) }
    if let message { return message }
    var values: [String: String] = [:]
    for (key, value) in details { values[key] = value.asString.map(Output.printable) }
    values["provider-name"] = providerName.map(Output.printable)
    values["provider"] = isLinkOfProvider ? Output.printable(text("Method")) : nil
    let name = details["user"]?.asDict.flatMap { $0["email"]?.asString ?? $0["uid"]?.asString }
    values["name"] = name.map(Output.printable)
    if values["email"] == nil { values["email"] = Texts.lookup("stage.somebody", locale: locale) }
    let isGuest = stage == .succeeded && details["user"]?.asDict?["is-anonymous"]?.asBool == true
    let text = Texts.lookup(isGuest ? "notice.signed-in-guest" : textID(isNamed: name != nil), locale: locale, values)
    return guestTextID.map { "\(text) \(Texts.lookup($0, locale: locale))" } ?? text
  }

  /// Who can confirm that it's the same person.
  private var providerName: String? {
    let names = ["provider-name", "provider-id"]
    return names.lazy.compactMap { details["reauthentication"]?.member($0)?.asString }.first
  }

  /// What became of the guest who was signed in before.
  private var guestTextID: String? {
    guard stage == .succeeded else { return nil }
    if details["upgraded"]?.asBool == true { return "done.upgraded" }
    return details["previous-uid"] == nil ? nil : "done.guest-data-left"
  }

  private func textID(isNamed: Bool) -> String {
    let kind = details["kind"]?.asString
    switch stage {
    case .succeeded where text("Purpose") == FlowPurpose.unlink.rawValue: return "done.unlink"
    case .succeeded where isLinkOfProvider: return "done.link"
    case .succeeded where isNamed: return "state.authenticated"
    case .succeeded where text("Method") == SignInMethod.actionCode.description && kind != nil:
      return "done.\(kind ?? "")"
    case .succeeded where text("Purpose") == FlowPurpose.deleteUser.rawValue: return "done.deleteUser"
    case .waitingForConfirmation where kind != nil: return "confirm.\(kind ?? "")"
    case .waitingForPassword where details["new"]?.asBool == true: return "stage.waiting-for-new-password"
    case .exchanging where text("Purpose") != FlowPurpose.signIn.rawValue: return "stage.working"
    case .reauthenticationRequired where providerName == nil: return "stage.sign-in-again"
    default: return "stage.\(stage.rawValue)"
    }
  }

  /// Whether a provider was added to the account. Every provider's id has a dot.
  private var isLinkOfProvider: Bool {
    text("Purpose") == FlowPurpose.link.rawValue && text("Method").utf8.contains(UInt8(ascii: "."))
  }

  /// Whether the flow waits for an answer that a person gives here.
  var needsAnswer: Bool {
    switch stage {
    case .waitingForEmail, .waitingForPassword, .waitingForConfirmation: true
    case .starting, .waitingForLink, .waitingForRedirect, .waitingForCaptcha, .waitingForCode, .secondFactorRequired,
      .reauthenticationRequired, .conflict, .exchanging, .succeeded, .failed, .cancelled, .expired:
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
