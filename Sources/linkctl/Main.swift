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
    guard let command else { return withoutCommand(rest, all: arguments) }
    do throws(UsageError) {
      let parsed = try Arguments(
        rest, command.options + OptionSpec.global, ignoringUnknown: command.ignoresUnknownOptions)
      if parsed.has("help") {
        Output(json: false).line(Help.text(of: command))
        return 0
      }
      if parsed.has("version") { return printVersion() }
      return execute(try Context(command, parsed))
    } catch {
      let isJSON = rest.prefix { $0 != "--" }.contains("--json")
      return fail(Failure(error), command, Output(json: isJSON))
    }
  }

  private static func execute(_ context: Context) -> Int32 {
    do throws(Failure) {
      return try context.command.run(context)
    } catch {
      return fail(error, context.command, context.output)
    }
  }

  /// Wrong usage is followed by the right one.
  private static func fail(_ failure: Failure, _ command: Command, _ output: Output) -> Int32 {
    output.failure(failure)
    if failure.isUsage { output.note("\nUsage: linkctl \(command.synopsis)") }
    return failure.exitCode
  }

  private static func printVersion() -> Int32 {
    Output(json: false).line("linkctl \(version)")
    return 0
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
    guard let (command, words) = Command.find(rest) else { return (nil, rest) }
    return (command, (before + rest.dropFirst(words))[...])
  }

  /// - Parameter rest: what stands behind the options at the beginning.
  private static func withoutCommand(_ rest: ArraySlice<String>, all arguments: ArraySlice<String>) -> Int32 {
    let output = Output(json: false)
    let wantsHelp = arguments.contains("--help") || arguments.contains("-h")
    var words = rest.prefix { !$0.hasPrefix("-") }
    let isHelp = words.first == "help"
    if isHelp { words = words.dropFirst() }
    guard let first = words.first else {
      if arguments.contains("--version") { return printVersion() }
      if wantsHelp || isHelp {
        output.line(Help.overview)
        return 0
      }
      output.note(arguments.isEmpty ? Help.overview : "linkctl: A command is missing. 'linkctl --help' lists them.")
      return 64
    }
    if isHelp, let (command, _) = Command.find(words) {
      output.line(Help.text(of: command))
      return 0
    }
    if words.count == 1, let group = Help.group(first) {
      wantsHelp || isHelp ? output.line(group) : output.note(group)
      return wantsHelp || isHelp ? 0 : 64
    }
    if arguments.prefix(while: { $0 != "--" }).contains("--json") {
      let usage = UsageError(message: "There is no command '\(Output.printable(first))'.")
      Output(json: true).object(Failure(usage).members)
    }
    output.note(Help.unknown(words))
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
