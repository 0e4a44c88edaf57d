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
    case .none where flow.purpose == .deleteUser || flow.purpose == .unlink: steps = AccountFlow(flow: flow)
    case .phone, .totp, .none: return nil
    }
  }

  /// The row.
  public var flow: Flow { steps.flow }

  /// Takes `event` at `now` (Unix seconds) and says what is to be done. `flow.sequence` has grown by one if a client can see
  /// a change. What came too late is ignored; what a person may not do at this stage is refused.
  public mutating func handle(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    let before = VisibleFlow(steps.flow)
    let actions = steps.step(event, at: now)
    if VisibleFlow(steps.flow) != before { steps.flow.sequence += 1 }
    return actions
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
  }
}
