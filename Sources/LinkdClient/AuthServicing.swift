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
/// session as it was. Where the account has second factors it throws `SecondFactorRequired`: a program that asks for their
/// codes starts a flow, and follows its steps.
///
/// ```swift
/// let flow = try await auth.start(.password(email: email, password))
/// var step = try await flow.nextStep()
/// if step.stage == .secondFactorRequired, let factor = step.details.hints.first {
///   try await flow.chooseFactor(factor.uid)
///   step = try await flow.submit(code: askForCode())
/// }
/// ```
public protocol AuthServicing: Sendable {
  /// Who is signed in, now and from now on.
  var states: Updates<SessionStatus> { get }
  /// Who is signed in now.
  func status() async throws(LinkdError) -> SessionStatus

  /// Starts a sign-in that goes in steps: a code, a second factor, a conflict to be settled. It goes on in linkd whether or not
  /// anybody follows it. Throws what shows at once: `InvalidEmail`, `InvalidPhoneNumber`, `NoSuchProvider`, `RateLimited`, ….
  func start(_ request: SignInRequest, purpose: SignInPurpose) async throws(LinkdError) -> any FlowServicing
  /// Starts what may need a code, or a recent sign-in: the flow waits at `reauthentication-required` until the same user has signed
  /// in again, and goes on by itself then. Throws `NoCurrentUser`, `FactorNotFound`, ….
  func start(_ action: AccountAction) async throws(LinkdError) -> any FlowServicing

  /// Throws `InvalidCredentials`, `EmailNotFound`, `InvalidEmail`, `UserDisabled`, …
  func signIn(email: String, password: Secret<String>) async throws(LinkdError) -> User
  /// Makes an account and signs in to it. Throws `WeakPassword`, `EmailAlreadyInUse`, `InvalidEmail`, …
  func register(email: String, password: Secret<String>, displayName: String?) async throws(LinkdError) -> User
  /// Signs in as a guest. A guest who is signed in stays the same.
  func signInAnonymously() async throws(LinkdError) -> User
  /// Signs in by a provider in the browser (`google.com`, `oidc.example`, …), adds it to the account, or confirms by it who is
  /// signed in. Throws `Cancelled` where the person says no there, `NoSuchProvider`, and where accounts collide
  /// `AccountExistsWithDifferentCredential`, `CredentialAlreadyInUse`, `EmailAlreadyInUse`: a program that lets people
  /// choose starts a flow (``LinkdApp/startProvider(_:purpose:request:)``).
  func signIn(
    withProvider providerID: String, purpose: SignInPurpose, request: ProviderRequest
  ) async throws(LinkdError) -> User
  /// The same by what the program has got from the provider by itself. Throws `InvalidProviderResponse`, ….
  func signIn(with credential: OAuthCredential, purpose: SignInPurpose) async throws(LinkdError) -> User
  /// Signs in by a token that the app's own server made. Throws `InvalidCredentials`, ….
  func signIn(withCustomToken token: Secret<String>) async throws(LinkdError) -> User
  /// Takes a provider, or `password`, from the account. Throws `NoSuchProvider` where it isn't there, and
  /// `RequiresRecentLogin` where the sign-in is too long ago.
  func unlink(_ providerID: String) async throws(LinkdError)
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

  /// Signs in by a provider, asked as the app's file says it.
  public func signIn(withProvider providerID: String, purpose: SignInPurpose = .signIn) async throws(LinkdError) -> User
  {
    try await signIn(withProvider: providerID, purpose: purpose, request: ProviderRequest())
  }

  /// Signs in by what a provider gave the program.
  public func signIn(with credential: OAuthCredential) async throws(LinkdError) -> User {
    try await signIn(with: credential, purpose: .signIn)
  }

  /// Makes an account without a name.
  public func register(email: String, password: Secret<String>) async throws(LinkdError) -> User {
    try await register(email: email, password: password, displayName: nil)
  }

  /// Starts a sign-in in steps.
  public func start(_ request: SignInRequest) async throws(LinkdError) -> any FlowServicing {
    try await start(request, purpose: .signIn)
  }

  /// Sends a text message with a code, and returns when it's under way: ``FlowServicing/submit(code:)`` signs in. The person may
  /// have to answer a captcha page in the browser before.
  /// - Throws: `InvalidPhoneNumber`, `CaptchaFailed`, `CaptchaRequired`, `RateLimited`, …; the flow is cancelled then.
  public func sendCode(
    to number: String, purpose: SignInPurpose = .signIn, request: PhoneRequest = PhoneRequest()
  ) async throws(LinkdError) -> any FlowServicing {
    let flow = try await start(.phone(number, request), purpose: purpose)
    let status = try await flow.nextStep()
    if status.stage == .waitingForCode, status.details.error == nil { return flow }
    try? await flow.cancel()
    try status.succeeded()
    return flow
  }

  /// Gives the account another password. Throws `WeakPassword`, and `RequiresRecentLogin` where the sign-in is too long ago.
  public func updatePassword(_ new: Secret<String>) async throws(LinkdError) {
    try await start(.updatePassword(new)).endWithoutPerson()
  }

  /// Mails a link to another address, which counts once it's opened. Throws `InvalidEmail`, `EmailAlreadyInUse`, and
  /// `RequiresRecentLogin` where the sign-in is too long ago.
  public func changeEmail(to new: String) async throws(LinkdError) {
    try await start(.changeEmail(new)).endWithoutPerson()
  }

  /// Removes a second factor. Throws `FactorNotFound`, and `RequiresRecentLogin` where the sign-in is too long ago.
  public func unenrollFactor(_ uid: String) async throws(LinkdError) {
    try await start(.unenrollFactor(uid)).endWithoutPerson()
  }

  /// Deletes the account if the sign-in is recent.
  public func deleteAccount() async throws(LinkdError) { try await deleteAccount(password: nil) }
}
