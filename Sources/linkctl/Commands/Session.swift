import AuthCore
import DBusCore
import LinkdContract
import Texts

extension Command {
  static let signOut = Command(
    name: "sign-out", synopsis: "sign-out", summary: "end the session", example: "linkctl sign-out --app demo"
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    _ = try context.call(try context.appPath(), Contract.Interface.session, "SignOut", [context.options()])
    if !context.output.json { context.output.note(Texts.lookup("notice.signed-out", locale: context.locale)) }
    return 0
  }

  static let status = Command(
    name: "status", synopsis: "status", summary: "the session and the service at a glance",
    example: "linkctl status --json"
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    let path = try context.appPath()
    let session = try context.properties(path, Contract.Interface.session)
    let app = try context.properties(path, Contract.Interface.app)
    let keyStore = try context.property(Contract.rootPath, Contract.Interface.manager, "KeyStore")
    let user = session["User"]?.asDict ?? [:]
    let members: [(key: String, value: JSONValue?)] = [
      ("app", app["Id"]?.json), ("project-id", app["ProjectId"]?.json), ("state", session["State"]?.json),
      ("user", user.isEmpty ? nil : session["User"]?.json), ("is-anonymous", session["IsAnonymous"]?.json),
      ("sign-in-method", session["SignInMethod"]?.filledJSON), ("health", session["Health"]?.json),
      ("health-reason", session["HealthReason"]?.filledJSON), ("sequence", session["Sequence"]?.json),
      ("clock-skew", session["ClockSkew"]?.json), ("key-store", keyStore.json),
      ("emulator", app["Emulator"]?.filledJSON),
    ]
    context.output.json ? context.output.object(members) : Table.print(members, context.output)
    return 0
  }

  static let whoami = Command(
    name: "whoami", synopsis: "whoami", summary: "the signed-in user", example: "linkctl whoami --json"
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    let path = try context.appPath()
    var user = try context.property(path, Contract.Interface.session, "User").asDict ?? [:]
    // The reason why nobody is there is the daemon's to say.
    if user.isEmpty { _ = try context.call(path, Contract.Interface.session, "ReloadUser", [context.options()]) }
    guard !user.isEmpty else {
      throw Failure(.noCurrentUser, message: Texts.lookup(AuthError.noCurrentUser.textID, locale: context.locale))
    }
    // These two are always there (cli-and-config: --json).
    for key in ["providers", "second-factors"] where user[key] == nil { user[key] = .dicts([]) }
    let order = ["uid", "email", "display-name", "phone-number"]
    let keys = order.filter { user[$0] != nil } + user.keys.filter { !order.contains($0) }.sorted()
    let members = keys.map { (key: $0, value: user[$0]?.json) }
    context.output.json ? context.output.object(members) : Table.print(members, context.output)
    return 0
  }

  static let token = Command(
    name: "token", synopsis: "token [--force-refresh] [--min-validity S] [--uid UID]",
    summary: "the ID token alone on standard output, for scripts",
    example: "curl -H \"Authorization: Bearer $(linkctl token)\" https://api.example.com/",
    options: [
      .flag("force-refresh", "ask the server for a new one"),
      .value("min-validity", "S", "a token that lives for S seconds more (default 300)"),
      .value("uid", "UID", "fail unless this user is signed in"),
    ]
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    var options: [String: DBusValue] = [:]
    if context.arguments.has("force-refresh") { options["force-refresh"] = .boolean(true) }
    do throws(UsageError) {
      options["min-validity"] = try context.arguments.number("min-validity").map(DBusValue.uint32)
    } catch {
      throw Failure(error)
    }
    options["uid"] = context.arguments.value("uid").map(DBusValue.string)
    let reply = try context.call(
      try context.appPath(), Contract.Interface.session, "GetIdToken", [context.options(options)])
    guard reply.count == 3, let token = reply[0].asString else {
      throw Failure(.internal, message: "linkd answered without a token.")
    }
    if context.output.json {
      context.output.object([("token", .string(token)), ("expires-at", reply[1].json), ("claims", reply[2].json)])
    } else {
      context.output.line(token)
    }
    return 0
  }
}

extension Arguments {
  /// - Throws: where a word stands that nothing is made of.
  func noWords() throws(Failure) {
    guard let word = (words + rest).first else { return }
    throw Failure(UsageError(message: "'\(word)' is one word too many."))
  }
}

extension DBusValue {
  /// The text as JSON; nil for an empty one: an absent value is an absent key.
  var filledJSON: JSONValue? { asString.filled.map(JSONValue.string) }
}
