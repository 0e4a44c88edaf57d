import AuthCore
import DBusCore
import LinkdContract
import Texts

/// A flow that waits until somebody has signed in again: it's done at once, by a flow of its own (behaviour: Reauthentication and
/// parked operations).
extension FlowFollower {
  func reauthenticate(_ report: FlowReport, _ path: ObjectPath) throws(Failure) -> Int32? {
    while true {
      // Where it can't be done from here, another command does it; the flow goes on by itself then.
      guard let (follower, again) = beginReauthentication(report, path) else { return nil }
      let code = try follower.follow(again)
      let now = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
      if code == 0 || now.stage != .reauthenticationRequired { return try step(path) }
      guard !follower.inputEnded, Prompt.agrees(Texts.lookup("ask.try-again", locale: context.locale)) else {
        cancel(path)
        return try step(path) ?? 130
      }
    }
  }

  private func beginReauthentication(_ report: FlowReport, _ path: ObjectPath) -> (FlowFollower, ObjectPath)? {
    guard let app = report.properties["App"]?.asPath else { return nil }
    let follower = FlowFollower(context, context.arguments.has("no-browser") ? .print : .open)
    follower.parked = path
    do throws(Failure) {
      let reply = try context.call(
        app, Contract.Interface.account, "Reauthenticate", [context.options(["open-browser": .boolean(false)])])
      return reply.first?.asPath.map { (follower, $0) }
    } catch {
      context.output.note(Output.printable(error.message))
      say("stage.reauthentication-required")
      return nil
    }
  }

  /// The flow that waits for this one has gone on, or ended: nobody needs this one then.
  func parkedMoved(_ parked: ObjectPath) throws(Failure) -> Int32? {
    let now = FlowReport(path: parked, properties: try context.properties(parked, Contract.Interface.flow))
    guard now.stage != .reauthenticationRequired, let own else { return nil }
    if let code = try step(own) { return code }
    endQuestion()
    cancel(own)
    return 130
  }
}
