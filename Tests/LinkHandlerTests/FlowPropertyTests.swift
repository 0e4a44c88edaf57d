import AuthCore
import LinkHandler
import Testing

/// Machines under events in any order: what holds whatever happens.
@Suite("Any order of events", .timeLimit(.minutes(5)))
struct FlowPropertyTests {
  /// A machine, the rows that it begins with, and the stages that its comment allows next.
  struct Machine: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let next: [FlowStage: Set<FlowStage>]
    let rows: [Row]
  }

  struct Row: Sendable {
    let method: SignInMethod
    var purpose = FlowPurpose.signIn
    var change: @Sendable (inout Flow) -> Void = { _ in }
  }

  static let machines = [
    Machine(
      testDescription: "provider", next: provider,
      rows: [
        Row(method: .provider("oidc.x")), Row(method: .provider("oidc.x"), change: guest),
        Row(method: .provider("oidc.x"), change: { $0.credential = ProviderRig.tokens }),
        Row(method: .provider("oidc.x"), purpose: .link, change: link),
        Row(method: .provider("oidc.x"), purpose: .reauthenticate, change: { $0.protectedUID = "u1" }),
      ]),
    Machine(
      testDescription: "custom token", next: custom,
      rows: [Row(method: .custom, change: { $0.code = Secret("J") }), Row(method: .custom)]),
    Machine(
      testDescription: "account", next: account,
      rows: [
        Row(method: .none, purpose: .deleteUser, change: { $0.protectedUID = "u1" }),
        Row(
          method: .none, purpose: .unlink,
          change: {
            $0.protectedUID = "u1"
            $0.linkProvider = "google.com"
          }),
      ]),
    Machine(
      testDescription: "mailed link", next: emailLink,
      rows: [
        Row(
          method: .emailLink,
          change: {
            mailed(&$0)
            guest(&$0)
          }),
        Row(
          method: .emailLink, purpose: .link,
          change: {
            mailed(&$0)
            link(&$0)
          }), Row(method: .emailLink, change: guest),
      ]),
    Machine(
      testDescription: "password", next: password,
      rows: [false, true].map { isNew in
        Row(
          method: .password,
          change: {
            $0.email = "a@example.com"
            $0.wantsNewPassword = isNew
            guest(&$0)
          })
      }),
  ]

  private static let guest: @Sendable (inout Flow) -> Void = {
    $0.anonymousUID = "g1"
    $0.linkUID = "g1"
  }
  private static let link: @Sendable (inout Flow) -> Void = {
    $0.protectedUID = "u1"
    $0.linkUID = "u1"
  }
  private static let mailed: @Sendable (inout Flow) -> Void = {
    $0.email = "a@example.com"
    $0.linkTokenHash = [7]
  }

  // The comments of the machines.
  private static let ends: Set<FlowStage> = [.cancelled, .expired]
  private static let provider: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.waitingForRedirect, .exchanging, .failed]),
    .waitingForRedirect: ends.union([.exchanging, .failed]),
    .exchanging: ends.union([.succeeded, .failed, .conflict, .waitingForRedirect]),
    .conflict: ends.union([.exchanging]),
  ]
  private static let custom: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.exchanging, .failed]), .exchanging: ends.union([.succeeded, .failed]),
  ]
  private static let account: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.exchanging]),
    .exchanging: ends.union([.succeeded, .failed, .reauthenticationRequired, .waitingForConfirmation]),
    .reauthenticationRequired: ends.union([.exchanging]), .waitingForConfirmation: ends.union([.exchanging]),
  ]
  private static let emailLink: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.waitingForLink, .exchanging, .waitingForEmail, .failed]),
    .waitingForLink: ends.union([.exchanging, .starting]), .waitingForEmail: ends.union([.exchanging]),
    .exchanging: ends.union([.succeeded, .failed, .waitingForLink, .waitingForEmail, .conflict, .starting]),
    .conflict: ends.union([.exchanging, .starting]), .failed: [.starting, .exchanging],
    .cancelled: [.waitingForEmail], .expired: [.waitingForEmail],
  ]
  private static let password: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.exchanging, .waitingForPassword]),
    .exchanging: ends.union([.succeeded, .failed, .waitingForPassword, .conflict]),
    .conflict: ends.union([.exchanging]), .waitingForPassword: ends.union([.exchanging]),
  ]

  // MARK: The property

  /// From one stage to the next.
  private struct Step: Hashable {
    let from: FlowStage
    let to: FlowStage
  }

  @Test(
    "each next stage of the machine's comment is walked, no other; nothing is lost, leaked or done besides",
    arguments: machines)
  func holds(_ machine: Machine) throws {
    var random = FlowEvents(state: 20_261_130)
    var walked: Set<Step> = []
    for number in 0..<10_000 {
      let row = machine.rows[number % machine.rows.count]
      var run = try FlowRig(row.method, purpose: row.purpose, row.change)
      for _ in 0..<Int(4 + random.next(16)) {
        if random.next(12) == 0 { run = try run.restarted() }
        run.now += random.next(8) == 0 ? 400 : 1
        let before = run.flow
        let event = random.next(3) == 0 ? random.event() : random.likely(before)
        let actions = run(event)
        if let fault = fault(machine, event, before, run.flow, actions) {
          Issue.record("\(fault): \(event) at \(before.stage) → \(run.stage), \(actions)")
          return
        }
        if before.stage != run.stage { walked.insert(Step(from: before.stage, to: run.stage)) }
      }
    }
    let all = machine.next.flatMap { from, next in next.map { Step(from: from, to: $0) } }
    #expect(walked == Set(all), "not walked: \(Set(all).subtracting(walked))")
  }

  /// What is wrong with the step; nil for nothing.
  private func fault(
    _ machine: Machine, _ event: FlowEvent, _ before: Flow, _ after: Flow, _ actions: [FlowAction]
  ) -> String? {
    if actions.contains(where: \.isRefusal) {
      return actions.count == 1 && before == after ? nil : "a refusal that changed something"
    }
    if before.stage != after.stage, machine.next[before.stage]?.contains(after.stage) != true {
      return "not a next stage"
    }
    if after.sequence != before.sequence + (Seen(before) == Seen(after) ? 0 : 1) { return "the sequence" }
    if before.stage.isEnd, before.method != .emailLink, !actions.isEmpty || before != after {
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
    if after.purpose == .unlink { return changes.isEmpty && actions == [.save] ? nil : "the session, by an unlink" }
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
    case .waitingForRedirect: return after.authorization == nil ? "no page" : nil
    case .exchanging where after.method == .custom || after.authorization != nil:
      return after.code == nil && after.credential == nil && after.answer == nil ? "nothing to exchange" : nil
    case .starting, .exchanging, .waitingForLink, .waitingForCaptcha, .waitingForCode, .waitingForEmail,
      .waitingForPassword, .waitingForConfirmation, .secondFactorRequired, .reauthenticationRequired, .succeeded,
      .failed, .cancelled, .expired:
      return nil
    }
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

  init(_ flow: Flow) {
    (stage, error, canResendAt) = (flow.stage, flow.error, flow.canResendAt)
    (email, conflict, expiresAt) = (flow.email, flow.conflict, flow.expiresAt)
    (existingUID, errorCause) = (flow.existingUID, flow.errorCause)
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
