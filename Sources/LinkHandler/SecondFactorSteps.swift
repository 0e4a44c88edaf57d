import AuthCore

/// The second factor of a sign-in, whatever the first one was: it's a part of that one's flow, whose machine gets the server's
/// answer as if it were the first factor's (behaviour: Second factors; identity-toolkit 2.18, 8.9). The first factor is never
/// spent twice: what can be mended leads back to the choice.
///
/// The legal next stages, from `exchanging`:
/// - `secondFactorRequired` → `starting` (a message), `waitingForCode` (an authenticator app), `exchanging` (its code at once),
///   `cancelled`, `expired`
/// - `starting` → `waitingForCode`, `waitingForCaptcha`, `secondFactorRequired`, `failed`, `cancelled`, `expired`
/// - `waitingForCaptcha` → `starting`, `secondFactorRequired`, `waitingForCode` (another factor), `cancelled`, `expired`
/// - `waitingForCode` → `exchanging`, `starting`, `cancelled`, `expired`
/// - `exchanging` → as the first factor's machine says, `waitingForCode`, `secondFactorRequired`, `failed`
extension Flow {
  /// The first factor was accepted.
  mutating func meetSecondFactor(_ pending: PendingSecondFactor, at now: Int64) -> [FlowAction] {
    guard stage == .exchanging, answer == nil, secondFactor == nil, purpose.isAuthentication else { return [] }
    guard !pending.factors.isEmpty else {
      return fail(AuthFailure(.secondFactorRequired, cause: "cause.no-known-factor"), at: now)
    }
    secondFactor = pending
    verification = nil
    canResendAt = nil
    return wait(at: .secondFactorRequired, now: now)
  }

  /// What `event` does while a second factor is wanted; nil where it's for the machine of the first one: the second one was
  /// accepted.
  mutating func secondFactorStep(_ event: FlowEvent, at now: Int64) -> [FlowAction]? {
    switch event {
    case .verification(let event): return secondFactorStep(event, at: now)
    case .exchanged: return stage == .exchanging ? nil : []
    case .exchangeFailed(let failure): return secondFactorRefused(failure, at: now)
    case .authorization(.browserMissing):
      return noteAtPage(AuthFailure(.handlerMissing, cause: "cause.no-browser"))
    case .authorization(.browserRefused): return stage == .waitingForCaptcha ? chooseAgain(nil, at: now) : []
    case .resendRequested: return resendSecondFactor(at: now)
    case .cancelRequested: return end(.cancelled, at: now)
    case .overdue: return end(.expired, at: now)
    case .restored: return restoreSecondFactor(at: now)
    case .emailProvided, .passwordProvided, .confirmed, .conflict(.resolved): return [.refuse(.noSuchFlow)]
    // A second click on what brought the first factor, and what came too late.
    case .linkOpened, .started, .alreadySignedIn, .mailSent, .mailFailed, .codeChecked, .codeCheckFailed, .performed,
      .lookedUp, .lookUpFailed, .authorization, .conflict, .reauthenticated:
      return []
    }
  }

  private mutating func secondFactorStep(_ event: VerificationEvent, at now: Int64) -> [FlowAction] {
    switch event {
    case .factorChosen(let uid): return choose(uid, at: now)
    case .codeProvided(let code): return provideSecondFactor(code, at: now)
    case .codeSent(let session): return codeSent(session, at: now)
    case .captchaRequired:
      return prepareVerificationPage() ?? chooseAgain(AuthFailure(.captchaFailed), at: now)
    case .pageReady(let page): return showVerificationPage(page, at: now)
    case .pageReturned(let page):
      let isCancelled = page.isCancelled
      return takeVerification(page, at: now)
        ?? chooseAgain(isCancelled ? nil : AuthFailure(.captchaFailed), at: now)
    case .sendFailed(let failure):
      guard stage == .starting else { return [] }
      if endsFirstFactor(failure) { return fail(failure, at: now) }
      canResendAt = failure.retryAfter.map { now + $0 }
      return chooseAgain(failure, at: now)
    case .secondFactorRequired, .enrollmentStarted, .numberTaken: return []
    }
  }

  private mutating func choose(_ uid: String, at now: Int64) -> [FlowAction] {
    switch stage {
    case .secondFactorRequired, .waitingForCode, .waitingForCaptcha: break
    default: return [.refuse(.noSuchFlow)]
    }
    guard let factor = secondFactor?.factors.first(where: { $0.uid == uid }) else { return [.refuse(.factorNotFound)] }
    let earlier = uid == secondFactor?.chosen ? progress : secondFactor?.earlier[uid]
    // Each message costs, and each is counted.
    if factor.kind == .phone, let moment = earlier?.canResendAt, now < moment { return [.refuse(.rateLimited)] }
    rememberProgress()
    secondFactor?.chosen = uid
    canResendAt = earlier?.canResendAt
    if factor.kind == .phone { return sendCode(at: now) }
    verification = PendingVerification()
    // Choosing an app again gives no more wrong codes.
    if let left = earlier?.attemptsLeft { verification?.attemptsLeft = left }
    return wait(at: .waitingForCode, now: now)
  }

  /// How far the factor that is chosen has come; nil where none is.
  private var progress: PendingSecondFactor.Earlier? {
    guard let factor = secondFactor?.choice else { return nil }
    let before = secondFactor?.earlier[factor.uid]?.attemptsLeft ?? PendingVerification.attempts
    return PendingSecondFactor.Earlier(
      attemptsLeft: verification?.attemptsLeft ?? before, canResendAt: factor.kind == .phone ? canResendAt : nil)
  }

  /// Keeps in mind how far the factor has come, before it's left.
  private mutating func rememberProgress() {
    guard let factor = secondFactor?.choice, let progress else { return }
    secondFactor?.earlier[factor.uid] = progress
  }

  private mutating func provideSecondFactor(_ code: Secret<String>, at now: Int64) -> [FlowAction] {
    // Where an authenticator app is all there is, there's nothing to choose.
    if stage == .secondFactorRequired, let only = secondFactor?.factors.first, secondFactor?.factors.count == 1,
      only.kind == .totp
    {
      _ = choose(only.uid, at: now)
    }
    return verify(code, at: now)
  }

  private mutating func secondFactorRefused(_ failure: AuthFailure, at now: Int64) -> [FlowAction] {
    guard stage == .exchanging else { return [] }
    verification?.code = nil
    if failure.isTransient { return wait(at: .waitingForCode, after: failure, now: now) }
    switch failure.error {
    case .invalidVerificationCode:
      if countWrongCode() { return wait(at: .waitingForCode, after: failure, now: now) }
      let last = failure.ofLastCode
      return secondFactor?.choice?.kind == .totp ? fail(last, at: now) : chooseAgain(last, at: now)
    default: return endsFirstFactor(failure) ? fail(failure, at: now) : chooseAgain(failure, at: now)
    }
  }

  /// Whether what stands for the first factor counts no more: the sign-in begins anew (field report B101).
  private func endsFirstFactor(_ failure: AuthFailure) -> Bool {
    switch failure.error {
    case .sessionExpired:
      // The session of a message whose code was shown is the message's own; nothing else has one but the first factor.
      guard stage == .exchanging, secondFactor?.choice?.kind == .phone else { return true }
      return failure.serverCode != "SESSION_EXPIRED" && failure.serverCode != "INVALID_SESSION_INFO"
    case .userDisabled, .userNotFound, .tokenRevoked, .userMismatch, .noSuchApp, .tenantMismatch: return true
    default: return false
    }
  }

  /// Back to the choice, where another factor or another message may do.
  private mutating func chooseAgain(_ failure: AuthFailure?, at now: Int64) -> [FlowAction] {
    rememberProgress()
    verification = nil
    return wait(at: .secondFactorRequired, after: failure, now: now)
  }

  private mutating func resendSecondFactor(at now: Int64) -> [FlowAction] {
    guard secondFactor?.choice?.kind == .phone else { return [.refuse(.noSuchFlow)] }
    return refusalToResend(at: now).map { [.refuse($0)] } ?? sendCode(at: now)
  }

  private mutating func restoreSecondFactor(at now: Int64) -> [FlowAction] {
    if now >= expiresAt { return end(.expired, at: now) }
    switch stage {
    case .starting:
      return sendsOnceMore() ? [.save, .sendCode] : chooseAgain(AuthFailure(.networkUnavailable), at: now)
    case .exchanging: return verifyAgain(at: now)
    default: return []
    }
  }
}

extension FlowPurpose {
  /// Whether it shows who somebody is.
  fileprivate var isAuthentication: Bool {
    switch self {
    case .signIn, .link, .reauthenticate: true
    case .actionCode, .updatePassword, .changeEmail, .changePhone, .unlink, .deleteUser, .enrollFactor,
      .unenrollFactor, .present:
      false
    }
  }
}
