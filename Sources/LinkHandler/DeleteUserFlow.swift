import AuthCore

/// Deleting the signed-in account, as a machine (identity-toolkit 2.8; behaviour: Reauthentication and parked operations).
///
/// The legal next stages:
/// - `starting` → `exchanging`
/// - `exchanging` → `succeeded`, `failed`, `reauthenticationRequired`, `waitingForConfirmation` (temporary trouble: agreeing
///   again tries again), `cancelled`, `expired`
/// - `reauthenticationRequired` → `exchanging` (the user has signed in again), `cancelled`, `expired`
/// - `waitingForConfirmation` → `exchanging`, `cancelled`, `expired`
/// - `succeeded`, `failed`, `cancelled`, `expired`: none
struct DeleteUserFlow: FlowSteps {
  var flow: Flow

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .confirmed: return flow.stage == .waitingForConfirmation ? delete() : [.refuse(.noSuchFlow)]
    case .emailProvided, .passwordProvided, .resendRequested: return [.refuse(.noSuchFlow)]
    case _ where flow.stage.isEnd: return []
    case .started: return flow.stage == .starting ? delete() : []
    case .performed: return performed(at: now)
    case .exchangeFailed(let failure): return failed(failure, at: now)
    case .reauthenticated: return reauthenticated()
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored:
      if now >= flow.expiresAt { return flow.end(.expired, at: now) }
      return flow.stage == .exchanging ? delete() : []
    case .alreadySignedIn, .linkOpened, .mailSent, .mailFailed, .exchanged, .codeChecked, .codeCheckFailed, .lookedUp,
      .lookUpFailed:
      return []
    }
  }

  private mutating func delete() -> [FlowAction] {
    flow.stage = .exchanging
    flow.note(nil)
    flow.attempts += 1
    return [.save, .deleteUser]
  }

  /// The user has signed in again. Once is enough: who is still refused then is refused.
  private mutating func reauthenticated() -> [FlowAction] {
    guard flow.stage == .reauthenticationRequired else { return [] }
    flow.isConfirmed = true
    return delete()
  }

  private mutating func performed(at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging else { return [] }
    flow.stage = .succeeded
    flow.endedAt = now
    return [.endSession]
  }

  private mutating func failed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging else { return [] }
    if failure.isTransient { return flow.wait(at: .waitingForConfirmation, after: failure, now: now) }
    switch failure.error {
    case .requiresRecentLogin where !flow.isConfirmed:
      return flow.wait(at: .reauthenticationRequired, after: failure, now: now)
    // An earlier try did it without our learning of it.
    case .userNotFound where flow.attempts > 1: return performed(at: now)
    default: return flow.fail(failure, at: now)
    }
  }
}
