/// What a provider gave somebody, as `accounts:signInWithIdp` takes it (identity-toolkit 2.11).
public struct OAuthCredential: Sendable, Hashable {
  /// `google.com`, `oidc.line`, ….
  public var providerID: String
  /// OpenID Connect ID token.
  public var idToken: Secret<String>?
  /// Access token.
  public var accessToken: Secret<String>?
  /// OAuth 1.0a token secret (twitter.com).
  public var accessTokenSecret: Secret<String>?
  /// The value whose SHA-256 is the ID token's `nonce`.
  public var rawNonce: Secret<String>?
  /// The server's own handle on a credential that it has seen.
  public var pendingToken: Secret<String>?
  /// Seconds that the access token lives, where the answer that brought it says so.
  public var expiresIn: Int64?
  /// Where the provider's answer went, with all of it: Firebase's page alone.
  public var requestURI: Secret<String>?
  /// The value whose SHA-256 Firebase's page was given.
  public var sessionID: Secret<String>?
  /// The person's name, which Apple tells once: given name and family name.
  public var fullName: FullName?

  /// Apple's two parts of a name.
  public struct FullName: Sendable, Hashable {
    /// Given name.
    public var given: String?
    /// Family name.
    public var family: String?

    /// Both parts.
    public init(given: String?, family: String?) {
      self.given = given
      self.family = family
    }
  }

  /// A credential without content.
  public init(providerID: String) { self.providerID = providerID }

  /// Whether there's anything that a server could check.
  public var isEmpty: Bool { idToken == nil && accessToken == nil && pendingToken == nil && requestURI == nil }
}

/// Why accounts collide. The raw value is the D-Bus word (D-Bus contract: Flow, `conflict`).
public enum ConflictKind: String, Sendable, Hashable, CaseIterable {
  /// The address has an account that is signed in to in another way, and the provider doesn't vouch for it.
  case accountExistsWithDifferentCredential = "account-exists-with-different-credential"
  /// The credential is another account's.
  case credentialAlreadyInUse = "credential-already-in-use"
  /// The address is another account's.
  case emailAlreadyInUse = "email-already-in-use"
  /// A guest signs in to an account that exists.
  case anonymousUpgrade = "anonymous-upgrade"

  /// The error of the same meaning, for callers that can't be asked.
  public var error: AuthError {
    switch self {
    case .accountExistsWithDifferentCredential: .accountExistsWithDifferentCredential
    case .credentialAlreadyInUse, .anonymousUpgrade: .credentialAlreadyInUse
    case .emailAlreadyInUse: .emailAlreadyInUse
    }
  }
}

/// What can be done about a conflict. The raw value is the D-Bus word (`ResolveConflict`).
public enum ConflictChoice: String, Sendable, Hashable, CaseIterable {
  /// Sign in to the account that exists.
  case `switch`
  /// Sign in to it in another way, and link the credential then.
  case signInAndLink = "sign-in-and-link"
  /// Mail a new link, which signs in to it.
  case newLink = "new-link"
  /// Stay as it is.
  case keep
  case cancel
}

/// Accounts that collide, as the server says it.
public struct AccountConflict: Sendable, Hashable {
  /// Never `anonymousUpgrade`: the server doesn't know of it.
  public var kind: ConflictKind
  /// The address, where the answer has it.
  public var email: String?
  /// The credential to use instead of the spent one, where the answer has it.
  public var credential: OAuthCredential?

  /// Every field by name.
  public init(kind: ConflictKind, email: String? = nil, credential: OAuthCredential? = nil) {
    self.kind = kind
    self.email = email
    self.credential = credential
  }
}
