import AuthCore

/// Sign-in, sign-up, linking or reauthentication by address and password, as a machine (identity-toolkit 2.1, 2.2, 8.4).
///
/// The password is nowhere but in the request: a flow that must try again asks for it again.
///
/// The legal next stages:
/// - `starting` → `exchanging`, `waitingForPassword`, `cancelled`, `expired`
/// - `exchanging` → `succeeded`, `failed`, `waitingForPassword` (a wrong or weak one, temporary trouble, a restart),
///   `conflict` (a guest), `cancelled`, `expired`
/// - `conflict` → `exchanging`, `cancelled`, `expired`
/// - `waitingForPassword` → `exchanging`, `cancelled`, `expired`
/// - `succeeded`, `failed`, `cancelled`, `expired`: none
struct PasswordFlow: FlowSteps {
  var flow: Flow
  /// The one that is being tried.
  var password: Secret<String>?
  /// Whether the address that "exists already" is tried as one that an unanswered request of ours has made.
  var isTryingOwnAccount = false
  var lookUpAttempts: Int64 = 0

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    defer { if flow.stage != .exchanging { password = nil } }
    switch event {
    case .passwordProvided(let password): return provide(password, at: now)
    case .emailProvided, .confirmed, .resendRequested: return [.refuse(.noSuchFlow)]
    case .conflict(.resolved(let choice, let current)): return flow.resolve(choice, current: current, at: now)
    case _ where flow.stage.isEnd: return []
    case .conflict(.timeOver): return flow.conflictTimeOver(at: now)
    case .exchanged(var grant, let uid):
      // What a guest found was there before, and so was what has a second factor.
      if flow.wantsNewPassword, flow.purpose == .signIn, flow.conflict == nil, flow.secondFactor == nil {
        grant.isNewUser = true
      }
      // Somebody else's account with the same password: what counts is that the address is taken.
      if isTryingOwnAccount, let protected = flow.protectedUID, uid != protected {
        return flow.stage == .exchanging ? flow.fail(.emailAlreadyInUse, at: now) : []
      }
      return flow.take(grant, uid: uid, at: now)
    case .exchangeFailed(let failure): return exchangeFailed(failure, at: now)
    case .lookedUp(let user, let guest): return flow.settle(user, guest: guest, at: now)
    case .lookUpFailed(let failure): return flow.lookUpAgain(failure, attempts: &lookUpAttempts, at: now)
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored: return restore(at: now)
    // Nobody has given one yet.
    case .started: return flow.stage == .starting ? flow.wait(at: .waitingForPassword, now: now) : []
    case .alreadySignedIn, .linkOpened, .mailSent, .mailFailed, .codeChecked, .codeCheckFailed, .performed,
      .authorization, .conflict, .reauthenticated, .verification:
      return []
    }
  }

  mutating func forgetFirstFactor() { password = nil }

  private mutating func provide(_ password: Secret<String>, at now: Int64) -> [FlowAction] {
    guard flow.stage == .starting || flow.stage == .waitingForPassword, let email = flow.email else {
      return [.refuse(.noSuchFlow)]
    }
    self.password = password
    isTryingOwnAccount = false
    flow.beginExchange(at: now)
    flow.attempts += 1
    // Whoever has a password has an account: no guest can become it.
    if flow.isUpgrade, !isSignUp { flow.meetExistingAccount() }
    return [.save, isSignUp ? .signUp(email: email, password: password) : .signIn(email: email, password: password)]
  }

  /// Linking a password to the account is a sign-up with its token.
  private var isSignUp: Bool { flow.wantsNewPassword || flow.purpose == .link }

  private mutating func exchangeFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil else { return [] }
    if failure.isTransient { return flow.wait(at: .waitingForPassword, after: failure, now: now) }
    if isTryingOwnAccount { return flow.fail(.emailAlreadyInUse, at: now) }
    switch failure.error {
    case .emailAlreadyInUse where flow.isUpgrade:
      guard let email = flow.email, let password else { return flow.fail(failure, at: now) }
      // The password may be the existing account's.
      isTryingOwnAccount = true
      flow.meetExistingAccount()
      return [.save, .signIn(email: email, password: password)]
    case .emailAlreadyInUse:
      // An earlier try may have made the account, or linked the password, without our learning of it: then it's this one.
      guard flow.attempts > 1, isSignUp, let email = flow.email, let password else {
        return flow.fail(failure, at: now)
      }
      isTryingOwnAccount = true
      return [.signIn(email: email, password: password)]
    case .invalidCredentials, .weakPassword:
      // Refused for certain: no account can have come of it.
      flow.attempts = 0
      return flow.wait(at: .waitingForPassword, after: failure, now: now)
    default: return flow.fail(failure, at: now)
    }
  }

  private mutating func restore(at now: Int64) -> [FlowAction] {
    if now >= flow.expiresAt { return flow.end(.expired, at: now) }
    if flow.stage == .conflict { return flow.restoredConflict() }
    if let grant = flow.answer { return [.lookUp(grant, delay: 0)] }
    return flow.stage == .waitingForPassword ? [] : flow.wait(at: .waitingForPassword, now: now)
  }
}
