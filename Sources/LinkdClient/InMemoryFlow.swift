import AuthCore
import EventLoop

/// A flow of ``InMemoryAuthService``. What is given to it goes to ``InMemoryAccounts``, which moves it.
final class InMemoryFlow: FlowServicing {
  /// What somebody does about it.
  enum Input {
    case password(Secret<String>)
    case code(Secret<String>)
    case factor(String)
    case choice(ConflictChoice)
    case captcha(InMemoryAuthService.CaptchaAnswer)
    case link
    case resend
  }

  typealias Handler = @Sendable (InMemoryFlow, Input) throws(LinkdError) -> Void

  /// What it is for.
  enum Goal: Sendable {
    case signIn(SignInPurpose)
    case action(AccountAction)
  }

  /// What nobody outside sees.
  struct Memory {
    /// Who was signed in at the start.
    var owner: String?
    /// The address, or number, of the first factor; the number that is to be enrolled.
    var email: String?
    var number: String?
    /// Whose first factor was right, and whether the account was made by it.
    var proved: (uid: String, isNew: Bool)?
    /// The second factor that was chosen.
    var factor: String?
    /// How many codes of each second factor may still be tried.
    var left: [String: Int] = [:]
    /// When the newest message went to each second factor, or, by an empty text, to the first one.
    var sent: [String: Int64] = [:]
    /// The code of the newest message, until it's too old.
    var code: Secret<String>?
    /// What the authenticator app reads that is to be enrolled.
    var secret: AuthenticatorSecret?

    /// When the newest message went to the factor whose turn it is.
    var sentAt: Int64? {
      get { sent[factor ?? ""] }
      set { sent[factor ?? ""] = newValue }
    }
  }

  private struct Content {
    var status: FlowStatus
    var memory = Memory()
    var subscribers: [Updates<FlowStatus>.Feed] = []
  }

  let id: FlowID
  let goal: Goal
  private let content: Lock<Content>
  private let handler: Handler

  init(_ id: FlowID, _ goal: Goal, method: SignInMethod, at now: Int64, _ handler: @escaping Handler) {
    (self.id, self.goal, self.handler) = (id, goal, handler)
    var status = FlowStatus(id: id, purpose: goal.purpose, method: method)
    (status.createdAt, status.expiresAt) = (now, now + InMemoryAccounts.patience)
    content = Lock(Content(status: status))
  }

  var status: FlowStatus { content.withLock { $0.status } }

  var memory: Memory {
    get { content.withLock { $0.memory } }
    set { content.withLock { $0.memory = newValue } }
  }

  var stages: Updates<FlowStatus> {
    Updates { feed in
      self.content.withLock { content in
        feed.yield(.success(content.status))
        if content.status.stage.isEnd { feed.finish() } else { content.subscribers.append(feed) }
      }
    }
  }

  /// Nothing moves after the end, except for what a resend revives.
  func move(to stage: FlowStage, reviving: Bool = false, _ fill: (inout FlowDetails) -> Void = { _ in }) {
    content.withLock { content in
      guard !content.status.stage.isEnd || reviving else { return }
      content.status.stage = stage
      content.status.sequence += 1
      content.status.details = FlowDetails()
      fill(&content.status.details)
      if let expiresAt = content.status.details.expiresAt { content.status.expiresAt = expiresAt }
      for feed in content.subscribers {
        feed.yield(.success(content.status))
        if stage.isEnd { feed.finish() }
      }
      if stage.isEnd { content.subscribers = [] }
    }
  }

  func fail(_ error: LinkdError, retry: Bool = false) {
    if error.authError == .cancelled { return move(to: .cancelled) }
    let sentAt = memory.sentAt
    move(to: .failed) { details in
      (details.error, details.canRetry) = (error, retry)
      if retry { details.canResendAt = sentAt.map { $0 + InMemoryAccounts.resendPause } }
    }
  }

  func provideEmail(_ email: String) async throws(LinkdError) { throw Self.notWaiting }
  func providePassword(_ password: Secret<String>) async throws(LinkdError) { try handler(self, .password(password)) }
  func provideCode(_ code: Secret<String>) async throws(LinkdError) { try handler(self, .code(code)) }
  func chooseFactor(_ uid: String) async throws(LinkdError) { try handler(self, .factor(uid)) }
  func confirm() async throws(LinkdError) { throw Self.notWaiting }
  func resolveConflict(_ choice: ConflictChoice) async throws(LinkdError) { try handler(self, .choice(choice)) }
  func resend() async throws(LinkdError) { try handler(self, .resend) }
  func cancel() async throws(LinkdError) { move(to: .cancelled) }

  func url() async throws(LinkdError) -> Secret<String> {
    guard status.stage == .waitingForCaptcha else { throw Self.notWaiting }
    return Secret("https://in-memory.example/__/auth/handler?eventId=\(id)")
  }

  func secret() async throws(LinkdError) -> AuthenticatorSecret {
    guard status.stage == .waitingForCode, let secret = memory.secret else { throw Self.notWaiting }
    return secret
  }

  static var notWaiting: LinkdError { .auth(.noSuchFlow, message: "The flow doesn't wait for that.") }
}

extension InMemoryFlow.Goal {
  var purpose: FlowPurpose {
    switch self {
    case .signIn(let purpose): FlowPurpose(rawValue: purpose.rawValue) ?? .signIn
    case .action(.updatePassword): .updatePassword
    case .action(.changeEmail): .changeEmail
    case .action(.changePhoneNumber): .changePhone
    case .action(.enrollPhoneFactor), .action(.enrollTOTPFactor): .enrollFactor
    case .action(.unenrollFactor): .unenrollFactor
    case .action(.unlink): .unlink
    case .action(.deleteUser): .deleteUser
    case .action(.reauthenticate): .reauthenticate
    }
  }
}
