import AuthCore

/// What is done to the signed-in account and may want a recent login, as a machine: deleting it, taking a provider or a second
/// factor away, another password or address (identity-toolkit 2.5, 2.7, 2.8, 2.18; behaviour: Reauthentication and parked
/// operations).
///
/// A new password is nowhere but in memory: a flow that was parked over a restart asks for it again.
///
/// The legal next stages:
/// - `starting` → `exchanging`, `waitingForPassword` (nobody has given one yet), `cancelled`, `expired`
/// - `exchanging` → `succeeded`, `failed`, `reauthenticationRequired`, `waitingForConfirmation` (temporary trouble: agreeing
///   again tries again), `waitingForPassword` (a weak one, temporary trouble, a restart), `cancelled`, `expired`
/// - `reauthenticationRequired` → `exchanging` (the user has signed in again), `waitingForPassword`, `cancelled`, `expired`
/// - `waitingForConfirmation`, `waitingForPassword` → `exchanging`, `cancelled`, `expired`
/// - `succeeded`, `failed`, `cancelled`, `expired`: none
struct AccountFlow: FlowSteps {
  var flow: Flow
  /// The new one, until it's the account's.
  var password: Secret<String>?

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    defer { if flow.stage.isEnd || flow.stage == .waitingForPassword { password = nil } }
    switch event {
    case .confirmed: return flow.stage == .waitingForConfirmation ? perform(at: now) : [.refuse(.noSuchFlow)]
    case .passwordProvided(let password): return provide(password, at: now)
    case .emailProvided, .resendRequested, .conflict(.resolved): return [.refuse(.noSuchFlow)]
    case _ where flow.stage.isEnd: return []
    case .started: return flow.stage == .starting ? perform(at: now) : []
    case .performed: return performed(at: now)
    case .exchangeFailed(let failure): return failed(failure, at: now)
    case .reauthenticated: return reauthenticated(at: now)
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored:
      if now >= flow.expiresAt { return flow.end(.expired, at: now) }
      // The user had signed in again when the daemon ended.
      if flow.stage == .reauthenticationRequired, flow.isConfirmed { return reauthenticated(at: now) }
      return flow.stage == .exchanging ? performAgain(at: now) : []
    case .alreadySignedIn, .linkOpened, .mailSent, .mailFailed, .exchanged, .codeChecked, .codeCheckFailed, .lookedUp,
      .lookUpFailed, .authorization, .conflict, .verification:
      return []
    }
  }

  private mutating func provide(_ password: Secret<String>, at now: Int64) -> [FlowAction] {
    guard flow.purpose == .updatePassword, flow.stage == .starting || flow.stage == .waitingForPassword else {
      return [.refuse(.noSuchFlow)]
    }
    self.password = password
    return perform(at: now)
  }

  private mutating func perform(at now: Int64) -> [FlowAction] {
    guard let action else {
      return flow.purpose == .updatePassword
        ? flow.wait(at: .waitingForPassword, now: now) : flow.fail(.internal, at: now)
    }
    flow.beginExchange(at: now)
    flow.attempts += 1
    return [.save, action]
  }

  /// After a restart: once by itself, since whether the server saw the first try is unknown; then somebody has to agree.
  private mutating func performAgain(at now: Int64) -> [FlowAction] {
    guard flow.attempts >= 2, flow.purpose != .updatePassword else { return perform(at: now) }
    return flow.wait(at: .waitingForConfirmation, after: AuthFailure(.networkUnavailable), now: now)
  }

  /// Nil where the password has to be given anew, or the row lacks what it's about.
  private var action: FlowAction? {
    switch flow.purpose {
    case .updatePassword: password.map { .updatePassword($0) }
    case .changeEmail: flow.email.map { .changeEmail(to: $0) }
    case .unlink: flow.linkProvider.map { .unlink(providerID: $0) }
    case .unenrollFactor: flow.factorUID.map { .unenrollFactor(uid: $0) }
    case .deleteUser: .deleteUser
    case .signIn, .link, .reauthenticate, .actionCode, .changePhone, .enrollFactor, .present: nil
    }
  }

  /// The user has signed in again. Once is enough: who is still refused then is refused.
  private mutating func reauthenticated(at now: Int64) -> [FlowAction] {
    guard flow.stage == .reauthenticationRequired else { return [] }
    flow.isConfirmed = true
    flow.attempts = 0
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
    if let parked = flow.park(failure, at: now) { return parked }
    if failure.isTransient {
      let stage: FlowStage = flow.purpose == .updatePassword ? .waitingForPassword : .waitingForConfirmation
      return flow.wait(at: stage, after: failure, now: now)
    }
    switch failure.error {
    case .weakPassword where flow.purpose == .updatePassword:
      return flow.wait(at: .waitingForPassword, after: failure, now: now)
    // An earlier try did it without our learning of it.
    case .userNotFound where flow.purpose == .deleteUser && (flow.attempts > 1 || flow.isConfirmed):
      return performed(at: now)
    case .factorNotFound where flow.attempts > 1 && flow.purpose == .unenrollFactor:
      return performed(at: now) + [.accountChanged(email: nil, previousEmail: nil)]
    default: return flow.fail(failure, at: now)
    }
  }
}

extension Flow {
  /// Waits until the user has signed in again, if that can mend `failure`: an old login, or tokens that have ended. Once is
  /// enough.
  mutating func park(_ failure: AuthFailure, at now: Int64) -> [FlowAction]? {
    guard failure.error == .requiresRecentLogin || failure.error == .tokenRevoked, !isConfirmed else { return nil }
    // A guest can't sign in again.
    if let anonymousUID, anonymousUID == protectedUID { return nil }
    return wait(at: .reauthenticationRequired, after: failure, now: now)
  }
}
