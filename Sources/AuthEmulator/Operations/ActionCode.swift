import AuthCore

/// Codes that change an account: by `accounts:update`, or by opening the link.
enum ActionCode {
  /// `accounts:update` with a code.
  static func apply(_ code: String, _ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard let record = world[call.scope].oobCode(code) else { throw APIError("INVALID_OOB_CODE") }
    let account = try apply(record, &world[call.scope])
    return .json(UpdateAccount.answer(account, newEmail: record.newEmail))
  }

  /// Makes the change the code stands for.
  static func apply(_ record: OobRecord, _ project: inout Project) throws(APIError) -> Account {
    let found: Account?
    switch record.requestType {
    case "VERIFY_EMAIL", "VERIFY_AND_CHANGE_EMAIL": found = project.account(email: record.email)
    case "RECOVER_EMAIL": found = project.accounts.first { $0.initialEmail == record.email }
    case "REVERT_SECOND_FACTOR_ADDITION":
      found = project.accounts.first { $0.factors?.contains { $0.id == record.factorID } == true }
    default: throw .notImplemented(record.requestType)
    }
    guard var account = found else { throw APIError("INVALID_OOB_CODE") }
    switch record.requestType {
    case "REVERT_SECOND_FACTOR_ADDITION":
      account.factors?.removeAll { $0.id == record.factorID }
      project.spend(record)
      project.store(account)
      return account
    case "VERIFY_AND_CHANGE_EMAIL":
      guard let address = record.newEmail else { throw APIError("INVALID_OOB_CODE") }
      if project.account(email: address) != nil { throw APIError("EMAIL_EXISTS") }
      account.email = address
    case "RECOVER_EMAIL":
      // Spent also where the address can't be given back.
      project.spend(record)
      if project.account(email: record.email) != nil { throw APIError("EMAIL_EXISTS") }
      account.email = record.email
    default: break
    }
    account.emailVerified = true
    project.spend(record)
    project.store(account)
    return project.account(account.localID) ?? account
  }
}

/// Claims that a custom token or an administrator gives to an account.
enum CustomClaims {
  private static let reserved = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase", "iat", "iss", "jti", "nbf",
    "nonce", "sub",
  ]

  /// Claims as the JSON text of an object.
  static func check(_ text: String) throws(APIError) {
    guard let claims = try? JSONText.parse(text), let members = claims.object else { throw APIError("INVALID_CLAIMS") }
    try check(members)
    if text.utf8.count > 1000 { throw APIError("CLAIMS_TOO_LARGE") }
  }

  static func check(_ claims: [String: JSONValue]) throws(APIError) {
    if let name = reserved.first(where: { claims[$0] != nil }) { throw APIError("FORBIDDEN_CLAIM : \(name)") }
  }
}
