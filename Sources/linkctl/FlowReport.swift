import AuthCore
import DBus
import LinkdClient

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
  var message: String? { details["message"]?.asString }

  private func text(_ name: String) -> String { properties[name]?.asString ?? "" }

  /// The line of `--json`: the keys of `Details` flat (cli: --json).
  func members(masked: Bool = false) -> [(key: String, value: JSONValue?)] {
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
      let address = masked && key == "email" ? value.asString.map { JSONValue.string(EmailAddress.masked($0)) } : nil
      out.append((key, address ?? value.json))
    }
    return out
  }

  /// What a person reads.
  var sentence: String {
    let email = details["email"]?.asString.map(Output.printable) ?? "you"
    switch stage {
    case .starting: return "Sending the mail…"
    case .waitingForLink:
      if let message { return message }
      return "A link was sent to \(email). Open it on this machine, or paste it into 'linkctl open'."
    case .waitingForEmail: return message ?? "Which address was the link sent to?"
    case .exchanging: return "Signing in…"
    case .succeeded:
      let user = details["user"]?.asDict
      let name = user?["email"]?.asString ?? user?["uid"]?.asString ?? ""
      return name.isEmpty ? "Done." : "Signed in as \(Output.printable(name))."
    case .failed: return message ?? "It failed."
    case .cancelled: return "Cancelled."
    case .expired: return "It took too long and was given up."
    case .waitingForRedirect, .waitingForCaptcha, .waitingForCode, .waitingForPassword, .waitingForConfirmation,
      .secondFactorRequired, .reauthenticationRequired, .conflict:
      return message ?? stage.rawValue
    }
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
