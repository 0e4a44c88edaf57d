public import AuthCore

/// Signing in as a guest (identity-toolkit 2.1), as a machine.
///
/// `starting` → `exchanging` → `succeeded`, `failed`, `cancelled`. A transient fault ends it too: there is nothing a person
/// could send again, and asking anew costs nothing.
public struct AnonymousFlow: Sendable, Hashable {
  /// What happened.
  public enum Event: Sendable, Hashable {
    case started
    /// The app has a guest already: the same one is the answer (identity-toolkit 8.1).
    case alreadySignedIn(uid: String)
    case signedUp(TokenGrant)
    case failed(AuthFailure)
    case lookedUp(User)
    case cancelRequested
    case overdue
    /// The daemon started and found the row.
    case restored
  }

  /// The row.
  public private(set) var flow: Flow

  /// Seconds it may take.
  public static let lifetime: Int64 = 600

  /// A machine that stands where `flow` stands.
  public init(_ flow: Flow) { self.flow = flow }

  /// Takes `event` at `now` (Unix seconds) and says what is to be done.
  public mutating func handle(_ event: Event, at now: Int64) -> [FlowAction] {
    let before = flow.stage
    let actions = step(event, at: now)
    if flow.stage != before { flow.sequence += 1 }
    return actions
  }

  private mutating func step(_ event: Event, at now: Int64) -> [FlowAction] {
    if flow.stage.isEnd { return [] }
    switch event {
    case .started:
      guard flow.stage == .starting else { return [] }
      flow.stage = .exchanging
      return [.save, .signUpAnonymously]
    case .alreadySignedIn(let uid):
      flow.resultUID = uid
      return end(.succeeded, at: now)
    case .signedUp(var grant):
      guard flow.answer == nil else { return [] }
      grant.isNewUser = true
      flow.answer = grant
      return [.save, .lookUp(grant, delay: 0)]
    case .failed(let failure):
      flow.error = failure.error
      return end(.failed, at: now)
    case .lookedUp(let user):
      guard let grant = flow.answer else { return [] }
      flow.resultUID = user.uid
      flow.isNewUser = true
      flow.answer = nil
      flow.stage = .succeeded
      flow.endedAt = now
      return [.adopt(user, grant)]
    case .cancelRequested: return end(.cancelled, at: now)
    case .overdue: return end(.expired, at: now)
    case .restored:
      if now >= flow.expiresAt { return end(.expired, at: now) }
      if let grant = flow.answer { return [.lookUp(grant, delay: 0)] }
      return [.signUpAnonymously]
    }
  }

  private mutating func end(_ stage: FlowStage, at now: Int64) -> [FlowAction] {
    flow.stage = stage
    flow.endedAt = now
    flow.answer = nil
    return [.save]
  }
}
