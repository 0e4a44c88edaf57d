import AuthCore

/// `accounts:update`: changes to an account, and codes that make some (identity-toolkit 2.7).
enum UpdateAccount {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:update", legacy: "setAccountInfo",
      fields: Shape.fields(
        texts: [
          "idToken", "localId", "oobCode", "email", "password", "displayName", "photoUrl", "phoneNumber",
          "customAttributes", "validSince", "createdAt", "lastLoginAt",
        ], truths: ["emailVerified", "disableUser", "upgradeToFederatedLogin"],
        others: [
          "deleteAttribute": .list(.word(attributes)), "deleteProvider": .list(.text), "provider": .list(.text),
          "deletePasskey": .list(.text), "mfa": .record(["enrollments": .list(.record(SecondFactor.fields))]),
          "linkProviderUserInfo": .record(
            Shape.fields(
              texts: [
                "providerId", "rawId", "email", "displayName", "photoUrl", "federatedId", "phoneNumber", "screenName",
              ]
            )),
        ]),
      firstField: "oobCode", handler: handle)
  ]

  /// By their index in the API.
  private static let attributes = [
    "USER_ATTRIBUTE_NAME_UNSPECIFIED", "EMAIL", "DISPLAY_NAME", "PROVIDER", "PHOTO_URL", "PASSWORD", "RAW_USER_INFO",
  ]

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    if let code = call.filled("oobCode") { return try ActionCode.apply(code, call, &world) }
    if call.body["provider"]?.array?.isEmpty == false { throw .notImplemented("provider is not implemented yet.") }
    if call.body["upgradeToFederatedLogin"]?.bool == true {
      throw .notImplemented("upgradeToFederatedLogin is not implemented yet.")
    }
    let before = try subject(call, world[call.scope])
    var change = Change(account: before.account, provider: before.provider)
    if call.isPrivileged {
      try change.administrate(call, world[call.scope])
    } else {
      if call["customAttributes"] != nil { throw APIError("INSUFFICIENT_PERMISSION") }
      if call.body["disableUser"] != nil { throw APIError("OPERATION_NOT_ALLOWED") }
      if call.filled("password") != nil || call.filled("email") != nil {
        try world[call.scope].checkRecentLogin(call, now: world.now)
      }
      if world.hasProductionRules, let email = call.filled("email")?.lowercased(), email != before.account.email,
        before.account.factors?.isEmpty == false
      {
        throw APIError("EMAIL_CHANGE_NEEDS_VERIFICATION : Multi-factor users must always have a verified email.")
      }
    }
    try change.email(call, world[call.scope])
    try change.password(call, now: world.now)
    change.profile(call)
    try change.removals(call)
    try change.link(call)
    if change.endsTokens { change.account.validSince = world.nowSeconds }
    world[call.scope].store(change.account)
    if let address = change.recovery {
      _ = world[call.scope].issueCode(
        "RECOVER_EMAIL", mode: "recoverEmail", email: address, continueURL: nil, origin: world.origin)
    }
    guard let stored = world[call.scope].account(change.account.localID) else { throw APIError("USER_NOT_FOUND") }
    var answer = answer(stored, newEmail: change.newEmail)
    if change.endsTokens, let provider = change.provider {
      answer = answer.adding(
        try world[call.scope].issueTokens(for: stored.localID, Session(provider: provider), now: world.now))
    }
    return .json(answer)
  }

  /// The account to change; its session's provider unless an administrator names it.
  private static func subject(
    _ call: Call, _ project: Project
  ) throws(APIError) -> (account: Account, provider: String?) {
    if let token = call.filled("idToken") {
      let (account, session) = try project.redeem(idToken: token)
      return (account, session.provider)
    }
    guard call.isPrivileged else { throw APIError("INVALID_REQ_TYPE : Unsupported request parameters.") }
    guard let id = call.filled("localId") else { throw APIError("MISSING_LOCAL_ID") }
    guard let account = project.account(id) else { throw APIError("USER_NOT_FOUND") }
    return (account, nil)
  }

  static func answer(_ account: Account, newEmail: String?) -> JSONValue {
    .record([
      "kind": "identitytoolkit#SetAccountInfoResponse", "localId": .string(account.localID),
      "emailVerified": account.emailVerified.json, "providerUserInfo": account.providersJSON,
      "email": account.email.json,
      "displayName": account.displayName.json, "photoUrl": account.photoURL.json, "newEmail": newEmail.json,
      "passwordHash": account.passwordHash.json,
    ])
  }
}

/// An account while it is changed.
private struct Change {
  var account: Account
  /// The provider of the session that new tokens continue; nil: none are issued.
  var provider: String?
  /// Whether the tokens issued so far die.
  var endsTokens = false
  var newEmail: String?
  /// The address that gets a code to take the change back.
  var recovery: String?

  init(account: Account, provider: String?) { (self.account, self.provider) = (account, provider) }

  mutating func email(_ call: Call, _ project: Project) throws(APIError) {
    guard let email = call.filled("email")?.lowercased() else { return }
    try Check.email(email)
    guard email != account.email else { return }
    if project.account(email: email) != nil { throw APIError("EMAIL_EXISTS") }
    if let old = account.email, provider != "anonymous" {
      account.initialEmail = account.initialEmail ?? old
      recovery = account.initialEmail
    }
    (account.email, account.emailVerified, newEmail) = (email, false, email)
    endsTokens = true
  }

  mutating func password(_ call: Call, now: Int64) throws(APIError) {
    guard let password = call.filled("password") else { return }
    try Check.password(password)
    account.setPassword(password, now: now)
    (provider, endsTokens) = ("password", true)
  }

  mutating func profile(_ call: Call) {
    if let name = call["displayName"] { account.displayName = name }
    if let photo = call["photoUrl"] { account.photoURL = photo }
  }

  mutating func removals(_ call: Call) throws(APIError) {
    for attribute in (call.body["deleteAttribute"]?.array ?? []).compactMap(\.string) {
      switch attribute {
      case "EMAIL": (account.email, account.emailVerified, account.emailLinkSignin) = (nil, nil, nil)
      case "DISPLAY_NAME": account.displayName = nil
      case "PHOTO_URL": account.photoURL = nil
      case "PASSWORD": account.removePassword()
      default: throw .notImplemented("deleteAttribute: \(attribute)")
      }
    }
    for provider in (call.body["deleteProvider"]?.array ?? []).compactMap(\.string) {
      switch provider {
      case "password":
        // The recorded service takes the address away with the password.
        account.removePassword()
        (account.email, account.emailVerified, account.emailLinkSignin) = (nil, nil, nil)
      case "phone": account.phoneNumber = nil
      default: account.unlink(provider)
      }
    }
    for passkey in (call.body["deletePasskey"]?.array ?? []).compactMap(\.string) {
      account.passkeys?.removeAll { $0.credentialID == passkey }
    }
  }

  mutating func link(_ call: Call) throws(APIError) {
    guard let info = call.body["linkProviderUserInfo"] else { return }
    guard let id = info["providerId"]?.string else { throw APIError("MISSING_PROVIDER_ID") }
    guard let rawID = info["rawId"]?.string else { throw APIError("MISSING_RAW_ID") }
    account.link(
      ProviderInfo(
        providerID: id, rawID: rawID, federatedID: info["federatedId"]?.string, email: info["email"]?.string,
        phoneNumber: info["phoneNumber"]?.string, displayName: info["displayName"]?.string,
        photoURL: info["photoUrl"]?.string, screenName: info["screenName"]?.string))
  }

  /// What an administrator alone may change.
  mutating func administrate(_ call: Call, _ project: Project) throws(APIError) {
    if let isDisabled = call.body["disableUser"]?.bool { account.disabled = isDisabled }
    if let phone = call["phoneNumber"], phone != account.phoneNumber {
      try Check.phoneNumber(phone)
      if project.account(phoneNumber: phone) != nil { throw APIError("PHONE_NUMBER_EXISTS") }
      account.phoneNumber = phone
    }
    if let isVerified = call.body["emailVerified"]?.bool { account.emailVerified = isVerified }
    if let attributes = call["customAttributes"] {
      try CustomClaims.check(attributes)
      account.customAttributes = attributes
    }
    if let mfa = call.body["mfa"] { account.factors = try mfa["enrollments"]?.array.map(SecondFactor.replaced) }
    if let time = call["validSince"] { account.validSince = time }
    if let time = call["createdAt"] { account.createdAt = time }
    if let time = call["lastLoginAt"] { account.lastLoginAt = time }
  }
}
