import AuthCore
import DBusCore
import LinkdContract
import Texts

/// A command: its help and what it does. The help, the completion and the dispatch come from the same table.
struct Command: Sendable {
  /// `sign-in`, `app add`.
  let name: String
  let synopsis: String
  let summary: String
  let example: String
  var options: [OptionSpec] = []
  /// Whether foreign flags are passed over (`open`).
  var ignoresUnknownOptions = false
  let run: @Sendable (Context) throws(Failure) -> Int32

  /// Every command, in the order of the help.
  static let all: [Command] = [
    .open, .canHandle, .signIn, .createUser, .signOut, .reauthenticate, .status, .whoami, .token, .flows, .resend,
    .cancel, .email, .password, .code, .factor, .confirm, .resolve, .monitor, .accountProfile, .accountPassword,
    .accountEmail, .accountPhone, .accountVerifyEmail, .accountResetPassword, .accountLink, .accountUnlink,
    .accountDelete, .mfaList, .mfaEnrollPhone, .mfaEnrollTOTP, .mfaUnenroll, .appAdd, .appList, .appShow, .appRemove,
    .appDefault, .appBridge, .register, .unregister,
  ]

  /// The command that `arguments` begins with, and how many words its name has.
  static func find(_ arguments: ArraySlice<String>) -> (command: Command, words: Int)? {
    guard let first = arguments.first else { return nil }
    // What desktops and scripts run by the thousand needn't make the others.
    if let command = hot(first) { return (command, 1) }
    if let command = all.first(where: { $0.name == first }) { return (command, 1) }
    guard let second = arguments.dropFirst().first else { return nil }
    return all.first { $0.name == "\(first) \(second)" }.map { ($0, 2) }
  }

  private static func hot(_ name: String) -> Command? {
    switch name {
    case "open": .open
    case "token": .token
    default: nil
    }
  }
}

/// Why a command ends without success: the error line and the exit code.
struct Failure: Error {
  /// A D-Bus error name; nil where none fits.
  let name: String?
  let message: String
  let exitCode: Int32
  /// Whether the command line itself is wrong.
  let isUsage: Bool

  init(name: String?, message: String, exitCode: Int32, isUsage: Bool = false) {
    self.name = name
    self.message = message
    self.exitCode = exitCode
    self.isUsage = isUsage
  }

  init(_ error: AuthError, message: String) {
    self.init(name: error.dbusName, message: message, exitCode: error.exitCode)
  }

  init(_ usage: UsageError) {
    self.init(name: "org.freedesktop.DBus.Error.InvalidArgs", message: usage.message, exitCode: 64, isUsage: true)
  }

  /// The error reply of a call. What the bus itself says is for programmers, so people get a next step before it.
  init(_ error: DBusError) {
    // Apps are asked for; the only objects that are named without asking are flows.
    if error.name == "org.freedesktop.DBus.Error.UnknownObject" {
      self.init(.noSuchFlow, message: Texts.lookup("command.no-such-flow", locale: nil))
      return
    }
    let code = Self.exitCode(error.name)
    let isService = error.name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") || Self.noService.contains(error.name)
    let text = code == 69 ? Texts.lookup(isService ? "command.no-service" : "command.no-bus", locale: nil) : nil
    self.init(name: error.name, message: text.map { "\($0) (\(error.message))" } ?? error.message, exitCode: code)
  }

  /// The bus is there, and linkd can't be started.
  private static let noService = ["ServiceUnknown", "NameHasNoOwner", "TimedOut"].map {
    "org.freedesktop.DBus.Error.\($0)"
  }

  /// Nobody can be asked: input isn't a terminal.
  static func nobodyToAsk(_ what: String) -> Failure {
    Failure(name: nil, message: Texts.lookup("command.nobody-to-ask", locale: nil, ["what": what]), exitCode: 4)
  }

  static var noAgreement: Failure { nobodyToAsk("Your agreement (or --yes)") }

  /// The last line of `--json`.
  var members: [(key: String, value: JSONValue?)] {
    [("error", name.map(JSONValue.string)), ("message", .string(message)), ("exit", .integer(Int64(exitCode)))]
  }

  /// `--timeout` is over.
  static func timeout(_ context: Context) -> Failure {
    let text = Texts.lookup("command.timeout", locale: context.locale, ["seconds": String(context.timeout ?? 0)])
    return Failure(name: "org.freedesktop.DBus.Error.Timeout", message: text, exitCode: 75)
  }

  static func exitCode(_ name: String) -> Int32 {
    if let error = AuthError(dbusName: name) { return error.exitCode }
    switch name {
    case "org.freedesktop.DBus.Error.InvalidArgs", "org.freedesktop.DBus.Error.UnknownMethod": return 64
    case "org.freedesktop.DBus.Error.AccessDenied": return 77
    case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout": return 75
    case "org.freedesktop.DBus.Error.UnknownObject": return 1
    // The bus waited in vain for the service to start.
    case "org.freedesktop.DBus.Error.TimedOut": return 69
    case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NoServer",
      "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.Disconnected",
      "org.freedesktop.DBus.Error.FileNotFound", "org.freedesktop.DBus.Error.BadAddress",
      "org.freedesktop.DBus.Error.NotSupported", "org.freedesktop.DBus.Error.AuthFailed":
      return name.hasSuffix("NotSupported") ? 1 : 69
    default: return name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") ? 69 : 1
    }
  }
}
