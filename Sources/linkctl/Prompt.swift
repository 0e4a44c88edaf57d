import AuthCore
import Glibc
import Texts

/// Questions to a person at a terminal.
enum Prompt {
  /// Whether there is somebody to ask.
  static var canAsk: Bool { isatty(STDIN_FILENO) == 1 }

  /// The line typed, trimmed; nil at the end of input.
  static func line(_ question: String) -> String? {
    show(question)
    guard let bytes = Input.typedLine(hide: { true }, restore: {}) else { return nil }
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    return words.joined(separator: " ")
  }

  /// The line typed, as it is, without showing it; nil at the end of input.
  static func secret(_ question: String) -> Secret<String>? {
    while true {
      // The question comes once nothing is shown any more: who is quick would type into the open.
      let bytes = Input.typedLine(
        hide: {
          guard Echo.hide() else { return false }
          show(question)
          return true
        }, restore: Echo.restore)
      show("\n")
      guard let bytes else { return nil }
      if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) { return Secret(text) }
      show("That isn't valid UTF-8.\n")
    }
  }

  /// A password, a custom token or a code: from standard input where the command line says so, else from the terminal.
  /// - Parameters:
  ///   - what: the word of the option, `--password-stdin`, and of messages.
  ///   - ask: nil at the end of input.
  /// - Throws: exit 4 where nobody can be asked, 64 for none, 65 for what is no text.
  private static func given(
    _ what: String, _ context: Context, ask: () -> Secret<String>?
  ) throws(Failure) -> Secret<String> {
    if context.arguments.has("\(what)-stdin") {
      guard let text = try Input.firstLine(), !text.isEmpty else {
        throw Failure(UsageError(message: "Standard input has no \(what)."))
      }
      return Secret(text)
    }
    guard canAsk, let secret = ask() else { throw .nobodyToAsk("A \(what)") }
    return secret
  }

  /// A password; a new one is asked for twice. Throws as ``given(_:_:ask:)``.
  static func password(_ context: Context, isNew: Bool) throws(Failure) -> Secret<String> {
    let secret = try given("password", context) { password(isNew: isNew, locale: context.locale) }
    context.hasReadPassword = context.arguments.has("password-stdin")
    return secret
  }

  /// A custom token. Throws as ``given(_:_:ask:)``.
  static func token(_ context: Context) throws(Failure) -> Secret<String> {
    try given("token", context) { secret(Texts.lookup("ask.token", locale: context.locale)) }
  }

  /// A code. Throws as ``given(_:_:ask:)``.
  static func code(_ context: Context) throws(Failure) -> Secret<String> {
    try given("code", context) { secret(Texts.lookup("ask.code", locale: context.locale)) }
  }

  /// A password typed at the terminal; nil at the end of input.
  static func password(isNew: Bool, locale: String?) -> Secret<String>? {
    guard isNew else { return secret(Texts.lookup("ask.password", locale: locale)) }
    while true {
      guard let first = secret(Texts.lookup("ask.new-password", locale: locale)),
        let second = secret(Texts.lookup("ask.new-password-again", locale: locale))
      else { return nil }
      if first == second { return first }
      show(Texts.lookup("ask.passwords-differ", locale: locale) + "\n")
    }
  }

  /// Whether the person agrees. Only a word that begins with `y` counts.
  static func agrees(_ question: String) -> Bool { line(question)?.lowercased().hasPrefix("y") ?? false }

  static func show(_ text: String) {
    text.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
  }
}

extension Context {
  /// The password of `--password-stdin`, where nothing has asked for it yet.
  func unreadPassword() throws(Failure) -> Secret<String>? {
    guard arguments.has("password-stdin"), !hasReadPassword else { return nil }
    return try Prompt.password(self, isNew: false)
  }
}

extension OptionSpec {
  /// How a script gives a password; it's never an argument.
  static let passwordInput = OptionSpec.flag("password-stdin", "read the password from standard input")
  /// How a script gives a code.
  static let codeInput = OptionSpec.flag("code-stdin", "read the code from standard input")
}
