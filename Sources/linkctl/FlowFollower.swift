import AuthCore
import DBusCore
import Glibc
import LinkdContract

/// Waits for a flow: one line per stage until it ends, or until the next step must come from somebody who can't be asked.
final class FlowFollower {
  private let context: Context
  private var lastSequence: UInt64 = 0

  private init(_ context: Context) { self.context = context }

  /// Makes a flow by `start`, which answers with the flow's path, and follows it.
  static func run(
    _ context: Context, wait: Bool, start: () throws(Failure) -> ObjectPath
  ) throws(Failure) -> Int32 {
    guard wait else {
      let path = try start()
      let report = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
      context.output.json ? context.output.object(report.members()) : context.output.line(report.id)
      return 0
    }
    // Before the flow exists, so that no stage is missed.
    try context.subscribe(
      MatchRule(
        sender: Contract.busName, pathNamespace: Contract.flowsPath, interface: Contract.Interface.flow,
        member: "StageChanged"))
    try context.subscribe(.ownerOfLinkd)
    Interrupt.endsQuietly()
    return try FlowFollower(context).follow(try start())
  }

  private func follow(_ path: ObjectPath) throws(Failure) -> Int32 {
    if let code = try step(path) { return code }
    while let signal = try context.nextSignal() {
      // A linkd that died is started anew by asking, and goes on with the flow.
      guard signal.path == path || signal.member == "NameOwnerChanged" else { continue }
      if let code = try step(path) { return code }
    }
    throw .timeout(context)
  }

  /// Reads the flow as it is now, prints it if it's news, and acts. Nil while there's something to wait for.
  private func step(_ path: ObjectPath) throws(Failure) -> Int32? {
    let report = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
    guard report.sequence > lastSequence else { return nil }
    lastSequence = report.sequence
    context.output.json
      ? context.output.object(report.members()) : context.output.note(report.sentence(locale: context.locale))
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
    return report.needsAnswer ? try ask(report, path) : nil
  }

  /// The error is the last line, unless the flow was given up.
  private func end(_ report: FlowReport, _ code: Int32) -> Int32 {
    if code != 0, context.output.json, let failure = report.failure(exitCode: code) { context.output.failure(failure) }
    return code
  }

  /// Asks for what the flow waits for. An answer that isn't taken is asked for again.
  private func ask(_ report: FlowReport, _ path: ObjectPath) throws(Failure) -> Int32? {
    guard Prompt.canAsk, let answer = FlowAnswer.ask(report, locale: context.locale) else {
      if let hint = FlowAnswer.hint(report) { context.output.note("linkctl: \(hint)") }
      return end(report, 4)
    }
    do throws(Failure) {
      _ = try context.call(path, Contract.Interface.flow, answer.member, answer.arguments + [context.options()])
    } catch {
      guard [AuthError.invalidEmail, .weakPassword].contains(where: { $0.dbusName == error.name }) else { throw error }
      context.output.note(Output.printable(error.message))
      return try ask(report, path)
    }
    return nil
  }
}

/// An interrupted command ends with 130; the flow goes on without us.
enum Interrupt {
  static func endsQuietly() {
    for number in [SIGINT, SIGTERM] { signal(number) { _ in _exit(130) } }
  }
}

extension MatchRule {
  /// linkd came or went.
  static let ownerOfLinkd = MatchRule(
    sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
    arg0: Contract.busName)
}
