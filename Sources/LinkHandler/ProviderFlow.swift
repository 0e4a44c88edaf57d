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

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .conflict(.resolved(let choice, let current)): return flow.resolve(choice, current: current, at: now)
    case .emailProvided, .passwordProvided, .confirmed, .resendRequested: return [.refuse(.noSuchFlow)]
    case _ where flow.stage.isEnd: return []
    case .started: return start(at: now)
    case .authorization(let event): return step(event, at: now)
    case .conflict(let event): return step(event, at: now)
    case .exchanged(let grant, let uid):
      tries = 0
      return flow.take(grant, uid: uid, at: now)
    case .exchangeFailed(let failure): return exchangeFailed(failure, at: now)
    case .lookedUp(let user, let guest): return flow.settle(user, guest: guest, at: now)
    case .lookUpFailed(let failure): return flow.lookUpAgain(failure, attempts: &tries, at: now)
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored: return restore(at: now)
    case .alreadySignedIn, .linkOpened, .mailSent, .mailFailed, .codeChecked, .codeCheckFailed, .performed,
      .reauthenticated:
      return []
    }
  }

  private mutating func step(_ event: AuthorizationEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .ready(let request): return ready(request, at: now)
    case .failed(let failure): return preparationFailed(failure, at: now)
    case .browserMissing, .listenerMissing: return note(.handlerMissing)
    case .browserRefused: return flow.stage == .waitingForRedirect ? flow.end(.cancelled, at: now) : []
    case .redirectRefused(let error): return note(error)
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

  // MARK: The answer

  /// What isn't the flow's answer leaves it waiting, and tells the person.
  private mutating func note(_ error: AuthError) -> [FlowAction] {
    guard flow.stage == .waitingForRedirect, flow.error != error else { return [] }
    flow.note(AuthFailure(error))
    return [.save]
  }

  private mutating func take(_ redirect: OAuthRedirect, at now: Int64) -> [FlowAction] {
    switch redirect.response {
    case .own(let response):
      guard let client = flow.authorization?.client else { return note(.invalidProviderResponse) }
      return take(response, client, redirect.reject, at: now)
    case .handler(let response):
      guard let session = flow.authorization?.sessionID, redirect.reject == nil else {
        return note(.invalidProviderResponse)
      }
      return take(response, sessionID: session, at: now)
    }
  }

  private mutating func take(
    _ response: OAuthRedirect.OwnClientResponse, _ client: PendingAuthorization.Client, _ reject: String?,
    at now: Int64
  ) -> [FlowAction] {
    // A ready token in a URL proves nothing about who asked for it, with or without an issuer (field report B058).
    if response.isFragment { return note(.invalidProviderResponse) }
    guard client.metadata.acceptsIssuer(response.issuer) else { return note(.issuerMismatch) }
    if reject == "missingCode" { return note(.missingCode) }
    if reject != nil { return note(.invalidProviderResponse) }
    if let error = response.error { return refused(error, at: now) }
    guard let code = response.code, !code.reveal().isEmpty else { return note(.missingCode) }
    // One exchange for each code, however often the browser brings it.
    guard code != flow.code else { return [] }
    flow.code = code
    flow.attempts = 1
    tries = 0
    flow.beginExchange(at: now)
    return [.save, .exchangeAuthorizationCode(code, delay: 0)]
  }

  /// RFC 6749 4.1.2.1, and what providers say besides when somebody says no (field report B062).
  private mutating func refused(_ error: String, at now: Int64) -> [FlowAction] {
    switch error {
    case "access_denied", "user_denied", "user_cancelled", "user_cancelled_login", "user_cancelled_authorize",
      "consent_required":
      return flow.end(.cancelled, at: now)
    // The page is still there, and may do it at the second try.
    case "temporarily_unavailable", "server_error": return note(.serviceUnavailable)
    default: return flow.fail(.invalidProviderResponse, at: now)
    }
  }

  private mutating func take(
    _ response: OAuthRedirect.HandlerResponse, sessionID: Secret<String>, at now: Int64
  ) -> [FlowAction] {
    if let url = response.responseURL {
      var credential = OAuthCredential(providerID: flow.method.description)
      credential.requestURI = url
      credential.sessionID = sessionID
      return exchange(credential, at: now)
    }
    switch response.error {
    case "auth/user-cancelled", "auth/cancelled-popup-request", "auth/popup-closed-by-user",
      "auth/web-context-cancelled", "auth/redirect-cancelled-by-user":
      return flow.end(.cancelled, at: now)
    case "auth/network-request-failed": return note(.networkUnavailable)
    case "auth/internal-error": return note(.serviceUnavailable)
    case "auth/operation-not-allowed": return flow.fail(.operationNotAllowed, at: now)
    default: return flow.fail(.invalidProviderResponse, at: now)
    }
  }

  // MARK: The exchange

  private mutating func exchange(_ credential: OAuthCredential, at now: Int64) -> [FlowAction] {
    flow.credential = credential
    tries = 0
    flow.beginExchange(at: now)
    return [.save, .signInWithCredential(credential, delay: 0)]
  }

  private mutating func exchangeFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil else { return [] }
    if failure.isTransient { return again(failure) }
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
    if let credential = flow.credential { return [.signInWithCredential(credential, delay: delay)] }
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
      flow.meetExistingAccount()
      return [.save, .signInWithCredential(credential, delay: 0)]
    }
    // Asked once, and answered.
    if let met = flow.conflict, met != .anonymousUpgrade { return flow.fail(found.kind.error, at: now) }
    switch (flow.purpose, found.kind) {
    case (.link, .credentialAlreadyInUse), (.link, .emailAlreadyInUse),
      (.signIn, .accountExistsWithDifferentCredential):
      return flow.meet(found.kind, now: now)
    default: return flow.fail(found.kind.error, at: now)
    }
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
      if let credential = flow.credential { return [.signInWithCredential(credential, delay: 0)] }
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
    case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_request": true
    default: error == .cancelled || error == .userMismatch || error == .noSuchApp || error == .noSuchProvider
    }
  }
}

extension ProviderMetadata {
  /// RFC 9207 2.4: a promised issuer must be there, and any that's there must be this one. Microsoft's stands for every
  /// tenant.
  func acceptsIssuer(_ issuer: String?) -> Bool {
    guard let issuer else { return !promisesIssuer }
    guard let own = self.issuer else { return true }
    // Byte for byte (RFC 3986 6.2.1): texts that look the same needn't be.
    if issuer.utf8.elementsEqual(own.utf8) { return true }
    let parts = own.split(separator: "{tenantid}", omittingEmptySubsequences: false).map { Array($0.utf8) }
    let bytes = Array(issuer.utf8)
    guard parts.count == 2, bytes.starts(with: parts[0]), bytes.reversed().starts(with: parts[1].reversed()),
      bytes.count > parts[0].count + parts[1].count
    else { return false }
    return bytes.dropFirst(parts[0].count).dropLast(parts[1].count).allSatisfy {
      ASCII.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(ASCII.lower($0)) || $0 == UInt8(ascii: "-")
    }
  }
}
