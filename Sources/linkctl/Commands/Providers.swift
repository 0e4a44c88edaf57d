import AuthCore
import DBusCore
import LinkdContract
import Texts

/// Signing in by a provider, or by what an app's own server made.
extension Command {
  static let pageOption = OptionSpec.flag(
    "no-browser", "print the page's URL, which counts for ten minutes, instead of opening it")

  static let providerOptions: [OptionSpec] = [
    pageOption,
    .value("redirect", "WAY", "how the browser comes back: scheme, loopback or auto"),
    .value("scopes", "A,B", "what to ask the provider for"),
    .value("custom-parameter", "K=V", "one more parameter for the provider's page", isRepeatable: true),
    .value("login-hint", "TEXT", "who is going to sign in there"),
    .flag("token-stdin", "read the custom token from standard input"),
  ]

  static func provider(_ context: Context, _ id: String) throws(Failure) -> Int32 {
    try onlyMethod(context)
    let options = try purpose(context).merging(try authorization(context.arguments)) { $1 }
    do throws(Failure) {
      return try start(context, Contract.Interface.signIn, "SignInWithProvider", [.string(id)], options)
    } catch {
      guard error.name == AuthError.noSuchProvider.dbusName, let meant = meantProvider(id, context) else { throw error }
      let values = ["id": id, "meant": meant]
      throw Failure(.noSuchProvider, message: Texts.lookup("command.no-such-provider", locale: context.locale, values))
    }
  }

  /// Those that every project can have.
  static let knownProviders = ["google", "apple", "facebook", "twitter", "github", "microsoft", "yahoo"].map {
    "\($0).com"
  }

  /// The provider that a mistyped id was meant to be.
  private static func meantProvider(_ id: String, _ context: Context) -> String? {
    let listed = (try? context.property(try context.appPath(), Contract.Interface.app, "Providers"))?.asArray ?? []
    return Help.nearest(id, among: knownProviders + listed.compactMap { $0.member("id")?.asString }.filter { $0 != id })
  }

  static func customToken(_ context: Context) throws(Failure) -> Int32 {
    try onlyMethod(context)
    let token = try Prompt.token(context)
    return try start(
      context, Contract.Interface.signIn, "SignInWithCustomToken", [.string(token.reveal())], try purpose(context))
  }

  static func onlyMethod(_ context: Context) throws(Failure) {
    let words = context.arguments.words + context.arguments.rest
    guard words.count > 1 else { return }
    throw Failure(UsageError(message: "'\(words[1])' is one word too many: '\(words[0])' takes no address."))
  }

  /// The provider's options by their names on D-Bus.
  private static func authorization(_ arguments: Arguments) throws(Failure) -> [String: DBusValue] {
    var options: [String: DBusValue] = [:]
    if let way = arguments.value("redirect") {
      guard ["scheme", "loopback", "auto"].contains(way) else {
        throw Failure(UsageError(message: "--redirect is 'scheme', 'loopback' or 'auto'."))
      }
      options["redirect"] = .string(way)
    }
    if let scopes = arguments.value("scopes") {
      let list = scopes.split { $0 == "," || $0 == " " }.map(String.init)
      if list.isEmpty { throw Failure(UsageError(message: "--scopes needs at least one.")) }
      options["scopes"] = .strings(list)
    }
    let parameters = arguments.all("custom-parameter")
    if !parameters.isEmpty { options["custom-parameters"] = try pairs(parameters) }
    options["login-hint"] = arguments.value("login-hint").map(DBusValue.string)
    return options
  }

  private static func pairs(_ parameters: [String]) throws(Failure) -> DBusValue {
    var entries: [DBusValue.Entry] = []
    for parameter in parameters {
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw Failure(UsageError(message: "--custom-parameter is NAME=VALUE."))
      }
      entries.append(DBusValue.Entry(.string(String(parts[0])), .string(String(parts[1]))))
    }
    return .dictionary(key: "s", value: "s", entries)
  }

  // MARK: The account's ways of signing in

  static let accountLink = Command(
    name: "account link", synopsis: "account link METHOD [ADDRESS|NUMBER] | account link PROVIDER",
    summary: "add a way of signing in to the account", example: "linkctl account link google.com",
    options: signIn.options.filter { !["link", "reauthenticate"].contains($0.name) }, run: signIn.run)

  static let accountUnlink = Command(
    name: "account unlink",
    synopsis: "account unlink PROVIDER|password|phone [--yes] [--no-browser] [--no-wait]",
    summary: "take a way of signing in from the account; asks before the last one",
    example: "linkctl account unlink google.com",
    options: [.flag("yes", "don't ask"), againOption, waitOption]
  ) { context throws(Failure) in
    let words = try context.words("PROVIDER")
    if !context.arguments.has("yes") {
      let user = try context.property(try context.appPath(), Contract.Interface.session, "User").asDict ?? [:]
      let ways = (user["providers"]?.asArray ?? []).compactMap { $0.member("provider-id")?.asString }
      if ways == words { try agree(context, "ask.unlink-last", ["provider": words[0]]) }
    }
    return try start(context, Contract.Interface.account, "Unlink", [.string(words[0])], [:])
  }

  // MARK: Accounts that collide

  static let resolve = Command(
    name: "resolve", synopsis: "resolve FLOW CHOICE [--no-wait]",
    summary: "say what to do about accounts that collide", example: "linkctl resolve 3f2a… switch",
    options: [.flag("no-wait", "leave once the choice is taken")]
  ) { context throws(Failure) in
    let words = try context.words("FLOW", "CHOICE")
    guard let choice = ConflictChoice(rawValue: words[1]) else {
      let names = ConflictChoice.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      throw Failure(UsageError(message: "There is no choice '\(words[1])'. It's one of \(names)."))
    }
    return try answer(
      context, words[0], FlowAnswer(member: "ResolveConflict", arguments: [.string(choice.rawValue)]),
      choice: choice)
  }
}
