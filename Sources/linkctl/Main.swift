import Glibc

/// The command line. Hot commands (`open --no-wait`, `token`) run synchronously, without event loop and Foundation.
@main
struct Linkctl {
  static let version = "0.1.0"

  static func main() {
    signal(SIGPIPE, SIG_DFL)
    exit(run(CommandLine.arguments.dropFirst()))
  }

  private static func run(_ arguments: ArraySlice<String>) -> Int32 {
    guard argumentsAreUTF8 else {
      Output(json: false).note("linkctl: An argument isn't valid UTF-8.")
      return 65
    }
    let (command, rest) = split(arguments)
    guard let command else { return withoutCommand(rest) }
    do throws(UsageError) {
      let parsed = try Arguments(
        rest, command.options + OptionSpec.global, ignoringUnknown: command.ignoresUnknownOptions)
      if parsed.has("help") {
        Output(json: false).line(Help.text(of: command))
        return 0
      }
      return execute(try Context(command, parsed))
    } catch {
      return misused(
        "\(command.name): \(error.message)\n\nUsage: linkctl \(command.synopsis)", error.message, rest)
    }
  }

  private static func execute(_ context: Context) -> Int32 {
    do throws(Failure) {
      return try context.command.run(context)
    } catch {
      context.output.failure(error)
      return error.exitCode
    }
  }

  /// The command, with the global options that stand before it moved behind it.
  private static func split(_ arguments: ArraySlice<String>) -> (Command?, ArraySlice<String>) {
    var before: [String] = []
    var rest = arguments
    while let first = rest.first, first.hasPrefix("-"), first != "--" {
      before.append(first)
      rest = rest.dropFirst()
      let needsValue = ["--app", "--timeout"].contains(first)
      if needsValue, let value = rest.first {
        before.append(value)
        rest = rest.dropFirst()
      }
    }
    guard let (command, words) = Command.find(rest) else { return (nil, arguments) }
    return (command, (before + rest.dropFirst(words))[...])
  }

  private static func withoutCommand(_ arguments: ArraySlice<String>) -> Int32 {
    let output = Output(json: false)
    if arguments.contains("--version") {
      output.line("linkctl \(version)")
      return 0
    }
    if arguments.contains("--help") || arguments.contains("-h") || arguments.first == "help" {
      output.line(Help.overview)
      return 0
    }
    guard let first = arguments.first else {
      output.note(Help.overview)
      return 64
    }
    let message = "There is no command '\(Output.printable(first))'."
    return misused("\(message)\n\n\(Help.overview)", message, arguments)
  }

  /// Wrong usage, of which `--json` may be a part.
  private static func misused(_ text: String, _ message: String, _ arguments: ArraySlice<String>) -> Int32 {
    if arguments.prefix(while: { $0 != "--" }).contains("--json") {
      Output(json: true).object(Failure(UsageError(message: message)).members)
    }
    Output(json: false).note("linkctl \(text)")
    return 64
  }

  /// Swift repairs broken UTF-8 in `CommandLine.arguments`, so the raw bytes are looked at.
  private static var argumentsAreUTF8: Bool {
    for index in 0..<Int(CommandLine.argc) {
      guard let argument = CommandLine.unsafeArgv[index] else { continue }
      let bytes = UnsafeRawBufferPointer(start: argument, count: strlen(argument))
      if String(validating: bytes, as: UTF8.self) == nil { return false }
    }
    return true
  }
}
