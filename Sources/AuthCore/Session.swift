/// What a token endpoint gave: one ID token with its lifetime, and the refresh token behind it.
public struct TokenGrant: Sendable, Hashable {
  public var idToken: Secret<String>
  public var refreshToken: Secret<String>
  /// Seconds; nil where the answer named none (identity-toolkit 2.18): refresh before use.
  public var expiresIn: Int64?
  public var isNewUser: Bool

  /// Every field by name.
  public init(idToken: Secret<String>, refreshToken: Secret<String>, expiresIn: Int64?, isNewUser: Bool = false) {
    self.idToken = idToken
    self.refreshToken = refreshToken
    self.expiresIn = expiresIn
    self.isNewUser = isNewUser
  }
}

/// An account linked to the user at one provider.
public struct LinkedProvider: Sendable, Hashable, Codable {
  public var providerID: String
  public var uid: String?
  public var email: String?
  public var displayName: String?
  public var photoURL: String?
  public var phoneNumber: String?

  /// A provider with nothing known about it.
  public init(providerID: String) { self.providerID = providerID }
}

/// An enrolled second factor.
public struct SecondFactor: Sendable, Hashable, Codable {
  /// How the code reaches the person.
  public enum Kind: String, Sendable, Hashable, Codable { case phone, totp }
  public var uid: String
  public var kind: Kind
  public var displayName: String?
  /// Masked, as the server gives it.
  public var phoneNumber: String?
  /// Unix seconds.
  public var enrolledAt: Int64?

  /// A factor with nothing known about it.
  public init(uid: String, kind: Kind) {
    self.uid = uid
    self.kind = kind
  }
}

/// The signed-in account as `accounts:lookup` describes it (identity-toolkit 2.9). Times are Unix seconds.
public struct User: Sendable, Hashable, Codable {
  public var uid: String
  public var email: String?
  public var emailVerified: Bool
  public var displayName: String?
  public var photoURL: String?
  public var phoneNumber: String?
  public var isAnonymous: Bool
  public var tenantID: String?
  public var createdAt: Int64?
  public var lastSignInAt: Int64?
  public var providers: [LinkedProvider]
  public var secondFactors: [SecondFactor]

  /// A user of whom only the uid is known.
  public init(uid: String) {
    self.uid = uid
    emailVerified = false
    isAnonymous = false
    providers = []
    secondFactors = []
  }
}

/// A lasting session: who is signed in to an app, and by what.
public struct Session: Sendable, Hashable {
  public var key: SessionKey
  public var user: User
  public var method: SignInMethod
  public var refreshToken: Secret<String>
  /// The last ID token, with the moment it was received on the wall clock and how long it was said to live (seconds).
  public var idToken: Secret<String>?
  public var idTokenReceivedAt: Int64
  public var idTokenLifetime: Int64

  /// Every field by name.
  public init(
    key: SessionKey, user: User, method: SignInMethod, refreshToken: Secret<String>, idToken: Secret<String>?,
    idTokenReceivedAt: Int64, idTokenLifetime: Int64
  ) {
    self.key = key
    self.user = user
    self.method = method
    self.refreshToken = refreshToken
    self.idToken = idToken
    self.idTokenReceivedAt = idTokenReceivedAt
    self.idTokenLifetime = idTokenLifetime
  }
}

/// Who was signed in before a forced sign-out (`LastUser` on D-Bus).
public struct LastUser: Sendable, Hashable, Codable {
  public var uid: String
  public var email: String?
  public var signInMethod: String
  /// Why it ended: an `AuthError`'s name.
  public var reason: String

  /// Every field by name.
  public init(uid: String, email: String?, signInMethod: String, reason: String) {
    self.uid = uid
    self.email = email
    self.signInMethod = signInMethod
    self.reason = reason
  }
}

/// `State` on D-Bus.
public enum SessionState: String, Sendable, Hashable { case unauthenticated, authenticating, authenticated }

/// `Health` on D-Bus.
public enum SessionHealth: String, Sendable, Hashable {
  case ok, degraded, locked, unreadable
  case attentionNeeded = "attention-needed"
}
