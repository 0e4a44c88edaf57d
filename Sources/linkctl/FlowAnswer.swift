import AuthCore
import DBusCore
import Texts

/// What a person gives to a flow that waits for it: a method of `Flow` and its arguments.
struct FlowAnswer: Sendable {
  let member: String
  let arguments: [DBusValue]

  /// Asks at the terminal for what `report`'s stage needs; nil at the end of input.
  static func ask(_ report: FlowReport, locale: String?) -> FlowAnswer? {
    switch report.stage {
    case .waitingForEmail:
      return Prompt.line(Texts.lookup("ask.email", locale: locale)).map {
        FlowAnswer(member: "ProvideEmail", arguments: [.string($0)])
      }
    case .waitingForPassword:
      return Prompt.password(isNew: report.details["new"]?.asBool ?? false, locale: locale).map {
        FlowAnswer(member: "ProvidePassword", arguments: [.string($0.reveal())])
      }
    case .waitingForConfirmation:
      let agrees = Prompt.agrees(Texts.lookup("ask.confirm", locale: locale))
      return FlowAnswer(member: agrees ? "Confirm" : "Cancel", arguments: [])
    case .starting, .waitingForLink, .waitingForRedirect, .waitingForCaptcha, .waitingForCode, .secondFactorRequired,
      .reauthenticationRequired, .conflict, .exchanging, .succeeded, .failed, .cancelled, .expired:
      return nil
    }
  }

  /// The command that gives it, where nobody can be asked.
  static func hint(_ report: FlowReport) -> String? {
    switch report.stage {
    case .waitingForEmail: "Give the address with 'linkctl email \(report.id) ADDRESS'."
    case .waitingForPassword: "Give the password with 'linkctl password \(report.id)'."
    case .waitingForConfirmation: "Agree with 'linkctl confirm \(report.id)', or 'linkctl cancel \(report.id)'."
    case .waitingForRedirect: "Finish it in the browser, or with 'linkctl open ADDRESS', the address it ended at."
    case .conflict: "Choose with 'linkctl resolve \(report.id) CHOICE': \(choices(report))."
    case .starting, .waitingForLink, .waitingForCaptcha, .waitingForCode, .secondFactorRequired,
      .reauthenticationRequired, .exchanging, .succeeded, .failed, .cancelled, .expired:
      nil
    }
  }

  private static func choices(_ report: FlowReport) -> String {
    report.shownChoices.map(Output.printable).joined(separator: ", ")
  }
}
