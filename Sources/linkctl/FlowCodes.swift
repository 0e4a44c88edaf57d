import AuthCore
import DBusCore
import Glibc
import LinkdContract
import Texts

/// Codes of text messages and authenticator apps (behaviour: Phone, Second factors).
extension FlowFollower {
  /// Whether a script gives the codes.
  var readsCode: Bool { context.arguments.has("code-stdin") }

  /// Asks for the code. What is typed isn't shown, and the flow is watched meanwhile.
  func askForCode(_ report: FlowReport) -> Int32? {
    // A script has one code for each message.
    guard readsCode ? report.errorName == nil : Prompt.canAsk, !inputEnded else { return nobody(report) }
    isAsking = true
    if readsCode { return nil }
    question = .code
    // The question comes once nothing is shown any more: who is quick would type into the open.
    Echo.hide()
    Prompt.show(Texts.lookup(codePromptID(report), locale: context.locale))
    return nil
  }

  private func codePromptID(_ report: FlowReport) -> String {
    if setup != nil { return "ask.code-or-uri" }
    if report.hasNoMessage { return "ask.new-message" }
    let isChoice = factors.count > 1
    if report.isTOTP { return isChoice ? "ask.code-or-other" : "ask.code" }
    return isChoice ? "ask.code-or-new-or-other" : "ask.code-or-new"
  }

  /// The code that was typed, or what stands for another wish.
  func takeCode(_ line: Secret<String>, _ report: FlowReport, _ path: ObjectPath) throws(Failure) -> Int32? {
    let word = line.reveal().split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased()
    if !readsCode {
      switch word {
      case "", "r": return report.isTOTP ? askForCode(report) : try resend(report, path)
      case "o" where factors.count > 1: return listFactors()
      case "u" where setup != nil:
        showURI()
        return askForCode(report)
      case _ where report.hasNoMessage: return askForCode(report)
      default: break
      }
    }
    return try answer("ProvideCode", [.string(line.reveal())], report, path)
  }

  /// Gives an answer that may be refused at once: then it's asked for again.
  func answer(
    _ member: String, _ arguments: [DBusValue], _ report: FlowReport, _ path: ObjectPath
  ) throws(Failure) -> Int32? {
    let options = context.options(["open-browser": .boolean(!isOwn)])
    do throws(Failure) {
      _ = try context.call(path, Contract.Interface.flow, member, arguments + [options])
      return nil
    } catch {
      return try refused(error, report, path)
    }
  }

  private func refused(_ failure: Failure, _ report: FlowReport, _ path: ObjectPath) throws(Failure) -> Int32? {
    let now = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
    // It has gone on meanwhile: what it says now counts.
    if now.sequence > report.sequence { return try step(path) }
    guard Prompt.canAsk, !readsCode else {
      let isWrong = failure.name == AuthError.invalidVerificationCode.dbusName
      throw isWrong ? Failure(name: failure.name, message: failure.message, exitCode: 4) : failure
    }
    context.output.note(Output.printable(failure.message))
    return report.stage == .secondFactorRequired ? askForFactor(report) : askForCode(report)
  }

  // MARK: Another message

  private func resend(_ report: FlowReport, _ path: ObjectPath) throws(Failure) -> Int32? {
    isTooEarly(report) ? askForCode(report) : try answer("Resend", [], report, path)
  }

  /// Says when the next message may be sent, where that isn't now.
  private func isTooEarly(_ report: FlowReport) -> Bool {
    let now = Int64(time(nil))
    guard let at = report.canResendAt, at > now else { return false }
    say("command.resend-later", ["seconds": String(at - now)])
    return true
  }

  /// Whether a flow that failed begins anew: a person may want another message or page.
  func beginsAnew(_ report: FlowReport, _ path: ObjectPath) throws(Failure) -> Bool {
    guard report.canBeginAnew else { return false }
    guard Prompt.canAsk, !inputEnded, !readsCode else {
      if let hint = FlowAnswer.hint(report) { context.output.note("linkctl: \(hint)") }
      return false
    }
    while Prompt.agrees(Texts.lookup("ask.begin-anew", locale: context.locale)) {
      if isTooEarly(report) { continue }
      do throws(Failure) {
        let options = context.options(["open-browser": .boolean(!isOwn)])
        _ = try context.call(path, Contract.Interface.flow, "Resend", [options])
        return true
      } catch {
        context.output.note(Output.printable(error.message))
        if error.name == AuthError.noSuchFlow.dbusName { return false }
      }
    }
    return false
  }
}
