import AuthCore
import DBusCore
import Texts

/// What a person gives to a flow that waits for it: a method of `Flow` and its arguments.
struct FlowAnswer: Sendable {
  let member: String
  let arguments: [DBusValue]

  /// Asks at the terminal for what `report`'s stage needs, or reads it as the command line says; nil where nobody answers.
  static func ask(_ report: FlowReport, _ context: Context) throws(Failure) -> FlowAnswer? {
    let locale = context.locale
    if report.stage == .waitingForPassword, let password = try context.unreadPassword() {
      return FlowAnswer(member: "ProvidePassword", arguments: [.string(password.reveal())])
    }
    guard Prompt.canAsk else { return nil }
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
  /// - Parameter app: the app that was named.
  static func hint(_ report: FlowReport, app: String? = nil) -> String? {
    let id = report.id
    return switch report.stage {
    case .waitingForEmail: "Give the address with 'linkctl email \(id) ADDRESS'."
    case .waitingForPassword: "Give the password with 'linkctl password \(id)'."
    case .waitingForConfirmation: "Agree with 'linkctl confirm \(id)', or 'linkctl cancel \(id)'."
    case .waitingForCode where report.hasNoMessage: "Have a message sent with 'linkctl resend \(id)'."
    case .waitingForCode where report.isTOTP: "Give the code with 'linkctl code \(id)'."
    case .waitingForCode:
      "Give the code with 'linkctl code \(id)', or have a new one sent with 'linkctl resend \(id)'."
    case .secondFactorRequired where report.needsOnlyTOTP: "Give the code with 'linkctl code \(id)'."
    case .secondFactorRequired: "Choose with 'linkctl factor \(id) UID': \(factors(report))."
    case .reauthenticationRequired:
      "Confirm who you are with 'linkctl reauthenticate\(app.map { " --app \($0)" } ?? "")'. The rest goes on by itself."
    case .waitingForRedirect, .waitingForCaptcha:
      "Finish it in the browser, or with 'linkctl open ADDRESS', the address it ended at."
    case .conflict: "Choose with 'linkctl resolve \(id) CHOICE': \(choices(report))."
    case .failed where report.canBeginAnew: "Have a new code sent with 'linkctl resend \(id)'."
    case .starting, .waitingForLink, .exchanging, .succeeded, .failed, .cancelled, .expired: nil
    }
  }

  private static func choices(_ report: FlowReport) -> String {
    report.shownChoices.map(Output.printable).joined(separator: ", ")
  }

  private static func factors(_ report: FlowReport) -> String {
    report.factors.map { "\(Output.printable($0.uid)), \($0.label(locale: nil))" }.joined(separator: "; ")
  }
}
