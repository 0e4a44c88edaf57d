import AuthCore
import DBusCore
import LinkdContract
import Texts

extension Command {
  /// Of what may need a fresh sign-in.
  static let againOption = OptionSpec.flag(
    "no-browser", "print the URL of a page that confirms who is signed in, instead of opening it")

  static let accountProfile = Command(
    name: "account profile", synopsis: "account profile [--display-name NAME] [--photo-url URL]",
    summary: "change the account's name or picture; an empty text clears it",
    example: "linkctl account profile --display-name 'Ada Lovelace'",
    options: [.value("display-name", "NAME", "the new name"), .value("photo-url", "URL", "the new picture")]
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    var changes: [String: DBusValue] = [:]
    for key in ["display-name", "photo-url"] { changes[key] = context.arguments.value(key).map(DBusValue.string) }
    guard !changes.isEmpty else {
      throw Failure(UsageError(message: "What is to change? Give --display-name or --photo-url."))
    }
    return try call(context, Contract.Interface.account, "UpdateProfile", [.dict(changes)], done: "done.profile")
  }

  static let accountPassword = Command(
    name: "account password", synopsis: "account password [--password-stdin] [--no-browser] [--no-wait]",
    summary: "set or change the account's password", example: "linkctl account password",
    options: [.passwordInput, againOption, waitOption]
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    let secret = try Prompt.password(context, isNew: true)
    return try start(context, Contract.Interface.account, "UpdatePassword", [.string(secret.reveal())])
  }

  static let accountEmail = Command(
    name: "account email", synopsis: "account email ADDRESS [--continue-url URL] [--no-browser] [--no-wait]",
    summary: "have a mail sent to a new address, whose link makes it the account's",
    example: "linkctl account email new@example.com",
    options: [.value("continue-url", "URL", "where the mail's page leads afterwards"), againOption, waitOption]
  ) { context throws(Failure) in
    let words = try context.words("ADDRESS")
    let options = context.arguments.value("continue-url").map { ["continue-url": DBusValue.string($0)] } ?? [:]
    return try start(context, Contract.Interface.account, "ChangeEmail", [.string(words[0])], options)
  }

  static let accountVerifyEmail = Command(
    name: "account verify-email", synopsis: "account verify-email [--continue-url URL]",
    summary: "have a mail sent that proves the account's address", example: "linkctl account verify-email",
    options: [.value("continue-url", "URL", "where the mail's page leads afterwards")]
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    return try call(context, Contract.Interface.account, "SendEmailVerification", [], done: "done.mail")
  }

  static let accountResetPassword = Command(
    name: "account reset-password", synopsis: "account reset-password ADDRESS [--continue-url URL]",
    summary: "have a mail sent that leads to a new password",
    example: "linkctl account reset-password you@example.com",
    options: [.value("continue-url", "URL", "where the mail's page leads afterwards")]
  ) { context throws(Failure) in
    let words = try context.words("ADDRESS")
    return try call(
      context, Contract.Interface.signIn, "SendPasswordReset", [.string(words[0])], done: "done.mail")
  }

  static let accountDelete = Command(
    name: "account delete", synopsis: "account delete [--yes] [--no-browser] [--no-wait]",
    summary: "delete the signed-in account for good",
    example: "linkctl account delete",
    options: [.flag("yes", "don't ask"), againOption, waitOption]
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    if !context.arguments.has("yes") {
      guard Prompt.canAsk else { throw .noAgreement }
      let user = try context.property(try context.appPath(), Contract.Interface.session, "User").asDict ?? [:]
      guard let name = Table.person(DBusValue.dict(user).json) else {
        throw Failure(.noCurrentUser, message: Texts.lookup(AuthError.noCurrentUser.textID, locale: context.locale))
      }
      try agree(context, "ask.delete-user", ["name": name])
    }
    return try start(context, Contract.Interface.account, "DeleteUser", [], [:])
  }

  /// Asks whether to go on with what can't be undone.
  ///
  /// - Throws: exit 4 where nobody can be asked, `Cancelled` where they say no.
  static func agree(_ context: Context, _ question: String, _ values: [String: String]) throws(Failure) {
    guard Prompt.canAsk else { throw .noAgreement }
    guard Prompt.agrees(Texts.lookup(question, locale: context.locale, values)) else {
      throw Failure(.cancelled, message: Texts.lookup(AuthError.cancelled.textID, locale: context.locale))
    }
  }

  /// A method of the app that answers when it's done, and what is said then.
  private static func call(
    _ context: Context, _ interface: String, _ member: String, _ arguments: [DBusValue], done: String
  ) throws(Failure) -> Int32 {
    let options = context.arguments.value("continue-url").map { ["continue-url": DBusValue.string($0)] } ?? [:]
    _ = try context.call(try context.appPath(), interface, member, arguments + [context.options(options)])
    if !context.output.json { context.output.note(Texts.lookup(done, locale: context.locale)) }
    return 0
  }
}
