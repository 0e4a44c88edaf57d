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
    try await user(of: try await start(.provider(providerID, request), purpose: purpose))
  }

  /// Believes every credential to be of the person named by ``setPerson(_:at:)``.
  public func signIn(with credential: OAuthCredential, purpose: SignInPurpose) async throws(LinkdError) -> User {
    try await user(of: try await start(.credential(credential), purpose: purpose))
  }

  /// The token is the uid.
  public func signIn(withCustomToken token: Secret<String>) async throws(LinkdError) -> User {
    try await user(of: try await start(.customToken(token)))
  }

  /// Takes it from the account in memory.
  public func unlink(_ providerID: String) async throws(LinkdError) {
    try await start(.unlink(providerID)).endWithoutPerson()
  }
}

extension InMemoryAccounts {
  /// The person who is at a provider agrees, or refuses.
  mutating func arrive(_ flow: InMemoryFlow, _ providerID: String, _ purpose: SignInPurpose) throws(LinkdError) {
    guard let person = people[providerID, default: "you@example.com"] else { throw .cancelled }
    let email = try InMemoryAuthService.address(person)
    let owner = accounts.first { $0.user.providers.contains { $0.providerID == providerID && $0.email == email } }?.user
    if purpose == .link { return succeed(flow, with: try link(owner, email, by: providerID)) }
    if let owner { return try firstFactor(flow, owner.uid) }
    if purpose == .reauthenticate { throw InMemoryAuthService.error(.userMismatch) }
    if index(of: email) != nil { throw InMemoryAuthService.error(.accountExistsWithDifferentCredential) }
    let index = add(email, nil)
    accounts[index].user.emailVerified = true
    accounts[index].user.providers = [Self.provider(providerID, email)]
    try firstFactor(flow, accounts[index].user.uid, isNew: true)
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
    return user
  }
}
