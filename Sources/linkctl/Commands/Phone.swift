import AuthCore
import DBusCore
import Glibc
import LinkdContract
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
    let region = try region(context)
    if words.count > count { return try begin(words[count], region, start) }
    while true {
      guard Prompt.canAsk, let number = Prompt.line(Texts.lookup("ask.phone-number", locale: context.locale)),
        !number.isEmpty
      else { throw .nobodyToAsk("A phone number") }
      do throws(Failure) {
        return try begin(number, region, start)
      } catch {
        guard error.name == AuthError.invalidPhoneNumber.dbusName else { throw error }
        context.output.note(Output.printable(error.message))
      }
    }
  }

  /// Starts in `region`, else in the first of the locale's countries that linkd knows: it doesn't see a shell's variables.
  private static func begin(
    _ number: String, _ region: String?, _ start: (String, [String: DBusValue]) throws(Failure) -> Int32
  ) throws(Failure) -> Int32 {
    if let region { return try start(number, ["region": .string(region)]) }
    for country in number.hasPrefix("+") ? [] : localeCountries {
      do throws(Failure) {
        return try start(number, ["region": .string(country)])
      } catch {
        // Nobody has given that option.
        guard error.name == DBusError.Name.invalidArgs else { throw error }
      }
    }
    return try start(number, [:])
  }

  private static func region(_ context: Context) throws(Failure) -> String? {
    guard let region = context.arguments.value("region") else { return nil }
    guard isCountry(region) else {
      throw Failure(UsageError(message: "--region is a country's two letters, such as AT."))
    }
    return region.uppercased()
  }

  /// The territories that the variables name, the most particular first (behaviour: Phone).
  private static var localeCountries: [String] {
    ["LC_TELEPHONE", "LC_ALL", "LANG"].compactMap { name in
      let value = getenv(name).map { String(cString: $0) }
      let parts = value?.prefix { $0 != "." && $0 != "@" }.split(separator: "_").dropFirst()
      return parts?.first { isCountry(String($0)) }?.uppercased()
    }
  }

  private static func isCountry(_ text: String) -> Bool {
    text.utf8.count == 2 && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
  }
}
