import AuthCore

/// What ``InMemoryAuthService`` remembers.
struct InMemoryAccounts {
  struct Account {
    var user: User
    var password: Secret<String>?
  }

  var accounts: [Account] = []
  var status = SessionStatus(state: .unauthenticated, user: nil, sequence: 0)
  var nextFailure: LinkdError?
  var flows: [InMemoryFlow] = []
  var mails: [(kind: InMemoryAuthService.MailKind, email: String)] = []
  /// Who has an account at a provider, by the provider's id; nil for somebody who refuses.
  var people: [String: String?] = [:]
  var subscribers: [Int: Updates<SessionStatus>.Feed] = [:]
  var lastSubscriber = 0
  private var lastUID = 0
  private var isExchanging = false

  func index(of email: String) -> Int? { accounts.firstIndex { $0.user.email == email } }

  /// - Parameter email: nil for a guest.
  @discardableResult
  mutating func add(_ email: String?, _ password: Secret<String>?) -> Int {
    lastUID += 1
    var user = User(uid: "user\(lastUID)")
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

  /// Signs `user` in, or out.
  mutating func adopt(_ user: User?) {
    if let user, let index = accounts.firstIndex(where: { $0.user.uid == user.uid }) { accounts[index].user = user }
    let isLasting = user.map { !$0.isAnonymous } ?? false
    publish(isLasting ? .authenticated : isExchanging ? .authenticating : .unauthenticated, user: .some(user))
  }

  /// Tells all, where it is news. `user` nil leaves the user as it is.
  mutating func publish(_ state: SessionState, user: User?? = nil) {
    let user = user ?? status.user
    guard state != status.state || user != status.user else { return }
    status = SessionStatus(state: state, user: user, sequence: status.sequence + 1)
    for feed in subscribers.values { feed.yield(.success(status)) }
  }
}
