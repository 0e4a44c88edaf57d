import AuthCore
import DBusCore
import LinkdContract
import Texts

/// What a flow waits for, given by a command of its own.
extension Command {
  static let email = Command(
    name: "email", synopsis: "email FLOW ADDRESS [--no-wait]",
    summary: "say which address an opened link was sent to", example: "linkctl email 3f2a… you@example.com",
    options: [.flag("no-wait", "leave once the address is taken")]
  ) { context throws(Failure) in
    let words = try context.words("FLOW", "ADDRESS")
    return try answer(context, words[0], FlowAnswer(member: "ProvideEmail", arguments: [.string(words[1])]))
  }

  static let password = Command(
    name: "password", synopsis: "password FLOW [--password-stdin] [--no-wait]",
    summary: "give the password, or the new one, that a flow waits for",
    example: "linkctl password 3f2a… --password-stdin <secret.txt",
    options: [.passwordInput, .flag("no-wait", "leave once the password is taken")]
  ) { context throws(Failure) in
    let words = try context.words("FLOW")
    let report = FlowReport(
      path: try flowPath(words[0]),
      properties: try context.properties(try flowPath(words[0]), Contract.Interface.flow))
    let secret = try Prompt.password(context, isNew: report.details["new"]?.asBool ?? false)
    return try answer(
      context, words[0], FlowAnswer(member: "ProvidePassword", arguments: [.string(secret.reveal())]))
  }

  static let confirm = Command(
    name: "confirm", synopsis: "confirm FLOW [--no-wait]",
    summary: "agree to what an opened link does, or try a change of the account again",
    example: "linkctl confirm 3f2a…", options: [.flag("no-wait", "leave once it's taken")]
  ) { context throws(Failure) in
    try answer(context, try context.words("FLOW")[0], FlowAnswer(member: "Confirm", arguments: []))
  }

  static let code = Command(
    name: "code", synopsis: "code FLOW [--code-stdin] [--no-wait]",
    summary: "give the code of a text message or an authenticator app", example: "linkctl code 3f2a…",
    options: [.codeInput, .flag("no-wait", "leave once the code is taken")]
  ) { context throws(Failure) in
    let name = try context.words("FLOW")[0]
    let path = try flowPath(name)
    let report = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
    guard report.takesCode else {
      throw Failure(.noSuchFlow, message: Texts.lookup("command.no-code-wanted", locale: context.locale))
    }
    if Prompt.canAsk, !context.output.json, !context.arguments.has("code-stdin") {
      context.output.note(report.sentence(locale: context.locale))
    }
    while true {
      let code = try Prompt.code(context)
      do throws(Failure) {
        let given = FlowAnswer(member: "ProvideCode", arguments: [.string(code.reveal())])
        return try answer(context, name, given, seen: report.sequence)
      } catch {
        guard error.name == AuthError.invalidVerificationCode.dbusName else { throw error }
        // The flow lives: another one is asked for, where there's somebody to ask.
        guard Prompt.canAsk, !context.arguments.has("code-stdin") else {
          throw Failure(name: error.name, message: error.message, exitCode: 4)
        }
        context.output.note(Output.printable(error.message))
      }
    }
  }

  static let factor = Command(
    name: "factor", synopsis: "factor FLOW UID [--code-stdin] [--no-wait]",
    summary: "choose the second factor; a phone gets its message", example: "linkctl factor 3f2a… 5f1c…",
    options: [.codeInput, .flag("no-wait", "leave once the choice is taken")]
  ) { context throws(Failure) in
    let words = try context.words("FLOW", "UID")
    let path = try flowPath(words[0])
    let seen = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow)).sequence
    return try answer(
      context, words[0], FlowAnswer(member: "ChooseFactor", arguments: [.string(words[1])]), seen: seen)
  }
}
