import AuthCore
import DBusCore
import Glibc
import LinkdContract
import Texts

/// A command's surroundings: its arguments, its output, its connection.
final class Context {
  let command: Command
  let arguments: Arguments
  let output: Output
  /// Seconds the whole command may take; nil for as long as it takes.
  let timeout: UInt32?
  private var open: SyncConnection?
  /// Whether standard input has given its password.
  var hasReadPassword = false
  private let started = Clock.milliseconds

  init(_ command: Command, _ arguments: Arguments) throws(UsageError) {
    self.command = command
    self.arguments = arguments
    output = Output(json: arguments.has("json"))
    timeout = try arguments.number("timeout")
  }

  /// `FIREBASE_AUTH_EMULATOR_HOST`: an activated daemon doesn't see a shell's variable.
  var emulator: String? {
    getenv("FIREBASE_AUTH_EMULATOR_HOST").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The options every call gets: emulator and language.
  func options(_ more: [String: DBusValue] = [:]) -> DBusValue {
    var all = more
    all["emulator"] = emulator.map(DBusValue.string)
    all["locale"] = locale.map(DBusValue.string)
    return .dict(all)
  }

  /// The language of messages: `de-AT` of `LC_MESSAGES=de_AT.UTF-8`.
  var locale: String? {
    for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
      guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { continue }
      // By bytes, like everything on the way of a click: characters would load Unicode's tables.
      let tag = value.utf8.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "@") }
      let text = String(decoding: tag.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
      return text == "C" || text == "POSIX" ? nil : text
    }
    return nil
  }

  /// One call to linkd, which starts it where it isn't running.
  /// - Parameter seconds: how long to wait for the answer at most.
  func call(
    _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [DBusValue], seconds: UInt32 = 3600
  ) throws(Failure) -> [DBusValue] {
    do throws(DBusError) {
      let connection = try connection()
      return try connection.call(
        destination: Contract.busName, path: path, interface: interface, member: member, arguments: arguments,
        timeoutMilliseconds: Int32(clamping: Int64(min(timeout ?? 25, seconds)) * 1000))
    } catch {
      throw Failure(error)
    }
  }

  /// Whether the time that the whole command may take is over.
  var hasTimedOut: Bool { Clock.milliseconds - started >= Int64(timeout ?? 25) * 1000 }

  /// Has signals kept for `nextSignal`.
  func subscribe(_ rule: MatchRule) throws(Failure) {
    do throws(DBusError) { try connection().subscribe(rule) } catch { throw Failure(error) }
  }

  /// The next signal; nil when the command's time is over. Without `--timeout` it waits for as long as it takes.
  func nextSignal() throws(Failure) -> Signal? {
    do throws(DBusError) {
      while true {
        let left = timeout.map { max(0, Int64($0) * 1000 - (Clock.milliseconds - started)) }
        if left == 0 { return nil }
        if let signal = try connection().nextSignal(milliseconds: left.map { Int32(clamping: $0) } ?? -1) {
          return signal
        }
      }
    } catch {
      throw Failure(error)
    }
  }

  /// What ends a wait.
  enum Event {
    case signal(Signal)
    /// A line, or the end, of standard input can be read.
    case input
    /// Nothing yet, or an interrupt.
    case pause
  }

  /// The next signal, line or pause; nil when the command's time is over.
  /// - Parameters:
  ///   - input: whether standard input counts.
  ///   - milliseconds: when to pause at the latest; nil for never.
  func nextEvent(input: Bool, pauseAfter milliseconds: Int64?) throws(Failure) -> Event? {
    do throws(DBusError) {
      let connection = try connection()
      if let signal = try connection.nextSignal(milliseconds: 0) { return .signal(signal) }
      let left = timeout.map { max(0, Int64($0) * 1000 - (Clock.milliseconds - started)) }
      if left == 0 { return nil }
      let wait = [left, milliseconds].compactMap(\.self).min()
      var sources = [
        pollfd(fd: connection.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: input ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let ready = poll(&sources, 3, wait.map { Int32(clamping: $0) } ?? -1)
      return ready > 0 && sources[1].revents != 0 ? .input : .pause
    } catch {
      throw Failure(error)
    }
  }

  /// The object of the app that is meant: `--app`, else the default one.
  func appPath() throws(Failure) -> ObjectPath {
    let name = arguments.value("app") ?? ""
    do throws(Failure) {
      let reply = try call(Contract.rootPath, Contract.Interface.manager, "GetApp", [.string(name), options()])
      return reply.first?.asPath ?? Contract.rootPath
    } catch {
      guard name.isEmpty, error.name == AuthError.noSuchApp.dbusName else { throw error }
      throw severalApps ?? error
    }
  }

  /// Nothing is missing where there are several apps: one has to be named. Nil for none or one.
  private var severalApps: Failure? {
    let paths = try? property(Contract.rootPath, Contract.Interface.manager, "Apps").asPaths
    let names = (paths ?? []).filter { !Contract.isEmulatorVariant($0) }.compactMap { Contract.appID(path: $0)?.value }
    guard names.count > 1 else { return nil }
    let values = ["apps": names.sorted().joined(separator: ", "), "app": names.min() ?? ""]
    return Failure(.noSuchApp, message: Texts.lookup("command.several-apps", locale: locale, values))
  }

  /// All properties of one interface.
  func properties(_ path: ObjectPath, _ interface: String) throws(Failure) -> [String: DBusValue] {
    let reply = try call(path, "org.freedesktop.DBus.Properties", "GetAll", [.string(interface)])
    return reply.first?.asDict ?? [:]
  }

  func property(_ path: ObjectPath, _ interface: String, _ name: String) throws(Failure) -> DBusValue {
    let reply = try call(path, "org.freedesktop.DBus.Properties", "Get", [.string(interface), .string(name)])
    return reply.first ?? .string("")
  }

  private func connection() throws(DBusError) -> SyncConnection {
    if let open { return open }
    let connection = try SyncConnection(.session)
    open = connection
    return connection
  }
}

/// The time that goes on while the machine sleeps.
enum Clock {
  static var milliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

extension Optional where Wrapped == String {
  /// The text, where there is one that isn't empty.
  var filled: String? { flatMap { $0.isEmpty ? nil : $0 } }
}
