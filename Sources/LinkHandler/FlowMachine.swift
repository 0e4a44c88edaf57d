public import AuthCore

/// What happened to a flow. Times are Unix seconds.
public enum FlowEvent: Sendable, Hashable {
  /// A caller asked for it; the row doesn't exist yet.
  case started
  /// A guest is there already: the same one is the answer (identity-toolkit 8.1).
  case alreadySignedIn(uid: String)

  // From people and links
  /// A link for this flow was delivered; its code hasn't been refused before.
  case linkOpened(code: Secret<String>)
  /// The person typed an address. It's well-formed.
  case emailProvided(String)
  /// The person typed a password. It isn't empty.
  case passwordProvided(Secret<String>)
  /// The person agreed.
  case confirmed
  case resendRequested
  case cancelRequested

  // Answers of the server
  case mailSent
  case mailFailed(AuthFailure)
  /// The server accepted code, password or guest. `uid` where the answer names it.
  case exchanged(TokenGrant, uid: String?)
  /// A request that isn't named by an event of its own failed.
  case exchangeFailed(AuthFailure)
  /// What an action code does, or that it does nothing.
  case codeChecked(ActionCodeInfo)
  case codeCheckFailed(AuthFailure)
  /// The server did what was asked and gave no tokens for it.
  case performed
  /// The account was looked up with the new token.
  case lookedUp(User)
  case lookUpFailed(AuthFailure)

  // From the daemon
  /// The session's user has signed in again: what was parked may go on.
  case reauthenticated
  /// The lifetime is over.
  case overdue
  /// The daemon started and found the row.
  case restored
}

/// A flow as a machine: events in, actions out, nothing else. No clock, no I/O, no `async`.
public protocol FlowMachine: Sendable {
  /// The row.
  var flow: Flow { get }

  /// Takes `event` at `now` (Unix seconds) and says what is to be done. `flow.sequence` has grown if a client can see a
  /// change. What came too late is ignored; what a person may not do at this stage is refused.
  mutating func handle(_ event: FlowEvent, at now: Int64) -> [FlowAction]
}

/// The machine of a row, by its method.
public enum FlowMachines {
  /// A machine that stands where `flow` stands; nil for a method that this version has none for.
  public static func machine(for flow: Flow) -> (any FlowMachine)? {
    switch flow.method {
    case .emailLink: EmailLinkFlow(flow)
    case .anonymous: AnonymousFlow(flow)
    case .password: PasswordFlow(flow)
    case .actionCode: ActionCodeFlow(flow)
    case .none: flow.purpose == .deleteUser ? DeleteUserFlow(flow) : nil
    case .phone, .custom, .provider, .totp: nil
    }
  }
}

/// Seconds that somebody has for the next step: an address, a password, a confirmation (behaviour: Pending flows 2).
public let waitingLifetime: Int64 = 600

/// What a client can see of a flow.
struct VisibleFlow: Equatable {
  private let stage: FlowStage
  private let error: AuthError?
  private let canResendAt: Int64?
  private let email: String?
  private let actionKind: LinkKind?

  init(_ flow: Flow) {
    stage = flow.stage
    error = flow.error
    canResendAt = flow.canResendAt
    email = flow.email
    actionKind = flow.actionKind
  }
}

/// The steps that machines have in common.
extension Flow {
  /// Grows the sequence if a client can see a difference to `before`.
  mutating func count(since before: VisibleFlow) { if VisibleFlow(self) != before { sequence += 1 } }

  mutating func end(_ stage: FlowStage, at now: Int64) -> [FlowAction] {
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

  mutating func note(_ failure: AuthFailure?) {
    error = failure?.error
    errorDetail = failure?.detail
  }

  mutating func forgetSecrets() {
    code = nil
    queuedCode = nil
    answer = nil
    mailPending = false
  }

  /// The server's answer to an exchange. It's held in the row: a code is spent, so a crash or a network fault must not lose
  /// what it gave.
  mutating func take(_ grant: TokenGrant, uid: String?, at now: Int64) -> [FlowAction] {
    guard stage == .exchanging, answer == nil else { return [] }
    if let uid, let protected = protectedUID, uid != protected { return fail(.userMismatch, at: now) }
    answer = grant
    return [.save, .lookUp(grant, delay: 0)]
  }

  /// The account behind the answer: the flow has succeeded, unless it's another one than it must be.
  mutating func settle(_ user: User, at now: Int64) -> [FlowAction] {
    guard stage == .exchanging, let grant = answer else { return [] }
    if let protected = protectedUID, user.uid != protected { return fail(.userMismatch, at: now) }
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
    attempts += 1
    return [.lookUp(grant, delay: failure.retryAfter ?? min(1 << min(attempts, 6), 60))]
  }
}
