import AuthCore
import DBusCore
import Glibc
import LinkdContract

/// Waits for a flow: one line per stage until it ends, or until the next step must come from somebody who can't be asked.
final class FlowFollower {
  /// What becomes of a page that the flow needs.
  enum Page {
    /// It's opened, where there's a browser; else printed.
    case open
    case print
    /// It's somebody else's to open.
    case ignore
  }

  let context: Context
  private var page: Page
  /// The flow as it was last seen.
  private(set) var report: FlowReport?
  private var inputEnded = false
  var browser: WebBrowser?
  var url: Secret<String>?
  /// Whether the person has chosen to sign in another way first: the flow waits for that in `conflict`.
  var waitsForSignIn: Bool
  /// Whether they were told how.
  var hasSaidHow = false
  /// What was asked last, while the cursor stands behind the question.
  var question: Question?
  /// Who has signed in with another address than the one in conflict, as it was last seen.
  var otherUID: String?
  /// The sentence that was printed last.
  private var lastSentence: String?
  /// When the flow was first seen in an exchange that fails for now.
  private var stuckSince: Int64?

  private init(_ context: Context, _ page: Page, waitsForSignIn: Bool) {
    self.context = context
    self.page = page
    self.waitsForSignIn = waitsForSignIn
  }

  /// Makes a flow by `start`, which answers with the flow's path, and follows it.
  /// - Parameters:
  ///   - wait: whether to; else the flow's id is printed, with `page` `print` once there's a page, and its URL.
  ///   - waitsForSignIn: whether a conflict has been answered by signing in another way.
  static func run(
    _ context: Context, wait: Bool, page: Page = .ignore, waitsForSignIn: Bool = false,
    start: () throws(Failure) -> ObjectPath
  ) throws(Failure) -> Int32 {
    let follower = FlowFollower(context, page, waitsForSignIn: waitsForSignIn)
    if !wait, page != .print { return try follower.leave(try start()) }
    // Before the flow exists, so that no stage is missed.
    try context.subscribe(
      MatchRule(
        sender: Contract.busName, pathNamespace: Contract.flowsPath, interface: Contract.Interface.flow,
        member: "StageChanged"))
    try context.subscribe(.ownerOfLinkd)
    Interrupt.endsQuietly()
    let path = try start()
    return wait ? try follower.follow(path) : try follower.leaveWithPage(path)
  }

  // MARK: Leaving at once

  private func leave(_ path: ObjectPath) throws(Failure) -> Int32 {
    let report = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
    if context.output.json {
      context.output.object(report.members(url: url))
    } else {
      context.output.line(report.id)
      if let url { context.output.line(Output.printable(url.reveal())) }
    }
    return 0
  }

  private func leaveWithPage(_ path: ObjectPath) throws(Failure) -> Int32 {
    while true {
      let stage = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow)).stage
      guard stage == .starting else {
        if stage == .waitingForRedirect { url = pageURL(path) }
        return try leave(path)
      }
      guard try context.nextSignal() != nil else { throw .timeout(context) }
    }
  }

  // MARK: Following

  private func follow(_ path: ObjectPath) throws(Failure) -> Int32 {
    if let code = try step(path) { return code }
    while let event = try nextEvent() {
      var code: Int32?
      switch event {
      case .signal(let signal):
        // A linkd that died is started anew by asking, and goes on with the flow.
        if signal.path == path || signal.member == "NameOwnerChanged" { code = try step(path) }
      case .input: code = try readLine(path)
      case .pause: code = givesUp()
      }
      if let code { return code }
    }
    endQuestion()
    throw .timeout(context)
  }

  /// Input counts while a stage takes what is typed, and while this program has the terminal: it would be stopped otherwise.
  private func nextEvent() throws(Failure) -> Context.Event? {
    let takesInput = Prompt.canAsk && !inputEnded && (report?.takesLine ?? false)
    let front = tcgetpgrp(STDIN_FILENO)
    // A terminal that rules no jobs of ours stops nobody.
    let isInFront = takesInput && (front < 0 || front == getpgrp())
    // One look: what ends in between is seen after the pause.
    let outcome = browser?.outcome
    if outcome == .failed { showPage(isBrowserMissing: true) }
    return try context.nextEvent(
      input: isInFront,
      pauseAfter: outcome == .opening ? 200 : takesInput && !isInFront || stuckSince != nil ? 1000 : nil)
  }

  /// Reads the flow as it is now, prints it if it's news, and acts. Nil while there's something to wait for.
  private func step(_ path: ObjectPath) throws(Failure) -> Int32? {
    let report = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
    guard report.sequence > (self.report?.sequence ?? 0) else { return nil }
    self.report = report
    // Asked for once: a wrong answer leaves the same page open.
    let isFirst = report.stage == .waitingForRedirect && page != .ignore && url == nil
    if isFirst { url = pageURL(path) }
    let isPrinted = isFirst && (page == .print || !WebBrowser.isThere)
    show(report, url: isPrinted ? url : nil)
    stuckSince = report.stage == .exchanging ? stuckSince ?? stuck(report) : nil
    if report.stage.isEnd { return end(report, report.exitCode()) }
    if let code = trouble(report) { return end(report, code) }
    if report.stage == .conflict { return askForChoice(report) }
    if isFirst { isPrinted ? showPage(isBrowserMissing: page == .open) : openPage(path) }
    return report.needsAnswer ? try ask(report, path) : nil
  }

  private func show(_ report: FlowReport, url: Secret<String>?) {
    if context.output.json {
      endQuestion()
      return context.output.object(report.members(url: url))
    }
    let sentence = report.sentence(locale: context.locale)
    if isKnown(report, sentence) { return }
    lastSentence = sentence
    endQuestion()
    context.output.note(sentence)
  }

  /// Whether the person has read that just now: these stages change without anything new to say.
  private func isKnown(_ report: FlowReport, _ sentence: String) -> Bool {
    switch report.stage {
    case .exchanging: sentence == lastSentence
    case .conflict: sentence == lastSentence || waitsForSignIn
    default: false
    }
  }

  // MARK: An exchange that fails for now

  /// Seconds after which a command that nobody sits at stops waiting for a server.
  private static let patience: Int64 = 60

  private func stuck(_ report: FlowReport) -> Int64? {
    guard !Prompt.canAsk, let name = report.errorName, Failure.exitCode(name) == 75 else { return nil }
    return Clock.milliseconds
  }

  /// The flow goes on by itself, without us.
  private func givesUp() -> Int32? {
    guard let stuckSince, let report, Clock.milliseconds - stuckSince >= Self.patience * 1000 else { return nil }
    say("command.goes-on")
    return end(report, 75)
  }

  /// The exit code of a flow that waits for what won't come from here; nil to go on.
  private func trouble(_ report: FlowReport) -> Int32? {
    // Somebody else, or another command, signs in again; the flow goes on by itself then.
    if report.stage == .reauthenticationRequired { return Prompt.canAsk ? nil : 4 }
    guard let name = report.errorName else { return nil }
    let code = Failure.exitCode(name)
    // What went wrong leaves the flow waiting; whoever called decides about trying again.
    if report.stage == .waitingForLink { return report.waitsForSecondLink && page != .ignore ? nil : code }
    let isStuck = report.needsAnswer || report.stage == .starting
    return code == 75 && isStuck && !Prompt.canAsk ? code : nil
  }

  /// The error is the last line, unless the flow was given up.
  func end(_ report: FlowReport, _ code: Int32) -> Int32 {
    if code != 0, context.output.json, let failure = report.failure(exitCode: code) { context.output.failure(failure) }
    return code
  }

  // MARK: Answers

  /// Asks for what the flow waits for. An answer that isn't taken is asked for again.
  private func ask(_ report: FlowReport, _ path: ObjectPath) throws(Failure) -> Int32? {
    guard Prompt.canAsk, let answer = FlowAnswer.ask(report, locale: context.locale) else { return nobody(report) }
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
  func nobody(_ report: FlowReport) -> Int32 {
    if let hint = FlowAnswer.hint(report) { context.output.note("linkctl: \(hint)") }
    return end(report, 4)
  }

  /// A line that was typed while the flow waited.
  private func readLine(_ path: ObjectPath) throws(Failure) -> Int32? {
    guard let report else { return nil }
    // The line's own end is on the screen.
    question = nil
    let line: String?
    do throws(Failure) {
      line = try Input.firstLine()
    } catch {
      context.output.note(Output.printable(error.message))
      return nil
    }
    guard let line else {
      inputEnded = true
      return report.needsChoice && !waitsForSignIn ? nobody(report) : nil
    }
    report.stage == .conflict ? choose(line, report, path) : pasted(line)
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
