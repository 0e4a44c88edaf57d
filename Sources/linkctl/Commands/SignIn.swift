import AuthCore
import DBusCore
import LinkdContract
import Texts

extension Command {
  static let flowOptions: [OptionSpec] = [
    .flag("no-wait", "print the flow's id and leave"),
    .flag("link", "add the method to the account that is signed in"),
    .flag("reauthenticate", "confirm who is signed in"),
  ]

  static let signIn = Command(
    name: "sign-in", synopsis: "sign-in email-link ADDRESS | sign-in password ADDRESS | sign-in anonymous",
    summary: "sign somebody in",
    example: "linkctl sign-in email-link you@example.com",
    options: flowOptions + [
      .value("continue-url", "URL", "where the mailed link leads after Firebase's page"),
      .flag("force-same-device", "the link counts on this machine alone"),
      .value("link-provider", "ID", "provider to link afterwards"), .passwordInput,
    ]
  ) { context throws(Failure) in
    switch context.arguments.words.first {
    case "email-link": return try emailLink(context)
    case "password": return try password(context)
    case "anonymous": return try anonymous(context)
    case nil:
      throw Failure(
        UsageError(message: "Which way? \(methods)"))
    case let method?:
      throw Failure(UsageError(message: "There is no way to sign in called '\(method)'. \(methods)"))
    }
  }

  private static let methods = "It's 'email-link ADDRESS', 'password ADDRESS' or 'anonymous'."

  private static func emailLink(_ context: Context) throws(Failure) -> Int32 {
    let address = try address(context)
    var options = try purpose(context.arguments)
    options["continue-url"] = context.arguments.value("continue-url").map(DBusValue.string)
    options["link-provider"] = context.arguments.value("link-provider").map(DBusValue.string)
    if context.arguments.has("force-same-device") { options["force-same-device"] = .boolean(true) }
    return try start(context, Contract.Interface.signIn, "SendSignInLink", [.string(address)], options)
  }

  private static func password(_ context: Context) throws(Failure) -> Int32 {
    let address = try address(context)
    let secret = try Prompt.password(context, isNew: context.arguments.has("link"))
    return try start(
      context, Contract.Interface.signIn, "SignInWithPassword", [.string(address), .string(secret.reveal())],
      try purpose(context.arguments))
  }

  static let createUser = Command(
    name: "create-user", synopsis: "create-user ADDRESS [--display-name NAME]",
    summary: "make an account with a password, and sign in", example: "linkctl create-user you@example.com",
    options: [
      .flag("no-wait", "print the flow's id and leave"), .value("display-name", "NAME", "name of the account"),
      .passwordInput,
    ]
  ) { context throws(Failure) in
    let words = try context.words("ADDRESS")
    let secret = try Prompt.password(context, isNew: true)
    let options = context.arguments.value("display-name").map { ["display-name": DBusValue.string($0)] } ?? [:]
    return try start(
      context, Contract.Interface.signIn, "CreateUser", [.string(words[0]), .string(secret.reveal())], options)
  }

  private static func anonymous(_ context: Context) throws(Failure) -> Int32 {
    guard context.arguments.words.count == 1 else {
      throw Failure(UsageError(message: "'anonymous' takes no address."))
    }
    return try start(context, Contract.Interface.signIn, "SignInAnonymously", [], [:])
  }

  static let reauthenticate = Command(
    name: "reauthenticate", synopsis: "reauthenticate [--no-wait]",
    summary: "confirm who is signed in, by a mailed link", example: "linkctl reauthenticate",
    options: [.flag("no-wait", "print the flow's id and leave")]
  ) { context throws(Failure) in
    try start(context, Contract.Interface.account, "Reauthenticate", [], [:])
  }

  /// The word after the method, or an answer.
  private static func address(_ context: Context) throws(Failure) -> String {
    let words = context.arguments.words
    guard words.count <= 2 else { throw Failure(UsageError(message: "'\(words[2])' is one word too many.")) }
    if words.count == 2 { return words[1] }
    guard Prompt.canAsk, let address = Prompt.line(Texts.lookup("ask.email", locale: context.locale)), !address.isEmpty
    else { throw .nobodyToAsk("An address") }
    return address
  }

  private static func purpose(_ arguments: Arguments) throws(Failure) -> [String: DBusValue] {
    switch (arguments.has("link"), arguments.has("reauthenticate")) {
    case (true, true): throw Failure(UsageError(message: "--link and --reauthenticate exclude each other."))
    case (true, false): return ["purpose": .string("link")]
    case (false, true): return ["purpose": .string("reauthenticate")]
    case (false, false): return [:]
    }
  }

  /// Starts a flow of the app that is meant, and follows it.
  static func start(
    _ context: Context, _ interface: String, _ member: String, _ arguments: [DBusValue], _ options: [String: DBusValue]
  ) throws(Failure) -> Int32 {
    let path = try context.appPath()
    let all = arguments + [context.options(options)]
    return try FlowFollower.run(context, wait: !context.arguments.has("no-wait")) { () throws(Failure) in
      try context.call(path, interface, member, all).first?.asPath ?? Contract.flowsPath
    }
  }
}
