import AuthCore

/// `accounts:batchCreate`: an administrator brings accounts from elsewhere. What's wrong with one of them is said in a
/// list, and the others are taken.
enum BatchCreate {
  static let operations: [Operation] = [
    Operation(
      name: "accounts:batchCreate", paths: AccountLists.paths("accounts:batchCreate"),
      body: .json([
        "tenantId": .text, "sanityCheck": .truth, "allowOverwrite": .truth, "users": .list(.record(userFields)),
      ]), handler: handle)
  ]

  private static let userFields = Shape.fields(
    texts: [
      "localId", "email", "displayName", "photoUrl", "phoneNumber", "rawPassword", "passwordHash", "salt",
      "customAttributes", "createdAt", "lastLoginAt", "validSince", "tenantId",
    ], truths: ["emailVerified", "disabled"],
    others: [
      "mfaInfo": .list(.record(SecondFactor.fields)),
      "providerUserInfo": .list(
        .record(
          Shape.fields(texts: ["providerId", "rawId", "federatedId", "email", "displayName", "photoUrl", "phoneNumber"])
        )),
    ])

  /// Why a user isn't taken.
  private struct Refusal: Error { let message: String }

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let users = call.body["users"]?.array ?? []
    if users.isEmpty { throw APIError("MISSING_USER_ACCOUNT") }
    let isStrict = call.body["sanityCheck"]?.bool == true
    try checkRepeats(users, isStrict: isStrict)
    var errors: [JSONValue] = []
    for (index, user) in users.enumerated() {
      do throws(Refusal) {
        try upload(user, call, &world, isStrict: isStrict)
      } catch {
        errors.append(["index": .integer(Int64(index)), "message": .string(error.message)])
      }
    }
    return .json(["kind": "identitytoolkit#UploadAccountResponse", "error": .array(errors)])
  }

  private static func checkRepeats(_ users: [JSONValue], isStrict: Bool) throws(APIError) {
    if let id = firstRepeated(users.compactMap { $0["localId"]?.string }) {
      throw APIError("DUPLICATE_LOCAL_ID : \(id)")
    }
    guard isStrict else { return }
    if let email = firstRepeated(users.compactMap { $0["email"]?.string?.lowercased() }) {
      throw APIError("DUPLICATE_EMAIL : \(email)")
    }
    let ids = users.flatMap { $0["providerUserInfo"]?.array ?? [] }.map {
      "Provider id(\($0["providerId"]?.string ?? "")), Raw id(\($0["rawId"]?.string ?? ""))"
    }
    if let id = firstRepeated(ids) { throw APIError("DUPLICATE_RAW_ID : \(id)") }
  }

  private static func firstRepeated(_ texts: [String]) -> String? {
    var seen: Set<String> = []
    return texts.first { !seen.insert($0).inserted }
  }

  private static func upload(
    _ user: JSONValue, _ call: Call, _ world: inout World, isStrict: Bool
  ) throws(Refusal) {
    guard let id = user["localId"]?.string, !id.isEmpty else { throw Refusal(message: "localId is missing") }
    let project = world[call.scope]
    if let tenant = user["tenantId"]?.string, tenant != call.scope.tenant {
      throw Refusal(message: "Tenant id in userInfo does not match the tenant id in request.")
    }
    if project.account(id) != nil, call.body["allowOverwrite"]?.bool != true {
      throw Refusal(message: "localId belongs to an existing account - can not overwrite.")
    }
    var account = Self.account(id, user, now: world.now)
    account.customAttributes = try claims(user)
    try link(&account, user, project)
    try setAddresses(&account, user, project, isStrict: isStrict)
    account.factors = try factors(user, account, now: world.now)
    if project.account(id) != nil { world[call.scope].delete(id) }
    world[call.scope].store(account)
    // The recorded service has stored the account before it notices.
    if firstRepeated((account.factors ?? []).compactMap(\.phoneNumber)) != nil {
      throw Refusal(message: "INTERNAL_ERROR : MFA Enrollment Phone Numbers must be unique.")
    }
  }

  /// The account as far as nothing about it can be wrong.
  private static func account(_ id: String, _ user: JSONValue, now: Int64) -> Account {
    var account = Account(localID: id, now: now)
    account.createdAt = user["createdAt"]?.string ?? account.createdAt
    account.lastLoginAt = user["lastLoginAt"]?.string
    account.validSince = user["validSince"]?.string ?? String(now / 1000)
    (account.displayName, account.photoURL) = (user["displayName"]?.string, user["photoUrl"]?.string)
    account.emailVerified = user["emailVerified"]?.bool ?? false
    account.disabled = user["disabled"]?.bool ?? false
    setPassword(&account, user, now: now)
    return account
  }

  private static func setPassword(_ account: inout Account, _ user: JSONValue, now: Int64) {
    if let password = user["rawPassword"]?.string {
      let validSince = account.validSince
      account.setPassword(password, now: now)
      account.validSince = validSince
    } else if let hash = user["passwordHash"]?.string {
      (account.passwordHash, account.salt, account.passwordUpdatedAt) = (hash, user["salt"]?.string, now)
    }
  }

  private static func claims(_ user: JSONValue) throws(Refusal) -> String? {
    guard let text = user["customAttributes"]?.string else { return nil }
    do throws(APIError) {
      try CustomClaims.check(text)
    } catch {
      switch error.message {
      case "INVALID_CLAIMS": throw Refusal(message: "Invalid custom claims provided.")
      case "CLAIMS_TOO_LARGE": throw Refusal(message: "Custom claims provided are too large.")
      default: throw Refusal(message: "Custom claims provided include a reserved claim.")
      }
    }
    return text
  }

  private static func setAddresses(
    _ account: inout Account, _ user: JSONValue, _ project: Project, isStrict: Bool
  ) throws(Refusal) {
    if let email = user["email"]?.string?.lowercased() {
      do throws(APIError) { try Check.email(email) } catch { throw Refusal(message: "email is invalid") }
      if let other = project.account(email: email), other.localID != account.localID {
        throw Refusal(
          message: isStrict
            ? "email exists in other account in database"
            : "((Auth Emulator does not support importing duplicate email: \(email)))")
      }
      account.email = email
    }
    if let number = user["phoneNumber"]?.string {
      guard number.hasPrefix("+") else { throw Refusal(message: "phone number format is invalid") }
      account.phoneNumber = number
    }
  }

  private static func link(_ account: inout Account, _ user: JSONValue, _ project: Project) throws(Refusal) {
    for info in user["providerUserInfo"]?.array ?? [] {
      let provider = info["providerId"]?.string
      guard provider != "password", provider != "phone" else { continue }
      guard let provider, let rawID = info["rawId"]?.string else {
        if info["federatedId"] == nil { throw Refusal(message: "federatedId or (providerId & rawId) is required") }
        throw Refusal(
          message: "((Parsing federatedId is not implemented in Auth Emulator; please specify providerId AND rawId as a"
            + " workaround.))")
      }
      if let other = project.account(provider: provider, rawID: rawID), other.localID != account.localID {
        throw Refusal(message: "raw id exists in other account in database")
      }
      account.link(
        ProviderInfo(
          providerID: provider, rawID: rawID, federatedID: info["federatedId"]?.string, email: info["email"]?.string,
          phoneNumber: nil, displayName: info["displayName"]?.string, photoURL: info["photoUrl"]?.string))
    }
  }

  private static func factors(
    _ user: JSONValue, _ account: Account, now: Int64
  ) throws(Refusal) -> [SecondFactor]? {
    guard let given = user["mfaInfo"]?.array, !given.isEmpty else { return nil }
    if account.email == nil { throw Refusal(message: "Second factor account requires email to be presented.") }
    if account.emailVerified != true {
      throw Refusal(message: "Second factor account requires email to be verified.")
    }
    if firstRepeated(given.compactMap { $0["mfaEnrollmentId"]?.string }) != nil {
      throw Refusal(message: "Enrollment id already exists.")
    }
    var factors: [SecondFactor] = []
    for factor in given {
      guard let number = factor["phoneInfo"]?.string else { throw Refusal(message: "Second factor not supported.") }
      guard number.hasPrefix("+") else { throw Refusal(message: "Phone number format is invalid") }
      factors.append(
        SecondFactor(
          id: factor["mfaEnrollmentId"]?.string ?? RandomText.letters(28), phoneNumber: number,
          displayName: factor["displayName"]?.string, enrolledAt: factor["enrolledAt"]?.string ?? Dates.iso(now)))
    }
    return factors
  }
}
