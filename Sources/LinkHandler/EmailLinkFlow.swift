public import AuthCore

/// Sign-in, linking or reauthentication by a mailed link, as a machine: events in, actions out, nothing else
/// (behaviour: Pending flows; identity-toolkit 2.3, 2.5, 8.5).
///
/// The legal next stages:
/// - `starting` → `waitingForLink`, `exchanging`, `failed`, `cancelled`, `expired`
/// - `waitingForLink` → `exchanging`, `starting` (resend), `cancelled`, `expired`
/// - `waitingForEmail` → `exchanging`, `cancelled`, `expired`
/// - `exchanging` → `succeeded`, `failed`, `waitingForLink`, `waitingForEmail`, `cancelled`
/// - `failed` with `canRetry` → `starting` (resend), `exchanging` (a newer link)
/// - `cancelled`, `expired` → `waitingForEmail` (their link is opened again)
/// - `succeeded`: none
public struct EmailLinkFlow: Sendable, Hashable {
  /// What happened.
  public enum Event: Sendable, Hashable {
    /// A caller asked for the mail; the row doesn't exist yet.
    case started
    case mailSent
    case mailFailed(AuthFailure)
    /// A link for this flow was delivered; its code hasn't been refused before.
    case linkOpened(code: Secret<String>)
    /// The person typed an address. It's well-formed.
    case emailProvided(String)
    /// The server accepted the code. `uid` where the answer names it.
    case exchanged(TokenGrant, uid: String?)
    case exchangeFailed(AuthFailure)
    /// The account was looked up with the new token.
    case lookedUp(User)
    case lookUpFailed(AuthFailure)
    case resendRequested
    case cancelRequested
    /// The lifetime is over.
    case overdue
    /// The daemon started and found the row.
    case restored
  }

  /// The row.
  public private(set) var flow: Flow
  private var lookUpAttempts: Int64 = 0

  /// Seconds between two mails of one flow.
  public static let resendInterval: Int64 = 60
  /// Seconds after which the person is told that the link may be too old; the server alone ends a code.
  public static let adviceLifetime: Int64 = 6 * 3600
  /// Seconds that somebody has to say an address (behaviour: Pending flows 2).
  public static let askingLifetime: Int64 = 600
  /// Seconds a row is kept for matching.
  public static let lifetime: Int64 = 24 * 3600

  /// A machine that stands where `flow` stands.
  public init(_ flow: Flow) { self.flow = flow }

  /// Takes `event` at `now` (Unix seconds) and says what is to be done. `flow.sequence` has grown if a client can see
  /// a change.
  public mutating func handle(_ event: Event, at now: Int64) -> [FlowAction] {
    let before = Visible(flow)
    let actions = step(event, at: now)
    if Visible(flow) != before { flow.sequence += 1 }
    return actions
  }

  private mutating func step(_ event: Event, at now: Int64) -> [FlowAction] {
    switch event {
    case .started: return start()
    case .mailSent: return mailSent(at: now)
    case .mailFailed(let failure): return mailFailed(failure, at: now)
    case .linkOpened(let code): return open(code, at: now)
    case .emailProvided(let email): return provide(email)
    case .exchanged(let grant, let uid): return exchanged(grant, uid: uid, at: now)
    case .exchangeFailed(let failure): return exchangeFailed(failure, at: now)
    case .lookedUp(let user): return lookedUp(user, at: now)
    case .lookUpFailed(let failure): return lookUpFailed(failure, at: now)
    case .resendRequested: return resend(at: now)
    case .cancelRequested: return flow.stage.isEnd ? [] : end(.cancelled, at: now)
    case .overdue: return flow.stage.isEnd ? [] : end(.expired, at: now)
    case .restored: return restore(at: now)
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
    flow.error = nil
    return [.save]
  }

  private mutating func mailFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.mailPending else { return [] }
    flow.mailPending = false
    guard flow.stage == .starting else { return [.save] }
    guard failure.isTransient else { return fail(failure.error, at: now, canRetry: false) }
    flow.stage = .waitingForLink
    flow.error = failure.error
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
      flow.error = nil
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
      if flow.code != code { flow.attempts = 0 }
      if flow.queuedCode == code { flow.queuedCode = nil }
      flow.code = code
      guard flow.email != nil else {
        flow.stage = .waitingForEmail
        return [.save]
      }
      return exchange()
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
      return exchange()
    case .cancelled, .expired: return reopen(code, at: now)
    case .waitingForRedirect, .waitingForCaptcha, .waitingForCode, .waitingForPassword, .waitingForConfirmation,
      .secondFactorRequired, .reauthenticationRequired, .conflict, .succeeded:
      return []
    }
  }

  /// A link that was given up unspent is opened again: whoever does so wants it after all, and says the address anew.
  private mutating func reopen(_ code: Secret<String>, at now: Int64) -> [FlowAction] {
    // Given up while it was being exchanged: the code is spent.
    if flow.attempts > 0, flow.error == nil { return [] }
    flow.endedAt = nil
    flow.error = nil
    flow.attempts = 0
    flow.email = nil
    flow.linkTokenHash = nil
    flow.code = code
    flow.expiresAt = now + Self.askingLifetime
    flow.stage = .waitingForEmail
    return [.save]
  }

  private mutating func provide(_ email: String) -> [FlowAction] {
    guard flow.stage == .waitingForEmail else { return [.refuse(.noSuchFlow)] }
    flow.email = email
    return exchange()
  }

  private mutating func exchange() -> [FlowAction] {
    guard let email = flow.email, let code = flow.code else { return [] }
    flow.stage = .exchanging
    flow.error = nil
    flow.attempts += 1
    return [.save, .exchange(email: email, code: code)]
  }

  private mutating func exchanged(_ grant: TokenGrant, uid: String?, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil else { return [] }
    if let uid, let protected = flow.protectedUID, uid != protected { return fail(.userMismatch, at: now) }
    // Held in the row: the code is spent, so a crash or a network fault must not lose what it gave.
    flow.answer = grant
    return [.save, .lookUp(grant, delay: 0)]
  }

  private mutating func exchangeFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil else { return [] }
    if failure.isTransient { return waitAgain(failure.error) }
    switch failure.error {
    case .invalidEmail, .emailMismatch: return waitAgain(.emailMismatch)
    case .invalidActionCode, .expiredActionCode:
      if let queued = flow.queuedCode {
        flow.code = queued
        flow.queuedCode = nil
        flow.attempts = 0
        return exchange()
      }
      return fail(failure.error, at: now, canRetry: flow.email != nil)
    default: return fail(failure.error, at: now)
    }
  }

  /// Back to where a link or an address can arrive; the row and its code stay.
  private mutating func waitAgain(_ error: AuthError) -> [FlowAction] {
    flow.error = error
    flow.attempts = 0
    if flow.linkTokenHash == nil {
      flow.stage = .waitingForEmail
      if error == .emailMismatch { flow.email = nil }
    } else {
      flow.stage = .waitingForLink
    }
    return [.save]
  }

  // MARK: The account

  private mutating func lookedUp(_ user: User, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, let grant = flow.answer else { return [] }
    if let protected = flow.protectedUID, user.uid != protected { return fail(.userMismatch, at: now) }
    flow.resultUID = user.uid
    flow.isNewUser = grant.isNewUser
    flow.error = nil
    forget()
    flow.stage = .succeeded
    flow.endedAt = now
    return [.adopt(user, grant)]
  }

  private mutating func lookUpFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, let grant = flow.answer else { return [] }
    guard failure.isTransient else { return fail(failure.error, at: now) }
    flow.error = failure.error
    lookUpAttempts += 1
    return [.lookUp(grant, delay: failure.retryAfter ?? min(1 << min(lookUpAttempts, 6), 60))]
  }

  // MARK: Ends and beginnings

  private mutating func fail(_ error: AuthError, at now: Int64, canRetry: Bool = false) -> [FlowAction] {
    flow.error = error
    flow.canRetry = canRetry
    return end(.failed, at: now)
  }

  private mutating func end(_ stage: FlowStage, at now: Int64) -> [FlowAction] {
    flow.stage = stage
    flow.endedAt = now
    let refused = flow.code
    forget()
    // A refused code is remembered while a newer one may still mend the flow.
    if flow.canRetry { flow.code = refused }
    return [.save]
  }

  private mutating func forget() {
    flow.code = nil
    flow.queuedCode = nil
    flow.answer = nil
    flow.mailPending = false
  }

  private mutating func restore(at now: Int64) -> [FlowAction] {
    if flow.stage.isEnd { return [] }
    if now >= flow.expiresAt { return end(.expired, at: now) }
    switch flow.stage {
    case .starting: return flow.email.map { [.sendMail(to: $0)] } ?? []
    case .exchanging:
      if let grant = flow.answer { return [.lookUp(grant, delay: 0)] }
      // Retried once: whether the server saw the first try is unknown.
      if flow.attempts >= 2 { return fail(.invalidActionCode, at: now, canRetry: flow.email != nil) }
      return exchange()
    case .waitingForLink, .waitingForEmail, .waitingForRedirect, .waitingForCaptcha, .waitingForCode,
      .waitingForPassword, .waitingForConfirmation, .secondFactorRequired, .reauthenticationRequired, .conflict,
      .succeeded, .failed, .cancelled, .expired:
      return []
    }
  }

  /// What a client can see of a flow.
  private struct Visible: Equatable {
    let stage: FlowStage
    let error: AuthError?
    let canResendAt: Int64?
    let email: String?

    init(_ flow: Flow) {
      stage = flow.stage
      error = flow.error
      canResendAt = flow.canResendAt
      email = flow.email
    }
  }
}
