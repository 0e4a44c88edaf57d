import AuthCore

/// Somebody who has an account at a provider: what the pages of the handler and of the OpenID providers offer for choice.
public struct ProviderAccount: Sendable, Equatable {
  /// The provider's own id of the account, the `sub` of its tokens.
  public var subject: String
  /// Its e-mail address; some providers tell none.
  public var email: String?
  /// Whether the provider vouches for the address.
  public var isEmailVerified: Bool
  /// The person's name.
  public var displayName: String?
  /// The only provider that knows it: a provider id of the handler (`google.com`), or the name of an OpenID provider; nil:
  /// every one does.
  public var provider: String?

  /// - Parameters:
  ///   - subject: the provider's own id of the account; not empty.
  ///   - provider: the only provider that knows it; nil: every one does.
  public init(
    subject: String, email: String? = nil, isEmailVerified: Bool = true, displayName: String? = nil,
    provider: String? = nil
  ) {
    (self.subject, self.email, self.isEmailVerified) = (subject, email, isEmailVerified)
    (self.displayName, self.provider) = (displayName, provider)
  }

  /// The account that a text describes: `sub=ID`, and besides `email=ADDRESS`, `name=NAME`, `provider=ID` and the word
  /// `unverified`, separated by commas.
  public init(spec: String) throws(EmulatorError) {
    self.init(subject: "")
    for part in spec.split(separator: ",") {
      let halves = part.split(separator: "=", maxSplits: 1).map(String.init)
      switch (halves.first, halves.count > 1 ? halves[1] : nil) {
      case ("sub", let value?): subject = value
      case ("email", let value?): email = value
      case ("name", let value?): displayName = value
      case ("provider", let value?): provider = value
      case ("unverified", nil): isEmailVerified = false
      default: throw .invalidAccount(String(part))
      }
    }
    if subject.isEmpty { throw .invalidAccount("\(spec), which has no sub") }
  }

  /// An account as the control endpoint and the pages' forms write it; nil without a subject.
  init?(json: JSONValue) {
    func filled(_ name: String) -> String? { json[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    guard let subject = filled("sub") else { return nil }
    let verified = json["emailVerified"]
    self.init(
      subject: subject, email: filled("email"),
      isEmailVerified: verified == true || ["true", "on"].contains(verified?.string), displayName: filled("name"),
      provider: filled("provider"))
  }

  var json: JSONValue {
    .record([
      "sub": .string(subject), "email": email.json, "emailVerified": email.map { _ in .bool(isEmailVerified) },
      "name": displayName.json, "provider": provider.json,
    ])
  }

  /// What a token says about the account.
  var claims: JSONValue {
    .record([
      "sub": .string(subject), "email": email.json, "email_verified": email.map { _ in .bool(isEmailVerified) },
      "name": displayName.json,
    ])
  }
}

/// Who answers a provider's page.
public enum Consent: Sendable, Equatable {
  /// A person does.
  case ask
  /// The page redirects at once, with the account of this subject; where a provider doesn't know it, a person is asked.
  case account(subject: String)
  /// The page redirects at once, and refuses.
  case refuse
}

/// What the handler's page and the OpenID providers keep.
struct Providers: Sendable {
  /// A return of the handler's page that nobody has redeemed yet.
  struct PendingReturn: Sendable {
    let providerID: String
    /// SHA-256 of the session id, in hexadecimal; nil where the page was given none.
    let sessionHash: String?
  }

  private(set) var accounts: [ProviderAccount] = []
  var consent = Consent.ask
  /// By the `state` of the returned address.
  var returns: [String: PendingReturn] = [:]
  /// By name; the one without a name has an empty one.
  var openID: [String: OpenIDProvider] = [:]
  /// What an access token of an OpenID provider stands for.
  var accessTokens: [String: JSONValue] = [:]

  /// Whether `accounts:signInWithIdp` does what production does and the recorded service doesn't.
  var hasProductionRules = false
  /// What was in conflict, by the token that stands for it.
  private(set) var pendingCredentials: [String: ProviderCredential] = [:]

  /// The token that stands for a credential in conflict, as a member of the answer, where there are such.
  mutating func pending(_ credential: ProviderCredential) -> JSONValue {
    guard hasProductionRules else { return [:] }
    let token = RandomText.urlLetters(86)
    pendingCredentials[token] = credential
    return ["pendingToken": .string(token)]
  }

  /// Adds an account, or replaces the one with its subject and provider.
  mutating func add(_ account: ProviderAccount) {
    accounts.removeAll { $0.subject == account.subject && $0.provider == account.provider }
    accounts.append(account)
  }

  mutating func removeAccounts() { accounts = [] }

  /// The accounts that a provider knows.
  func accounts(of provider: String) -> [ProviderAccount] {
    accounts.filter { $0.provider == nil || $0.provider == provider }
  }
}
