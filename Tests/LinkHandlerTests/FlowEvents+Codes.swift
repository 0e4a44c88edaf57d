import AuthCore
import LinkHandler

/// What comes for codes and second factors.
extension FlowEvents {
  private static let factors = SecondFactorRig.all

  private static let sends: [VerificationEvent] = [
    .codeSent(sessionInfo: CodeRig.session), .codeSent(sessionInfo: CodeRig.otherSession), .captchaRequired,
    .pageReady(CodeRig.page), .pageReady(CodeRig.page), .pageReady(CodeRig.page),
    .enrollmentStarted(CodeRig.enrollment), .sendFailed(AuthFailure(.networkUnavailable)),
    .sendFailed(AuthFailure(.tooManyRequests, retryAfter: 9)), .sendFailed(AuthFailure(.invalidPhoneNumber)),
    .sendFailed(AuthFailure(.requiresRecentLogin)), .sendFailed(SecondFactorRig.overs[0]),
  ]
  private static let wanted: [VerificationEvent] = [factors, [SecondFactorRig.app], []].map {
    .secondFactorRequired(PendingSecondFactor(credential: SecondFactorRig.credential, factors: $0))
  }
  private static let typed: [VerificationEvent] =
    [CodeRig.code, CodeRig.wrongCode].map { .codeProvided($0) } + factors.map { .factorChosen($0.uid) }
    + [.factorChosen("m9")]

  private static let pages = [
    CodeRig.returned(token: CodeRig.token), CodeRig.returned(token: CodeRig.token), CodeRig.returned(),
    CodeRig.returned(error: "auth/user-cancelled"), CodeRig.returned(error: "auth/network-request-failed"),
    .authorization(.browserMissing), .authorization(.browserRefused), .resendRequested,
  ]
  private static let failures =
    [AuthError.networkUnavailable, .requiresRecentLogin, .tokenRevoked, .userDisabled].map { AuthFailure($0) }
    + Array(repeating: AuthFailure(.invalidVerificationCode), count: 4) + SecondFactorRig.expiredMessages
    + [SecondFactorRig.overs[0]]

  /// Anything about a code.
  mutating func verification() -> FlowEvent {
    switch next(4) {
    case 0: .verification(pick(Self.sends))
    case 1: .verification(pick(Self.typed))
    case 2: pick(Self.pages)
    default: pick([.verification(pick(Self.wanted)), CodeRig.numberTaken, .exchangeFailed(pick(Self.failures))])
    }
  }

  /// What a flow waits for where a code is to be typed, or a second factor is wanted; nil elsewhere.
  mutating func likelyVerification(_ flow: Flow) -> FlowEvent? {
    let isOurs = flow.secondFactor != nil || flow.method == .phone || flow.method == .totp
    switch flow.stage {
    case .starting where flow.verification != nil || flow.method == .totp: return .verification(pick(Self.sends))
    case .starting where isOurs: return .started
    case .waitingForCaptcha: return next(3) == 0 ? .verification(pick(Self.typed)) : pick(Self.pages)
    case .waitingForCode:
      return next(4) == 0 ? pick([.verification(pick(Self.typed)), .resendRequested]) : CodeRig.provided()
    case .secondFactorRequired: return .verification(pick(Self.typed))
    case .exchanging where flow.answer != nil: return nil
    case .exchanging where isOurs:
      return pick([
        .exchanged(FlowRig.grant, uid: pick(["u1", "g1", "u2", nil])), .exchangeFailed(pick(Self.failures)),
        .exchangeFailed(pick(Self.failures)), flow.secondFactor == nil ? CodeRig.numberTaken : .restored,
        .verification(Self.wanted[0]), .verification(pick(Self.wanted)),
      ])
    case .exchanging: return next(4) == 0 ? .verification(pick(Self.wanted)) : nil
    case .failed where flow.method == .phone: return .resendRequested
    case .starting, .waitingForLink, .waitingForRedirect, .waitingForEmail, .waitingForPassword,
      .waitingForConfirmation, .reauthenticationRequired, .conflict, .succeeded, .failed, .cancelled, .expired:
      return nil
    }
  }
}
