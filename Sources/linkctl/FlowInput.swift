import AuthCore
import DBusCore
import LinkdContract
import Texts

/// What a person or a script gives while a flow is followed.
extension FlowFollower {
  /// Asks for what the flow waits for. An answer that isn't taken is asked for again.
  func ask(_ report: FlowReport, _ path: ObjectPath) throws(Failure) -> Int32? {
    guard let answer = try FlowAnswer.ask(report, context) else { return nobody(report) }
    do throws(Failure) {
      _ = try context.call(path, Contract.Interface.flow, answer.member, answer.arguments + [context.options()])
    } catch {
      guard [AuthError.invalidEmail, .weakPassword].contains(where: { $0.dbusName == error.name }) else { throw error }
      context.output.note(Output.printable(error.message))
      return try ask(report, path)
    }
    return nil
  }

  /// Nobody can be asked here: the command that answers, and exit 4.
  func nobody(_ report: FlowReport) -> Int32 { end(report, hinted(report)) }

  func hinted(_ report: FlowReport) -> Int32 {
    let hint = FlowAnswer.hint(report, app: context.arguments.value("app"))
    if let hint { context.output.note("linkctl: \(hint)") }
    return 4
  }

  /// A line that was typed while the flow waited.
  func readLine(_ path: ObjectPath) throws(Failure) -> Int32? {
    guard let report else { return nil }
    let asked = question
    // The line's own end is on the screen, unless what is typed isn't.
    if Echo.isOff { Prompt.show("\n") }
    Echo.restore()
    (question, isAsking) = (nil, false)
    let line: String?
    do throws(Failure) {
      line = try Input.firstLine()
    } catch {
      if readsCode { throw error }
      context.output.note(Output.printable(error.message))
      return try act(report, path)
    }
    guard let line else {
      inputEnded = true
      return report.needsAnswer || report.needsChoice && !waitsForSignIn ? nobody(report) : nil
    }
    switch report.stage {
    case .conflict: choose(line, report, path)
    case .waitingForCode, .secondFactorRequired:
      return try asked == .factor ? takeFactor(line, path) : takeCode(Secret(line), report, path)
    default: pasted(line)
    }
    return nil
  }
}
