/// The help texts, from the command table.
enum Help {
  static var overview: String {
    var text = """
      linkctl – Firebase Auth for the Linux desktop, from the command line

      Usage: linkctl COMMAND [ARGUMENT…] [--app ID] [--json] [--timeout S]

      Commands:

      """
    let width = Command.all.map(\.name.count).max() ?? 0
    for command in Command.all {
      text +=
        "  " + command.name + String(repeating: " ", count: width - command.name.count + 2) + command.summary + "\n"
    }
    text += """

      'linkctl COMMAND --help' shows a command's options and an example.

      Exit codes: 0 done, 1 failed for good, 3 not an auth link of ours, 4 somebody must be asked,
      64 wrong usage, 65 broken link, 69 no session bus or service, 75 try again, 77 access denied, 130 cancelled.
      """
    return text
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
