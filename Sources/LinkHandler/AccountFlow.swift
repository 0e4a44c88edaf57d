import AuthCore

/// What is done to the signed-in account and may want a recent login, as a machine: deleting it, taking a provider away
/// (identity-toolkit 2.7, 2.8; behaviour: Reauthentication and parked operations).
///
/// The legal next stages:
/// - `starting` → `exchanging`, `cancelled`, `expired`
/// - `exchanging` → `succeeded`, `failed`, `reauthenticationRequired`, `waitingForConfirmation` (temporary trouble: agreeing
///   again tries again), `cancelled`, `expired`
/// - `reauthenticationRequired` → `exchanging` (the user has signed in again), `cancelled`, `expired`
/// - `waitingForConfirmation` → `exchanging`, `cancelled`, `expired`
/// - `succeeded`, `failed`, `cancelled`, `expired`: none
struct AccountFlow: FlowSteps {
  var flow: Flow

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .confirmed: return flow.stage == .waitingForConfirmation ? perform(at: now) : [.refuse(.noSuchFlow)]
    case .emailProvided, .passwordProvided, .resendRequested, .conflict(.resolved): return [.refuse(.noSuchFlow)]
    case _ where flow.stage.isEnd: return []
    case .started: return flow.stage == .starting ? perform(at: now) : []
    case .performed: return performed(at: now)
    case .exchangeFailed(let failure): return failed(failure, at: now)
    case .reauthenticated: return reauthenticated(at: now)
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored:
      if now >= flow.expiresAt { return flow.end(.expired, at: now) }
      return flow.stage == .exchanging ? perform(at: now) : []
    case .alreadySignedIn, .linkOpened, .mailSent, .mailFailed, .exchanged, .codeChecked, .codeCheckFailed, .lookedUp,
      .lookUpFailed, .authorization, .conflict:
      return []
    }
  }

  private mutating func perform(at now: Int64) -> [FlowAction] {
    flow.beginExchange(at: now)
    flow.attempts += 1
    if flow.purpose == .unlink, let provider = flow.linkProvider { return [.save, .unlink(providerID: provider)] }
    return [.save, .deleteUser]
  }

  /// The user has signed in again. Once is enough: who is still refused then is refused.
  private mutating func reauthenticated(at now: Int64) -> [FlowAction] {
    guard flow.stage == .reauthenticationRequired else { return [] }
    flow.isConfirmed = true
    return perform(at: now)
  }

  private mutating func performed(at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging else { return [] }
    flow.stage = .succeeded
    flow.endedAt = now
    if flow.purpose == .deleteUser { return [.endSession] }
    flow.resultUID = flow.protectedUID
    return [.save]
  }

  private mutating func failed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging else { return [] }
    if failure.isTransient { return flow.wait(at: .waitingForConfirmation, after: failure, now: now) }
    switch failure.error {
    case .requiresRecentLogin where !flow.isConfirmed:
      return flow.wait(at: .reauthenticationRequired, after: failure, now: now)
    // An earlier try did it without our learning of it.
    case .userNotFound where flow.attempts > 1 && flow.purpose == .deleteUser: return performed(at: now)
    default: return flow.fail(failure, at: now)
    }
  }
}
