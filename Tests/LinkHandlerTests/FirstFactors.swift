import AuthCore
import LinkHandler
import Testing

/// Every first factor that a second one can follow, and its flow while the server has it.
enum FirstFactor: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case password, mailedLink, foreignLink, provider, handlerPage, credential, customToken, phone
  case guestByPassword, guestByLink, guestByProvider, guestByPhone
  case reauthenticationByPassword, reauthenticationByLink, reauthenticationByProvider, reauthenticationByToken
  case reauthenticationByPhone
  case switchByProvider, switchByPhone, newLink, linkedProvider

  static let mails: [FirstFactor] = [.mailedLink, .foreignLink, .guestByLink, .reauthenticationByLink, .newLink]
  static let address = "a@example.com"

  var testDescription: String { rawValue }

  /// Who is signed in at the end.
  var uid: String {
    switch self {
    case .switchByProvider, .switchByPhone, .newLink: "u2"
    case .guestByPassword, .guestByLink, .guestByProvider, .guestByPhone: "e1"
    default: "u1"
    }
  }

  var isGuest: Bool { uid == "e1" }

  /// The flow, whose first factor is at the server.
  func exchanging() throws -> FlowRig {
    let run = try prepared()
    #expect(run.stage == .exchanging && run.flow.answer == nil)
    return run
  }

  private func prepared() throws -> FlowRig {
    switch self {
    case .password: return try password()
    case .guestByPassword: return try password(Self.guest)
    case .reauthenticationByPassword: return try password(purpose: .reauthenticate, Self.protected)
    case .mailedLink: return try link()
    case .foreignLink: return try foreignLink()
    case .guestByLink:
      var run = try link(Self.guest)
      _ = run(.exchangeFailed(AuthFailure(.emailAlreadyInUse)))
      return run
    case .reauthenticationByLink: return try link(purpose: .reauthenticate, Self.protected)
    case .newLink: return try newLink()
    case .provider:
      var run = try ProviderRig.exchanging()
      _ = run(.authorization(.credentialReceived(ProviderRig.tokens)))
      return run
    case .handlerPage:
      var run = try ProviderRig.waiting(ProviderRig.page)
      _ = run(ProviderRig.handler(link: "https://x/answer"))
      return run
    case .credential: return try ProviderRig.offered()
    case .guestByProvider:
      var run = try ProviderRig.guest()
      _ = run(ProviderRig.found(.credentialAlreadyInUse, credential: ProviderRig.pending))
      return run
    case .reauthenticationByProvider: return try ProviderRig.offered(purpose: .reauthenticate)
    case .switchByProvider:
      var run = try ProviderRig.offered(purpose: .link)
      _ = run(ProviderRig.found(.credentialAlreadyInUse, credential: ProviderRig.pending))
      _ = run(.conflict(.resolved(.switch, current: User(uid: "u1"))))
      return run
    case .linkedProvider: return try ProviderRig.offered(purpose: .link)
    case .customToken: return try token()
    case .reauthenticationByToken: return try token(purpose: .reauthenticate, Self.protected)
    case .phone: return try CodeRig.exchanging()
    case .reauthenticationByPhone: return try CodeRig.exchanging(.reauthenticate)
    case .guestByPhone:
      var run = try CodeRig.exchanging(.signIn, CodeRig.guest)
      _ = run(CodeRig.numberTaken)
      return run
    case .switchByPhone:
      var run = try CodeRig.exchanging(.link)
      _ = run(CodeRig.numberTaken)
      _ = run(.conflict(.resolved(.switch, current: User(uid: "u1"))))
      return run
    }
  }

  // MARK: Methods

  private static let guest: @Sendable (inout Flow) -> Void = CodeRig.guest
  private static let protected: @Sendable (inout Flow) -> Void = { $0.protectedUID = "u1" }

  private func password(
    purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }
  ) throws -> FlowRig {
    var run = try FlowRig(.password, purpose: purpose) {
      $0.email = Self.address
      change(&$0)
    }
    _ = run(.passwordProvided(Secret("p")))
    return run
  }

  private func link(purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try FlowRig(.emailLink, purpose: purpose) {
      $0.expiresAt = 1000 + EmailLinkFlow.lifetime
      $0.email = Self.address
      $0.linkTokenHash = [7]
      change(&$0)
    }
    for event in [FlowEvent.started, .mailSent, .linkOpened(code: ProviderRig.code)] { _ = run(event) }
    return run
  }

  /// A link that nobody here has asked for.
  private func foreignLink() throws -> FlowRig {
    var run = try FlowRig(.emailLink)
    _ = run(.linkOpened(code: ProviderRig.code))
    _ = run(.emailProvided(Self.address))
    return run
  }

  /// u1 links an address that is u2's, and signs in to that account by a new link.
  private func newLink() throws -> FlowRig {
    var run = try link(purpose: .link) {
      $0.protectedUID = "u1"
      $0.linkUID = "u1"
    }
    _ = run(.exchangeFailed(AuthFailure(.emailAlreadyInUse)))
    _ = run(.conflict(.resolved(.newLink, current: User(uid: "u1"))))
    for event in [FlowEvent.mailSent, .linkOpened(code: ProviderRig.code)] { _ = run(event) }
    return run
  }

  private func token(purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try FlowRig(.custom, purpose: purpose) {
      $0.code = Secret("JWT")
      change(&$0)
    }
    _ = run(.started)
    return run
  }
}

extension FlowAction {
  /// Whether it shows the server a first factor. A typed code is one unless a second factor is wanted.
  func spendsFirstFactor(_ flow: Flow) -> Bool {
    switch self {
    case .exchange, .signUpAnonymously, .signIn, .signUp, .signInWithCustomToken, .exchangeAuthorizationCode,
      .signInWithCredential, .signInWithPhoneProof:
      true
    case .verifyCode: flow.secondFactor == nil
    default: false
    }
  }
}
