import AuthCore

/// A mailed action code that isn't for signing in: password reset, verification, change and recovery of the address, removal
/// of a second factor (identity-toolkit 2.6, 2.7; behaviour: People).
///
/// What the code does is the server's word, asked before anything is done: the link's `mode` may lie about it, and what can
/// hurt waits for a confirmation, since any page can start a scheme.
///
/// The legal next stages:
/// - `starting` → `exchanging` (verification), `waitingForPassword` (reset), `waitingForConfirmation` (the others)
/// - `waitingForPassword`, `waitingForConfirmation` → each other (the server's word), `exchanging`, `failed`, `cancelled`,
///   `expired`
/// - `exchanging` → `succeeded`, `failed`, `waitingForPassword`, `waitingForConfirmation` (temporary trouble, a weak
///   password, a restart), `cancelled`, `expired`
/// - `cancelled`, `expired` → as from `starting` (the link is opened again)
/// - `succeeded`, `failed`: none
struct ActionCodeFlow: FlowSteps {
  var flow: Flow

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .passwordProvided(let password): return provide(password, at: now)
    case .confirmed: return confirm(at: now)
    case .emailProvided, .resendRequested, .conflict(.resolved): return [.refuse(.noSuchFlow)]
    case .linkOpened(let code) where flow.stage == .cancelled || flow.stage == .expired: return reopen(code, at: now)
    // Given up too late: the server has done it.
    case .performed where flow.stage == .cancelled || flow.stage == .expired: return [accountChanged]
    case _ where flow.stage.isEnd: return []
    case .linkOpened(let code): return open(code, at: now)
    case .codeChecked(let info): return checked(info, at: now)
    case .codeCheckFailed(let failure): return checkFailed(failure, at: now)
    case .performed: return performed(at: now)
    case .exchangeFailed(let failure): return exchangeFailed(failure, at: now)
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored: return restore(at: now)
    case .started, .alreadySignedIn, .mailSent, .mailFailed, .exchanged, .lookedUp, .lookUpFailed, .authorization,
      .conflict, .reauthenticated, .verification:
      return []
    }
  }

  // MARK: The link

  private mutating func open(_ code: Secret<String>, at now: Int64) -> [FlowAction] {
    switch flow.stage {
    case .starting:
      flow.code = code
      guard let stage = waitingStage else { return flow.fail(.invalidActionCode, at: now) }
      // To verify an address hurts nobody: the click is enough.
      return (isHarmless ? begin(at: now) : flow.wait(at: stage, now: now)) + checking(code)
    case .waitingForPassword where !flow.isCodeChecked: return checking(code)
    case .waitingForConfirmation:
      // A second click after temporary trouble tries again what a first click does.
      if isHarmless, flow.isCodeChecked || flow.error != nil { return confirm(at: now) }
      return flow.isCodeChecked ? [] : checking(code)
    case .waitingForLink, .waitingForRedirect, .waitingForCaptcha, .waitingForCode, .waitingForEmail,
      .waitingForPassword, .secondFactorRequired, .reauthenticationRequired, .conflict, .exchanging, .succeeded,
      .failed,
      .cancelled, .expired:
      return []
    }
  }

  /// A link that was given up is opened again: whoever does so wants it after all. What became of its code, the server knows.
  private mutating func reopen(_ code: Secret<String>, at now: Int64) -> [FlowAction] {
    flow.endedAt = nil
    flow.note(nil)
    flow.attempts = 0
    flow.isConfirmed = false
    flow.isCodeChecked = false
    flow.stage = .starting
    flow.expiresAt = now + waitingLifetime
    return open(code, at: now)
  }

  private mutating func begin(at now: Int64) -> [FlowAction] {
    flow.beginExchange(at: now)
    return [.save]
  }

  private func checking(_ code: Secret<String>) -> [FlowAction] { [.checkCode(code)] }

  /// Where this kind of code waits for somebody; nil for what is no action code.
  private var waitingStage: FlowStage? {
    switch flow.actionKind {
    case .passwordReset: .waitingForPassword
    case .verifyEmail, .verifyAndChangeEmail, .recoverEmail, .revertSecondFactor: .waitingForConfirmation
    case .emailSignIn, .oauthRedirect, .appVerification, .none?, nil: nil
    }
  }

  private var isHarmless: Bool { flow.actionKind == .verifyEmail || flow.actionKind == .verifyAndChangeEmail }

  // MARK: What the code does

  private mutating func checked(_ info: ActionCodeInfo, at now: Int64) -> [FlowAction] {
    guard !flow.isCodeChecked, let code = flow.code else { return [] }
    // A type that nobody knows yet keeps the link's word, and waits to be confirmed.
    let isTrue = info.kind == flow.actionKind
    flow.actionKind = info.kind ?? flow.actionKind
    flow.isCodeChecked = true
    flow.email = info.email
    flow.previousEmail = info.previousEmail
    guard let stage = waitingStage else { return flow.fail(.invalidActionCode, at: now) }
    guard flow.stage == .exchanging else {
      // The answer about a password that was too weak came first, and is still news.
      if flow.error != .weakPassword { flow.note(nil) }
      flow.stage = stage
      return [.save]
    }
    // A new password is on its way: its own answer decides.
    if stage == .waitingForPassword, isTrue { return [.save] }
    guard isTrue, flow.isConfirmed || isHarmless else { return flow.wait(at: stage, now: now) }
    return apply(code, at: now)
  }

  private mutating func checkFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard !flow.isCodeChecked else { return [] }
    // A new password is on its way, and needs no check: it may have spent the code before the server came to this one.
    if flow.stage == .exchanging, flow.actionKind == .passwordReset { return [] }
    guard failure.isTransient else {
      // A browser may have spent the code, and the account is another since (field report B120).
      let mayBeDone = failure.error == .invalidActionCode && flow.actionKind != .passwordReset
      return flow.fail(failure, at: now) + (mayBeDone ? [accountChanged] : [])
    }
    flow.isConfirmed = false
    return flow.wait(at: flow.stage == .exchanging ? .waitingForConfirmation : flow.stage, after: failure, now: now)
  }

  // MARK: Applying

  private mutating func confirm(at now: Int64) -> [FlowAction] {
    guard flow.stage == .waitingForConfirmation, let code = flow.code else { return [.refuse(.noSuchFlow)] }
    flow.isConfirmed = true
    return flow.isCodeChecked ? apply(code, at: now) : begin(at: now) + checking(code)
  }

  private mutating func apply(_ code: Secret<String>, at now: Int64) -> [FlowAction] {
    flow.attempts += 1
    return begin(at: now) + [.applyCode(code)]
  }

  private mutating func provide(_ password: Secret<String>, at now: Int64) -> [FlowAction] {
    guard flow.stage == .waitingForPassword, let code = flow.code else { return [.refuse(.noSuchFlow)] }
    flow.attempts += 1
    return begin(at: now) + [.resetPassword(code: code, newPassword: password)]
  }

  private mutating func performed(at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging else { return [] }
    flow.note(nil)
    return flow.end(.succeeded, at: now) + [accountChanged]
  }

  private mutating func exchangeFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, let stage = waitingStage else { return [] }
    if failure.isTransient || failure.error == .weakPassword {
      flow.isConfirmed = false
      if failure.error == .weakPassword { flow.attempts = 0 }
      return flow.wait(at: stage, after: failure, now: now)
    }
    // An earlier try, or a browser since the check, may have done it without our learning of it.
    let mayBeDone = flow.attempts > 1 || failure.error == .invalidActionCode
    return flow.fail(failure, at: now) + (mayBeDone ? [accountChanged] : [])
  }

  private var accountChanged: FlowAction {
    // Whose address was given back isn't known where the server names that one alone.
    let isAnybodys = flow.actionKind == .recoverEmail && flow.previousEmail == nil
    return .accountChanged(email: isAnybodys ? nil : flow.email, previousEmail: flow.previousEmail)
  }

  private mutating func restore(at now: Int64) -> [FlowAction] {
    if now >= flow.expiresAt { return flow.end(.expired, at: now) }
    guard let code = flow.code else { return flow.fail(.invalidActionCode, at: now) }
    guard flow.stage == .exchanging else { return flow.isCodeChecked ? [] : checking(code) }
    // The new password isn't kept anywhere.
    if flow.actionKind == .passwordReset { return flow.wait(at: .waitingForPassword, now: now) + checking(code) }
    if !flow.isCodeChecked { return checking(code) }
    // Retried once: whether the server saw the first try is unknown.
    if flow.attempts >= 2 { return flow.fail(.invalidActionCode, at: now) + [accountChanged] }
    return apply(code, at: now)
  }
}
