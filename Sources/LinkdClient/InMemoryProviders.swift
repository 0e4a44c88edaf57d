public import AuthCore
import EventLoop

/// Providers of the double: the browser's part is done by whoever the test names.
extension InMemoryAuthService {
  /// Who signs in at a provider from now on; nil for somebody who refuses. At first it's `you@example.com` everywhere.
  public func setPerson(_ email: String?, at providerID: String) {
    content.withLock { $0.people[providerID] = .some(email) }
  }

  /// The person named by ``setPerson(_:at:)`` signs in, agrees or refuses at once.
  public func signIn(
    withProvider providerID: String, purpose: SignInPurpose, request: ProviderRequest
  ) async throws(LinkdError) -> User {
    try change { content throws(LinkdError) in
      guard let email = content.people[providerID, default: "you@example.com"] else { throw .cancelled }
      return try content.signIn(try Self.address(email), by: providerID, purpose)
    }
  }

  /// Believes every credential to be of the person named by ``setPerson(_:at:)``.
  public func signIn(with credential: OAuthCredential, purpose: SignInPurpose) async throws(LinkdError) -> User {
    guard credential.idToken != nil || credential.accessToken != nil else { throw Self.error(.invalidProviderResponse) }
    return try await signIn(withProvider: credential.providerID, purpose: purpose, request: ProviderRequest())
  }

  /// The token is the uid.
  public func signIn(withCustomToken token: Secret<String>) async throws(LinkdError) -> User {
    try change { content throws(LinkdError) in
      let uid = token.reveal()
      if uid.isEmpty { throw Self.error(.invalidCredentials) }
      let known = content.accounts.first { $0.user.uid == uid }
      if known == nil { content.accounts.append(.init(user: User(uid: uid), password: nil)) }
      content.whileAuthenticating { $0.adopt(known?.user ?? User(uid: uid)) }
      return try content.signedIn()
    }
  }

  /// Takes it from the account in memory.
  public func unlink(_ providerID: String) async throws(LinkdError) {
    try change { content throws(LinkdError) in
      var user = try content.signedIn()
      guard user.providers.contains(where: { $0.providerID == providerID }) else { throw Self.error(.noSuchProvider) }
      user.providers.removeAll { $0.providerID == providerID }
      content.adopt(user)
    }
  }
}

extension InMemoryAccounts {
  /// - Parameter email: of the account at the provider.
  fileprivate mutating func signIn(
    _ email: String, by providerID: String, _ purpose: SignInPurpose
  ) throws(LinkdError) -> User {
    let owner = accounts.first { $0.user.providers.contains { $0.providerID == providerID && $0.email == email } }?.user
    switch purpose {
    case .signIn: return try signIn(owner, email, by: providerID)
    case .link: return try link(owner, email, by: providerID)
    case .reauthenticate:
      let user = try signedIn()
      guard owner?.uid == user.uid else { throw InMemoryAuthService.error(.userMismatch) }
      return user
    }
  }

  private mutating func signIn(_ owner: User?, _ email: String, by providerID: String) throws(LinkdError) -> User {
    try whileAuthenticating { content throws(LinkdError) in
      if let owner { return content.adopt(owner) }
      if content.index(of: email) != nil { throw InMemoryAuthService.error(.accountExistsWithDifferentCredential) }
      var user = content.accounts[content.add(email, nil)].user
      user.emailVerified = true
      user.providers = [Self.provider(providerID, email)]
      content.adopt(user)
    }
    return try signedIn()
  }

  private static func provider(_ id: String, _ email: String) -> LinkedProvider {
    var provider = LinkedProvider(providerID: id)
    provider.email = email
    return provider
  }

  private mutating func link(_ owner: User?, _ email: String, by providerID: String) throws(LinkdError) -> User {
    var user = try signedIn()
    if user.providers.contains(where: { $0.providerID == providerID }) {
      throw InMemoryAuthService.error(.providerAlreadyLinked)
    }
    if owner != nil { throw InMemoryAuthService.error(.credentialAlreadyInUse) }
    user.providers.append(Self.provider(providerID, email))
    if user.isAnonymous { (user.isAnonymous, user.email) = (false, email) }
    adopt(user)
    return try signedIn()
  }
}
