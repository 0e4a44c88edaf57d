import AuthCore

/// `accounts:signInWithPassword` (identity-toolkit 2.2).
enum PasswordSignIn {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:signInWithPassword", legacy: "verifyPassword",
      fields: Shape.fields(
        texts: ["email", "password", "idToken", "pendingIdToken", "captchaResponse", "captchaChallenge"]),
      firstField: "email", handler: handle)
  ]

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard world[call.scope].allowsPassword else { throw APIError("PASSWORD_LOGIN_DISABLED") }
    guard let email = call["email"]?.lowercased() else { throw APIError("MISSING_EMAIL") }
    try Check.email(email)
    guard let password = call.filled("password") else { throw APIError("MISSING_PASSWORD") }
    if call.filled("captchaResponse") != nil || call.filled("captchaChallenge") != nil {
      throw .notImplemented("captcha unimplemented")
    }
    if call.filled("idToken") != nil || call.filled("pendingIdToken") != nil {
      throw .notImplemented(
        "idToken / pendingIdToken is no longer in use and unsupported by the Auth Emulator.")
    }
    var account = try check(email, password, world[call.scope])
    account.lastLoginAt = String(world.now)
    world[call.scope].store(account)
    let answer: JSONValue = [
      "kind": "identitytoolkit#VerifyPasswordResponse", "registered": true, "localId": .string(account.localID),
      "email": .string(email),
    ]
    let session = Session(provider: "password")
    return .json(answer.adding(try world.finishSignIn(account, session, call.scope)))
  }

  private static func check(_ email: String, _ password: String, _ project: Project) throws(APIError) -> Account {
    let isPrivate = project.improvedEmailPrivacy
    guard let account = project.account(email: email) else {
      throw APIError(isPrivate ? "INVALID_LOGIN_CREDENTIALS" : "EMAIL_NOT_FOUND")
    }
    if account.disabled == true { throw APIError("USER_DISABLED") }
    guard account.hasPassword(password) else {
      throw APIError(isPrivate ? "INVALID_LOGIN_CREDENTIALS" : "INVALID_PASSWORD")
    }
    return account
  }
}
