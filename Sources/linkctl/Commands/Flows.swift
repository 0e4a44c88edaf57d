import AuthCore
import DBusCore
import LinkdContract
import Texts

extension Command {
  static let flows = Command(
    name: "flows", synopsis: "flows", summary: "what is pending", example: "linkctl flows --json"
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    let app = context.arguments.value("app")
    let paths = try context.property(Contract.rootPath, Contract.Interface.manager, "ActiveFlows").asPaths ?? []
    if paths.isEmpty, !context.output.json {
      context.output.note(Texts.lookup("command.no-flows", locale: context.locale))
    }
    for path in paths {
      let report = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
      if let app, report.properties["App"]?.json.string != app { continue }
      let members = report.members(masked: true)
      if context.output.json {
        context.output.object(members)
      } else {
        let shown = ["flow", "app", "purpose", "method", "stage", "email"]
        context.output.line(
          members.filter { shown.contains($0.key) }.compactMap { $0.value?.string }.map(Output.printable)
            .joined(separator: "  "))
        if let hint = FlowAnswer.hint(report) { context.output.note("  \(hint)") }
      }
    }
    return 0
  }

  static let resend = Command(
    name: "resend", synopsis: "resend FLOW", summary: "send the mail again", example: "linkctl resend 3f2a…"
  ) { context throws(Failure) in
    try act(context, "Resend", done: "done.resent")
  }

  static let cancel = Command(
    name: "cancel", synopsis: "cancel FLOW", summary: "give a flow up", example: "linkctl cancel 3f2a…"
  ) { context throws(Failure) in
    try act(context, "Cancel", done: "stage.cancelled")
  }

  private static func act(_ context: Context, _ member: String, done: String) throws(Failure) -> Int32 {
    let words = try context.words("FLOW")
    _ = try context.call(try flowPath(words[0]), Contract.Interface.flow, member, [context.options()])
    if !context.output.json { context.output.note(Texts.lookup(done, locale: context.locale)) }
    return 0
  }

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
    name: "confirm", synopsis: "confirm FLOW [--no-wait]", summary: "agree to what an opened link does to the account",
    example: "linkctl confirm 3f2a…", options: [.flag("no-wait", "leave once it's taken")]
  ) { context throws(Failure) in
    try answer(context, try context.words("FLOW")[0], FlowAnswer(member: "Confirm", arguments: []))
  }

  /// Gives a flow what it waits for, and waits for what comes of it.
  static func answer(
    _ context: Context, _ flow: String, _ answer: FlowAnswer, waitsForSignIn: Bool = false
  ) throws(Failure) -> Int32 {
    let path = try flowPath(flow)
    let arguments = answer.arguments + [context.options()]
    if context.arguments.has("no-wait") {
      _ = try context.call(path, Contract.Interface.flow, answer.member, arguments)
      return 0
    }
    return try FlowFollower.run(context, wait: true, waitsForSignIn: waitsForSignIn) { () throws(Failure) in
      _ = try context.call(path, Contract.Interface.flow, answer.member, arguments)
      return path
    }
  }

  /// The path of the flow called `name`.
  static func flowPath(_ name: String) throws(Failure) -> ObjectPath {
    guard let id = FlowID(name) else { throw Failure(.noSuchFlow, message: "'\(name)' is no flow's id.") }
    return Contract.flowPath(id)
  }
}

extension Context {
  /// The command's words, exactly as many as named.
  func words(_ names: String...) throws(Failure) -> [String] {
    let words = arguments.words + arguments.rest
    guard words.count >= names.count else { throw Failure(UsageError(message: "\(names[words.count]) is missing.")) }
    guard words.count == names.count else {
      throw Failure(UsageError(message: "'\(words[names.count])' is one word too many."))
    }
    return words
  }
}
