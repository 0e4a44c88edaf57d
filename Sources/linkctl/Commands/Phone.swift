import AuthCore
import DBusCore
import Glibc
import LinkdContract
import PhoneVerification
import Texts

/// Phone numbers, to sign in with or as the account's own.
extension Command {
  static let regionOption = OptionSpec.value(
    "region", "CC", "the country of a number without +, such as AT (default: by the locale)")

  /// What everything takes that sends a text message.
  static let messageOptions: [OptionSpec] = [regionOption, .codeInput, pageOption, waitOption]

  static func phone(_ context: Context) throws(Failure) -> Int32 {
    let purpose = try purpose(context)
    return try withNumber(context, after: 1) { number, options throws(Failure) in
      try start(
        context, Contract.Interface.signIn, "SignInWithPhoneNumber", [.string(number)], options.merging(purpose) { $1 })
    }
  }

  static let accountPhone = Command(
    name: "account phone", synopsis: "account phone [NUMBER] [--region CC] [--code-stdin] [--no-browser] [--no-wait]",
    summary: "change the account's phone number, by a code sent to the new one",
    example: "linkctl account phone +15555550100", options: messageOptions
  ) { context throws(Failure) in
    try withNumber(context, after: 0) { number, options throws(Failure) in
      try start(context, Contract.Interface.account, "ChangePhoneNumber", [.string(number)], options)
    }
  }

  /// Starts by the number that stands after so many words, or that is typed: then a wrong one is asked for again.
  static func withNumber(
    _ context: Context, after count: Int, _ start: (String, [String: DBusValue]) throws(Failure) -> Int32
  ) throws(Failure) -> Int32 {
    let words = context.arguments.words + context.arguments.rest
    guard words.count <= count + 1 else {
      throw Failure(
        UsageError(message: "'\(words[count + 1])' is one word too many. Put a number with spaces in quotes."))
    }
    if words.count > count { return try start(words[count], try region(context, words[count])) }
    while true {
      guard Prompt.canAsk, let number = Prompt.line(Texts.lookup("ask.phone-number", locale: context.locale)),
        !number.isEmpty
      else { throw .nobodyToAsk("A phone number") }
      let options = try region(context, number)
      do throws(Failure) {
        return try start(number, options)
      } catch {
        guard error.name == AuthError.invalidPhoneNumber.dbusName else { throw error }
        context.output.note(Output.printable(error.message))
      }
    }
  }

  /// The country of a number without one: `--region`, else the locale's. linkd doesn't see a shell's variables.
  private static func region(_ context: Context, _ number: String) throws(Failure) -> [String: DBusValue] {
    if let code = context.arguments.value("region") {
      guard let region = Region(code) else {
        throw Failure(UsageError(message: "--region is a country's two letters, such as AT."))
      }
      return ["region": .string(region.code)]
    }
    guard !number.hasPrefix("+"), let region = Region(of: { getenv($0).map { String(cString: $0) } }) else {
      return [:]
    }
    return ["region": .string(region.code)]
  }
}
