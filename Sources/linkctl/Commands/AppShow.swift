import AuthCore
import DBusCore
import LinkdContract

extension Command {
  static let appShow = Command(
    name: "app show", synopsis: "app show [ID]", summary: "what is configured for an app",
    example: "linkctl app show demo --json"
  ) { context throws(Failure) in
    let path = try appPath(context)
    let app = try context.properties(path, Contract.Interface.app)
    // The version is the interface's; an absent value is an absent key.
    let members = app.keys.sorted().filter { $0 != "Version" && app[$0]?.asString != "" }
      .map { (key: kebab($0), value: app[$0]?.json) }
    if context.output.json {
      context.output.object(members)
    } else {
      for warning in app["Warnings"]?.asStrings ?? [] { context.output.note(Output.printable(warning)) }
      let options = (app["Options"]?.asDict ?? [:]).sorted { $0.key < $1.key }.map {
        (key: $0.key, value: $0.value.json)
      }
      let parts: Set = ["options", "providers", "warnings"]
      let providers = (app["Providers"]?.asArray ?? []).compactMap(\.asDict).map {
        ("provider", JSONValue.string(line(of: $0)))
      }
      Table.print(members.filter { !parts.contains($0.key) } + options + providers, context.output)
    }
    return 0
  }

  /// A provider, how it's reached, and where the browser comes back.
  private static func line(of provider: [String: DBusValue]) -> String {
    let id = provider["id"]?.asString ?? ""
    guard let way = provider["way"]?.asString else { return id }
    let place =
      (provider["issuer"] ?? provider["authorization-endpoint"])?.asString.map { "own client at \($0)" }
      ?? (way == "handler" ? "Firebase's page" : way)
    let returns = provider["redirect-uris"]?.asStrings ?? []
    return "\(id): \(place)" + (returns.isEmpty ? "" : ", back to \(returns.joined(separator: " or "))")
  }

  private static func appPath(_ context: Context) throws(Failure) -> ObjectPath {
    let words = context.arguments.words + context.arguments.rest
    guard let id = words.first else { return try context.appPath() }
    let reply = try context.call(
      Contract.rootPath, Contract.Interface.manager, "GetApp", [.string(id), context.options()])
    return reply.first?.asPath ?? Contract.rootPath
  }

  private static func kebab(_ name: String) -> String {
    var out = ""
    for (index, character) in name.enumerated() {
      if index > 0, character.isUppercase { out += "-" }
      out += character.lowercased()
    }
    return out
  }
}
