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
  /// The account was looked up with the new token.
  case lookedUp(User)
  case lookUpFailed(AuthFailure)

  // From the daemon
  /// The session's user has signed in again: what was parked may go on.
  case reauthenticated
  /// The lifetime is over.
  case overdue
  /// The daemon started and found the row.
  case restored
}
