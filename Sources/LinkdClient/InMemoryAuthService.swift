public import AuthCore
import EventLoop

/// A double of linkd for tests and previews: accounts and session are in memory, answers are those of the real thing.
///
/// ```swift
/// let auth = InMemoryAuthService(accounts: ["you@example.com": "correct horse"])
/// let model = LoginViewModel(auth)
/// auth.failNext(.auth(.networkUnavailable, message: "…"))
/// ```
public final class InMemoryAuthService: AuthServicing {
  /// What a mail is about.
  public enum MailKind: Sendable, Hashable {
    case signIn, passwordReset, verification
  }

  let content = Lock(InMemoryAccounts())

  /// - Parameter accounts: addresses with their passwords. Nobody is signed in.
  public init(accounts: [String: String] = [:]) {
    content.withLock { content in
      for (email, password) in accounts.sorted(by: { $0.key < $1.key }) {
        content.add((try? Self.address(email)) ?? email, Secret(password))
      }
    }
  }

  // MARK: For the test

  /// The next call fails with `error`, and changes nothing.
  public func failNext(_ error: LinkdError) { content.withLock { $0.nextFailure = error } }

  /// The mails that would have been sent, in order.
  public var mails: [(kind: MailKind, email: String)] { content.withLock { $0.mails } }

  /// Does what opening the newest link mailed to `email` does: its flow ends with a session.
  /// - Returns: false where none is pending.
  @discardableResult
  public func openSignInLink(of email: String) -> Bool {
    guard let email = try? Self.address(email),
      let flow = content.withLock({ $0.flows.last { $0.email == email && !$0.isOver } })
    else { return false }
    flow.move(to: .exchanging)
    let (user, isNew) = content.withLock { content in
      let known = content.index(of: email)
      let index = known ?? content.add(email, nil)
      content.accounts[index].user.emailVerified = true
      content.whileAuthenticating { content in content.adopt(content.accounts[index].user) }
      return (content.accounts[index].user, known == nil)
    }
    flow.move(to: .succeeded) { details in (details.user, details.isNewUser) = (user, isNew) }
    return true
  }

  // MARK: AuthServicing

  /// As linkd: the current one first, then each change.
  public var states: Updates<SessionStatus> {
    Updates { feed in
      let number = self.content.withLock { content in
        content.lastSubscriber += 1
        content.subscribers[content.lastSubscriber] = feed
        feed.yield(.success(content.status))
        return content.lastSubscriber
      }
      feed.onTermination = { _ in self.content.withLock { $0.subscribers[number] = nil } }
    }
  }

  /// Who is signed in now.
  public func status() async throws(LinkdError) -> SessionStatus { content.withLock { $0.status } }

  /// Compares in memory.
  public func signIn(email: String, password: Secret<String>) async throws(LinkdError) -> User {
    try change { content throws(LinkdError) in
      let address = try Self.address(email)
      try content.whileAuthenticating { content throws(LinkdError) in
        guard let index = content.index(of: address) else { throw Self.error(.emailNotFound) }
        guard content.accounts[index].password == password else { throw Self.error(.invalidCredentials) }
        content.adopt(content.accounts[index].user)
      }
      return try content.signedIn()
    }
  }

  /// Keeps the account in memory.
  public func register(
    email: String, password: Secret<String>, displayName: String?
  ) async throws(LinkdError) -> User {
    try change { content throws(LinkdError) in
      let address = try Self.address(email)
      try content.whileAuthenticating { content throws(LinkdError) in
        if content.index(of: address) != nil { throw Self.error(.emailAlreadyInUse) }
        // Firebase's rule where a project has no policy of its own.
        if password.reveal().utf16.count < 6 { throw Self.error(.weakPassword) }
        let index = content.add(address, password)
        content.accounts[index].user.displayName = displayName
        content.adopt(content.accounts[index].user)
      }
      return try content.signedIn()
    }
  }

  /// Makes a guest, or keeps the one who is there.
  public func signInAnonymously() async throws(LinkdError) -> User {
    try change { content throws(LinkdError) in
      if let user = content.status.user, user.isAnonymous { return user }
      try content.whileAuthenticating { content throws(LinkdError) in
        let index = content.add(nil, nil)
        content.adopt(content.accounts[index].user)
      }
      return try content.signedIn()
    }
  }

  /// The link is opened by ``openSignInLink(of:)``.
  public func sendSignInLink(to email: String) async throws(LinkdError) -> any FlowServicing {
    try change { content throws(LinkdError) in
      let address = try Self.address(email)
      guard let id = FlowID("flow\(content.flows.count + 1)") else { throw Self.error(.internal) }
      let flow = InMemoryFlow(id, email: address)
      content.flows.append(flow)
      content.mails.append((.signIn, address))
      return flow
    }
  }

  /// Notes the mail.
  public func sendPasswordReset(to email: String) async throws(LinkdError) {
    try change { content throws(LinkdError) in
      let address = try Self.address(email)
      guard content.index(of: address) != nil else { throw Self.error(.emailNotFound) }
      content.mails.append((.passwordReset, address))
    }
  }

  /// Notes the mail.
  public func sendEmailVerification() async throws(LinkdError) {
    try change { content throws(LinkdError) in
      guard let email = try content.signedIn().email else { throw Self.error(.invalidEmail) }
      content.mails.append((.verification, email))
    }
  }

  /// Changes the account in memory.
  public func updateProfile(displayName: String?, photoURL: String?) async throws(LinkdError) {
    try change { content throws(LinkdError) in
      var user = try content.signedIn()
      if let displayName { user.displayName = displayName.isEmpty ? nil : displayName }
      if let photoURL { user.photoURL = photoURL.isEmpty ? nil : photoURL }
      content.adopt(user)
    }
  }

  /// There is nothing newer.
  public func reloadUser() async throws(LinkdError) {
    try change { content throws(LinkdError) in _ = try content.signedIn() }
  }

  /// A text that looks like a token and is none.
  public func idToken(minValidity: UInt32, forceRefresh: Bool) async throws(LinkdError) -> IdentityToken {
    try change { content throws(LinkdError) in
      let user = try content.signedIn()
      return IdentityToken(
        token: Secret("header.\(user.uid).signature"), expiresAt: 4_102_444_800,
        claims: ["sub": .string(user.uid), "user_id": .string(user.uid)])
    }
  }

  /// Nobody is signed in then.
  public func signOut() async throws(LinkdError) {
    try change { content throws(LinkdError) in content.adopt(nil) }
  }

  /// Removes the account too.
  public func deleteAccount(password: Secret<String>?) async throws(LinkdError) {
    try change { content throws(LinkdError) in
      let user = try content.signedIn()
      content.accounts.removeAll { $0.user.uid == user.uid }
      content.adopt(nil)
    }
  }

  // MARK: Inside

  func change<Result>(
    _ body: (inout InMemoryAccounts) throws(LinkdError) -> Result
  ) throws(LinkdError) -> Result {
    if Task.isCancelled { throw .cancelled }
    return try content.withLock { content throws(LinkdError) in
      if let failure = content.nextFailure.take() { throw failure }
      return try body(&content)
    }
  }

  static func address(_ text: String) throws(LinkdError) -> String {
    guard let address = EmailAddress(text) else { throw error(.invalidEmail) }
    return address.comparable(domainALabel: address.domain)
  }

  static func error(_ error: AuthError) -> LinkdError {
    .auth(error, message: "In memory: \(error.rawValue).")
  }
}
