import AuthCore
import DBus
import EventLoop
import Glibc
import LinkdClient
import Texts

/// Waits for a flow: one line per stage until it ends, or until the next step must come from somebody who can't be asked.
@LoopActor
final class FlowFollower {
  private let output: Output
  private let options: DBusValue
  private let connection: Connection
  /// Seconds from the start on.
  private let timeout: UInt32?
  private let deadline: Int64?
  private var lastSequence: UInt64 = 0
  private let locale: String?

  private init(_ connection: Connection, _ output: Output, locale: String?, options: DBusValue, timeout: UInt32?) {
    self.connection = connection
    self.output = output
    self.options = options
    self.locale = locale
    self.timeout = timeout
    deadline = timeout.map { BootClock.seconds + Int64($0) }
  }

  /// Makes a flow by `start`, which gets a connection and answers with the flow's path, and follows it.
  nonisolated static func run(
    _ context: Context, wait: Bool,
    start: @escaping @LoopActor (Connection) async throws(DBusError) -> ObjectPath
  ) throws(Failure) -> Int32 {
    let output = context.output
    let options = context.options()
    let locale = context.locale
    let timeout = context.timeout
    return try LoopCommand.run { () async throws(Failure) in
      do throws(DBusError) {
        let connection = try await Connection.open(.session)
        let follower = FlowFollower(connection, output, locale: locale, options: options, timeout: timeout)
        // Before the flow exists, so that no stage is missed.
        let signals = try await follower.subscribe()
        let path = try await start(connection)
        if !wait {
          let report = try await follower.report(path)
          output.json ? output.object(report.members()) : output.line(report.id)
          return 0
        }
        return try await follower.follow(path, signals)
      } catch {
        throw Failure(error)
      }
    }
  }

  private func subscribe() async throws(DBusError) -> AsyncStream<Signal> {
    try await connection.signals(
      MatchRule(
        sender: Contract.busName, pathNamespace: Contract.flowsPath, interface: Contract.Interface.flow,
        member: "StageChanged"))
  }

  private func follow(_ path: ObjectPath, _ signals: AsyncStream<Signal>) async throws(DBusError) -> Int32 {
    let clock = deadline.map { deadline in
      EventLoop.shared.after(.seconds(max(0, deadline - BootClock.seconds))) { [weak self] in self?.timedOut() }
    }
    defer { clock?.cancel() }
    if let code = try await step(path) { return code }
    for await signal in signals where signal.path == path {
      if let code = try await step(path) { return code }
    }
    throw .disconnected
  }

  /// Reads the flow as it is now, prints it if it's news, and acts. Nil while there's something to wait for.
  private func step(_ path: ObjectPath) async throws(DBusError) -> Int32? {
    let report = try await report(path)
    guard report.sequence > lastSequence else { return nil }
    lastSequence = report.sequence
    output.json ? output.object(report.members()) : output.note(report.sentence(locale: locale))
    if report.stage.isEnd { return end(report, report.exitCode()) }
    // What went wrong leaves the flow waiting; whoever called decides about trying again.
    if let name = report.errorName {
      let code = Failure.exitCode(name)
      if report.stage == .waitingForLink || code == 75 && report.needsAnswer && !Prompt.canAsk {
        return end(report, code)
      }
    }
    // Somebody else, or another command, signs in again; the flow goes on by itself then.
    if report.stage == .reauthenticationRequired, !Prompt.canAsk { return end(report, 4) }
    return report.needsAnswer ? try await ask(report, path) : nil
  }

  /// The error is the last line, unless the flow was given up.
  private func end(_ report: FlowReport, _ code: Int32) -> Int32 {
    if code != 0, output.json, let failure = report.failure(exitCode: code) { output.failure(failure) }
    return code
  }

  /// Asks for what the flow waits for. An answer that isn't taken is asked for again.
  private func ask(_ report: FlowReport, _ path: ObjectPath) async throws(DBusError) -> Int32? {
    guard Prompt.canAsk, let answer = FlowAnswer.ask(report, locale: locale) else {
      if let hint = FlowAnswer.hint(report) { output.note("linkctl: \(hint)") }
      return end(report, 4)
    }
    do throws(DBusError) {
      _ = try await connection.call(
        destination: Contract.busName, path: path, interface: Contract.Interface.flow, member: answer.member,
        arguments: answer.arguments + [options])
    } catch {
      guard [AuthError.invalidEmail, .weakPassword].contains(where: { $0.dbusName == error.name }) else { throw error }
      output.note(Output.printable(error.message))
      return try await ask(report, path)
    }
    return nil
  }

  private func report(_ path: ObjectPath) async throws(DBusError) -> FlowReport {
    let reply = try await connection.call(
      destination: Contract.busName, path: path, interface: "org.freedesktop.DBus.Properties", member: "GetAll",
      arguments: [.string(Contract.Interface.flow)])
    return FlowReport(path: path, properties: reply.first?.asDict ?? [:])
  }

  private func timedOut() {
    let text = Texts.lookup("command.timeout", locale: locale, ["seconds": String(timeout ?? 0)])
    output.failure(Failure(name: "org.freedesktop.DBus.Error.Timeout", message: text, exitCode: 75))
    LoopCommand.end(75)
  }
}

/// A command that waits for signals: it runs on the loop, and an interrupt ends it with 130.
enum LoopCommand {
  /// Runs `body` on the loop in this thread until it's done.
  static func run(_ body: @escaping @LoopActor () async throws(Failure) -> Int32) throws(Failure) -> Int32 {
    let result = Outcome()
    Task.onLoop {
      EventLoop.shared.onSignal(SIGINT) { end(130) }
      EventLoop.shared.onSignal(SIGTERM) { end(130) }
      do throws(Failure) {
        result.value = .success(try await body())
      } catch {
        result.value = .failure(error)
      }
      EventLoop.shared.stop()
    }
    EventLoop.shared.run()
    return try result.value.get()
  }

  /// Ends the process at once: the flow goes on without us.
  static func end(_ code: Int32) -> Never { exit(code) }

  /// Written on the loop, read after the loop has ended.
  private final class Outcome: @unchecked Sendable {
    var value: Result<Int32, Failure> = .success(0)
  }
}
