import LinkdContract
public import AuthCore
import DBus

extension LinkdApp: AuthServicing {
  /// Subscribes with each iterator. The first value is the current one; linkd's restarts drop nothing and repeat nothing.
  /// Of a user's details (name, address) intermediate values may be left out, of states and users none.
  public var states: Updates<SessionStatus> { Updates(wire, path) }

  /// Who is signed in now.
  public func status() async throws(LinkdError) -> SessionStatus { try await report().status }

  /// Starts the method's flow (``startPassword(_:_:purpose:)`` and the like).
  public func start(
    _ request: SignInRequest, purpose: SignInPurpose
  ) async throws(LinkdError) -> any FlowServicing {
    switch request {
    case .emailLink(let email): try await startEmailLink(email, purpose: purpose)
    case .password(let email, let password): try await startPassword(email, password, purpose: purpose)
    case .phone(let number, let request): try await startPhone(number, purpose: purpose, request: request)
    case .provider(let id, let request): try await startProvider(id, purpose: purpose, request: request)
    case .credential(let credential): try await startCredential(credential, purpose: purpose)
    case .customToken(let token): try await startCustomToken(token, purpose: purpose)
    }
  }

  /// Starts the action's flow (``startDeleteUser()`` and the like).
  public func start(_ action: AccountAction) async throws(LinkdError) -> any FlowServicing {
    switch action {
    case .updatePassword(let new): try await startUpdatePassword(new)
    case .changeEmail(let new): try await startChangeEmail(new)
    case .changePhoneNumber(let number, let request): try await startChangePhoneNumber(number, request: request)
    case .enrollPhoneFactor(let number, let name, let request):
      try await startEnrollPhoneFactor(number, displayName: name, request: request)
    case .enrollTOTPFactor(let name): try await startEnrollTOTPFactor(displayName: name)
    case .unenrollFactor(let uid): try await startUnenrollFactor(uid)
    case .unlink(let id): try await startUnlink(id)
    case .deleteUser: try await startDeleteUser()
    case .reauthenticate: try await startReauthenticate()
    }
  }

  /// Signs in by address and password.
  public func signIn(email: String, password: Secret<String>) async throws(LinkdError) -> User {
    try await user(of: try await startPassword(email, password))
  }

  /// Makes an account and signs in to it.
  public func register(
    email: String, password: Secret<String>, displayName: String?
  ) async throws(LinkdError) -> User {
    try await user(of: try await startCreateUser(email, password, displayName: displayName))
  }

  /// Signs in as a guest.
  public func signInAnonymously() async throws(LinkdError) -> User { try await user(of: try await startAnonymous()) }

  /// Opens the browser, and waits until it has come back.
  public func signIn(
    withProvider providerID: String, purpose: SignInPurpose, request: ProviderRequest
  ) async throws(LinkdError) -> User {
    try await user(of: try await startProvider(providerID, purpose: purpose, request: request))
  }

  /// Shows the server what a provider gave the program.
  public func signIn(with credential: OAuthCredential, purpose: SignInPurpose) async throws(LinkdError) -> User {
    try await user(of: try await startCredential(credential, purpose: purpose))
  }

  /// Shows the server what the app's own server made.
  public func signIn(withCustomToken token: Secret<String>) async throws(LinkdError) -> User {
    try await user(of: try await startCustomToken(token))
  }

  /// Takes a way of signing in from the account.
  public func unlink(_ providerID: String) async throws(LinkdError) {
    try await startUnlink(providerID).endWithoutPerson()
  }

  /// Mails a link, and returns when the mail is under way.
  public func sendSignInLink(to email: String) async throws(LinkdError) -> any FlowServicing {
    let flow = try await startEmailLink(email)
    let status = try await flow.wait { $0.stage != .starting }
    if let error = status.details.error {
      try? await flow.cancel()
      throw error
    }
    return flow
  }

  /// Mails a link to choose a new password.
  public func sendPasswordReset(to email: String) async throws(LinkdError) {
    _ = try await call(Contract.Interface.signIn, "SendPasswordReset", [.string(email)])
  }

  /// Mails a link that proves the user's address.
  public func sendEmailVerification() async throws(LinkdError) {
    _ = try await call(Contract.Interface.account, "SendEmailVerification")
  }

  /// Changes name and picture.
  public func updateProfile(displayName: String?, photoURL: String?) async throws(LinkdError) {
    var changes: [String: DBusValue] = [:]
    changes["display-name"] = displayName.map(DBusValue.string)
    changes["photo-url"] = photoURL.map(DBusValue.string)
    _ = try await call(Contract.Interface.account, "UpdateProfile", [.dict(changes)])
  }

  /// Asks the server for a newer picture of the user.
  public func reloadUser() async throws(LinkdError) { _ = try await call(Contract.Interface.session, "ReloadUser") }

  /// A token for whoever is signed in.
  public func idToken(minValidity: UInt32, forceRefresh: Bool) async throws(LinkdError) -> IdentityToken {
    try await idToken(minValidity: minValidity, forceRefresh: forceRefresh, uid: nil)
  }

  /// Ends the session.
  public func signOut() async throws(LinkdError) { _ = try await call(Contract.Interface.session, "SignOut") }

  /// Deletes the account. Where the sign-in is too long ago, a password signs the user in again, and the deletion goes on.
  public func deleteAccount(password: Secret<String>?) async throws(LinkdError) {
    let deletion = try await startDeleteUser()
    let status = try await deletion.wait { !$0.isUnderWay }
    if status.stage == .reauthenticationRequired, let password,
      let email = status.details.reauthentication?.email
    {
      do throws(LinkdError) {
        try await startPassword(email, password, purpose: .reauthenticate).endWithoutPerson()
      } catch {
        try? await deletion.cancel()
        throw error
      }
      // linkd sets it going again; what it waited for is in the past.
      _ = try await deletion.wait { !$0.isUnderWay && $0.sequence > status.sequence }
    }
    try await deletion.endWithoutPerson()
  }

  /// The user of a flow that needs nobody, once it has ended well.
  private func user(of flow: LinkdFlow) async throws(LinkdError) -> User {
    let status = try await flow.endWithoutPerson()
    if let user = status.details.user { return user }
    guard let user = try await currentUser else { throw .auth(.noCurrentUser, message: "Nobody is signed in.") }
    return user
  }
}
