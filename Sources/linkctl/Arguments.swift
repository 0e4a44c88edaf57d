import AuthCore
import Glibc

/// One option of a command, as the help shows it.
struct OptionSpec: Sendable {
  /// Without the dashes.
  let name: String
  /// The placeholder of its value; nil for a flag.
  let value: String?
  let help: String
  /// Whether it may stand several times.
  var isRepeatable = false

  static func flag(_ name: String, _ help: String) -> OptionSpec { OptionSpec(name: name, value: nil, help: help) }

  static func value(_ name: String, _ value: String, _ help: String, isRepeatable: Bool = false) -> OptionSpec {
    OptionSpec(name: name, value: value, help: help, isRepeatable: isRepeatable)
  }

  /// Those that stand anywhere before `--`.
  static let global: [OptionSpec] = [
    .value("app", "ID", "the app, where there are several"),
    .flag("json", "one JSON object a line on standard output"),
    .value("timeout", "S", "give up after S seconds"),
    .flag("help", "this text"),
    .flag("version", "the version"),
  ]
}

/// Wrong usage: exit 64.
struct UsageError: Error {
  let message: String
}

/// What stands on the command line, sorted out by a command's option table.
struct Arguments: Sendable {
  private(set) var words: [String] = []
  /// After `--`: nothing here is an option.
  private(set) var rest: [String] = []
  /// In the order given. Few, so that lists do: each hashed collection costs a start of the program some 40 µs.
  private var values: [(name: String, value: String)] = []
  private var flags: [String] = []

  /// - Parameter ignoringUnknown: a launcher's own flags may stand between ours (field report B079).
  init(_ arguments: ArraySlice<String>, _ specs: [OptionSpec], ignoringUnknown: Bool = false) throws(UsageError) {
    var index = arguments.startIndex
    while index < arguments.endIndex {
      let argument = arguments[index]
      index += 1
      if argument == "--" {
        rest = Array(arguments[index...])
        return
      }
      guard argument.hasPrefix("-"), argument != "-" else {
        words.append(argument)
        continue
      }
      let parts = Self.name(argument).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let spec = specs.first(where: { $0.name == parts[0] }) else {
        if ignoringUnknown { continue }
        throw UsageError(message: "There is no option \(argument).")
      }
      let inline = parts.count > 1 ? String(parts[1]) : nil
      try take(spec, inline, arguments, &index)
    }
  }

  private mutating func take(
    _ spec: OptionSpec, _ inline: String?, _ arguments: ArraySlice<String>, _ index: inout Int
  ) throws(UsageError) {
    guard spec.value != nil else {
      guard inline == nil else { throw UsageError(message: "--\(spec.name) takes no value.") }
      flags.append(spec.name)
      return
    }
    var value = inline
    if value == nil, index < arguments.endIndex {
      value = arguments[index]
      index += 1
    }
    guard let value else { throw UsageError(message: "--\(spec.name) needs a value.") }
    if !spec.isRepeatable, self.value(spec.name) != nil {
      throw UsageError(message: "--\(spec.name) stands twice.")
    }
    values.append((spec.name, value))
  }

  private static func name(_ argument: String) -> Substring {
    switch argument {
    case "-h": "help"
    default: argument.drop { $0 == "-" }
    }
  }

  func has(_ flag: String) -> Bool { flags.contains(flag) }
  func value(_ name: String) -> String? { values.first { $0.name == name }?.value }
  func all(_ name: String) -> [String] { values.filter { $0.name == name }.map(\.value) }

  /// The whole number of an option.
  func number(_ name: String) throws(UsageError) -> UInt32? {
    guard let text = value(name) else { return nil }
    guard let number = UInt32(text) else { throw UsageError(message: "--\(name) must be a whole number.") }
    return number
  }

  /// Exactly the words named, or a usage error that names the first one missing.
  func words(_ names: String...) throws(UsageError) -> [String] {
    guard words.count >= names.count else { throw UsageError(message: "\(names[words.count]) is missing.") }
    guard words.count == names.count else { throw UsageError(message: "'\(words[names.count])' is one word too many.") }
    return words
  }
}
