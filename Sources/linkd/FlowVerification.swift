import AuthCore
import EventLoop
import IdentityToolkit
import LinkHandler

/// What the machines ask for codes that people type, and for second factors (behaviour: Phone, Second factors).
extension FlowCoordinator {
  /// Seconds that this machine's clock may be off before a wrong code of an authenticator app is put down to it.
  private static let clockTolerance: Int64 = 15

  func performVerification(_ flow: Flow, _ action: FlowAction) {
    switch action {
    case .sendCode: sendCode(flow)
    case .prepareVerificationPage: prepareVerificationPage(flow)
    case .startTOTPEnrollment(let delay): startTOTPEnrollment(flow, delay: delay)
    case .verifyCode(let code): verifyCode(flow, code)
    case .signInWithPhoneProof(let proof, let delay): signInWithPhoneProof(flow, proof, delay: delay)
    default: break
    }
  }

  // MARK: A message

  /// Without the page first: numbers for tests, and emulators, need none (identity-toolkit 6.5).
  private func sendCode(_ flow: Flow) {
    request(flow) { keeper in
      guard self.flow(flow.id)?.stage == .starting else { return nil }
      do throws(AuthFailure) {
        let project = keeper.project(for: flow)
        let enforcement = try await self.services.toolkit.phoneRecaptcha(project: project)
        // A message costs money: it isn't sent for who has given up, nor for somebody else.
        guard self.flow(flow.id)?.stage == .starting else { return nil }
        guard !self.isOthersNow(flow) else { throw AuthFailure(.userMismatch) }
        guard enforcement != .enforce else { throw .recaptchaEnterprise }
        return .verification(.codeSent(sessionInfo: try await self.askForCode(flow, enforcement, keeper, project)))
      } catch {
        return Self.unsent(error, flow)
      }
    }
  }

  private func askForCode(
    _ flow: Flow, _ enforcement: RecaptchaEnforcement, _ keeper: SessionKeeper, _ project: ProjectContext
  ) async throws(AuthFailure) -> Secret<String> {
    let toolkit = services.toolkit
    let captcha = flow.verification?.recaptchaToken
    if let second = flow.secondFactor {
      guard let factor = second.chosen else { throw AuthFailure(.factorNotFound) }
      return try await toolkit.startSecondFactor(
        pending: second.credential, factorUID: factor, recaptchaToken: captcha, enforcement: enforcement,
        project: project)
    }
    guard let number = flow.phoneNumber else { throw AuthFailure(.invalidPhoneNumber) }
    guard flow.purpose == .enrollFactor else {
      return try await toolkit.sendVerificationCode(
        to: number, recaptchaToken: captcha, enforcement: enforcement, project: project)
    }
    return try await keeper.asUser(flow.protectedUID, if: { self.flow(flow.id)?.stage == .starting }) {
      token async throws(AuthFailure) in
      try await toolkit.startPhoneEnrollment(
        phoneNumber: number, recaptchaToken: captcha, enforcement: enforcement, idToken: token, project: project)
    }
  }

  private static func unsent(_ failure: AuthFailure, _ flow: Flow) -> FlowEvent {
    var failure = failure
    switch failure.error {
    case .captchaRequired where failure != .recaptchaEnterprise, .captchaFailed:
      return .verification(.captchaRequired)
    // It's well-formed: what the server won't have is no mistake in typing (field report B093).
    case .invalidPhoneNumber where flow.secondFactor == nil:
      failure.cause = "cause.number-not-accepted"
    case .unsupportedFirstFactor where flow.purpose != .enrollFactor: failure.cause = "cause.number-beside-factors"
    case .operationNotAllowed:
      let isFactor = flow.purpose == .enrollFactor || flow.secondFactor != nil
      failure.cause = isFactor ? "cause.factor-switched-off" : "cause.phone-switched-off"
    default: break
    }
    return .verification(.sendFailed(failure))
  }

  private func prepareVerificationPage(_ flow: Flow) {
    request(flow) { keeper in
      do throws(AuthFailure) {
        return .verification(.pageReady(try self.authorizations.verificationPage(for: flow, keeper.app)))
      } catch {
        return .verification(.sendFailed(error))
      }
    }
  }

  // MARK: An authenticator app

  private func startTOTPEnrollment(_ flow: Flow, delay: Int64) {
    later(flow, delay, at: .starting) { keeper in
      do throws(AuthFailure) {
        let project = keeper.project(for: flow)
        let enrollment = try await keeper.asUser(flow.protectedUID, if: { self.flow(flow.id)?.stage == .starting }) {
          token async throws(AuthFailure) in
          try await keeper.toolkit.startTOTPEnrollment(idToken: token, project: project)
        }
        return .verification(.enrollmentStarted(enrollment))
      } catch {
        return Self.unsent(error, flow)
      }
    }
  }

  // MARK: The code

  private func verifyCode(_ flow: Flow, _ code: Secret<String>) {
    request(flow) { keeper in
      guard !self.isOthersNow(flow) else { return .exchangeFailed(AuthFailure(.userMismatch)) }
      do throws(AuthFailure) {
        PausePoint.exchangeSent.reached()
        let answer = try await self.answer(to: code, flow, keeper)
        PausePoint.exchangeAnswered.reached()
        return answer
      } catch {
        if await self.wasDone(flow, error, keeper) { return .performed }
        return .exchangeFailed(self.explained(error, flow, keeper))
      }
    }
  }

  private func answer(
    to code: Secret<String>, _ flow: Flow, _ keeper: SessionKeeper
  ) async throws(AuthFailure) -> FlowEvent {
    if let second = flow.secondFactor {
      return .exchanged(ofToken: try await finish(second, code, flow, keeper))
    }
    guard flow.purpose != .enrollFactor else {
      return .exchanged(ofToken: try await finishEnrollment(code, flow, keeper))
    }
    guard let session = flow.verification?.sessionInfo else { throw AuthFailure(.sessionExpired) }
    return try await signIn(.code(code, sessionInfo: session), flow, keeper)
  }

  private func finish(
    _ second: PendingSecondFactor, _ code: Secret<String>, _ flow: Flow, _ keeper: SessionKeeper
  ) async throws(AuthFailure) -> TokenGrant {
    guard let factor = second.choice else { throw AuthFailure(.factorNotFound) }
    let project = keeper.project(for: flow)
    switch factor.kind {
    case .totp:
      return try await services.toolkit.finishSecondFactor(
        pending: second.credential, totpCode: code, factorUID: factor.uid, project: project)
    case .phone:
      guard let session = flow.verification?.sessionInfo else { throw AuthFailure(.sessionExpired) }
      return try await services.toolkit.finishSecondFactor(
        pending: second.credential, code: code, sessionInfo: session, project: project)
    }
  }

  private func finishEnrollment(
    _ code: Secret<String>, _ flow: Flow, _ keeper: SessionKeeper
  ) async throws(AuthFailure) -> TokenGrant {
    let project = keeper.project(for: flow)
    return try await keeper.asUser(flow.protectedUID, if: { self.isExchanging(flow) }) {
      token async throws(AuthFailure) in
      if let enrollment = flow.totpEnrollment {
        return try await keeper.toolkit.finishTOTPEnrollment(
          code: code, sessionInfo: enrollment.sessionInfo, displayName: flow.displayName, idToken: token,
          project: project)
      }
      guard let session = flow.verification?.sessionInfo else { throw AuthFailure(.sessionExpired) }
      return try await keeper.toolkit.finishPhoneEnrollment(
        code: code, sessionInfo: session, displayName: flow.displayName, idToken: token, project: project)
    }
  }

  /// Whether a code that is refused now did it before, without our learning of it: the account shows that (field report B096).
  private func wasDone(_ flow: Flow, _ failure: AuthFailure, _ keeper: SessionKeeper) async -> Bool {
    guard flow.verification?.isUnanswered == true, !failure.isTransient, flow.secondFactor == nil,
      let before = keeper.machine.user, before.uid == flow.protectedUID ?? flow.linkUID
    else { return false }
    guard let user = try? await keeper.reload(), user.uid == before.uid else { return false }
    switch flow.purpose {
    case .enrollFactor:
      let known = Set(before.secondFactors.map(\.uid))
      let kind: SecondFactor.Kind = flow.method == .totp ? .totp : .phone
      // Another program may have added another one meanwhile.
      let added = user.secondFactors.filter { $0.kind == kind && !known.contains($0.uid) }
      let ending = flow.phoneNumber?.suffix(4)
      return added.count == 1 && (added[0].displayName ?? "") == (flow.displayName ?? "")
        && ending.map { added[0].phoneNumber?.hasSuffix($0) ?? false } ?? true
    case .link, .changePhone, .signIn:
      return user.phoneNumber == flow.phoneNumber && before.phoneNumber != flow.phoneNumber
    default: return false
    }
  }

  /// What stands for a code signs in without another message.
  private func signInWithPhoneProof(_ flow: Flow, _ proof: PhoneCredential, delay: Int64) {
    later(flow, delay, at: .exchanging) { keeper in
      guard !self.isOthersNow(flow) else { return .exchangeFailed(AuthFailure(.userMismatch)) }
      do throws(AuthFailure) { return try await self.signIn(proof, flow, keeper) } catch {
        return .exchangeFailed(error)
      }
    }
  }

  private func signIn(
    _ credential: PhoneCredential, _ flow: Flow, _ keeper: SessionKeeper
  ) async throws(AuthFailure) -> FlowEvent {
    let (toolkit, project) = (services.toolkit, keeper.project(for: flow))
    let answer: PhoneAnswer
    switch flow.purpose {
    case .reauthenticate:
      answer = try await toolkit.signInWithPhoneNumber(credential, operation: .reauthenticate, project: project)
    case .changePhone:
      answer = try await keeper.asUser(flow.protectedUID, if: { self.isExchanging(flow) }) {
        token async throws(AuthFailure) in
        try await toolkit.signInWithPhoneNumber(credential, operation: .changeNumber(idToken: token), project: project)
      }
    default:
      answer = try await withLinkingToken(flow) { token async throws(AuthFailure) in
        try await toolkit.signInWithPhoneNumber(
          credential, operation: token.map { .link(idToken: $0) } ?? .signIn, project: project)
      }
    }
    switch answer {
    case .grant(let grant, let uid): return .exchanged(grant, uid: uid)
    case .secondFactorRequired(let pending, let factors): return .secondFactor(pending, factors)
    case .conflict(let proof, _): return .verification(.numberTaken(proof))
    }
  }

  /// A wrong code of an authenticator app is mostly a wrong clock.
  private func explained(_ failure: AuthFailure, _ flow: Flow, _ keeper: SessionKeeper) -> AuthFailure {
    let isTOTP = flow.totpEnrollment != nil || flow.secondFactor?.choice?.kind == .totp
    var failure = failure
    switch failure.error {
    case .invalidVerificationCode where isTOTP:
      let isDrifted = abs(keeper.clockSkew ?? 0) > Self.clockTolerance
      failure.cause = isDrifted ? "cause.clock-drift" : "cause.wrong-app-code"
    case .unsupportedFirstFactor where flow.purpose != .enrollFactor: failure.cause = "cause.number-beside-factors"
    default: break
    }
    return failure
  }
}

extension AuthFailure {
  /// The project takes a token alone that no program on Linux can get (identity-toolkit 6.5).
  fileprivate static let recaptchaEnterprise = AuthFailure(.captchaRequired, cause: "cause.recaptcha-enterprise")
}

extension FlowEvent {
  /// Tokens whose answer doesn't say whose they are: they do themselves.
  fileprivate static func exchanged(ofToken grant: TokenGrant) -> FlowEvent {
    .exchanged(grant, uid: (try? IDToken(grant.idToken.reveal()))?.subject)
  }
}
