public import AuthCore

/// What a flow machine wants done, in the order given. The coordinator performs it.
public enum FlowAction: Sendable, Hashable {
  /// Commit the row durably before anything that follows.
  case save
  case sendMail(to: String)
  /// `accounts:signInWithEmailLink` with the flow's code, for the account `linkUID` where there is one.
  case exchange(email: String, code: Secret<String>)
  /// `accounts:signUp` without an address.
  case signUpAnonymously
  /// `accounts:signInWithPassword`.
  case signIn(email: String, password: Secret<String>)
  /// `accounts:signUp` with an address: a new account, or the method added to `linkUID`'s.
  case signUp(email: String, password: Secret<String>)
  /// `accounts:signInWithCustomToken`, after so many seconds.
  case signInWithCustomToken(Secret<String>, delay: Int64)
  /// Find out where the provider is asked, and make the authorization request, after so many seconds.
  case prepareAuthorization(delay: Int64)
  /// Let the person see the authorization request's page.
  case openBrowser
  /// Hold the port that the browser comes back to.
  case listen
  /// The provider's token endpoint with the code, after so many seconds.
  case exchangeAuthorizationCode(Secret<String>, delay: Int64)
  /// `accounts:signInWithIdp`, for the account `linkUID` where there is one, after so many seconds.
  case signInWithCredential(OAuthCredential, delay: Int64)
  /// Have a message sent to the flow's number or factor, with what the page gave.
  case sendCode
  /// Make the page that tells people from programs.
  case prepareVerificationPage
  /// Make the secret of an authenticator app, after so many seconds.
  case startTOTPEnrollment(delay: Int64)
  /// Show the server the code: as the first factor, as the second one, or to make a factor of it.
  case verifyCode(Secret<String>)
  /// `accounts:signInWithPhoneNumber` with what stands for a code that was spent, after so many seconds.
  case signInWithPhoneProof(PhoneCredential, delay: Int64)
  /// `accounts:createAuthUri`, where the app wants that: how the address signs in.
  case fetchSignInMethods(email: String)
  /// `timeOver` after so many seconds.
  case resolveLater(seconds: Int64)
  /// `accounts:lookup` with the answer's token, after so many seconds.
  case lookUp(TokenGrant, delay: Int64)
  /// `accounts:resetPassword` without a password: what the code does. Nothing is spent.
  case checkCode(Secret<String>)
  /// `accounts:update` with the code.
  case applyCode(Secret<String>)
  /// `accounts:resetPassword` with the new password.
  case resetPassword(code: Secret<String>, newPassword: Secret<String>)
  /// `accounts:delete`.
  case deleteUser
  /// `accounts:update` with `deleteProvider`.
  case unlink(providerID: String)
  /// `accounts:update` with a password.
  case updatePassword(Secret<String>)
  /// `accounts:sendOobCode` that leads to another address.
  case changeEmail(to: String)
  /// `accounts/mfaEnrollment:withdraw`.
  case unenrollFactor(uid: String)
  /// Commit session, row and used code as one.
  case adopt(User, TokenGrant)
  /// Commit the end of the session and the row as one.
  case endSession
  /// The session's account was changed elsewhere if it has one of these addresses: look at it anew.
  case accountChanged(email: String?, previousEmail: String?)
  /// The event wasn't legal here: answer the caller with this; nothing has changed.
  case refuse(AuthError)

  /// Whether it's kept on disk, before any other is performed.
  public var isDurable: Bool {
    switch self {
    case .save, .adopt, .endSession: true
    default: false
    }
  }
}
