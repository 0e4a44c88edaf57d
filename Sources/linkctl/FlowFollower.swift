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
  let page: Page
  /// The flow as it was last seen.
  private(set) var report: FlowReport?
  private var seen: UInt64 = 0
  var inputEnded = false
  var browser: WebBrowser?
  var url: Secret<String>?
  /// The stage whose page that is.
  private var pageStage: FlowStage?
  /// Of the authenticator app that is added.
  var setup: AppSetup?
  /// The second factors that could be chosen.
  var factors: [SecondFactor] = []
  /// The flow that goes on once this one has succeeded.
  var parked: ObjectPath?
  /// The flow that is followed.
  private(set) var own: ObjectPath?
  /// Whether the person has chosen to sign in another way first: the flow waits for that in `conflict`.
  var waitsForSignIn = false
  /// Whether the person has chosen the other account.
  var hasSwitched = false
  /// Whether they were told how.
  var hasSaidHow = false
  /// What was asked last, while the cursor stands behind it.
  var question: Question?
  /// Whether an answer is still to come for the stage that takes one alone.
  var isAsking = false
  /// Who has signed in with another address than the one in conflict, as it was last seen.
  var otherUID: String?
  /// The sentence that was printed last.
  private var lastSentence: String?
  /// When the flow was first seen in an exchange that fails for now.
  private var stuckSince: Int64?

  /// Whether this command made the flow: its pages and secrets are told here alone, and nobody else goes on with it.
  var isOwn: Bool { page != .ignore }

  init(_ context: Context, _ page: Page) {
    self.context = context
    self.page = page
  }

  /// Makes a flow by `start`, which answers with the flow's path, and follows it.
  /// - Parameters:
  ///   - wait: whether to; else the flow's id is printed, with `page` `print` once there's a page, and its URL.
  ///   - choice: how a conflict has been answered.
  ///   - seen: the sequence number of what the caller has seen already.
  ///   - leavesWithSetup: whether a command that doesn't wait needs an authenticator app's secret.
  static func run(
    _ context: Context, wait: Bool, page: Page = .ignore, choice: ConflictChoice? = nil, seen: UInt64 = 0,
    leavesWithSetup: Bool = false,
    start: () throws(Failure) -> ObjectPath
  ) throws(Failure) -> Int32 {
    let follower = FlowFollower(context, page)
    (follower.waitsForSignIn, follower.hasSwitched) = (choice == .signInAndLink, choice == .switch)
    follower.seen = seen
    if !wait, page != .print, !leavesWithSetup { return try follower.leave(try start()) }
    // Before the flow exists, so that no stage is missed.
    try context.subscribe(
      MatchRule(
        sender: Contract.busName, pathNamespace: Contract.flowsPath, interface: Contract.Interface.flow,
        member: "StageChanged"))
    try context.subscribe(.ownerOfLinkd)
    wait ? Interrupt.wakes() : Interrupt.endsQuietly()
    let path = try start()
    return wait ? try follower.follow(path) : try follower.leaveWithPage(path)
  }

  // MARK: Following

  /// Follows the flow to its end, or to what nobody answers.
  func follow(_ path: ObjectPath) throws(Failure) -> Int32 {
    own = path
    Interrupt.leaving.append { self.giveUp(path) }
    defer {
      Echo.restore()
      if !Interrupt.leaving.isEmpty { Interrupt.leaving.removeLast() }
    }
    if let code = try step(path) { return code }
    while let event = try nextEvent() {
      if let code = try took(event, path) { return code }
    }
    endQuestion()
    throw .timeout(context)
  }

  private func took(_ event: Context.Event, _ path: ObjectPath) throws(Failure) -> Int32? {
    if Interrupt.isRaised { Interrupt.leave() }
    switch event {
    case .signal(let signal):
      // A linkd that died is started anew by asking, and goes on with the flow.
      if signal.path == path || signal.member == "NameOwnerChanged" { return try step(path) }
      return signal.path == parked ? try parkedMoved(signal.path) : nil
    case .input: return try readLine(path)
    case .pause: return givesUp()
    }
  }

  /// Input counts while a stage takes what is typed, and while this program has the terminal: it would be stopped otherwise.
  private func nextEvent() throws(Failure) -> Context.Event? {
    if Interrupt.isRaised { Interrupt.leave() }
    let takesInput = !inputEnded && (isAsking || Prompt.canAsk && !readsCode && report?.takesLine ?? false)
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
  func step(_ path: ObjectPath) throws(Failure) -> Int32? {
    var report = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
    report.hasSwitched = hasSwitched
    guard report.sequence > seen else { return nil }
    seen = report.sequence
    self.report = report
    isAsking = false
    let isFirst = findPage(report, path)
    let isPrinted = isFirst && (page == .print || !WebBrowser.isThere)
    let isNewSetup = findSetup(report, path)
    show(report, url: isPrinted ? url : nil, setup: isNewSetup ? setup : nil)
    stuckSince = report.stage == .exchanging ? stuckSince ?? stuck(report) : nil
    if report.stage.isEnd { return try beginsAnew(report, path) ? nil : end(report, report.exitCode()) }
    if let code = trouble(report) { return end(report, code) }
    if isNewSetup, !context.output.json { showSetup() }
    if isFirst { isPrinted ? showPage(isBrowserMissing: page == .open) : try openPage(path) }
    return try act(report, path)
  }

  /// Does what the stage needs from here.
  func act(_ report: FlowReport, _ path: ObjectPath) throws(Failure) -> Int32? {
    switch report.stage {
    case .conflict: askForChoice(report)
    case .waitingForCode: askForCode(report)
    case .secondFactorRequired: askForFactor(report)
    case .reauthenticationRequired: try reauthenticate(report, path)
    case .waitingForEmail, .waitingForPassword, .waitingForConfirmation: try ask(report, path)
    case .starting, .waitingForLink, .waitingForRedirect, .waitingForCaptcha, .exchanging, .succeeded, .failed,
      .cancelled, .expired:
      nil
    }
  }

  /// Asks for the stage's page, once: a wrong answer leaves the same one open. A check comes with a page each time.
  private func findPage(_ report: FlowReport, _ path: ObjectPath) -> Bool {
    if pageStage == .waitingForCaptcha, report.stage != .waitingForCaptcha { (url, pageStage) = (nil, nil) }
    guard report.hasPage, isOwn, pageStage != report.stage else { return false }
    (url, pageStage) = (pageURL(path), report.stage)
    return true
  }

  func show(_ report: FlowReport, url: Secret<String>? = nil, setup: AppSetup? = nil) {
    if context.output.json {
      endQuestion()
      return context.output.object(report.members(url: url, setup: setup))
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
    if report.stage == .reauthenticationRequired { return Prompt.canAsk ? nil : hinted(report) }
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
}

extension MatchRule {
  /// linkd came or went.
  static let ownerOfLinkd = MatchRule(
    sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
    arg0: Contract.busName)
}
