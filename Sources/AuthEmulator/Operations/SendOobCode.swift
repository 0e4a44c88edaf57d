import AuthCore

/// `accounts:sendOobCode`: action codes by mail (identity-toolkit 2.5). The mails are listed by
/// `GET /emulator/v1/projects/{project}/oobCodes`.
enum SendOobCode {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:sendOobCode", legacy: "getOobConfirmationCode",
      fields: Shape.fields(
        texts: ["email", "newEmail", "idToken", "continueUrl"], truths: ["returnOobLink"],
        others: ["requestType": .word(requestTypes)]),
      firstField: "requestType", handler: handle)
  ]

  /// By their index in the API.
  private static let requestTypes = [
    "OOB_REQ_TYPE_UNSPECIFIED", "PASSWORD_RESET", "OLD_EMAIL_AGREE", "NEW_EMAIL_ACCEPT", "VERIFY_EMAIL",
    "RECOVER_EMAIL",
    "EMAIL_SIGNIN", "VERIFY_AND_CHANGE_EMAIL", "REVERT_SECOND_FACTOR_ADDITION",
  ]

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard let type = call["requestType"], type != requestTypes[0] else { throw APIError("MISSING_REQ_TYPE") }
    let returnsLink = call.body["returnOobLink"]?.bool ?? false
    if returnsLink, !call.isPrivileged { throw APIError("INSUFFICIENT_PERMISSION") }
    if let url = call["continueUrl"], !URLText.isAbsolute(url) {
      throw APIError("INVALID_CONTINUE_URI : ((expected an absolute URI with valid scheme and host))")
    }
    var email: String
    let mode: String
    switch type {
    case "EMAIL_SIGNIN":
      mode = "signIn"
      guard world[call.scope].allowsEmailLink else { throw APIError("OPERATION_NOT_ALLOWED") }
      guard let given = call.filled("email") else { throw APIError("MISSING_EMAIL") }
      email = given.lowercased()
    case "PASSWORD_RESET":
      mode = "resetPassword"
      guard let given = call.filled("email") else { throw APIError("MISSING_EMAIL") }
      email = given.lowercased()
      guard world[call.scope].account(email: email) != nil else {
        guard world[call.scope].improvedEmailPrivacy else { throw APIError("EMAIL_NOT_FOUND") }
        return .json(answer(email))
      }
    case "VERIFY_EMAIL":
      mode = "verifyEmail"
      email = try ownAddress(call, world[call.scope], byAdministrator: returnsLink)
    case "VERIFY_AND_CHANGE_EMAIL":
      mode = "verifyAndChangeEmail"
      email = try changingAddress(call, world[call.scope], byAdministrator: returnsLink, now: world.now)
    default: throw .notImplemented(type)
    }
    let record = world[call.scope].issueCode(
      type, mode: mode, email: email,
      newEmail: type == "VERIFY_AND_CHANGE_EMAIL" ? call["newEmail"]?.lowercased() : nil,
      continueURL: call.filled("continueUrl"), origin: world.origin)
    guard returnsLink else { return .json(answer(email)) }
    return .json(answer(email).adding(["oobCode": .string(record.code), "oobLink": .string(record.link)]))
  }

  private static func answer(_ email: String) -> JSONValue {
    ["kind": "identitytoolkit#GetOobConfirmationCodeResponse", "email": .string(email)]
  }

  /// The address of the caller's account, or of the account that an administrator names.
  private static func ownAddress(
    _ call: Call, _ project: Project, byAdministrator: Bool
  ) throws(APIError) -> String {
    if byAdministrator {
      guard let email = call.filled("email")?.lowercased() else { throw APIError("MISSING_EMAIL") }
      guard project.account(email: email) != nil else { throw APIError("USER_NOT_FOUND") }
      return email
    }
    guard let email = try project.redeem(idToken: call["idToken"] ?? "").account.email else {
      throw APIError("MISSING_EMAIL")
    }
    return email
  }

  /// The same for an account that is about to get the address `newEmail`.
  private static func changingAddress(
    _ call: Call, _ project: Project, byAdministrator: Bool, now: Int64
  ) throws(APIError) -> String {
    guard let newEmail = call.filled("newEmail") else { throw APIError("MISSING_NEW_EMAIL") }
    if !byAdministrator, call["idToken"] == nil { throw APIError("MISSING_ID_TOKEN") }
    let email = try ownAddress(call, project, byAdministrator: byAdministrator)
    try project.checkRecentLogin(call, now: now)
    if project.account(email: newEmail) != nil { throw APIError("EMAIL_EXISTS") }
    return email
  }
}
