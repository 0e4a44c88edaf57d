/// What a token endpoint gave: one ID token with its lifetime, and the refresh token behind it.
public struct TokenGrant: Sendable, Hashable {
  /// The ID token.
  public var idToken: Secret<String>
  /// The refresh token.
  public var refreshToken: Secret<String>
  /// Seconds; nil where the answer named none (identity-toolkit 2.18): refresh before use.
  public var expiresIn: Int64?
  /// Whether the account was made by it.
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
  /// `password`, `google.com`, ….
  public var providerID: String
  /// The uid.
  public var uid: String?
  /// The address.
  public var email: String?
  /// Name for people: untrusted text.
  public var displayName: String?
  /// Picture.
  public var photoURL: String?
  /// E.164.
  public var phoneNumber: String?

  /// A provider with nothing known about it.
  public init(providerID: String) { self.providerID = providerID }
}

/// An enrolled second factor.
public struct SecondFactor: Sendable, Hashable, Codable {
  /// How the code reaches the person.
  public enum Kind: String, Sendable, Hashable, Codable { case phone, totp }
  /// The uid.
  public var uid: String
  /// How the code reaches the person.
  public var kind: Kind
  /// Name for people: untrusted text.
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
  /// The uid.
  public var uid: String
  /// The address.
  public var email: String?
  /// Whether the address was proved.
  public var emailVerified: Bool
  /// Name for people: untrusted text.
  public var displayName: String?
  /// Picture.
  public var photoURL: String?
  /// E.164.
  public var phoneNumber: String?
  /// Whether it is a guest.
  public var isAnonymous: Bool
  /// Identity Platform tenant.
  public var tenantID: String?
  /// When the account was made.
  public var createdAt: Int64?
  /// When it last signed in.
  public var lastSignInAt: Int64?
  /// What is linked to it.
  public var providers: [LinkedProvider]
  /// What is enrolled.
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
  /// Whose session it is.
  public var key: SessionKey
  /// Who is signed in.
  public var user: User
  /// How they signed in.
  public var method: SignInMethod
  /// The refresh token.
  public var refreshToken: Secret<String>
  /// The last ID token, with the moment it was received on the wall clock and how long it was said to live (seconds).
  public var idToken: Secret<String>?
  /// Unix seconds, by the server's clock as far as it is known.
  public var idTokenReceivedAt: Int64
  /// Seconds.
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
  /// The uid.
  public var uid: String
  /// The address.
  public var email: String?
  /// The number that it signs in with, E.164.
  public var phoneNumber: String?
  /// Identity Platform tenant.
  public var tenantID: String?
  /// How it had been signed in.
  public var signInMethod: String
  /// Why it ended: an `AuthError`'s name.
  public var reason: String

  /// Every field by name.
  public init(
    uid: String, email: String?, phoneNumber: String? = nil, tenantID: String? = nil, signInMethod: String,
    reason: String
  ) {
    self.uid = uid
    self.email = email
    self.phoneNumber = phoneNumber
    self.tenantID = tenantID
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
