import AuthCore
import DBusCore
import LinkdContract

extension Command {
  static let monitor = Command(
    name: "monitor", synopsis: "monitor", summary: "one line per change, until interrupted",
    example: "linkctl monitor --json"
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    return try Monitor(context).run()
  }
}

/// Follows every signal of the contract. The match rules name the well-known name, so they hold across a restart of the
/// service, which says every state anew (field report B128).
final class Monitor {
  private let context: Context
  private let app: String?
  /// The apps of the flows that are under way.
  private var apps: [ObjectPath: JSONValue] = [:]

  init(_ context: Context) {
    self.context = context
    app = context.arguments.value("app")
  }

  func run() throws(Failure) -> Int32 {
    Interrupt.endsQuietly()
    try context.subscribe(MatchRule(sender: Contract.busName, pathNamespace: Contract.rootPath))
    try context.subscribe(.ownerOfLinkd)
    try printCurrent()
    while let signal = try context.nextSignal() {
      if signal.interface == Contract.Interface.flow, apps[signal.path] == nil {
        apps[signal.path] = app(of: signal.path)
      }
      print(signal)
    }
    throw .timeout(context)
  }

  /// The first line of each app is its current state.
  private func printCurrent() throws(Failure) {
    let reply = try context.call(Contract.rootPath, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", [])
    for object in reply.first?.asEntries ?? [] {
      guard let path = object.key.asPath else { continue }
      for table in object.value.asEntries ?? [] where table.key.asString == Contract.Interface.flow {
        apps[path] = table.value.asDict?["App"]?.json
      }
      for table in object.value.asEntries ?? [] where table.key.asString == Contract.Interface.session {
        let session = table.value.asDict ?? [:]
        var user: [String: JSONValue] = [:]
        for key in ["uid", "is-anonymous"] { user[key] = session["User"]?.asDict?[key]?.json }
        state(path, session["State"]?.json, .object(user), session["Sequence"]?.json)
      }
    }
  }

  /// Whose flow it is; nil where the flow has gone, or can't be seen from here.
  private func app(of flow: ObjectPath) -> JSONValue? {
    try? context.property(flow, Contract.Interface.flow, "App").json
  }

  private func print(_ signal: Signal) {
    let arguments = signal.arguments
    switch (signal.interface, signal.member) {
    case (Contract.Interface.session, "StateChanged") where arguments.count == 3:
      state(signal.path, arguments[0].json, arguments[1].json, arguments[2].json)
    case (Contract.Interface.session, "IdTokenChanged") where arguments.count == 1:
      event("token", [("app", name(signal.path)), ("sequence", arguments[0].json)])
    case (Contract.Interface.session, "ProvidersChanged") where arguments.count == 2:
      event(
        "providers", [("app", name(signal.path)), ("added", arguments[0].json), ("removed", arguments[1].json)])
    case (Contract.Interface.flow, "StageChanged") where arguments.count == 3:
      event(
        "flow",
        [
          ("flow", name(signal.path)), ("app", apps[signal.path]), ("stage", arguments[0].json),
          ("sequence", arguments[2].json),
        ])
      if arguments[0].asString.flatMap(FlowStage.init(rawValue:))?.isEnd == true { apps[signal.path] = nil }
    case ("org.freedesktop.DBus", "NameOwnerChanged") where arguments.count == 3:
      event("service", [("running", .bool(arguments[2].asString?.isEmpty == false))])
    default: break
    }
  }

  private func state(_ path: ObjectPath, _ state: JSONValue?, _ user: JSONValue, _ sequence: JSONValue?) {
    event("state", [("app", name(path)), ("state", state), ("user", user), ("sequence", sequence)])
  }

  private func event(_ kind: String, _ members: [(key: String, value: JSONValue?)]) {
    if let app, let shown = members.first(where: { $0.key == "app" })?.value?.string, shown != app { return }
    if context.output.json {
      context.output.object([("event", .string(kind))] + members)
    } else {
      let text = members.compactMap { member in
        member.value.flatMap { member.key == "user" ? Table.name($0) : $0.string ?? $0.text }.map {
          "\(member.key)=\($0)"
        }
      }
      context.output.line(Output.printable("\(kind) " + text.joined(separator: " ")))
    }
  }

  private func name(_ path: ObjectPath) -> JSONValue { DBusValue.objectPath(path).json }
}
