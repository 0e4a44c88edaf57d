import AuthCore

/// `accounts:signInWithEmailLink`: the code of a mailed link for a session (identity-toolkit 2.3).
enum EmailLinkSignIn {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:signInWithEmailLink", legacy: "emailLinkSignin",
      fields: Shape.fields(texts: ["email", "oobCode", "idToken"]), firstField: "idToken", handler: handle)
  ]

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let project = world[call.scope]
    guard project.allowsEmailLink else { throw APIError("OPERATION_NOT_ALLOWED") }
    var linking: Account?
    if let token = call["idToken"] { linking = try project.redeem(idToken: token).account }
    guard let email = call.filled("email")?.lowercased() else { throw APIError("MISSING_EMAIL") }
    guard let code = call.filled("oobCode") else { throw APIError("MISSING_OOB_CODE") }
    guard let record = project.oobCode(code), record.requestType == "EMAIL_SIGNIN" else {
      throw APIError("INVALID_OOB_CODE")
    }
    guard record.email == email else {
      throw APIError("INVALID_EMAIL : The email provided does not match the sign-in email address.")
    }
    // The code is gone from here on, whatever follows.
    world[call.scope].spend(record)
    let existing = project.account(email: email)
    if existing?.disabled == true, linking == nil { throw APIError("USER_DISABLED") }
    if let linking, let existing, existing.localID != linking.localID { throw APIError("EMAIL_EXISTS") }
    var account = linking ?? existing ?? Account(localID: world.freshID(), now: world.now)
    (account.email, account.emailVerified, account.emailLinkSignin) = (email, true, true)
    account.lastLoginAt = String(world.now)
    if linking == nil, existing == nil {
      _ = try world.ask(.beforeCreate, about: &account, provider: "emailLink", call.scope)
    }
    world[call.scope].store(account)
    let answer: JSONValue = [
      "kind": "identitytoolkit#EmailLinkSigninResponse", "email": .string(email), "localId": .string(account.localID),
      "isNewUser": .bool(linking == nil && existing == nil),
    ]
    let session = Session(provider: "password")
    let end =
      linking == nil
      ? try world.finishSignIn(account, session, call.scope)
      : try world[call.scope].issueTokens(for: account.localID, session, now: world.now)
    return .json(answer.adding(end))
  }
}
