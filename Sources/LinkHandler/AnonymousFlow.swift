import AuthCore

/// Signing in as a guest (identity-toolkit 2.1), as a machine.
///
/// `starting` → `exchanging` → `succeeded`, `failed`, `cancelled`. A transient fault of the sign-up ends it too: there is
/// nothing a person could send again, and asking anew costs nothing.
public struct AnonymousFlow: FlowSteps {
  var flow: Flow
  var lookUpAttempts: Int64 = 0

  /// Seconds it may take.
  public static let lifetime: Int64 = 600

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .emailProvided, .passwordProvided, .confirmed, .resendRequested, .conflict(.resolved):
      return [.refuse(.noSuchFlow)]
    case _ where flow.stage.isEnd: return []
    case .started:
      guard flow.stage == .starting else { return [] }
      flow.stage = .exchanging
      return [.save, .signUpAnonymously]
    case .alreadySignedIn(let uid):
      flow.resultUID = uid
      return flow.end(.succeeded, at: now)
    case .exchanged(var grant, let uid):
      grant.isNewUser = true
      return flow.take(grant, uid: uid, at: now)
    case .exchangeFailed(let failure): return flow.fail(failure, at: now)
    case .lookUpFailed(let failure): return flow.lookUpAgain(failure, attempts: &lookUpAttempts, at: now)
    case .lookedUp(let user, _): return flow.settle(user, guest: nil, at: now)
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored:
      if now >= flow.expiresAt { return flow.end(.expired, at: now) }
      if let grant = flow.answer { return [.lookUp(grant, delay: 0)] }
      flow.stage = .exchanging
      return [.signUpAnonymously]
    case .linkOpened, .mailSent, .mailFailed, .codeChecked, .codeCheckFailed, .performed, .authorization, .conflict,
      .reauthenticated, .verification:
      return []
    }
  }
}
