public import AuthCore

/// What happened to a flow. Times are Unix seconds.
public enum FlowEvent: Sendable, Hashable {
  /// A caller asked for it; the row doesn't exist yet.
  case started
  /// A guest is there already: the same one is the answer (identity-toolkit 8.1).
  case alreadySignedIn(uid: String)

  // From people and links
  /// A link for this flow was delivered; its code hasn't been refused before.
  case linkOpened(code: Secret<String>)
  /// The person typed an address. It's well-formed.
  case emailProvided(String)
  /// The person typed a password. It isn't empty.
  case passwordProvided(Secret<String>)
  /// The person agreed.
  case confirmed
  case resendRequested
  case cancelRequested

  // Answers of the server
  case mailSent
  case mailFailed(AuthFailure)
  /// The server accepted code, password or guest. `uid` where the answer names it.
  case exchanged(TokenGrant, uid: String?)
  /// A request that isn't named by an event of its own failed.
  case exchangeFailed(AuthFailure)
  /// What an action code does, or that it does nothing.
  case codeChecked(ActionCodeInfo)
  case codeCheckFailed(AuthFailure)
  /// The server did what was asked and gave no tokens for it.
  case performed
  /// The account was looked up with the new token; `guest` is who is signed in as one until then.
  case lookedUp(User, guest: String? = nil)
  case lookUpFailed(AuthFailure)

  // Providers, and accounts that collide
  case authorization(AuthorizationEvent)
  case conflict(ConflictEvent)

  // Codes that people type, and second factors
  case verification(VerificationEvent)

  // From the daemon
  /// The session's user has signed in again: what was parked may go on.
  case reauthenticated
  /// The lifetime is over.
  case overdue
  /// The daemon started and found the row.
  case restored
}

/// What happened to an authorization request (RFC 6749 4.1).
public enum AuthorizationEvent: Sendable, Hashable {
  /// It can go to the browser.
  case ready(PendingAuthorization)
  /// It can't be made.
  case failed(AuthFailure)
  /// Nothing here can open a browser: whoever asked has to.
  case browserMissing
  /// The person didn't want the browser to be opened.
  case browserRefused
  /// The port that the browser comes back to is held by somebody else.
  case listenerMissing
  /// The browser has come back, by the flow's own state and return URI.
  case redirected(OAuthRedirect)
  /// Something came to the flow's return URI that isn't its answer.
  case redirectRefused(AuthError)
  /// The provider's tokens, checked.
  case credentialReceived(OAuthCredential)
}

/// What happened to accounts that collide.
public enum ConflictEvent: Sendable, Hashable {
  /// The server says so.
  case found(AccountConflict)
  /// The person chose; `current` is who is signed in.
  case resolved(ConflictChoice, current: User?)
  /// How the address signs in.
  case methodsFound([String])
  /// Somebody has signed in by another flow.
  case signedIn(User)
  /// The app has had its time to look at the guest's data.
  case timeOver
}

/// What happened to a code that a person is to type.
public enum VerificationEvent: Sendable, Hashable {
  /// The first factor was accepted; a second one is wanted.
  case secondFactorRequired(PendingSecondFactor)
  /// The person chose a second factor by its uid.
  case factorChosen(String)
  /// The server has sent a message.
  case codeSent(sessionInfo: Secret<String>)
  /// It wants to be shown first that a person asks.
  case captchaRequired
  /// The page for that is ready.
  case pageReady(PendingAuthorization)
  /// The page has come back.
  case pageReturned(AppVerificationReturn)
  /// There is no message, or no page for it.
  case sendFailed(AuthFailure)
  /// The server has made the secret of an authenticator app.
  case enrollmentStarted(TOTPEnrollment)
  /// The person typed a code: ASCII digits, as many as are expected.
  case codeProvided(Secret<String>)
  /// The number is another account's, and this signs in to that one.
  case numberTaken(PhoneCredential)
}
