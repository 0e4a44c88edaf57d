import AuthCore

/// Sign-in, linking or reauthentication by a mailed link, as a machine: events in, actions out, nothing else
/// (behaviour: Pending flows; identity-toolkit 2.3, 2.5, 8.5).
///
/// The legal next stages:
/// - `starting` → `waitingForLink`, `exchanging`, `waitingForEmail` (a link that nobody asked for), `failed`, `cancelled`,
///   `expired`
/// - `waitingForLink` → `exchanging`, `starting` (resend), `cancelled`, `expired`
/// - `waitingForEmail` → `exchanging`, `cancelled`, `expired`
/// - `exchanging` → `succeeded`, `failed`, `waitingForLink`, `waitingForEmail`, `conflict`, `cancelled`, `expired`,
///   `starting` (the code is spent, and the account that a guest found needs another)
/// - `conflict` → `exchanging`, `starting` (a new link), `cancelled`, `expired`
/// - `failed` with `canRetry` → `starting` (resend), `exchanging` (a newer link)
/// - `cancelled`, `expired` → `waitingForEmail` (their link is opened again)
/// - `succeeded`: none
public struct EmailLinkFlow: FlowSteps {
  var flow: Flow
  var lookUpAttempts: Int64 = 0

  /// Seconds between two mails of one flow.
  public static let resendInterval: Int64 = 60
  /// Seconds after which the person is told that the link may be too old; the server alone ends a code.
  public static let adviceLifetime: Int64 = 6 * 3600
  /// Seconds a row is kept for matching.
  public static let lifetime: Int64 = 24 * 3600

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .started: return start()
    case .mailSent: return mailSent(at: now)
    case .mailFailed(let failure): return mailFailed(failure, at: now)
    case .linkOpened(let code): return open(code, at: now)
    case .emailProvided(let email): return provide(email, at: now)
    case .exchanged(let grant, let uid): return flow.take(grant, uid: uid, at: now)
    case .exchangeFailed(let failure): return exchangeFailed(failure, at: now)
    case .lookedUp(let user, let guest): return flow.settle(user, guest: guest, at: now)
    case .lookUpFailed(let failure): return flow.lookUpAgain(failure, attempts: &lookUpAttempts, at: now)
    case .resendRequested: return resend(at: now)
    case .cancelRequested: return flow.stage.isEnd ? [] : flow.end(.cancelled, at: now)
    case .overdue: return flow.stage.isEnd ? [] : flow.end(.expired, at: now)
    case .restored: return restore(at: now)
    case .conflict(.resolved(.newLink, _)): return newLink(at: now)
    case .conflict(.resolved(let choice, let current)): return flow.resolve(choice, current: current, at: now)
    case .conflict(.timeOver): return flow.conflictTimeOver(at: now)
    case .passwordProvided, .confirmed: return [.refuse(.noSuchFlow)]
    case .alreadySignedIn, .codeChecked, .codeCheckFailed, .performed, .authorization, .conflict, .reauthenticated,
      .verification:
      return []
    }
  }

  // MARK: The mail

  private mutating func start() -> [FlowAction] {
    guard let email = flow.email, flow.stage == .starting, !flow.mailPending else { return [] }
    flow.mailPending = true
    return [.save, .sendMail(to: email)]
  }

  private mutating func mailSent(at now: Int64) -> [FlowAction] {
    guard flow.mailPending else { return [] }
    flow.mailPending = false
    flow.canResendAt = now + Self.resendInterval
    // A link of an earlier mail may have been opened meanwhile.
    guard flow.stage == .starting else { return [.save] }
    flow.stage = .waitingForLink
    // Why a second mail was needed, the person is still to learn.
    if flow.conflict == nil { flow.note(nil) }
    return [.save]
  }

  private mutating func mailFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.mailPending else { return [] }
    flow.mailPending = false
    guard flow.stage == .starting else { return [.save] }
    guard failure.isTransient else { return flow.fail(failure, at: now) }
    flow.stage = .waitingForLink
    flow.note(failure)
    flow.canResendAt = now + (failure.retryAfter ?? 0)
    return [.save]
  }

  private mutating func resend(at now: Int64) -> [FlowAction] {
    guard let email = flow.email, now < flow.expiresAt else { return [.refuse(.noSuchFlow)] }
    switch flow.stage {
    case .waitingForLink, .failed:
      guard flow.stage == .waitingForLink || flow.canRetry else { return [.refuse(.noSuchFlow)] }
      if let moment = flow.canResendAt, now < moment { return [.refuse(.rateLimited)] }
      flow.code = nil
      flow.queuedCode = nil
      flow.attempts = 0
      flow.note(nil)
      flow.canRetry = false
      flow.endedAt = nil
      flow.stage = .starting
      flow.mailPending = true
      return [.save, .sendMail(to: email)]
    case .starting, .exchanging: return [.refuse(.rateLimited)]
    case .waitingForEmail, .waitingForRedirect, .waitingForCaptcha, .waitingForCode, .waitingForPassword,
      .waitingForConfirmation, .secondFactorRequired, .reauthenticationRequired, .conflict, .succeeded, .cancelled,
      .expired:
      return [.refuse(.noSuchFlow)]
    }
  }

  // MARK: The link

  private mutating func open(_ code: Secret<String>, at now: Int64) -> [FlowAction] {
    switch flow.stage {
    case .starting, .waitingForLink, .waitingForEmail:
      // A second click changes nothing while the address is awaited.
      if flow.stage == .waitingForEmail, flow.code == code, flow.email == nil { return [] }
      // Nor does one on the link that was spent on finding the account, while the next one is on its way.
      if flow.conflict != nil, flow.code == code, flow.error == nil || flow.error == .emailAlreadyInUse { return [] }
      if flow.code != code {
        flow.attempts = 0
        flow.note(nil)
      }
      if flow.queuedCode == code { flow.queuedCode = nil }
      flow.code = code
      guard flow.email != nil else {
        flow.stage = .waitingForEmail
        return [.save]
      }
      return exchange(at: now)
    case .exchanging:
      // A second click. Another code waits until the first one's answer is here.
      if flow.code == code || flow.answer != nil || flow.queuedCode == code { return [] }
      flow.queuedCode = code
      return [.save]
    case .failed:
      // A newer mail's link mends what an older one's couldn't.
      guard flow.canRetry, flow.email != nil, flow.code != code else { return [] }
      flow.canRetry = false
      flow.endedAt = nil
      flow.attempts = 0
      flow.code = code
      return exchange(at: now)
    case .cancelled, .expired: return reopen(code, at: now)
    case .waitingForRedirect, .waitingForCaptcha, .waitingForCode, .waitingForPassword, .waitingForConfirmation,
      .secondFactorRequired, .reauthenticationRequired, .conflict, .succeeded:
      return []
    }
  }

  /// A link that was given up unspent is opened again: whoever does so wants it after all, and says the address anew.
  private mutating func reopen(_ code: Secret<String>, at now: Int64) -> [FlowAction] {
    // Given up while it was being exchanged: the code is spent.
    if flow.attempts > 0 { return [] }
    flow.endedAt = nil
    flow.note(nil)
    flow.attempts = 0
    flow.email = nil
    flow.linkTokenHash = nil
    flow.code = code
    flow.expiresAt = now + waitingLifetime
    flow.stage = .waitingForEmail
    return [.save]
  }

  private mutating func provide(_ email: String, at now: Int64) -> [FlowAction] {
    guard flow.stage == .waitingForEmail else { return [.refuse(.noSuchFlow)] }
    flow.email = email
    return exchange(at: now)
  }

  private mutating func exchange(at now: Int64) -> [FlowAction] {
    guard let email = flow.email, let code = flow.code else { return [] }
    let met = hasMetAccount ? AuthFailure(.emailAlreadyInUse) : nil
    flow.beginExchange(at: now)
    flow.note(met)
    flow.attempts += 1
    return [.save, .exchange(email: email, code: code)]
  }

  private mutating func exchangeFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil else { return [] }
    if failure.isTransient { return waitAgain(failure) }
    switch failure.error {
    case .invalidEmail, .emailMismatch: return waitAgain(AuthFailure(.emailMismatch))
    case .invalidActionCode, .expiredActionCode:
      if let queued = flow.queuedCode {
        flow.code = queued
        flow.queuedCode = nil
        flow.attempts = 0
        return exchange(at: now)
      }
      if hasMetAccount {
        return flow.linkTokenHash == nil ? flow.fail(.emailAlreadyInUse, at: now) : mailAgain(at: now)
      }
      return flow.fail(failure, at: now, canRetry: flow.email != nil)
    case .emailAlreadyInUse where flow.isUpgrade:
      flow.meetExistingAccount()
      flow.note(failure)
      flow.attempts = 0
      return exchange(at: now)
    case .emailAlreadyInUse where flow.purpose == .link && flow.conflict == nil:
      flow.code = nil
      flow.queuedCode = nil
      return flow.meet(.emailAlreadyInUse, now: now)
    default: return flow.fail(failure, at: now)
    }
  }

  /// Whether a guest can't become the account: the server may have spent the code in hand before it saw that.
  private var hasMetAccount: Bool { flow.conflict == .anonymousUpgrade && flow.error == .emailAlreadyInUse }

  /// A new link for the account that exists, which the person is told why. It's good for as long as any.
  private mutating func mailAgain(at now: Int64) -> [FlowAction] {
    guard let email = flow.email else { return [.refuse(.noSuchFlow)] }
    flow.expiresAt = now + Self.lifetime
    flow.queuedCode = nil
    flow.attempts = 0
    flow.stage = .starting
    flow.mailPending = true
    return [.save, .sendMail(to: email)]
  }

  /// The person wants to sign in to the account that has the address already.
  private mutating func newLink(at now: Int64) -> [FlowAction] {
    guard flow.conflictOptions.contains(.newLink) else { return [.refuse(.noSuchFlow)] }
    flow.protectedUID = nil
    flow.linkUID = nil
    return mailAgain(at: now)
  }

  /// Back to where a link or an address can arrive; the row and its code stay.
  private mutating func waitAgain(_ failure: AuthFailure) -> [FlowAction] {
    flow.note(failure)
    flow.attempts = 0
    if flow.linkTokenHash == nil {
      flow.stage = .waitingForEmail
      if failure.error == .emailMismatch { flow.email = nil }
    } else {
      flow.stage = .waitingForLink
    }
    return [.save]
  }

  // MARK: After a restart

  private mutating func restore(at now: Int64) -> [FlowAction] {
    if flow.stage.isEnd { return [] }
    if now >= flow.expiresAt { return flow.end(.expired, at: now) }
    switch flow.stage {
    case .starting: return flow.email.map { [.sendMail(to: $0)] } ?? []
    case .exchanging:
      if let grant = flow.answer { return [.lookUp(grant, delay: 0)] }
      // Retried once: whether the server saw the first try is unknown.
      if flow.attempts >= 2 { return flow.fail(.invalidActionCode, at: now, canRetry: flow.email != nil) }
      return exchange(at: now)
    case .conflict: return flow.restoredConflict()
    case .waitingForLink, .waitingForEmail, .waitingForRedirect, .waitingForCaptcha, .waitingForCode,
      .waitingForPassword, .waitingForConfirmation, .secondFactorRequired, .reauthenticationRequired, .succeeded,
      .failed, .cancelled, .expired:
      return []
    }
  }
}
