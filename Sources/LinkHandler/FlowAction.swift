public import AuthCore

/// What a flow machine wants done, in the order given. The coordinator performs it.
public enum FlowAction: Sendable, Hashable {
  /// Commit the row durably before anything that follows.
  case save
  case sendMail(to: String)
  /// `accounts:signInWithEmailLink` with the flow's code.
  case exchange(email: String, code: Secret<String>)
  /// `accounts:signUp` without an address.
  case signUpAnonymously
  /// `accounts:lookup` with the answer's token, after so many seconds.
  case lookUp(TokenGrant, delay: Int64)
  /// Commit session, row and used code as one.
  case adopt(User, TokenGrant)
  /// The event wasn't legal here: answer the caller with this; nothing has changed.
  case refuse(AuthError)
}
