import AuthCore

/// The help texts, from the command table.
enum Help {
  static var overview: String {
    var text = """
      linkctl – Firebase Auth for the Linux desktop, from the command line

      Usage: linkctl COMMAND [ARGUMENT…] [--app ID] [--json] [--timeout S]

      Commands:

      """
    text += list(Command.all)
    text += """

      'linkctl COMMAND --help' shows a command's options and an example.

      Exit codes: 0 done, 1 failed for good, 3 not an auth link of ours, 4 somebody must be asked,
      64 wrong usage, 65 broken link, 69 no session bus or service, 75 try again, 77 access denied, 130 cancelled.
      """
    return text
  }

  /// The commands that begin with `name`, such as `app`; nil where there are none.
  static func group(_ name: String) -> String? {
    let commands = Command.all.filter { $0.name.hasPrefix(name + " ") }
    guard !commands.isEmpty else { return nil }
    return "Usage: linkctl \(name) COMMAND [ARGUMENT…]\n\nCommands:\n\(list(commands))\n"
      + "'linkctl \(name) COMMAND --help' shows a command's options and an example."
  }

  /// What is said of words that are no command, with the one that was most likely meant.
  static func unknown(_ words: ArraySlice<String>) -> String {
    let isGroup = words.first.flatMap(group) != nil
    let typed = words.prefix(isGroup ? 2 : 1).joined(separator: " ")
    let near = nearest(typed, among: Command.all.map(\.name))
    let hint = near.map { "Did you mean '\($0)'?" } ?? "'linkctl --help' lists them."
    return "linkctl: There is no command '\(Output.printable(typed))'. \(hint)"
  }

  /// The name that was most likely meant; nil where none is near.
  static func nearest(_ typed: String, among names: [String]) -> String? {
    let near = names.map { (name: $0, distance: Spelling.distance($0, typed)) }.min { $0.distance < $1.distance }
    return near.flatMap { $0.distance <= 2 ? $0.name : nil }
  }

  private static func list(_ commands: [Command]) -> String {
    let width = commands.map(\.name.count).max() ?? 0
    return commands.reduce(into: "") { text, command in
      text +=
        "  " + command.name + String(repeating: " ", count: width - command.name.count + 2) + command.summary + "\n"
    }
  }

  static func text(of command: Command) -> String {
    var text = "linkctl \(command.name) – \(command.summary)\n\nUsage: linkctl \(command.synopsis)\n\nOptions:\n"
    let options = command.options + OptionSpec.global
    let heads = options.map { "--\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
    let width = heads.map(\.count).max() ?? 0
    for (option, head) in zip(options, heads) {
      text += "  " + head + String(repeating: " ", count: width - head.count + 2) + option.help + "\n"
    }
    return text + "\nExample:\n  \(command.example)"
  }
}
