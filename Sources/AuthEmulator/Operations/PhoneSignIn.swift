import AuthCore

/// `accounts:sendVerificationCode` and `accounts:signInWithPhoneNumber` (identity-toolkit 2.12, 2.13). The messages are
/// listed by `GET /emulator/v1/projects/{project}/verificationCodes`.
enum PhoneSignIn {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:sendVerificationCode", legacy: "sendVerificationCode", fields: Shape.fields(texts: ["phoneNumber"]),
      firstField: "phoneNumber", handler: send),
    .toolkit(
      "accounts:signInWithPhoneNumber", legacy: "verifyPhoneNumber",
      fields: Shape.fields(texts: ["sessionInfo", "code", "idToken", "temporaryProof", "phoneNumber"]),
      firstField: "temporaryProof", handler: signIn),
    Operation(
      name: "verificationCodes", method: "GET", paths: ["/emulator/v1/projects/{project}/verificationCodes"],
      access: .anybody
    ) { call, world in .json(["verificationCodes": .array(world[call.project].smsCodes.map(\.json))]) },
  ]

  private static func send(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let number = call["phoneNumber"] ?? ""
    try Check.phoneNumber(number)
    let record = SMSRecord(code: RandomText.digits(6), phoneNumber: number, sessionInfo: RandomText.urlLetters(226))
    world[call.project].smsCodes.append(record)
    return .json(["sessionInfo": .string(record.sessionInfo)])
  }

  private static func signIn(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let number = try provenNumber(call, &world[call.project])
    let project = world[call.project]
    let existing = project.account(phoneNumber: number)
    var linking: Account?
    if let token = call["idToken"] { linking = try project.redeem(idToken: token).account }
    if let linking, let existing, existing.localID != linking.localID {
      if call["temporaryProof"] != nil { throw APIError("PHONE_NUMBER_EXISTS") }
      let proof = RandomText.urlLetters(119)
      world[call.project].phoneProofs[proof] = number
      return .json([
        "phoneNumber": .string(number), "temporaryProof": .string(proof), "temporaryProofExpiresIn": "3600",
      ])
    }
    if linking == nil, existing?.disabled == true { throw APIError("USER_DISABLED") }
    var account = linking ?? existing ?? Account(localID: project.freshID(), now: world.now)
    (account.phoneNumber, account.lastLoginAt) = (number, String(world.now))
    world[call.project].store(account)
    let answer: JSONValue = [
      "isNewUser": .bool(linking == nil && existing == nil), "phoneNumber": .string(number),
      "localId": .string(account.localID),
    ]
    let session = Session(provider: "phone")
    return .json(answer.adding(try world[call.project].issueTokens(for: account.localID, session, now: world.now)))
  }

  /// The number that the caller has shown to be his, by a code or by a proof from an earlier conflict.
  private static func provenNumber(_ call: Call, _ project: inout Project) throws(APIError) -> String {
    if let proof = call.filled("temporaryProof") {
      guard let number = call.filled("phoneNumber") else { throw APIError("MISSING_PHONE_NUMBER") }
      guard project.phoneProofs[proof] == number else { throw APIError("INVALID_TEMPORARY_PROOF") }
      return number
    }
    guard let session = call.filled("sessionInfo") else { throw APIError("MISSING_SESSION_INFO") }
    guard let code = call.filled("code") else { throw APIError("MISSING_CODE") }
    guard let index = project.smsCodes.firstIndex(where: { $0.sessionInfo == session }) else {
      throw APIError("INVALID_SESSION_INFO")
    }
    guard project.smsCodes[index].code == code else { throw APIError("INVALID_CODE") }
    return project.smsCodes.remove(at: index).phoneNumber
  }
}
