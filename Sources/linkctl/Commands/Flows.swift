import AuthCore
import DBus
import LinkdClient

extension Command {
  static let flows = Command(
    name: "flows", synopsis: "flows", summary: "what is pending", example: "linkctl flows --json"
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    let app = context.arguments.value("app")
    let paths = try context.property(Contract.rootPath, Contract.Interface.manager, "ActiveFlows").asPaths ?? []
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
      }
    }
    return 0
  }

  static let resend = Command(
    name: "resend", synopsis: "resend FLOW", summary: "send the mail again", example: "linkctl resend 3f2a…"
  ) { context throws(Failure) in
    try act(context, "Resend")
  }

  static let cancel = Command(
    name: "cancel", synopsis: "cancel FLOW", summary: "give a flow up", example: "linkctl cancel 3f2a…"
  ) { context throws(Failure) in
    try act(context, "Cancel")
  }

  private static func act(_ context: Context, _ member: String) throws(Failure) -> Int32 {
    let words = try context.words("FLOW")
    _ = try context.call(try flowPath(words[0]), Contract.Interface.flow, member, [context.options()])
    return 0
  }

  static let email = Command(
    name: "email", synopsis: "email FLOW ADDRESS [--no-wait]",
    summary: "say which address an opened link was sent to", example: "linkctl email 3f2a… you@example.com",
    options: [.flag("no-wait", "leave once the address is taken")]
  ) { context throws(Failure) in
    let words = try context.words("FLOW", "ADDRESS")
    let path = try flowPath(words[0])
    let arguments: [DBusValue] = [.string(words[1]), context.options()]
    if context.arguments.has("no-wait") {
      _ = try context.call(path, Contract.Interface.flow, "ProvideEmail", arguments)
      return 0
    }
    return try FlowFollower.run(context, wait: true) { connection throws(DBusError) in
      _ = try await connection.call(
        destination: Contract.busName, path: path, interface: Contract.Interface.flow, member: "ProvideEmail",
        arguments: arguments)
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
