public import AuthCore

/// What a program's login screen needs: ``LinkdApp`` is the real thing, ``InMemoryAuthService`` the double for tests.
///
/// ```swift
/// let auth: any AuthServicing = try await LinkdService.connect().app("demo")
/// let user = try await auth.signIn(email: email, password: password)
/// for try await status in auth.states { show(status) }
/// ```
///
/// What signs in returns when the session is there, and cancels its flow when the task is cancelled. A failure leaves the
/// session as it was.
public protocol AuthServicing: Sendable {
  /// Who is signed in, now and from now on.
  var states: Updates<SessionStatus> { get }
  /// Who is signed in now.
  func status() async throws(LinkdError) -> SessionStatus

  /// Throws `InvalidCredentials`, `EmailNotFound`, `InvalidEmail`, `UserDisabled`, …
  func signIn(email: String, password: Secret<String>) async throws(LinkdError) -> User
  /// Makes an account and signs in to it. Throws `WeakPassword`, `EmailAlreadyInUse`, `InvalidEmail`, …
  func register(email: String, password: Secret<String>, displayName: String?) async throws(LinkdError) -> User
  /// Signs in as a guest. A guest who is signed in stays the same.
  func signInAnonymously() async throws(LinkdError) -> User
  /// Returns when the mail is under way; its flow ends when the link is opened. Throws `InvalidEmail`, …
  func sendSignInLink(to email: String) async throws(LinkdError) -> any FlowServicing

  /// Mails a link to choose a new password.
  func sendPasswordReset(to email: String) async throws(LinkdError)
  /// Mails a link to the signed-in user that proves their address. Throws `NoCurrentUser`, …
  func sendEmailVerification() async throws(LinkdError)
  /// Nil leaves a value as it is, an empty text clears it. Throws `NoCurrentUser`, …
  func updateProfile(displayName: String?, photoURL: String?) async throws(LinkdError)
  /// Asks the server for a newer picture of the user.
  func reloadUser() async throws(LinkdError)
  /// A token that lives for another `minValidity` seconds. Throws `NoCurrentUser`, `TokenRevoked`, …
  func idToken(minValidity: UInt32, forceRefresh: Bool) async throws(LinkdError) -> IdentityToken

  /// Ends the session. Harmless when nobody is signed in.
  func signOut() async throws(LinkdError)
  /// Deletes the account and ends the session. Throws `RequiresRecentLogin` where the sign-in is too long ago and no
  /// password is given to confirm it with.
  func deleteAccount(password: Secret<String>?) async throws(LinkdError)
}

extension AuthServicing {
  /// The signed-in user; nil when nobody is.
  public var currentUser: User? { get async throws(LinkdError) { try await status().user } }

  /// The signed-in user's id; nil when nobody is.
  public var currentUserID: String? { get async throws(LinkdError) { try await status().user?.uid } }

  /// A token that lives for five minutes more.
  public func idToken() async throws(LinkdError) -> IdentityToken {
    try await idToken(minValidity: 300, forceRefresh: false)
  }

  /// Makes an account without a name.
  public func register(email: String, password: Secret<String>) async throws(LinkdError) -> User {
    try await register(email: email, password: password, displayName: nil)
  }

  /// Deletes the account if the sign-in is recent.
  public func deleteAccount() async throws(LinkdError) { try await deleteAccount(password: nil) }
}
