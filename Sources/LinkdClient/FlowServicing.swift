public import AuthCore

/// A pending sign-in that can be watched and helped on: ``LinkdFlow``, or a double of it.
public protocol FlowServicing: Sendable {
  /// Its public name.
  var id: FlowID { get }
  /// The stages, the current one first, up to the end.
  var stages: Updates<FlowStatus> { get }
  /// Gives the address that the link was sent to (`waiting-for-email`).
  func provideEmail(_ email: String) async throws(LinkdError)
  /// Gives a password (`waiting-for-password`).
  func providePassword(_ password: Secret<String>) async throws(LinkdError)
  /// Gives a code (`waiting-for-code`; `second-factor-required` where an authenticator app is the only factor). What comes of
  /// it is a stage: a wrong code is waited for again, with `error` and one less of `attemptsLeft`.
  func provideCode(_ code: Secret<String>) async throws(LinkdError)
  /// Says which second factor to use, by the uid of a hint (`second-factor-required`), or that another one is to be used
  /// (`waiting-for-code`, `waiting-for-captcha`). A phone is sent a message.
  func chooseFactor(_ uid: String) async throws(LinkdError)
  /// Says yes (`waiting-for-confirmation`).
  func confirm() async throws(LinkdError)
  /// Says what to do about accounts that collide (`conflict`).
  func resolveConflict(_ choice: ConflictChoice) async throws(LinkdError)
  /// The page that the browser has to show (`waiting-for-redirect`, `waiting-for-captcha`), for whoever started the flow.
  func url() async throws(LinkdError) -> Secret<String>
  /// What an authenticator app reads (`waiting-for-code` of its enrollment), for whoever started the flow.
  func secret() async throws(LinkdError) -> AuthenticatorSecret
  /// Sends the mail or the text message once more, from `canResendAt` on (`RateLimited` before). At `failed` with `canRetry` the
  /// flow begins anew: follow its ``stages`` again.
  func resend() async throws(LinkdError)
  /// Ends it; nothing changes.
  func cancel() async throws(LinkdError)
}

extension FlowServicing {
  /// Waits for the end, and cancels the flow when the task is cancelled.
  /// - Returns: the status at `succeeded`.
  /// - Throws: why it failed; `Cancelled`; `ExpiredActionCode` where it took too long.
  @discardableResult
  public func end() async throws(LinkdError) -> FlowStatus {
    try await wait { $0.stage.isEnd }.succeeded()
  }

  /// Waits until somebody has to do something here: give a code, choose a factor, settle a conflict, sign in again. What is done in
  /// a browser or a mail, and a conflict that settles itself, are waited for; not so a page that no browser could open (its
  /// status has the error `HandlerMissing`, and ``url()`` the page) and a mail that couldn't be sent. Cancels the flow when the
  /// task is cancelled.
  /// - Returns: the status at that stage, or at `succeeded`.
  /// - Throws: as ``end()``.
  public func nextStep() async throws(LinkdError) -> FlowStatus {
    let status = try await wait { !$0.goesOnByItself && !$0.waitsForMail }
    return status.stage.isEnd ? try status.succeeded() : status
  }

  /// Gives a code, and waits for what comes of it.
  /// - Returns: the status at `succeeded`, or at the next stage that needs somebody, such as `second-factor-required`.
  /// - Throws: `InvalidVerificationCode`, `SessionExpired`, `NetworkUnavailable`, …. The flow may go on waiting: where its stage
  ///   is `waiting-for-code` another code may be given, where it is `second-factor-required` a factor be chosen again.
  @discardableResult
  public func submit(code: Secret<String>) async throws(LinkdError) -> FlowStatus {
    try await provideCode(code)
    let status = try await nextStep()
    if !status.stage.isEnd, let error = status.details.error { throw error }
    return status
  }

  /// As ``end()``, but gives up, and cancels the flow, where it waits for something that only a person can give here. What
  /// they do in a browser, and a conflict that settles itself, are waited for.
  @discardableResult
  func endWithoutPerson() async throws(LinkdError) -> FlowStatus {
    let status = try await wait { !$0.goesOnByItself }
    if !status.stage.isEnd { try? await cancel() }
    return try status.succeeded()
  }

  /// The first status that is as wanted.
  func wait(until isWanted: (FlowStatus) -> Bool) async throws(LinkdError) -> FlowStatus {
    for try await status in stages where isWanted(status) { return status }
    if Task.isCancelled {
      // In a task of its own: calls of this one fail by now.
      await Task { try? await self.cancel() }.value
      throw .cancelled
    }
    throw FlowStatus.missing
  }
}

extension FlowStatus {
  fileprivate var goesOnByItself: Bool {
    switch stage {
    case .waitingForRedirect, .waitingForCaptcha: details.error?.authError != .handlerMissing
    // Without details it was over before it could be read.
    case .conflict: details.conflict?.settlesItself ?? true
    default: isUnderWay
    }
  }

  fileprivate var waitsForMail: Bool { stage == .waitingForLink && details.error == nil }

  /// Itself, where it ended well.
  /// - Throws: why it didn't; for a waiting stage what it waits for, such as `RequiresRecentLogin`.
  @discardableResult
  public func succeeded() throws(LinkdError) -> FlowStatus {
    if stage == .succeeded { return self }
    if stage == .cancelled { throw .cancelled }
    if stage == .expired { throw .auth(.expiredActionCode, message: "It took too long. Start again.") }
    if let error = details.error { throw error }
    let message = details.conflict?.message ?? ""
    throw .auth(needed, message: message.isEmpty ? "It needs another step first: \(stage.rawValue)." : message)
  }

  /// The error that says what a flow waits for.
  private var needed: AuthError {
    switch stage {
    case .reauthenticationRequired: .requiresRecentLogin
    case .secondFactorRequired, .waitingForCode: .secondFactorRequired
    case .waitingForCaptcha: .captchaRequired
    case .conflict: details.conflict?.kind?.error ?? .accountExistsWithDifferentCredential
    default: .internal
    }
  }
}
