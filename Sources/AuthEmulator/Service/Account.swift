import AuthCore

/// A way to sign in that an account has, as `providerUserInfo` lists it.
struct ProviderInfo: Sendable, Equatable {
  var providerID: String
  var rawID: String?
  var federatedID: String?
  var email: String?
  var phoneNumber: String?
  var displayName: String?
  var photoURL: String?
  var screenName: String?

  var json: JSONValue {
    .record([
      "providerId": .string(providerID), "rawId": rawID.json, "federatedId": federatedID.json, "email": email.json,
      "phoneNumber": phoneNumber.json, "displayName": displayName.json, "photoUrl": photoURL.json,
      "screenName": screenName.json,
    ])
  }
}

/// A passkey, as far as the emulator keeps it.
struct Passkey: Sendable, Equatable {
  let credentialID: String
  let name: String?

  var json: JSONValue { .record(["credentialId": .string(credentialID), "name": name.json]) }
}

/// A user of a project. What an account never had is nil and left out of answers.
struct Account: Sendable {
  let localID: String
  var email: String?
  var emailVerified: Bool?
  var emailLinkSignin: Bool?
  var initialEmail: String?
  var displayName: String?
  var photoURL: String?
  var phoneNumber: String?
  /// Nil until the account has had one.
  private(set) var providers: [ProviderInfo]?
  var passwordHash: String?
  var salt: String?
  var passwordUpdatedAt: Int64?
  /// Unix seconds; ID tokens issued before are dead.
  var validSince: String?
  var createdAt: String
  /// Unix milliseconds, unless an administrator wrote something else.
  var lastLoginAt: String?
  var lastRefreshAt: String?
  var disabled: Bool?
  var customAuth: Bool?
  /// JSON text of an object.
  var customAttributes: String?
  var tenantID: String?
  /// Nil until the account has had one; likewise passkeys.
  var factors: [SecondFactor]?
  var passkeys: [Passkey]?

  init(localID: String, now: Int64) {
    self.localID = localID
    createdAt = String(now)
    lastLoginAt = String(now)
  }

  /// The account as `accounts:lookup` shows it.
  var json: JSONValue {
    .record([
      "localId": .string(localID), "email": email.json, "emailVerified": emailVerified.json,
      "emailLinkSignin": emailLinkSignin.json, "initialEmail": initialEmail.json, "displayName": displayName.json,
      "photoUrl": photoURL.json, "phoneNumber": phoneNumber.json, "providerUserInfo": providersJSON,
      "passwordHash": passwordHash.json, "salt": salt.json,
      "passwordUpdatedAt": passwordUpdatedAt.map(JSONValue.integer), "validSince": validSince.json,
      "createdAt": .string(createdAt), "lastLoginAt": lastLoginAt.json, "lastRefreshAt": lastRefreshAt.json,
      "disabled": disabled.json, "customAuth": customAuth.json, "customAttributes": customAttributes.json,
      "tenantId": tenantID.json, "mfaInfo": factors.map { .array($0.map(\.json)) },
      "passkeyInfo": passkeys.map { .array($0.map(\.json)) },
    ])
  }

  var providersJSON: JSONValue? { providers.map { .array($0.map(\.json)) } }

  /// Stores a password, in clear as the recorded service does, and ends the tokens issued before.
  mutating func setPassword(_ password: String, now: Int64) {
    let salt = "fakeSalt" + RandomText.letters(20)
    self.salt = salt
    passwordHash = Self.hash(password, salt: salt)
    passwordUpdatedAt = now
    validSince = String(now / 1000)
  }

  mutating func removePassword() { (passwordHash, salt) = (nil, nil) }

  func hasPassword(_ password: String) -> Bool {
    guard let passwordHash, let salt else { return false }
    return passwordHash == Self.hash(password, salt: salt)
  }

  private static func hash(_ password: String, salt: String) -> String { "fakeHash:salt=\(salt):password=\(password)" }

  /// Adds a provider, or replaces the one of the same id in its place.
  mutating func link(_ provider: ProviderInfo) {
    if let index = providers?.firstIndex(where: { $0.providerID == provider.providerID }) {
      providers?[index] = provider
    } else {
      providers = (providers ?? []) + [provider]
    }
  }

  mutating func unlink(_ providerID: String) { providers?.removeAll { $0.providerID == providerID } }

  /// Unlinks every provider but password and phone.
  mutating func unlinkFederated() { providers?.removeAll { !["password", "phone"].contains($0.providerID) } }

  /// Brings the entries of password and phone in line with the account's own fields.
  mutating func refreshOwnProviders() {
    if let email, passwordHash != nil || emailLinkSignin == true {
      link(
        ProviderInfo(
          providerID: "password", rawID: email, federatedID: email, email: email, displayName: displayName,
          photoURL: photoURL))
    } else {
      unlink("password")
    }
    if let phoneNumber {
      link(ProviderInfo(providerID: "phone", rawID: phoneNumber, phoneNumber: phoneNumber))
    } else {
      unlink("phone")
    }
  }
}
