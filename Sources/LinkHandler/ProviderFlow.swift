import AuthCore

/// Sign-in, linking or reauthentication by a provider, as a machine: Firebase's page, an own client, or a credential that
/// the app has got by itself (behaviour: OAuth and OpenID Connect; RFC 6749 4.1, RFC 8252, RFC 9207).
///
/// The legal next stages:
/// - `starting` → `waitingForRedirect`, `exchanging` (a ready credential), `failed`, `cancelled`, `expired`; a provider that
///   can't be reached is waited out there
/// - `waitingForRedirect` → `exchanging`, `failed`, `cancelled`, `expired`; an answer that isn't the flow's changes nothing
///   but `error`
/// - `exchanging` → `succeeded`, `failed`, `conflict`, `waitingForRedirect` (a refused answer: the true one may come),
///   `cancelled`, `expired`; temporary trouble is waited out there
/// - `conflict` → `exchanging`, `cancelled`, `expired`
/// - `succeeded`, `failed`, `cancelled`, `expired`: none
struct ProviderFlow: FlowSteps {
  var flow: Flow
  /// Tries of the step that temporary trouble holds up.
  var tries: Int64 = 0
  /// Whether the server may have had the credential without our learning of it.
  var isUnanswered = false

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .conflict(.resolved(let choice, let current)): return flow.resolve(choice, current: current, at: now)
    case .emailProvided, .passwordProvided, .confirmed, .resendRequested: return [.refuse(.noSuchFlow)]
    case _ where flow.stage.isEnd: return []
    case .started: return start(at: now)
    case .authorization(let event): return step(event, at: now)
    case .conflict(let event): return step(event, at: now)
    case .exchanged(let grant, let uid): return exchanged(grant, uid: uid, at: now)
    case .exchangeFailed(let failure): return exchangeFailed(failure, at: now)
    case .lookedUp(let user, let guest): return flow.settle(user, guest: guest, at: now)
    case .lookUpFailed(let failure): return flow.lookUpAgain(failure, attempts: &tries, at: now)
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored: return restore(at: now)
    case .alreadySignedIn, .linkOpened, .mailSent, .mailFailed, .codeChecked, .codeCheckFailed, .performed,
      .reauthenticated, .verification:
      return []
    }
  }

  private mutating func step(_ event: AuthorizationEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .ready(let request): return ready(request, at: now)
    case .failed(let failure): return preparationFailed(failure, at: now)
    case .browserMissing: return note(AuthFailure(.handlerMissing, cause: "cause.no-browser"))
    case .listenerMissing: return note(AuthFailure(.handlerMissing, cause: "cause.port-lost"))
    case .browserRefused: return flow.stage == .waitingForRedirect ? flow.end(.cancelled, at: now) : []
    case .redirectRefused(let error): return note(AuthFailure(error))
    case .redirected(let redirect): return flow.stage == .waitingForRedirect ? take(redirect, at: now) : []
    case .credentialReceived(let credential):
      guard flow.stage == .exchanging, flow.credential == nil, flow.answer == nil else { return [] }
      flow.code = nil
      return exchange(credential, at: now)
    }
  }

  private mutating func step(_ event: ConflictEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .found(let conflict): return meet(conflict, at: now)
    case .signedIn(let user): return flow.link(afterSignInOf: user, at: now)
    case .timeOver: return flow.conflictTimeOver(at: now)
    case .methodsFound(let methods): return flow.learn(methods)
    case .resolved: return []
    }
  }

  // MARK: The request

  private mutating func start(at now: Int64) -> [FlowAction] {
    guard flow.stage == .starting else { return [] }
    if let credential = flow.credential { return exchange(credential, at: now) }
    return [.save, .prepareAuthorization(delay: 0)]
  }

  private mutating func ready(_ request: PendingAuthorization, at now: Int64) -> [FlowAction] {
    guard flow.stage == .starting else { return [] }
    flow.authorization = request
    tries = 0
    return flow.wait(at: .waitingForRedirect, now: now) + [.openBrowser]
  }

  private mutating func preparationFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .starting else { return [] }
    guard failure.isTransient else { return flow.fail(failure, at: now) }
    flow.note(failure)
    return [.prepareAuthorization(delay: failure.delay(&tries))]
  }

  // MARK: The exchange

  mutating func exchange(_ credential: OAuthCredential, at now: Int64) -> [FlowAction] {
    flow.credential = credential
    tries = 0
    flow.beginExchange(at: now)
    return [.save, .signInWithCredential(credential, delay: 0)]
  }

  private mutating func exchanged(_ grant: TokenGrant, uid: String?, at now: Int64) -> [FlowAction] {
    tries = 0
    if isTryingOwnAccount, let uid, uid != flow.protectedUID {
      let actions = meet(.credentialAlreadyInUse, at: now)
      // Who has shown both factors shows neither again.
      if flow.stage == .conflict, flow.secondFactor != nil { flow.answer = grant }
      return actions
    }
    return flow.take(grant, uid: uid, at: now)
  }

  private mutating func exchangeFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil else { return [] }
    if failure.isTransient { return again(failure) }
    if isTryingOwnAccount { return meet(.credentialAlreadyInUse, at: now) }
    if failure.error == .providerAlreadyLinked, let own = tryOwnAccount() { return own }
    // The code was refused, or what it gave: it wasn't the flow's, and the true one may still come.
    if flow.credential == nil, flow.code != nil, !failure.isRegistrationFault {
      return flow.wait(at: .waitingForRedirect, after: failure, now: now)
    }
    // So it is with an answer of Firebase's page that belongs to another session id.
    if flow.credential?.requestURI != nil, flow.conflict == nil, failure.error == .invalidProviderResponse {
      flow.credential = nil
      return flow.wait(at: .waitingForRedirect, after: failure, now: now)
    }
    if flow.purpose == .reauthenticate, failure.error == .userNotFound { return flow.fail(.userMismatch, at: now) }
    return flow.fail(failure, at: now)
  }

  private mutating func again(_ failure: AuthFailure) -> [FlowAction] {
    flow.note(failure)
    let delay = failure.delay(&tries)
    if let credential = flow.credential {
      isUnanswered = true
      return [.signInWithCredential(credential, delay: delay)]
    }
    return flow.code.map { [.exchangeAuthorizationCode($0, delay: delay)] } ?? []
  }

  private mutating func meet(_ found: AccountConflict, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil, let offered = flow.credential else { return [] }
    tries = 0
    if flow.purpose == .reauthenticate { return flow.fail(.userMismatch, at: now) }
    let credential = found.credential ?? offered
    flow.credential = credential
    flow.email = found.email ?? flow.email
    if flow.isUpgrade {
      isUnanswered = false
      flow.meetExistingAccount()
      return [.save, .signInWithCredential(credential, delay: 0)]
    }
    if found.kind == .credentialAlreadyInUse, let own = tryOwnAccount() { return own }
    return meet(found.kind, at: now)
  }

  private mutating func meet(_ kind: ConflictKind, at now: Int64) -> [FlowAction] {
    isUnanswered = false
    // Asked once, and answered.
    if let met = flow.conflict, met != .anonymousUpgrade { return flow.fail(kind.error, at: now) }
    switch (flow.purpose, kind) {
    case (.link, .credentialAlreadyInUse), (.link, .emailAlreadyInUse),
      (.signIn, .accountExistsWithDifferentCredential):
      return flow.meet(kind, now: now)
    default: return flow.fail(kind.error, at: now)
    }
  }

  /// Who has the credential that "is linked already", after a try to link it that went unanswered? Whoever it signs in.
  private mutating func tryOwnAccount() -> [FlowAction]? {
    guard isUnanswered, let credential = flow.credential, let uid = flow.linkUID, uid == flow.protectedUID else {
      return nil
    }
    flow.linkUID = nil
    return [.save, .signInWithCredential(credential, delay: 0)]
  }

  /// An account is protected, and nothing is added to it any more.
  private var isTryingOwnAccount: Bool {
    flow.purpose != .reauthenticate && flow.protectedUID != nil && flow.linkUID == nil && flow.stage == .exchanging
      && flow.answer == nil
  }

  // MARK: After a restart

  private mutating func restore(at now: Int64) -> [FlowAction] {
    if now >= flow.expiresAt { return flow.end(.expired, at: now) }
    switch flow.stage {
    case .starting: return flow.credential.map { exchange($0, at: now) } ?? [.prepareAuthorization(delay: 0)]
    case .waitingForRedirect: return listening
    case .conflict: return flow.restoredConflict()
    case .exchanging:
      if let grant = flow.answer { return [.lookUp(grant, delay: 0)] }
      if let credential = flow.credential {
        isUnanswered = true
        return [.signInWithCredential(credential, delay: 0)]
      }
      return flow.code.map { restore($0, at: now) } ?? []
    case .waitingForLink, .waitingForEmail, .waitingForCaptcha, .waitingForCode, .waitingForPassword,
      .waitingForConfirmation, .secondFactorRequired, .reauthenticationRequired, .succeeded, .failed, .cancelled,
      .expired:
      return []
    }
  }

  /// Tried once again: whether the provider saw the first try is unknown. Where it did, the browser has to come anew.
  private mutating func restore(_ code: Secret<String>, at now: Int64) -> [FlowAction] {
    if flow.attempts >= 2 {
      return flow.wait(at: .waitingForRedirect, after: AuthFailure(.invalidProviderResponse), now: now) + listening
    }
    flow.attempts += 1
    return [.save] + listening + [.exchangeAuthorizationCode(code, delay: 0)]
  }

  private var listening: [FlowAction] { flow.authorization?.loopbackPort == nil ? [] : [.listen] }
}

extension AuthFailure {
  /// Whether the provider refuses the app itself (RFC 6749 5.2): no other code would help.
  fileprivate var isRegistrationFault: Bool {
    switch serverCode {
    case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope": true
    default: error == .cancelled || error == .userMismatch || error == .noSuchApp || error == .noSuchProvider
    }
  }
}
