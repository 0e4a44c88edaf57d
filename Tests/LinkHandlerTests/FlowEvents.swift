import AuthCore
import LinkHandler

/// Events as they come, likely or not; the same in every run.
struct FlowEvents {
  var state: UInt64

  init(state: UInt64) { self.state = state }

  mutating func next(_ count: UInt64) -> UInt64 {
    var generator = SplitMix(state: state)
    let number = generator.next()
    state = generator.state
    return number % count
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[Int(next(UInt64(elements.count)))] }

  /// What comes for `flow` next.
  mutating func next(_ flow: Flow) -> FlowEvent {
    switch next(48) {
    case 0: .cancelRequested
    case 1: .overdue
    case 2...16: event()
    default: likely(flow)
    }
  }

  mutating func event() -> FlowEvent {
    switch next(12) {
    case 0: .started
    case 1: pick(Self.rare)
    case 2: pick(Self.mails)
    case 3, 4: .authorization(pick(Self.authorizations))
    case 5: pick(Self.redirects)
    case 6: .conflict(pick(Self.conflicts))
    case 7: pick([.exchanged(FlowRig.grant, uid: pick(["g1", "u1", "u2", nil])), .performed])
    case 8: pick([.exchangeFailed(AuthFailure(pick(Self.errors))), .lookUpFailed(AuthFailure(pick(Self.errors)))])
    case 9, 10: verification()
    default: .lookedUp(pick(Self.users), guest: pick(["g1", nil, "g2"]))
    }
  }

  /// An event that a flow at this stage waits for.
  mutating func likely(_ flow: Flow) -> FlowEvent {
    if let event = likelyVerification(flow) { return event }
    return switch flow.stage {
    case .starting: pick([.started, .authorization(.ready(ProviderRig.own())), pick(Self.mails)])
    case .waitingForRedirect: pick(Self.redirects)
    case .waitingForLink, .waitingForEmail, .waitingForPassword: pick(Self.mails)
    case .exchanging where flow.answer != nil: .lookedUp(pick(Self.users), guest: pick(["g1", nil]))
    case .exchanging:
      pick([
        .authorization(.credentialReceived(ProviderRig.tokens)), .conflict(pick(Self.conflicts)), .performed,
        .exchanged(FlowRig.grant, uid: nil), .exchangeFailed(AuthFailure(pick(Self.errors))),
      ])
    case .conflict: .conflict(pick(Self.conflicts))
    case .waitingForConfirmation, .reauthenticationRequired: pick([.confirmed, .reauthenticated])
    case .failed, .cancelled, .expired: pick(Self.mails)
    case .waitingForCaptcha, .waitingForCode, .secondFactorRequired, .succeeded: event()
    }
  }

  private static let rare: [FlowEvent] = [
    .cancelRequested, .overdue, .restored, .reauthenticated, .confirmed, .passwordProvided(Secret("p")),
    .passwordProvided(Secret("p")), .confirmed, .emailProvided("a@example.com"),
  ]
  private static let codes = ["C1", "C2", "C3"].map { Secret($0) }
  private static let mails: [FlowEvent] =
    codes.map { .linkOpened(code: $0) } + [
      .mailSent, .mailFailed(AuthFailure(.networkUnavailable)), .mailFailed(AuthFailure(.quotaExceeded, retryAfter: 9)),
      .mailFailed(AuthFailure(.operationNotAllowed)), .resendRequested, .emailProvided("b@example.com"),
      .passwordProvided(Secret("p")),
    ]
  private static let authorizations: [AuthorizationEvent] = [
    .ready(ProviderRig.own()), .ready(ProviderRig.own()), .ready(ProviderRig.page),
    .credentialReceived(ProviderRig.tokens),
    .credentialReceived(ProviderRig.tokens), .failed(AuthFailure(.networkUnavailable)),
    .failed(AuthFailure(.noSuchProvider)), .browserMissing, .browserRefused, .listenerMissing,
    .redirectRefused(.stateMismatch),
  ]
  private static let redirects: [FlowEvent] =
    codes.map { code in ProviderRig.redirect({ $0.code = code }) } + [
      ProviderRig.redirect(issuer: nil), ProviderRig.redirect({ $0.idToken = Secret("T") }, fragment: true),
      ProviderRig.refusal("access_denied"), ProviderRig.refusal("invalid_scope"), ProviderRig.refusal("server_error"),
      ProviderRig.handler(link: "https://x/answer"), ProviderRig.handler(link: "https://x/answer"),
      ProviderRig.handler(error: "auth/user-cancelled"), ProviderRig.handler(error: "auth/internal-error"),
    ]
  private static let users = [
    ProviderRig.user("u1", email: "a@example.com"), ProviderRig.user("u1", email: "a@example.com"),
    ProviderRig.user("u2", email: "b@example.com"), ProviderRig.user("g1"),
  ]
  private static let kinds: [ConflictKind] = [
    .accountExistsWithDifferentCredential, .credentialAlreadyInUse, .emailAlreadyInUse,
  ]
  private static let conflicts: [ConflictEvent] =
    kinds.map { .found(AccountConflict(kind: $0, email: "a@example.com", credential: ProviderRig.pending)) }
    + kinds.map { .found(AccountConflict(kind: $0)) }
    + ConflictChoice.allCases.map { .resolved($0, current: nil) }
    + ConflictChoice.allCases.map { .resolved($0, current: users[2]) } + users.map { .signedIn($0) }
    + [.timeOver, .timeOver]
  private static let errors: [AuthError] = [
    .networkUnavailable, .tooManyRequests, .invalidCredentials, .invalidActionCode, .invalidActionCode,
    .emailAlreadyInUse,
    .emailAlreadyInUse,
    .emailMismatch, .requiresRecentLogin, .userNotFound, .invalidProviderResponse, .noSuchProvider, .weakPassword,
  ]
}
