import AuthCore

/// Seconds between two messages to one number.
public let codeResendInterval: Int64 = 60

/// A code that a person types, and what must happen before: what first factors, second factors and enrollments do alike
/// (behaviour: Phone; identity-toolkit 6).
extension Flow {
  /// Has a message sent, or sent again. It waits at `starting` meanwhile.
  mutating func sendCode(at now: Int64) -> [FlowAction] {
    verification = PendingVerification()
    stage = .starting
    note(nil)
    expiresAt = now + waitingLifetime
    return [.save, .sendCode]
  }

  /// The server has sent a message.
  mutating func codeSent(_ sessionInfo: Secret<String>, at now: Int64) -> [FlowAction] {
    guard stage == .starting, let before = verification else { return [] }
    verification = PendingVerification()
    // The page may come back twice.
    verification?.page = before.page
    verification?.sessionInfo = sessionInfo
    canResendAt = now + codeResendInterval
    return wait(at: .waitingForCode, now: now)
  }

  /// Whether a message that was being asked for when the daemon ended is asked for again.
  mutating func sendsOnceMore() -> Bool {
    guard verification?.isUnanswered != true else { return false }
    verification?.isUnanswered = true
    return true
  }

  // MARK: The page that tells people from programs

  /// The server wants the page. Nil where it was shown already, and its word was refused.
  mutating func prepareVerificationPage() -> [FlowAction]? {
    guard stage == .starting, verification != nil else { return [] }
    guard verification?.recaptchaToken == nil else { return nil }
    return [.prepareVerificationPage]
  }

  mutating func showVerificationPage(_ page: PendingAuthorization, at now: Int64) -> [FlowAction] {
    guard stage == .starting, verification != nil else { return [] }
    verification?.page = page
    return wait(at: .waitingForCaptcha, now: now) + [.openBrowser]
  }

  /// The page's token goes to the server with the next try. Nil for a page that couldn't do it.
  mutating func takeVerification(_ page: AppVerificationReturn, at now: Int64) -> [FlowAction]? {
    guard stage == .waitingForCaptcha else { return [] }
    if let token = page.recaptchaToken {
      verification?.recaptchaToken = token
      stage = .starting
      expiresAt = now + waitingLifetime
      note(nil)
      return [.save, .sendCode]
    }
    switch page.error {
    case "auth/network-request-failed": return noteAtPage(AuthFailure(.networkUnavailable))
    case "auth/internal-error": return noteAtPage(AuthFailure(.serviceUnavailable))
    default: return nil
    }
  }

  /// What leaves the person at the page, which may do it at the second try.
  mutating func noteAtPage(_ failure: AuthFailure) -> [FlowAction] {
    guard stage == .waitingForCaptcha, error != failure.error || errorCause != failure.cause else { return [] }
    note(failure)
    return [.save]
  }

  // MARK: The code

  /// Shows the server a code. One at a time (field report B096).
  mutating func verify(_ code: Secret<String>, at now: Int64) -> [FlowAction] {
    guard stage == .waitingForCode, verification != nil else { return [.refuse(.noSuchFlow)] }
    if secondFactor?.choice?.kind == .phone || secondFactor == nil && totpEnrollment == nil {
      // The message that it would be of couldn't be sent.
      guard verification?.sessionInfo != nil else { return [.refuse(.noSuchFlow)] }
    }
    verification?.code = code
    attempts = 1
    beginExchange(at: now)
    return [.save, .verifyCode(code)]
  }

  /// Whether another code may be tried after a wrong one.
  mutating func countWrongCode() -> Bool {
    verification?.code = nil
    verification?.attemptsLeft -= 1
    return verification.map { $0.attemptsLeft > 0 } ?? false
  }

  /// A code was at the server when the daemon ended: once more, whose answer tells.
  mutating func verifyAgain(at now: Int64) -> [FlowAction] {
    guard let code = verification?.code, attempts < 2 else {
      verification?.code = nil
      return wait(at: .waitingForCode, after: AuthFailure(.networkUnavailable), now: now)
    }
    attempts += 1
    verification?.isUnanswered = true
    return [.save, .verifyCode(code)]
  }

  /// Whether a new message may be asked for now; else what the caller is told.
  func refusalToResend(at now: Int64) -> AuthError? {
    switch stage {
    case .starting, .exchanging: .rateLimited
    case .waitingForCode, .waitingForCaptcha: canResendAt.map { now < $0 } ?? false ? .rateLimited : nil
    case .failed:
      if !canRetry { .noSuchFlow } else { canResendAt.map { now < $0 } ?? false ? .rateLimited : nil }
    default: .noSuchFlow
    }
  }
}

extension AuthFailure {
  /// A wrong code after which no other is taken.
  var ofLastCode: AuthFailure { AuthFailure(error, serverCode: serverCode, detail: detail, cause: "cause.last-code") }
}

extension AppVerificationReturn {
  /// Whether the person has closed the page.
  var isCancelled: Bool {
    switch error {
    case "auth/user-cancelled", "auth/cancelled-popup-request", "auth/popup-closed-by-user",
      "auth/web-context-cancelled", "auth/redirect-cancelled-by-user":
      true
    default: false
    }
  }
}
