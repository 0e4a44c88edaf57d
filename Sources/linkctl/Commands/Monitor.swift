import AuthCore
import DBus
import EventLoop
import LinkdClient

extension Command {
  static let monitor = Command(
    name: "monitor", synopsis: "monitor", summary: "one line per change, until interrupted",
    example: "linkctl monitor --json"
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    let output = context.output
    let options = context.options()
    let only = context.arguments.value("app")
    return try LoopCommand.run { () async throws(Failure) in
      do throws(DBusError) {
        return try await Monitor(output, app: only, options: options).run()
      } catch {
        throw Failure(error)
      }
    }
  }
}

/// Follows every signal of the contract. The match rules name the well-known name, so they hold across a restart of the
/// service, which says every state anew (field report B128).
@LoopActor
final class Monitor {
  private let output: Output
  private let app: String?
  private let options: DBusValue
  /// The apps of the flows that are under way.
  private var apps: [ObjectPath: JSONValue] = [:]

  init(_ output: Output, app: String?, options: DBusValue) {
    self.output = output
    self.app = app
    self.options = options
  }

  func run() async throws(DBusError) -> Int32 {
    let connection = try await Connection.open(.session)
    let signals = try await connection.signals(
      MatchRule(sender: Contract.busName, pathNamespace: Contract.rootPath))
    let owners = try await connection.signals(
      MatchRule(
        sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
        arg0: Contract.busName))
    let watch = Task.onLoop {
      for await change in owners { self.ownerChanged(change) }
    }
    defer { watch.cancel() }
    try await printCurrent(connection)
    for await signal in signals {
      if signal.interface == Contract.Interface.flow, apps[signal.path] == nil {
        apps[signal.path] = await app(of: signal.path, connection)
      }
      print(signal)
    }
    throw .disconnected
  }

  /// The first line of each app is its current state.
  private func printCurrent(_ connection: Connection) async throws(DBusError) {
    let reply = try await connection.call(
      destination: Contract.busName, path: Contract.rootPath, interface: "org.freedesktop.DBus.ObjectManager",
      member: "GetManagedObjects", arguments: [])
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
  private func app(of flow: ObjectPath, _ connection: Connection) async -> JSONValue? {
    do throws(DBusError) {
      let reply = try await connection.call(
        destination: Contract.busName, path: flow, interface: "org.freedesktop.DBus.Properties", member: "Get",
        arguments: [.string(Contract.Interface.flow), .string("App")])
      return reply.first?.json
    } catch {
      return nil
    }
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
    default: break
    }
  }

  private func state(_ path: ObjectPath, _ state: JSONValue?, _ user: JSONValue, _ sequence: JSONValue?) {
    event("state", [("app", name(path)), ("state", state), ("user", user), ("sequence", sequence)])
  }

  private func ownerChanged(_ signal: Signal) {
    let running = signal.arguments.count == 3 && signal.arguments[2].asString?.isEmpty == false
    event("service", [("running", .bool(running))])
  }

  private func event(_ kind: String, _ members: [(key: String, value: JSONValue?)]) {
    if let app, let shown = members.first(where: { $0.key == "app" })?.value?.string, shown != app { return }
    if output.json {
      output.object([("event", .string(kind))] + members)
    } else {
      let text = members.compactMap { member in
        member.value.flatMap { member.key == "user" ? Table.name($0) : $0.string ?? $0.text }.map {
          "\(member.key)=\($0)"
        }
      }
      output.line(Output.printable("\(kind) " + text.joined(separator: " ")))
    }
  }

  private func name(_ path: ObjectPath) -> JSONValue { DBusValue.objectPath(path).json }
}
