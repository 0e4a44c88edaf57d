import AuthCore
import LinkHandler
import Testing

/// Machines under events in any order: what holds whatever happens.
@Suite("Any order of events", .timeLimit(.minutes(5)))
struct FlowPropertyTests {
  // MARK: The property

  /// From one stage to the next.
  private struct Step: Hashable {
    let from: FlowStage
    let to: FlowStage
    /// Whether a second factor was wanted.
    let isSecond: Bool
  }

  @Test(
    "each next stage of the machine's comment is walked, no other; nothing is lost, leaked or done besides",
    arguments: WalkedMachine.all)
  func holds(_ machine: WalkedMachine) throws {
    var random = FlowEvents(state: 20_261_130)
    var walked: Set<Step> = []
    for number in 0..<10_000 {
      let row = machine.rows[number % machine.rows.count]
      var run = try FlowRig(row.method, purpose: row.purpose, row.change)
      var past = Past()
      for _ in 0..<Int(4 + random.next(28)) {
        if random.next(12) == 0 { run = try run.restarted() }
        run.now += random.next(8) == 0 ? 400 : Int64(random.next(2))
        let before = run.flow
        let event = random.next(before)
        let actions = run(event)
        if let fault = fault(machine, event, before, run.flow, actions) ?? time(before, run.flow, now: run.now)
          ?? past.fault(event, before, run.flow, actions, now: run.now)
        {
          Issue.record("\(fault): \(event) at \(before.stage) → \(run.stage), \(actions)")
          return
        }
        if before.stage != run.stage {
          walked.insert(Step(from: before.stage, to: run.stage, isSecond: before.secondFactor != nil))
        }
      }
    }
    let all = steps(of: machine)
    #expect(all.subtracting(walked).isEmpty, "not walked")
  }

  /// Those of the comments. What a second factor's answer leads to besides is the first one's business.
  private func steps(of machine: WalkedMachine) -> Set<Step> {
    func steps(_ next: [FlowStage: Set<FlowStage>], _ isSecond: Bool) -> [Step] {
      next.flatMap { from, next in next.map { Step(from: from, to: $0, isSecond: isSecond) } }
    }
    guard machine.authenticates else { return Set(steps(machine.next, false)) }
    return Set(
      steps(machine.next, false) + steps(WalkedMachine.secondFactor, true)
        + [Step(from: .exchanging, to: .secondFactorRequired, isSecond: false)])
  }

  private func isNext(_ machine: WalkedMachine, _ before: Flow, _ after: Flow) -> Bool {
    let isOwn = machine.next[before.stage]?.contains(after.stage) == true
    guard machine.authenticates else { return isOwn }
    guard before.secondFactor != nil else { return isOwn || after.stage == .secondFactorRequired }
    if WalkedMachine.secondFactor[before.stage]?.contains(after.stage) == true { return true }
    return before.stage == .exchanging && isOwn && after.secondFactor == nil
  }

  /// What is wrong with the step; nil for nothing.
  private func fault(
    _ machine: WalkedMachine, _ event: FlowEvent, _ before: Flow, _ after: Flow, _ actions: [FlowAction]
  ) -> String? {
    if actions.contains(where: \.isRefusal) {
      return actions.count == 1 && before == after ? nil : "a refusal that changed something"
    }
    if before.stage != after.stage, !isNext(machine, before, after) { return "not a next stage" }
    if after.sequence != before.sequence + (Seen(before) == Seen(after) ? 0 : 1) { return "the sequence" }
    if before.stage.isEnd, before.method != .emailLink, !(before.canRetry && event == .resendRequested),
      !actions.isEmpty || before != after
    {
      return "an end that isn't one"
    }
    if after.stage.isEnd, !after.secretsLeft.isEmpty { return "left: \(after.secretsLeft)" }
    if after.stage.isEnd != (after.endedAt != nil) { return "endedAt" }
    if after.stage == .cancelled, after.error != nil { return "giving up as a failure" }
    if before.stage != after.stage, !actions.contains(where: \.isCommit) { return "a stage that isn't committed" }
    return session(before, after, actions) ?? way(after, actions)
  }

  /// Sessions change at a success alone, and there by one commit.
  private func session(_ before: Flow, _ after: Flow, _ actions: [FlowAction]) -> String? {
    let changes = actions.filter { if case .adopt = $0 { true } else { $0 == .endSession } }
    let succeeds = before.stage != .succeeded && after.stage == .succeeded
    if !succeeds { return changes.isEmpty ? nil : "the session, without a success" }
    if after.method == .none, after.purpose != .deleteUser {
      let isCommit = actions.first == .save && actions.dropFirst().allSatisfy { $0 == AccountFlowTests.look }
      return changes.isEmpty && isCommit ? nil : "the session, by a change of the account"
    }
    // A code did it before, as the account shows, which has been looked at.
    if before.verification?.isUnanswered == true, actions == [.save] { return nil }
    guard changes.count == 1, actions.count == 1 else { return "a success without its session" }
    if case .adopt(let user, _) = changes[0] {
      if user.uid != after.resultUID { return "another account than was said" }
      if let protected = before.protectedUID, user.uid != protected { return "another account than the protected one" }
      if after.isUpgraded, user.uid != after.anonymousUID { return "an upgrade of nobody" }
    }
    return nil
  }

  /// Somebody, or something that was asked for, leads on from each stage that isn't an end.
  private func way(_ after: Flow, _ actions: [FlowAction]) -> String? {
    switch after.stage {
    case .conflict: return after.conflictOptions.isEmpty ? "a conflict without a choice" : nil
    case .waitingForRedirect, .waitingForCaptcha: return after.page == nil ? "no page" : nil
    case .waitingForCode: return hasCode(after) || after.canResendAt != nil ? nil : "a code that can't come"
    case .secondFactorRequired: return after.secondFactor?.factors.isEmpty == false ? nil : "nothing to choose"
    case .exchanging where after.secondFactor != nil: return after.verification?.code == nil ? "no code" : nil
    case .exchanging where after.method == .phone || after.method == .totp:
      return after.verification?.code == nil && after.phoneProof == nil && after.answer == nil ? "no code" : nil
    case .exchanging where after.method == .custom || after.authorization != nil:
      return after.code == nil && after.credential == nil && after.answer == nil ? "nothing to exchange" : nil
    case .starting, .exchanging, .waitingForLink, .waitingForEmail, .waitingForPassword, .waitingForConfirmation,
      .reauthenticationRequired, .succeeded, .failed, .cancelled, .expired:
      return nil
    }
  }

  /// Whether a code that somebody has, or gets, can be shown to the server.
  private func hasCode(_ flow: Flow) -> Bool {
    guard let verification = flow.verification, verification.attemptsLeft > 0 else { return false }
    if let second = flow.secondFactor, second.choice?.kind == .totp { return true }
    return verification.sessionInfo != nil || flow.secondFactor == nil && flow.totpEnrollment != nil
  }

  /// Whoever is waited for has time for it.
  private func time(_ before: Flow, _ after: Flow, now: Int64) -> String? {
    guard before.stage != after.stage else { return nil }
    switch after.stage {
    case .waitingForCode, .waitingForCaptcha, .secondFactorRequired, .reauthenticationRequired, .waitingForPassword,
      .waitingForConfirmation, .waitingForRedirect, .conflict:
      return after.expiresAt > now ? nil : "no time"
    // Rows of mails are kept for a day; the server ends their codes.
    case .starting, .exchanging, .waitingForLink, .waitingForEmail, .succeeded, .failed, .cancelled, .expired:
      return nil
    }
  }
}

/// What a walk has done so far.
private struct Past {
  /// Whether the server has accepted the first factor, and wanted a second one.
  var isFirstSpent = false
  /// How often the code was shown that is at the server.
  var shown = 0
  /// Where the last message went, and when.
  var lastMessage: (to: String?, at: Int64)?

  mutating func fault(
    _ event: FlowEvent, _ before: Flow, _ after: Flow, _ actions: [FlowAction], now: Int64
  ) -> String? {
    if isFirstSpent, actions.contains(where: { $0.spendsFirstFactor(before) }) { return "the first factor again" }
    if before.secondFactor == nil, after.secondFactor != nil { isFirstSpent = true }
    return code(event, before, actions) ?? message(event, before, after, actions, now: now)
  }

  /// A code is shown once, and once more after a restart.
  private mutating func code(_ event: FlowEvent, _ before: Flow, _ actions: [FlowAction]) -> String? {
    guard actions.contains(where: { if case .verifyCode = $0 { true } else { false } }) else { return nil }
    switch event {
    case .verification(.codeProvided):
      if before.stage == .exchanging { return "two codes at once" }
      shown = 1
    case .restored: shown += 1
    default: return "a code that nobody gave"
    }
    return shown <= 2 ? nil : "a code for the third time"
  }

  /// One number gets a message a minute; what a restart or the page interrupted hasn't been sent yet.
  private mutating func message(
    _ event: FlowEvent, _ before: Flow, _ after: Flow, _ actions: [FlowAction], now: Int64
  ) -> String? {
    let number = after.secondFactor?.chosen
    if actions.contains(.sendCode), event != .restored, let last = lastMessage, last.to == number, now < last.at + 60 {
      return "a message too many"
    }
    if case .verification(.codeSent) = event, before.stage != after.stage { lastMessage = (number, now) }
    // Another one was chosen meanwhile.
    if number != lastMessage?.to { lastMessage = nil }
    return nil
  }
}

/// What a client can see of a flow (D-Bus contract: Flow).
private struct Seen: Equatable {
  let stage: FlowStage
  let error: AuthError?
  let errorCause: String?
  let canResendAt: Int64?
  let email: String?
  let conflict: ConflictKind?
  let existingUID: String?
  let expiresAt: Int64
  let attemptsLeft: Int?
  let chosen: String?

  init(_ flow: Flow) {
    (stage, error, canResendAt) = (flow.stage, flow.error, flow.canResendAt)
    (email, conflict, expiresAt) = (flow.email, flow.conflict, flow.expiresAt)
    (existingUID, errorCause) = (flow.existingUID, flow.errorCause)
    // Codes are counted where they're waited for.
    attemptsLeft = flow.stage == .waitingForCode ? flow.verification?.attemptsLeft : nil
    chosen = flow.secondFactor?.chosen
  }
}

extension FlowAction {
  fileprivate var isRefusal: Bool { if case .refuse = self { true } else { false } }

  fileprivate var isCommit: Bool {
    switch self {
    case .save, .adopt, .endSession: true
    default: false
    }
  }
}
