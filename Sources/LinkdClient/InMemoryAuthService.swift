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
    case signIn, passwordReset, verification, emailChange
  }

  /// What a person does with a captcha page.
  public enum CaptchaAnswer: Sendable, Hashable {
    /// The server believes it.
    case solved
    /// The server refuses it.
    case refused
    /// The page was closed.
    case givenUp
  }

  let content: Lock<InMemoryAccounts>

  /// - Parameters:
  ///   - accounts: addresses with their passwords. Nobody is signed in.
  ///   - now: what the time is, in Unix seconds; nil for the wall's clock. Messages are sent again after 60 s, a sign-in counts as
  ///     recent for 300 s, and a flow waits for 600 s.
  public init(accounts: [String: String] = [:], now: (@Sendable () -> Int64)? = nil) {
    content = Lock(InMemoryAccounts(now ?? { WallClock.now }))
    content.withLock { content in
      content.handler = { [weak self] flow, input throws(LinkdError) in
        guard let self else { throw FlowStatus.missing }
        try self.change { content throws(LinkdError) in try content.take(input, flow) }
      }
      for (email, password) in accounts.sorted(by: { $0.key < $1.key }) {
        content.add((try? Self.address(email)) ?? email, Secret(password))
      }
    }
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

  /// Goes on at once as far as it can.
  public func start(
    _ request: SignInRequest, purpose: SignInPurpose
  ) async throws(LinkdError) -> any FlowServicing {
    try change { content throws(LinkdError) in try content.begin(request, purpose) }
  }

  /// Goes on at once as far as it can.
  public func start(_ action: AccountAction) async throws(LinkdError) -> any FlowServicing {
    try change { content throws(LinkdError) in try content.begin(action) }
  }

  /// Compares in memory.
  public func signIn(email: String, password: Secret<String>) async throws(LinkdError) -> User {
    try await user(of: try await start(.password(email: email, password)))
  }

  /// Keeps the account in memory.
  public func register(
    email: String, password: Secret<String>, displayName: String?
  ) async throws(LinkdError) -> User {
    try change { content throws(LinkdError) in
      let address = try Self.address(email)
      try content.whileAuthenticating { content throws(LinkdError) in
        if content.index(of: address) != nil { throw Self.error(.emailAlreadyInUse) }
        if let weakness = Self.weakness(of: password) { throw weakness }
        let index = content.add(address, password)
        content.accounts[index].user.displayName = displayName
        content.adopt(content.accounts[index].user, by: .password)
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
        content.adopt(content.accounts[index].user, by: .anonymous)
      }
      return try content.signedIn()
    }
  }

  /// The link is opened by ``openSignInLink(of:)``.
  public func sendSignInLink(to email: String) async throws(LinkdError) -> any FlowServicing {
    try await start(.emailLink(email))
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

  /// Removes the account too; a password confirms it where the sign-in is too long ago.
  public func deleteAccount(password: Secret<String>?) async throws(LinkdError) {
    let deletion = try await start(.deleteUser)
    if let password, let email = try await deletion.nextStep().details.reauthentication?.email {
      do throws(LinkdError) {
        try await start(.password(email: email, password), purpose: .reauthenticate).endWithoutPerson()
      } catch {
        try? await deletion.cancel()
        throw error
      }
    }
    try await deletion.endWithoutPerson()
  }

  // MARK: Inside

  func change<Result>(
    _ body: (inout InMemoryAccounts) throws(LinkdError) -> Result
  ) throws(LinkdError) -> Result {
    if Task.isCancelled { throw .cancelled }
    return try content.withLock { content throws(LinkdError) in
      content.expireOverdue()
      if let failure = content.nextFailure.take() { throw failure }
      return try body(&content)
    }
  }

  /// Who a flow that needs nobody has signed in.
  func user(of flow: any FlowServicing) async throws(LinkdError) -> User {
    guard let user = try await flow.endWithoutPerson().details.user else { throw Self.error(.noCurrentUser) }
    return user
  }

  /// Firebase's rule where a project has no policy of its own.
  static func weakness(of password: Secret<String>) -> LinkdError? {
    password.reveal().utf16.count < 6 ? error(.weakPassword) : nil
  }

  static func address(_ text: String) throws(LinkdError) -> String {
    guard let address = EmailAddress(text) else { throw error(.invalidEmail) }
    return address.comparable(domainALabel: address.domain)
  }

  static func error(_ error: AuthError) -> LinkdError {
    .auth(error, message: "In memory: \(error.rawValue).")
  }
}
