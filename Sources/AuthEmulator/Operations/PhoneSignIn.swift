import AuthCore

/// `accounts:sendVerificationCode` and `accounts:signInWithPhoneNumber` (identity-toolkit 2.12, 2.13). The messages are
/// listed by `GET /emulator/v1/projects/{project}/verificationCodes`.
enum PhoneSignIn {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:sendVerificationCode", legacy: "sendVerificationCode", fields: Shape.fields(texts: wishFields),
      firstField: "phoneNumber", handler: send),
    .toolkit(
      "accounts:signInWithPhoneNumber", legacy: "verifyPhoneNumber",
      fields: Shape.fields(
        texts: ["sessionInfo", "code", "idToken", "temporaryProof", "phoneNumber"],
        others: ["operation": .word(operationWords)]),
      firstField: "temporaryProof", handler: signIn),
    Operation(
      name: "verificationCodes", method: "GET", paths: ProjectControl.paths("verificationCodes"), access: .anybody
    ) { call, world in .json(["verificationCodes": .array(world[call.scope].messages.waiting.map(\.json))]) },
  ]

  /// By their index in the API.
  private static let operationWords = ["VERIFY_OP_UNSPECIFIED", "SIGN_UP_OR_IN", "REAUTH", "UPDATE", "LINK"]

  /// What a wish for a text message says.
  static let wishFields = ["phoneNumber", "recaptchaToken", "captchaResponse"]

  private static func send(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    try checkTenant(call)
    let number = call["phoneNumber"] ?? ""
    try Check.phoneNumber(number, isStrict: world.hasProductionRules)
    try checkFactors(of: world[call.scope].account(phoneNumber: number))
    if world.hasProductionRules, world[call.scope].hasFactor(number) { throw unsupported }
    return .json(["sessionInfo": .string(try world.sendSMS(to: number, call.body, call.scope))])
  }

  private static func signIn(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    try checkTenant(call)
    let now = world.now
    let isStrict = world.hasProductionRules
    let number = try provenNumber(call, &world[call.scope], now: now, isStrict: isStrict)
    let project = world[call.scope]
    let existing = project.account(phoneNumber: number)
    var linking: Account?
    if let token = call["idToken"] { linking = try project.redeem(idToken: token).account }
    if let linking, let existing, existing.localID != linking.localID {
      if call["temporaryProof"] != nil { throw APIError("PHONE_NUMBER_EXISTS") }
      return .json(world[call.scope].prove(number, now: now))
    }
    if isStrict, call["operation"] == "REAUTH", existing == nil {
      throw APIError("USER_NOT_FOUND")
    }
    try checkFactors(of: linking ?? existing)
    if linking == nil, existing?.disabled == true { throw APIError("USER_DISABLED") }
    var account = linking ?? existing ?? Account(localID: world.freshID(), now: world.now)
    (account.phoneNumber, account.lastLoginAt) = (number, String(world.now))
    if linking == nil, existing == nil {
      _ = try world.ask(.beforeCreate, about: &account, provider: "phone", call.scope)
    }
    world[call.scope].store(account)
    let answer: JSONValue = [
      "isNewUser": .bool(linking == nil && existing == nil), "phoneNumber": .string(number),
      "localId": .string(account.localID),
    ]
    let session = Session(provider: "phone")
    let tokens =
      linking == nil
      ? try world.admit(account, session, call.scope)
      : try world[call.scope].issueTokens(for: account.localID, session, now: world.now)
    // By production's rules a proof signs in once.
    if isStrict, let proof = call.filled("temporaryProof") { world[call.scope].messages.proofs[proof] = nil }
    return .json(answer.adding(tokens))
  }

  /// The number that the caller has shown to be his, by a code or by a proof from an earlier conflict.
  private static func provenNumber(
    _ call: Call, _ project: inout Project, now: Int64, isStrict: Bool
  ) throws(APIError) -> String {
    if let proof = call.filled("temporaryProof") {
      guard let number = call.filled("phoneNumber") else { throw APIError("MISSING_PHONE_NUMBER") }
      try project.check(proof: proof, of: number, now: now)
      return number
    }
    guard let session = call.filled("sessionInfo") else { throw APIError("MISSING_SESSION_INFO") }
    guard let code = call.filled("code") else { throw APIError("MISSING_CODE") }
    return try project.redeemSMS(session: session, code: code, now: now, isStrict: isStrict)
  }

  private static func checkTenant(_ call: Call) throws(APIError) {
    if call.scope.tenant != nil { throw APIError("UNSUPPORTED_TENANT_OPERATION") }
  }

  /// A number is a first factor or a second one's owner's, not both.
  private static func checkFactors(of account: Account?) throws(APIError) {
    if account?.factors?.isEmpty == false { throw unsupported }
  }

  private static let unsupported = APIError(
    "UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS based MFA user.")
}
