import AuthCore
import DBusCore
import LinkdContract
import Texts

/// The account's second factors.
extension Command {
  private static let nameOption = OptionSpec.value("name", "TEXT", "what to call it in lists")

  static let mfaList = Command(
    name: "mfa list", synopsis: "mfa list", summary: "the account's second factors", example: "linkctl mfa list --json"
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    let factors = try factors(context)
    if factors.isEmpty, !context.output.json {
      context.output.note(Texts.lookup("command.no-factors", locale: context.locale))
    }
    for factor in factors {
      let keys = ["uid", "kind", "display-name", "phone-number", "enrolled-at"]
      let members = keys.map { (key: $0, value: factor.member($0)?.json) }
      if context.output.json {
        context.output.object(members.filter { $0.value?.string?.isEmpty != true })
      } else {
        let since = factor.member("enrolled-at")?.asInteger.flatMap(Table.time)
        let texts = [factor.member("uid")?.asString, Table.factor(factor.json), since.map { "since \($0)" }]
        context.output.line(texts.compactMap(\.self).map(Output.printable).joined(separator: "  "))
      }
    }
    return 0
  }

  static let mfaEnrollPhone = Command(
    name: "mfa enroll-phone",
    synopsis: "mfa enroll-phone [NUMBER] [--name TEXT] [--region CC] [--code-stdin] [--no-browser] [--no-wait]",
    summary: "add a phone as second factor, by a code sent to it",
    example: "linkctl mfa enroll-phone +15555550100 --name Work", options: [nameOption] + messageOptions
  ) { context throws(Failure) in
    let name = context.arguments.value("name") ?? ""
    return try withNumber(context, after: 0) { number, options throws(Failure) in
      try start(
        context, Contract.Interface.account, "EnrollPhoneFactor", [.string(number), .string(name)], options)
    }
  }

  static let mfaEnrollTOTP = Command(
    name: "mfa enroll-totp",
    synopsis: "mfa enroll-totp [--name TEXT] [--qr] [--uri] [--code-stdin] [--no-browser] [--no-wait]",
    summary: "add an authenticator app as second factor", example: "linkctl mfa enroll-totp --name 'My phone'",
    options: [
      nameOption, .flag("qr", "show the QR code where the output is no terminal, too"),
      .flag("uri", "show the otpauth address, too"), .codeInput, againOption,
      .flag("no-wait", "print the flow's id and the secret, and leave"),
    ]
  ) { context throws(Failure) in
    _ = try context.arguments.noWords()
    return try start(
      context, Contract.Interface.account, "EnrollTotpFactor", [.string(context.arguments.value("name") ?? "")],
      leavesWithSetup: true)
  }

  static let mfaUnenroll = Command(
    name: "mfa unenroll", synopsis: "mfa unenroll [UID] [--yes] [--no-browser] [--no-wait]",
    summary: "remove a second factor from the account", example: "linkctl mfa unenroll",
    options: [.flag("yes", "don't ask whether to"), againOption, waitOption]
  ) { context throws(Failure) in
    let words = context.arguments.words + context.arguments.rest
    guard words.count <= 1 else { throw Failure(UsageError(message: "'\(words[1])' is one word too many.")) }
    let factors = try factors(context)
    let known = factors.map(SecondFactor.init)
    guard let uid = try choice(context, words.first, known) else {
      throw Failure(.factorNotFound, message: Texts.lookup("command.no-factors", locale: context.locale))
    }
    if !context.arguments.has("yes") {
      let name = known.first { $0.uid == uid }?.label(locale: context.locale) ?? uid
      try agree(context, "ask.unenroll", ["factor": name])
    }
    return try start(context, Contract.Interface.account, "UnenrollFactor", [.string(uid)])
  }

  /// The one that was named, the one there is, or the one that is chosen of several; nil for none.
  private static func choice(
    _ context: Context, _ uid: String?, _ factors: [SecondFactor]
  ) throws(Failure) -> String? {
    if let uid { return uid }
    guard factors.count > 1 else { return factors.first?.uid }
    guard Prompt.canAsk else { throw .nobodyToAsk("Which second factor (its UID)") }
    for (index, factor) in factors.enumerated() {
      context.output.note("  \(index + 1)  \(factor.label(locale: context.locale))")
    }
    while let word = Prompt.line(Texts.lookup("ask.factor", locale: context.locale)) {
      let number = Int(word).flatMap { factors.indices.contains($0 - 1) ? factors[$0 - 1] : nil }
      if let factor = factors.first(where: { $0.uid == word }) ?? number { return factor.uid }
    }
    throw .nobodyToAsk("Which second factor (its UID)")
  }

  private static func factors(_ context: Context) throws(Failure) -> [DBusValue] {
    let path = try context.appPath()
    let user = try context.property(path, Contract.Interface.session, "User").asDict ?? [:]
    guard !user.isEmpty else {
      throw Failure(.noCurrentUser, message: Texts.lookup(AuthError.noCurrentUser.textID, locale: context.locale))
    }
    return user["second-factors"]?.asArray ?? []
  }
}
