import AuthCore
import EventLoop

/// What ``InMemoryAuthService`` remembers.
struct InMemoryAccounts {
  struct Account {
    var user: User
    var password: Secret<String>?
    /// Of second factors, by their uids: the whole numbers, and what authenticator apps read.
    var numbers: [String: String] = [:]
    var keys: [String: Secret<String>] = [:]
  }

  /// Seconds that a flow waits for somebody, between two messages, and that a sign-in counts as recent.
  static let (patience, resendPause, recent) = (600 as Int64, 60 as Int64, 300 as Int64)

  var accounts: [Account] = []
  var status = SessionStatus(state: .unauthenticated, user: nil, sequence: 0)
  var nextFailure: LinkdError?
  var flows: [InMemoryFlow] = []
  var mails: [(kind: InMemoryAuthService.MailKind, email: String)] = []
  var messages: [(number: String, code: Secret<String>)] = []
  /// New addresses whose mail wasn't opened yet, with the account's uid.
  var newEmails: [String: String] = [:]
  /// Who has an account at a provider, by the provider's id; nil for somebody who refuses.
  var people: [String: String?] = [:]
  var showsCaptchas = false
  var subscribers: [Int: Updates<SessionStatus>.Feed] = [:]
  var lastSubscriber = 0
  /// When, and how, who is signed in last proved it.
  private var lastSignIn: (at: Int64, by: SignInMethod) = (0, .none)
  private var lastNumber = 0
  private var isExchanging = false
  private let clock: @Sendable () -> Int64
  /// Where a flow sends what is given to it.
  var handler: InMemoryFlow.Handler = { _, _ throws(LinkdError) in throw FlowStatus.missing }

  init(_ clock: @escaping @Sendable () -> Int64) { self.clock = clock }

  /// Unix seconds.
  var now: Int64 { clock() }
  var isRecent: Bool { now - lastSignIn.at < Self.recent }
  var signedInBy: SignInMethod { lastSignIn.by }

  func index(of email: String) -> Int? { accounts.firstIndex { $0.user.email == email } }
  func index(uid: String?) -> Int? { accounts.firstIndex { $0.user.uid == uid } }

  /// Counts accounts, factors, keys and codes.
  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// - Parameter email: nil for a guest.
  @discardableResult
  mutating func add(_ email: String?, _ password: Secret<String>?) -> Int {
    var user = User(uid: "user\(nextNumber())")
    user.email = email
    user.isAnonymous = email == nil
    if email != nil { user.providers = [LinkedProvider(providerID: "password")] }
    accounts.append(.init(user: user, password: password))
    return accounts.count - 1
  }

  func signedIn() throws(LinkdError) -> User {
    guard let user = status.user else { throw .auth(.noCurrentUser, message: "Nobody is signed in.") }
    return user
  }

  /// As linkd: `authenticating` shows while there is no lasting session.
  mutating func whileAuthenticating<Failure: Error>(_ body: (inout Self) throws(Failure) -> Void) throws(Failure) {
    isExchanging = true
    if status.state != .authenticated { publish(.authenticating) }
    defer {
      isExchanging = false
      if status.state != .authenticated { publish(.unauthenticated) }
    }
    try body(&self)
  }

  /// Somebody has just proved who they are.
  mutating func adopt(_ user: User, by method: SignInMethod) {
    adopt(user)
    lastSignIn = (now, method)
  }

  /// Changes who is signed in, or what is known of them; nil signs them out. What was parked for somebody else is given up.
  mutating func adopt(_ user: User?) {
    if let user, let index = index(uid: user.uid) { accounts[index].user = user }
    let isLasting = user.map { !$0.isAnonymous } ?? false
    publish(isLasting ? .authenticated : isExchanging ? .authenticating : .unauthenticated, user: .some(user))
    for flow in flows where flow.status.stage == .reauthenticationRequired && flow.memory.owner != user?.uid {
      flow.move(to: .cancelled)
    }
  }

  /// Tells all, where it is news. `user` nil leaves the user as it is.
  mutating func publish(_ state: SessionState, user: User?? = nil) {
    let user = user ?? status.user
    guard state != status.state || user != status.user else { return }
    status = SessionStatus(state: state, user: user, sequence: status.sequence + 1)
    for feed in subscribers.values { feed.yield(.success(status)) }
  }

  /// Ends what has waited for too long.
  func expireOverdue() {
    for flow in flows {
      let status = flow.status
      guard !status.stage.isEnd, let expiresAt = status.details.expiresAt, expiresAt <= now else { continue }
      flow.move(to: .expired)
    }
  }
}
