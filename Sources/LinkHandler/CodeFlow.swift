import AuthCore

/// What ends with a code that a person types: sign-in, linking and reauthentication by a phone number, another number for the
/// account, and the enrollment of a second factor, a phone or an authenticator app (behaviour: Phone, Second factors).
///
/// The legal next stages:
/// - `starting` → `waitingForCode`, `waitingForCaptcha`, `reauthenticationRequired`, `failed`, `cancelled`, `expired`; a secret
///   that can't be had is waited for there
/// - `waitingForCaptcha` → `starting`, `failed`, `cancelled`, `expired`
/// - `waitingForCode` → `exchanging`, `starting` (resend), `cancelled`, `expired`
/// - `exchanging` → `succeeded`, `failed`, `waitingForCode` (a wrong code, temporary trouble), `reauthenticationRequired`,
///   `conflict` (the number is another account's), `cancelled`, `expired`
/// - `reauthenticationRequired` → `starting` or `waitingForCode` (where it stood), `cancelled`, `expired`
/// - `conflict` → `exchanging`, `cancelled`, `expired`
/// - `failed` with `canRetry` → `starting` (resend)
/// - `succeeded`, `cancelled`, `expired`: none
struct CodeFlow: FlowSteps {
  var flow: Flow
  /// Tries of the step that temporary trouble holds up.
  var tries: Int64 = 0

  mutating func step(_ event: FlowEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .resendRequested: return resend(at: now)
    case .verification(.codeProvided(let code)): return flow.verify(code, at: now)
    case .conflict(.resolved(let choice, let current)): return flow.resolve(choice, current: current, at: now)
    case .emailProvided, .passwordProvided, .confirmed: return [.refuse(.noSuchFlow)]
    case _ where flow.stage.isEnd: return []
    case .started: return flow.stage == .starting ? begin(at: now) : []
    case .verification(let event): return step(event, at: now)
    case .exchanged(let grant, let uid): return exchanged(grant, uid: uid, at: now)
    case .performed: return performed(at: now)
    case .exchangeFailed(let failure): return exchangeFailed(failure, at: now)
    case .lookedUp(let user, let guest): return flow.settle(user, guest: guest, at: now)
    case .lookUpFailed(let failure): return flow.lookUpAgain(failure, attempts: &tries, at: now)
    case .conflict(.timeOver): return flow.conflictTimeOver(at: now)
    case .authorization(.browserMissing):
      return flow.noteAtPage(AuthFailure(.handlerMissing, cause: "cause.no-browser"))
    case .authorization(.browserRefused):
      return flow.stage == .waitingForCaptcha ? flow.end(.cancelled, at: now) : []
    case .reauthenticated: return reauthenticated(at: now)
    case .cancelRequested: return flow.end(.cancelled, at: now)
    case .overdue: return flow.end(.expired, at: now)
    case .restored: return restore(at: now)
    case .alreadySignedIn, .linkOpened, .mailSent, .mailFailed, .codeChecked, .codeCheckFailed, .conflict,
      .authorization:
      return []
    }
  }

  private mutating func step(_ event: VerificationEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .codeSent(let session): return flow.codeSent(session, at: now)
    case .captchaRequired where flow.method == .totp:
      return flow.stage == .starting ? flow.fail(.captchaRequired, at: now) : []
    case .captchaRequired:
      return flow.prepareVerificationPage() ?? flow.fail(.captchaFailed, at: now, canRetry: true)
    case .pageReady(let page): return flow.showVerificationPage(page, at: now)
    case .pageReturned(let page):
      if let actions = flow.takeVerification(page, at: now) { return actions }
      return page.isCancelled ? flow.end(.cancelled, at: now) : flow.fail(.captchaFailed, at: now, canRetry: true)
    case .sendFailed(let failure): return sendFailed(failure, at: now)
    case .enrollmentStarted(let enrollment): return enrollmentStarted(enrollment, at: now)
    case .numberTaken(let proof): return numberTaken(proof, at: now)
    case .secondFactorRequired, .factorChosen, .codeProvided: return []
    }
  }

  // MARK: Up to the code

  private mutating func begin(at now: Int64) -> [FlowAction] {
    flow.method == .totp ? [.save, .startTOTPEnrollment(delay: 0)] : flow.sendCode(at: now)
  }

  private mutating func resend(at now: Int64) -> [FlowAction] {
    guard flow.method == .phone else { return [.refuse(.noSuchFlow)] }
    if let refusal = flow.refusalToResend(at: now) { return [.refuse(refusal)] }
    flow.canRetry = false
    flow.endedAt = nil
    return flow.sendCode(at: now)
  }

  private mutating func sendFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .starting else { return [] }
    if let parked = park(failure, at: now) { return parked }
    guard failure.isTransient else {
      return flow.fail(failure, at: now, canRetry: flow.method == .phone && failure.error == .captchaFailed)
    }
    guard flow.method == .phone else {
      flow.note(failure)
      return [.startTOTPEnrollment(delay: failure.delay(&tries))]
    }
    // No message came of it; another may be asked for.
    flow.verification = PendingVerification()
    flow.canResendAt = now + (failure.retryAfter ?? 0)
    return flow.wait(at: .waitingForCode, after: failure, now: now)
  }

  private mutating func enrollmentStarted(_ enrollment: TOTPEnrollment, at now: Int64) -> [FlowAction] {
    guard flow.stage == .starting, flow.method == .totp else { return [] }
    tries = 0
    flow.totpEnrollment = enrollment
    flow.verification = PendingVerification()
    return waitForCode(at: now)
  }

  /// The server's clock may be another than ours: its end counts where it makes sense.
  private mutating func waitForCode(after failure: AuthFailure? = nil, at now: Int64) -> [FlowAction] {
    let actions = flow.wait(at: .waitingForCode, after: failure, now: now)
    if let end = flow.totpEnrollment?.endsAt, end > now { flow.expiresAt = min(flow.expiresAt, end) }
    return actions
  }

  // MARK: The answer

  private mutating func exchanged(_ grant: TokenGrant, uid: String?, at now: Int64) -> [FlowAction] {
    tries = 0
    return flow.take(grant, uid: uid, at: now)
  }

  /// A try that went unanswered did it, as the account shows.
  private mutating func performed(at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil, flow.verification?.isUnanswered == true,
      let uid = flow.protectedUID ?? flow.linkUID
    else { return [] }
    flow.resultUID = uid
    flow.isUpgraded = flow.isUpgrade
    flow.note(nil)
    return flow.end(.succeeded, at: now)
  }

  private mutating func exchangeFailed(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil else { return [] }
    if let proof = flow.phoneProof { return proofFailed(proof, failure, at: now) }
    flow.verification?.code = nil
    if let parked = park(failure, at: now) { return parked }
    if failure.isTransient {
      flow.verification?.isUnanswered = true
      return waitForCode(after: failure, at: now)
    }
    let canRetry = flow.method == .phone
    switch failure.error {
    case .invalidVerificationCode where flow.countWrongCode(): return waitForCode(after: failure, at: now)
    case .invalidVerificationCode: return flow.fail(failure.ofLastCode, at: now, canRetry: canRetry)
    case .sessionExpired: return flow.fail(failure, at: now, canRetry: canRetry)
    case .userNotFound where flow.purpose == .reauthenticate: return flow.fail(.userMismatch, at: now)
    default: return flow.fail(failure, at: now)
    }
  }

  // MARK: A number that is another account's (field report B107)

  private mutating func numberTaken(_ proof: PhoneCredential, at now: Int64) -> [FlowAction] {
    guard flow.stage == .exchanging, flow.answer == nil, flow.phoneProof == nil else { return [] }
    flow.verification?.code = nil
    if flow.isUpgrade {
      flow.meetExistingAccount()
      return signIn(proof, delay: 0)
    }
    switch flow.purpose {
    case .link:
      flow.phoneProof = proof
      return flow.meet(.credentialAlreadyInUse, now: now)
    case .reauthenticate: return flow.fail(.userMismatch, at: now)
    default: return flow.fail(.credentialAlreadyInUse, at: now)
    }
  }

  private mutating func signIn(_ proof: PhoneCredential, delay: Int64) -> [FlowAction] {
    flow.phoneProof = proof
    return [.save, .signInWithPhoneProof(proof, delay: delay)]
  }

  private mutating func proofFailed(
    _ proof: PhoneCredential, _ failure: AuthFailure, at now: Int64
  ) -> [FlowAction] {
    guard failure.isTransient else {
      // Another message mends what is too old.
      return flow.fail(failure, at: now, canRetry: failure.error == .sessionExpired)
    }
    flow.note(failure)
    return [.signInWithPhoneProof(proof, delay: failure.delay(&tries))]
  }

  // MARK: Parked until somebody has signed in again

  private mutating func park(_ failure: AuthFailure, at now: Int64) -> [FlowAction]? {
    guard flow.purpose == .enrollFactor || flow.purpose == .changePhone else { return nil }
    return flow.park(failure, at: now)
  }

  /// Where it stood: a message that was sent, and a secret that an app has, are still good.
  private mutating func reauthenticated(at now: Int64) -> [FlowAction] {
    guard flow.stage == .reauthenticationRequired else { return [] }
    flow.isConfirmed = true
    // The secret's time was over meanwhile.
    if let end = flow.totpEnrollment?.endsAt, flow.createdAt < end, end <= now { flow.totpEnrollment = nil }
    if flow.verification?.sessionInfo != nil || flow.totpEnrollment != nil { return waitForCode(at: now) }
    flow.stage = .starting
    flow.note(nil)
    flow.expiresAt = now + waitingLifetime
    return begin(at: now)
  }

  // MARK: After a restart

  /// A message costs: once by itself, then somebody has to ask for it.
  private mutating func sendAgain(at now: Int64) -> [FlowAction] {
    if flow.sendsOnceMore() { return [.save, .sendCode] }
    return sendFailed(AuthFailure(.networkUnavailable), at: now)
  }

  private mutating func restore(at now: Int64) -> [FlowAction] {
    if now >= flow.expiresAt { return flow.end(.expired, at: now) }
    switch flow.stage {
    case .starting: return flow.method == .totp ? [.startTOTPEnrollment(delay: 0)] : sendAgain(at: now)
    case .conflict: return flow.restoredConflict()
    // The user had signed in again when the daemon ended.
    case .reauthenticationRequired: return flow.isConfirmed ? reauthenticated(at: now) : []
    case .exchanging:
      if let grant = flow.answer { return [.lookUp(grant, delay: 0)] }
      if let proof = flow.phoneProof { return [.signInWithPhoneProof(proof, delay: 0)] }
      return flow.verifyAgain(at: now)
    case .waitingForLink, .waitingForRedirect, .waitingForCaptcha, .waitingForCode, .waitingForEmail,
      .waitingForPassword, .waitingForConfirmation, .secondFactorRequired, .succeeded, .failed, .cancelled, .expired:
      return []
    }
  }
}
