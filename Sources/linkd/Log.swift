import EventLoop
import Glibc

/// The daemon's log: constant messages with key-value details, one line each on standard error, in the form that the
/// journal reads (`<level>`). No code, token, password, key, URL query or full address is ever among the details.
@LoopActor
struct Log {
  /// Syslog's levels (sd-daemon).
  enum Level: Int, Sendable, CaseIterable {
    case error = 3
    case warning = 4
    case info = 6
    case debug = 7

    init?(name: String) {
      switch name {
      case "error", "err": self = .error
      case "warning": self = .warning
      case "info", "notice": self = .info
      case "debug": self = .debug
      default: return nil
      }
    }

    /// The name that `LogControl1` and `LINKD_LOG` use.
    var name: String {
      switch self {
      case .error: "err"
      case .warning: "warning"
      case .info: "info"
      case .debug: "debug"
      }
    }
  }

  /// How much is written.
  let threshold: LogSwitch

  init(_ threshold: LogSwitch) { self.threshold = threshold }

  func error(_ message: StaticString, _ details: KeyValuePairs<String, any CustomStringConvertible> = [:]) {
    write(.error, message, details)
  }

  func warning(_ message: StaticString, _ details: KeyValuePairs<String, any CustomStringConvertible> = [:]) {
    write(.warning, message, details)
  }

  func info(_ message: StaticString, _ details: KeyValuePairs<String, any CustomStringConvertible> = [:]) {
    write(.info, message, details)
  }

  func debug(_ message: StaticString, _ details: KeyValuePairs<String, any CustomStringConvertible> = [:]) {
    write(.debug, message, details)
  }

  private func write(
    _ level: Level, _ message: StaticString, _ details: KeyValuePairs<String, any CustomStringConvertible>
  ) {
    guard level.rawValue <= threshold.level.rawValue else { return }
    var line = "<\(level.rawValue)>\(message)"
    for (key, value) in details { line += " \(key)=\(Self.plain(value.description))" }
    line += "\n"
    line.withCString { _ = Glibc.write(STDERR_FILENO, $0, strlen($0)) }
  }

  /// One word that can't forge a line.
  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x21 || $0.value == 0x7f ? "_" : $0 }))
  }
}

/// The log's level, which `LogControl1` changes.
@LoopActor
final class LogSwitch {
  var level: Log.Level

  init(environment: [String: String]) {
    level = environment["LINKD_LOG"].flatMap(Log.Level.init(name:)) ?? .info
  }
}
