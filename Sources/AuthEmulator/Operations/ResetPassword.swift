import AuthCore

/// `accounts:resetPassword`: what a code is for, or a new password (identity-toolkit 2.6).
enum ResetPassword {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:resetPassword", legacy: "resetPassword",
      fields: Shape.fields(texts: ["oobCode", "newPassword", "oldPassword", "email"]), firstField: "oobCode",
      handler: handle)
  ]

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard world[call.scope].allowsPassword else { throw APIError("PASSWORD_LOGIN_DISABLED") }
    guard let code = call.filled("oobCode") else { throw APIError("MISSING_OOB_CODE") }
    guard let record = world[call.scope].oobCode(code) else { throw APIError("INVALID_OOB_CODE") }
    if let password = call.filled("newPassword") {
      try apply(record, password, &world[call.scope], now: world.now)
    }
    let isSignIn = record.requestType == "EMAIL_SIGNIN"
    return .json(
      .record([
        "kind": "identitytoolkit#ResetPasswordResponse", "requestType": .string(record.requestType),
        "email": isSignIn ? nil : .string(record.email), "newEmail": record.newEmail.json,
      ]))
  }

  /// Sets the password of the code's account. Its address is verified by that, and every other provider is unlinked.
  static func apply(
    _ record: OobRecord, _ password: String, _ project: inout Project, now: Int64
  ) throws(APIError) {
    guard record.requestType == "PASSWORD_RESET", var account = project.account(email: record.email) else {
      throw APIError("INVALID_OOB_CODE")
    }
    try Check.password(password)
    project.spend(record)
    account.setPassword(password, now: now)
    account.emailVerified = true
    account.unlinkFederated()
    project.store(account)
  }
}
