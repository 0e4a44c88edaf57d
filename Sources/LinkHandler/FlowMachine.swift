public import AuthCore

/// A flow as a machine: events in, actions out, nothing else. No clock, no I/O, no `async`.
public struct FlowMachine: Sendable {
  private var steps: any FlowSteps

  /// A machine that stands where `flow` stands; nil for a method that this version has none for.
  public init?(_ flow: Flow) {
    switch flow.method {
    case .emailLink: steps = EmailLinkFlow(flow: flow)
    case .anonymous: steps = AnonymousFlow(flow: flow)
    case .password: steps = PasswordFlow(flow: flow)
    case .actionCode: steps = ActionCodeFlow(flow: flow)
    case .provider: steps = ProviderFlow(flow: flow)
    case .custom: steps = CustomTokenFlow(flow: flow)
    case .phone, .totp: steps = CodeFlow(flow: flow)
    case .none where flow.purpose.concernsAccount: steps = AccountFlow(flow: flow)
    case .none: return nil
    }
  }

  /// The row.
  public var flow: Flow { steps.flow }

  /// Who acts now wants a page that follows to be opened, or opens it.
  public mutating func setOpensBrowser(_ opens: Bool) { steps.flow.opensBrowser = opens }

  /// Takes `event` at `now` (Unix seconds) and says what is to be done. `flow.sequence` has grown by one if a client can see
  /// a change. What came too late is ignored; what a person may not do at this stage is refused.
  public mutating func handle(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    let before = VisibleFlow(steps.flow)
    let actions = step(event, at: now)
    if VisibleFlow(steps.flow) != before { steps.flow.sequence += 1 }
    return actions
  }

  /// A second factor is a part of every method's flow.
  private mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    let isSecond = steps.flow.secondFactor != nil
    switch event {
    case .verification(.secondFactorRequired(let pending)):
      let actions = steps.flow.meetSecondFactor(pending, at: now)
      if steps.flow.secondFactor != nil { steps.forgetFirstFactor() }
      return actions
    case .verification(.factorChosen) where !isSecond: return [.refuse(.noSuchFlow)]
    case .verification(.codeProvided) where !isSecond && !steps.flow.takesCode: return [.refuse(.noSuchFlow)]
    case _ where isSecond:
      if let actions = steps.flow.secondFactorStep(event, at: now) { return actions }
      let actions = steps.step(event, at: now)
      steps.flow.secondFactor = nil
      steps.flow.verification = nil
      return actions
    default: return steps.step(event, at: now)
    }
  }
}

extension Flow {
  /// Whether a code ends it, and not its second factor alone.
  fileprivate var takesCode: Bool { method == .phone || method == .totp }
}

extension FlowPurpose {
  /// Whether it's done to the account without a method of signing in.
  fileprivate var concernsAccount: Bool {
    switch self {
    case .updatePassword, .changeEmail, .unlink, .deleteUser, .unenrollFactor: true
    case .signIn, .link, .reauthenticate, .actionCode, .changePhone, .enrollFactor, .present: false
    }
  }
}

/// What a client can see of a flow.
private struct VisibleFlow: Equatable {
  private let stage: FlowStage
  private let error: AuthError?
  private let canResendAt: Int64?
  private let email: String?
  private let signInMethods: [String]
  private let actionKind: LinkKind?
  private let conflict: ConflictKind?
  private let existingUID: String?
  private let errorCause: String?
  private let expiresAt: Int64
  private let attemptsLeft: Int?
  private let chosenFactor: String?

  init(_ flow: Flow) {
    stage = flow.stage
    error = flow.error
    canResendAt = flow.canResendAt
    email = flow.email
    signInMethods = flow.signInMethods
    actionKind = flow.actionKind
    conflict = flow.conflict
    existingUID = flow.existingUID
    errorCause = flow.errorCause
    expiresAt = flow.expiresAt
    // Codes are counted where they're waited for.
    attemptsLeft = flow.stage == .waitingForCode ? flow.verification?.attemptsLeft : nil
    chosenFactor = flow.secondFactor?.chosen
  }
}
