import AuthCore

/// Sign-in or reauthentication by a token that an app's own server made (identity-toolkit 2.4), as a machine.
///
/// The legal next stages:
/// - `starting` → `exchanging`, `failed` (no token), `cancelled`, `expired`
/// - `exchanging` → `succeeded`, `failed`, `cancelled`, `expired`; temporary trouble is waited out there
/// - `succeeded`, `failed`, `cancelled`, `expired`: none
struct CustomTokenFlow: FlowSteps {
  var flow: Flow
  /// Tries of the step that temporary trouble holds up.
  var tries: Int64 = 0

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .emailProvided, .passwordProvided, .confirmed, .resendRequested, .conflict(.resolved):
      return [.refuse(.noSuchFlow)]
    case _ where flow.stage.isEnd: return []
    case .started:
      guard flow.stage == .starting else { return [] }
      return exchange(at: now)
    case .exchanged(let grant, let uid):
      tries = 0
      return flow.take(grant, uid: uid, at: now)
    case .exchangeFailed(let failure): return exchangeFailed(failure, at: now)
    case .lookedUp(let user, let guest): return flow.settle(user, guest: guest, at: now)
    case .lookUpFailed(let failure): return flow.lookUpAgain(failure, attempts: &tries, at: now)
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored:
      if now >= flow.expiresAt { return flow.end(.expired, at: now) }
      if let grant = flow.answer { return [.lookUp(grant, delay: 0)] }
      return exchange(at: now)
    case .alreadySignedIn, .linkOpened, .mailSent, .mailFailed, .codeChecked, .codeCheckFailed, .performed,
      .authorization, .conflict, .reauthenticated, .verification:
      return []
    }
  }

  /// The token is in the row, as a code is: it's good for an hour, and for any number of times.
  private mutating func exchange(at now: Int64) -> [FlowAction] {
    guard let token = flow.code else { return flow.fail(.internal, at: now) }
    flow.beginExchange(at: now)
    return [.save, .signInWithCustomToken(token, delay: 0)]
  }

  private mutating func exchangeFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil else { return [] }
    // A token that is refused, nobody here could give again: the app asks anew.
    guard failure.isTransient, let token = flow.code else { return flow.fail(failure, at: now) }
    flow.note(failure)
    return [.signInWithCustomToken(token, delay: failure.delay(&tries))]
  }
}
