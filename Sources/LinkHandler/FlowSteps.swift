import AuthCore

/// Seconds that somebody has for the next step: an address, a password, a confirmation (behaviour: Pending flows 2).
public let waitingLifetime: Int64 = 600

/// What one method's machine does with an event. `FlowMachine` counts.
protocol FlowSteps: Sendable {
  /// The row.
  var flow: Flow { get set }

  /// See `FlowMachine.handle`.
  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction]

  /// The first factor was accepted: what is in memory alone for another try at it goes.
  mutating func forgetFirstFactor()
}

extension FlowSteps {
  mutating func forgetFirstFactor() {}
}

/// The steps that machines have in common.
extension Flow {
  mutating func end(_ stage: FlowStage, at now: Int64) -> [FlowAction] {
    // Giving up is no failure: what went wrong before doesn't matter any more.
    if stage == .cancelled { note(nil) }
    self.stage = stage
    endedAt = now
    let refused = code
    forgetSecrets()
    // A refused code is remembered while a newer one may still mend the flow.
    if canRetry { code = refused }
    return [.save]
  }

  mutating func fail(_ failure: AuthFailure, at now: Int64, canRetry: Bool = false) -> [FlowAction] {
    note(failure)
    self.canRetry = canRetry
    return end(.failed, at: now)
  }

  mutating func fail(_ error: AuthError, at now: Int64, canRetry: Bool = false) -> [FlowAction] {
    fail(AuthFailure(error), at: now, canRetry: canRetry)
  }

  /// Waits for somebody at `stage`, for as long as that is given.
  mutating func wait(at stage: FlowStage, after failure: AuthFailure? = nil, now: Int64) -> [FlowAction] {
    note(failure)
    self.stage = stage
    expiresAt = now + waitingLifetime
    return [.save]
  }

  /// Hands what somebody gave to the server. It has its own time there, however late it was given.
  mutating func beginExchange(at now: Int64) {
    if stage != .exchanging { expiresAt = max(expiresAt, now + waitingLifetime) }
    stage = .exchanging
    note(nil)
  }

  mutating func note(_ failure: AuthFailure?) {
    error = failure?.error
    errorDetail = failure?.detail
    errorCause = failure?.cause
  }

  mutating func forgetSecrets() {
    code = nil
    queuedCode = nil
    answer = nil
    mailPending = false
    authorization = nil
    credential = nil
    verification = nil
    secondFactor = nil
    totpEnrollment = nil
    phoneProof = nil
  }

  /// The server's answer to an exchange. It's held in the row: a code is spent, so a crash or a network fault must not lose
  /// what it gave.
  mutating func take(_ grant: TokenGrant, uid: String?, at now: Int64) -> [FlowAction] {
    guard stage == .exchanging, answer == nil else { return [] }
    if let uid, let protected = protectedUID, uid != protected { return fail(.userMismatch, at: now) }
    answer = grant
    return [.save, .lookUp(grant, delay: 0)]
  }

  /// The account behind the answer: the flow has succeeded, unless it's another one than it must be. `guest` is who is
  /// signed in as one until then.
  mutating func settle(_ user: User, guest: String?, at now: Int64) -> [FlowAction] {
    guard stage == .exchanging, let grant = answer else { return [] }
    if let protected = protectedUID, user.uid != protected { return fail(.userMismatch, at: now) }
    if let guest, mustHold(user, guest) { return hold(user, at: now) }
    // An unanswered try may have upgraded the guest: then the account that "exists already" is the guest's own.
    isUpgraded = (isUpgrade || conflict == .anonymousUpgrade) && user.uid == anonymousUID
    if let guest, guest != user.uid { previousUID = guest }
    resultUID = user.uid
    isNewUser = grant.isNewUser
    note(nil)
    forgetSecrets()
    stage = .succeeded
    endedAt = now
    return [.adopt(user, grant)]
  }

  /// The account can't be looked up. `attempts` so far; temporary trouble is waited out.
  mutating func lookUpAgain(_ failure: AuthFailure, attempts: inout Int64, at now: Int64) -> [FlowAction] {
    guard stage == .exchanging, let grant = answer else { return [] }
    guard failure.isTransient else { return fail(failure, at: now) }
    note(failure)
    return [.lookUp(grant, delay: failure.delay(&attempts))]
  }
}

extension AuthFailure {
  /// Seconds until temporary trouble may be over: as the server asks, else ever longer, up to a minute. `tries` so far.
  func delay(_ tries: inout Int64) -> Int64 {
    tries += 1
    return retryAfter ?? min(1 << min(tries, 6), 60)
  }
}
