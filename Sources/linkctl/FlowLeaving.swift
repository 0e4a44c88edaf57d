import AuthCore
import DBusCore
import LinkdContract
import Texts

/// Commands that leave before their flow has ended.
extension FlowFollower {
  func leave(_ path: ObjectPath) throws(Failure) -> Int32 {
    let report = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
    if context.output.json {
      context.output.object(report.members(url: url, setup: setup))
    } else {
      context.output.line(report.id)
      if let url { context.output.line(Output.printable(url.reveal())) }
      if setup != nil {
        context.output.note(report.sentence(locale: context.locale))
        showSetup()
      }
    }
    return 0
  }

  func leaveWithPage(_ path: ObjectPath) throws(Failure) -> Int32 {
    while true {
      let report = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
      guard report.stage == .starting else {
        if report.hasPage { url = pageURL(path) }
        _ = findSetup(report, path)
        return try leave(path)
      }
      guard try context.nextSignal() != nil else { throw .timeout(context) }
    }
  }

  /// What an interrupt makes of the flow: one that this command made, and that nobody else can go on with, is cancelled.
  func giveUp(_ path: ObjectPath) {
    // The terminal has shown ^C.
    if question == nil, Interrupt.isTyped { Prompt.show("\n") }
    endQuestion()
    guard isOwn, let report = report ?? read(path) else { return }
    if report.stage == .exchanging { return say("command.goes-on") }
    // A mailed link outlives the command, unless it was for what is given up as well.
    if report.isFinishedElsewhere && parked == nil || report.stage.isEnd { return }
    cancel(path)
    // Of two flows for one wish a person is told once.
    if parked == nil || context.output.json, let end = read(path), end.stage.isEnd { show(end) }
  }

  private func read(_ path: ObjectPath) -> FlowReport? {
    (try? context.properties(path, Contract.Interface.flow)).map { FlowReport(path: path, properties: $0) }
  }

  /// Gives a flow up. One that has ended meanwhile is nobody's fault.
  func cancel(_ path: ObjectPath) {
    _ = try? context.call(path, Contract.Interface.flow, "Cancel", [context.options()], seconds: 3)
  }
}

extension FlowReport {
  /// Whether a mailed link ends it, wherever that is opened.
  fileprivate var isFinishedElsewhere: Bool {
    stage == .waitingForLink || stage == .starting && methodName == SignInMethod.emailLink.description
  }
}
