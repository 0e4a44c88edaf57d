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
        let shown = ["flow", "app", "purpose", "method", "stage", "email", "phone-number"]
        context.output.line(
          members.filter { shown.contains($0.key) }.compactMap { $0.value?.string }.map(Output.printable)
            .joined(separator: "  "))
        if let hint = FlowAnswer.hint(report, app: app) { context.output.note("  \(hint)") }
      }
    }
    return 0
  }

  static let resend = Command(
    name: "resend", synopsis: "resend FLOW", summary: "send the mail or the code again",
    example: "linkctl resend 3f2a…"
  ) { context throws(Failure) in
    let path = try flowPath(try context.words("FLOW")[0])
    let method = try context.property(path, Contract.Interface.flow, "Method").asString
    return try act(context, "Resend", done: method == SignInMethod.emailLink.description ? "done.resent" : "done.code")
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

  /// Gives a flow what it waits for, and waits for what comes of it.
  static func answer(
    _ context: Context, _ flow: String, _ answer: FlowAnswer, choice: ConflictChoice? = nil, seen: UInt64 = 0
  ) throws(Failure) -> Int32 {
    let path = try flowPath(flow)
    let arguments = answer.arguments + [context.options()]
    if context.arguments.has("no-wait") {
      _ = try context.call(path, Contract.Interface.flow, answer.member, arguments)
      return 0
    }
    return try FlowFollower.run(context, wait: true, choice: choice, seen: seen) { () throws(Failure) in
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
