import AuthCore
import DBusCore
import LinkdContract
import Texts

extension Command {
  static let waitOption = OptionSpec.flag("no-wait", "print the flow's id and leave")

  static let flowOptions: [OptionSpec] = [
    waitOption,
    .flag("link", "add the method to the account that is signed in"),
    .flag("reauthenticate", "confirm who is signed in"),
  ]

  static let signIn = Command(
    name: "sign-in",
    synopsis: "sign-in email-link ADDRESS | sign-in password ADDRESS | sign-in phone NUMBER | sign-in anonymous\n"
      + "       | sign-in custom-token | sign-in PROVIDER",
    summary: "sign somebody in",
    example: "linkctl sign-in email-link you@example.com\n  linkctl sign-in phone +15555550100\n"
      + "  linkctl sign-in google.com\n"
      + "  linkctl sign-in oidc.example --redirect scheme --no-browser",
    options: flowOptions + [
      .value("continue-url", "URL", "where the mailed link leads after Firebase's page"),
      .flag("force-same-device", "the link counts on this machine alone"),
      .value("link-provider", "ID", "provider to link afterwards"), .passwordInput,
      regionOption, .codeInput,
    ] + providerOptions
  ) { context throws(Failure) in
    switch context.arguments.words.first {
    case "email-link": return try emailLink(context)
    case "password": return try password(context)
    case "phone": return try phone(context)
    case "anonymous": return try anonymous(context)
    case "custom-token": return try customToken(context)
    case nil: throw Failure(UsageError(message: "Which way? \(methods)"))
    // Every provider's id has a dot.
    case let id? where id.contains("."): return try provider(context, id)
    case let method?:
      let meant = knownProviders.first { $0 == "\(method).com" }.map { "Did you mean '\($0)'?" }
      throw Failure(UsageError(message: "There is no way to sign in called '\(method)'. \(meant ?? methods)"))
    }
  }

  private static let methods =
    "It's 'email-link ADDRESS', 'password ADDRESS', 'phone NUMBER', 'anonymous', 'custom-token' or a provider such as "
    + "'google.com'."

  private static func emailLink(_ context: Context) throws(Failure) -> Int32 {
    let address = try address(context)
    var options = try purpose(context)
    options["continue-url"] = context.arguments.value("continue-url").map(DBusValue.string)
    options["link-provider"] = context.arguments.value("link-provider").map(DBusValue.string)
    if context.arguments.has("force-same-device") { options["force-same-device"] = .boolean(true) }
    return try start(context, Contract.Interface.signIn, "SendSignInLink", [.string(address)], options)
  }

  private static func password(_ context: Context) throws(Failure) -> Int32 {
    let address = try address(context)
    let purpose = try purpose(context)
    let secret = try Prompt.password(context, isNew: purpose["purpose"]?.asString == FlowPurpose.link.rawValue)
    return try start(
      context, Contract.Interface.signIn, "SignInWithPassword", [.string(address), .string(secret.reveal())], purpose)
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
    try onlyMethod(context)
    guard try purpose(context).isEmpty else {
      throw Failure(
        UsageError(message: "'anonymous' signs in as a guest: that can't be added to an account, and confirms nobody."))
    }
    return try start(context, Contract.Interface.signIn, "SignInAnonymously", [], [:])
  }

  static let reauthenticate = Command(
    name: "reauthenticate",
    synopsis: "reauthenticate [--no-browser] [--password-stdin] [--code-stdin] [--no-wait]",
    summary: "confirm who is signed in, the way they did sign in", example: "linkctl reauthenticate",
    options: [waitOption, pageOption, .passwordInput, .codeInput]
  ) { context throws(Failure) in
    try tellParked(context)
    return try start(context, Contract.Interface.account, "Reauthenticate", [], [:])
  }

  /// Says what goes on by itself once the person has confirmed who they are: it may be a deletion that they gave up.
  private static func tellParked(_ context: Context) throws(Failure) {
    let app = try context.appPath()
    let paths = try context.property(Contract.rootPath, Contract.Interface.manager, "ActiveFlows").asPaths ?? []
    for path in paths {
      guard let properties = try? context.properties(path, Contract.Interface.flow) else { continue }
      let report = FlowReport(path: path, properties: properties)
      guard report.stage == .reauthenticationRequired, properties["App"]?.asPath == app else { continue }
      let purpose = properties["Purpose"]?.asString ?? ""
      context.output.note(
        Texts.lookup("command.goes-on-then", locale: context.locale, ["purpose": purpose, "flow": report.id]))
    }
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

  /// The purpose that the options say, or the command.
  static func purpose(_ context: Context) throws(Failure) -> [String: DBusValue] {
    let isLink = context.command.name == accountLink.name || context.arguments.has("link")
    switch (isLink, context.arguments.has("reauthenticate")) {
    case (true, true): throw Failure(UsageError(message: "--link and --reauthenticate exclude each other."))
    case (true, false): return ["purpose": .string("link")]
    case (false, true): return ["purpose": .string("reauthenticate")]
    case (false, false): return [:]
    }
  }

  /// Starts a flow of the app that is meant, and follows it. A page that it needs is opened from here, in the person's own
  /// session; only a command that leaves at once has linkd open it.
  static func start(
    _ context: Context, _ interface: String, _ member: String, _ arguments: [DBusValue],
    _ options: [String: DBusValue] = [:], leavesWithSetup: Bool = false
  ) throws(Failure) -> Int32 {
    let path = try context.appPath()
    let wait = !context.arguments.has("no-wait")
    let printsPage = context.arguments.has("no-browser")
    var options = options
    options["open-browser"] = .boolean(!wait && !printsPage)
    let all = arguments + [context.options(options)]
    return try FlowFollower.run(
      context, wait: wait, page: printsPage ? .print : .open, leavesWithSetup: leavesWithSetup
    ) { () throws(Failure) in
      try context.call(path, interface, member, all).first?.asPath ?? Contract.flowsPath
    }
  }
}
