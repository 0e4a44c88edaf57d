import AuthCore

/// `v2/accounts/mfaEnrollment`: second factors of an account (identity-toolkit 2.18).
enum SecondFactorEnrollment {
  static let operations: [Operation] = [
    .toolkit(
      "accounts/mfaEnrollment:start", version: "v2",
      fields: Shape.fields(
        texts: ["idToken"],
        others: ["phoneEnrollmentInfo": wish, "totpEnrollmentInfo": .record([:])]),
      handler: start),
    .toolkit(
      "accounts/mfaEnrollment:finalize", version: "v2",
      fields: Shape.fields(
        texts: ["idToken", "displayName"],
        others: [
          "phoneVerificationInfo": .record(phoneFields),
          "totpVerificationInfo": .record(["sessionInfo": .text, "verificationCode": .text]),
        ]),
      handler: finalize),
    .toolkit(
      "accounts/mfaEnrollment:withdraw", version: "v2", fields: Shape.fields(texts: ["idToken", "mfaEnrollmentId"]),
      handler: withdraw),
  ]

  /// A code of a text message, as both ends of the protocol send it.
  static let phoneFields: [String: Shape] = [
    "sessionInfo": .text, "code": .text, "phoneNumber": .text, "androidVerificationProof": .text,
  ]

  /// The wish for a text message, as an object.
  static let wish = Shape.record(Shape.fields(texts: PhoneSignIn.wishFields))

  static func checkEnabled(_ project: Project) throws(APIError) {
    guard project.hasSMSFactors else { throw APIError("OPERATION_NOT_ALLOWED : SMS based MFA not enabled.") }
  }

  private static func start(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let account = try owner(call, world[call.scope]).account
    guard account.email != nil, account.emailVerified == true else {
      throw APIError("UNVERIFIED_EMAIL : Need to verify email first before enrolling second factors.")
    }
    let now = world.now
    try world[call.scope].checkRecentLogin(call, now: now)
    try checkRoom(account, world[call.scope])
    if world[call.scope].hasTOTP, call.body["totpEnrollmentInfo"] != nil {
      return .json(TOTP.begin(&world[call.scope], now: now))
    }
    guard let info = call.body["phoneEnrollmentInfo"] else {
      throw APIError("INVALID_ARGUMENT : ((Missing phoneEnrollmentInfo.))")
    }
    let number = info["phoneNumber"]?.string ?? ""
    try Check.phoneNumber(number, isStrict: world.hasProductionRules)
    try checkNew(number, account)
    return .json(["phoneSessionInfo": ["sessionInfo": .string(try world.sendSMS(to: number, info, call.scope))]])
  }

  private static func finalize(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    var (account, session) = try owner(call, world[call.scope])
    try checkRoom(account, world[call.scope])
    let factor: SecondFactor
    if world[call.scope].hasTOTP, let info = call.body["totpVerificationInfo"] {
      factor = try TOTP.finish(info, displayName: call["displayName"], &world[call.scope], now: world.now)
    } else {
      guard let info = call.body["phoneVerificationInfo"] else {
        throw APIError("INVALID_ARGUMENT : ((Missing phoneVerificationInfo.))")
      }
      let number = try provenNumber(info, call.scope, &world)
      try checkNew(number, account)
      factor = SecondFactor(phoneNumber: number, displayName: call["displayName"], enrolledAt: Dates.iso(world.now))
    }
    account.factors = (account.factors ?? []) + [factor]
    world[call.scope].store(account)
    session.factor = Session.Factor(id: factor.id, kind: factor.kind)
    if world[call.scope].factorSettings.mailsAdditions, let email = account.email {
      _ = world[call.scope].issueCode(
        "REVERT_SECOND_FACTOR_ADDITION", mode: "revertSecondFactorAddition", email: email, factorID: factor.id,
        continueURL: nil, origin: world.origin)
    }
    return .json(try tokens(account, session, call, &world).without("expiresIn"))
  }

  /// The number of the code that somebody gives.
  static func provenNumber(_ info: JSONValue, _ scope: Scope, _ world: inout World) throws(APIError) -> String {
    if info["androidVerificationProof"] != nil { throw .notImplemented("androidVerificationProof is unsupported!") }
    guard let code = info["code"]?.string, !code.isEmpty else { throw APIError("MISSING_CODE") }
    guard let session = info["sessionInfo"]?.string, !session.isEmpty else { throw APIError("MISSING_SESSION_INFO") }
    let (now, isStrict) = (world.now, world.hasProductionRules)
    return try world[scope].redeemSMS(session: session, code: code, now: now, isStrict: isStrict)
  }

  private static func withdraw(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard let token = call.filled("idToken") else { throw APIError("MISSING_ID_TOKEN") }
    var (account, session) = try world[call.scope].redeem(idToken: token)
    try world[call.scope].checkRecentLogin(call, now: world.now)
    guard account.factors?.contains(where: { $0.id == call["mfaEnrollmentId"] }) == true else {
      throw APIError("MFA_ENROLLMENT_NOT_FOUND")
    }
    account.factors?.removeAll { $0.id == call["mfaEnrollmentId"] }
    world[call.scope].store(account)
    session.factor = nil
    if world[call.scope].factorSettings.hasQuietRemovals { return .json([:]) }
    return .json(try tokens(account, session, call, &world))
  }

  /// The account, whose first factor has to be one that can be forged less easily than none.
  private static func owner(
    _ call: Call, _ project: Project
  ) throws(APIError) -> (account: Account, session: Session) {
    try checkEnabled(project)
    guard let token = call.filled("idToken") else { throw APIError("MISSING_ID_TOKEN") }
    let (account, session) = try project.redeem(idToken: token)
    if ["anonymous", "phone", "custom"].contains(session.provider) {
      throw APIError("UNSUPPORTED_FIRST_FACTOR : MFA is not available for the given first factor.")
    }
    return (account, session)
  }

  /// As production refuses; the recorded service never counts.
  private static func checkRoom(_ account: Account, _ project: Project) throws(APIError) {
    guard account.factors?.count ?? 0 < project.factorSettings.limit else {
      throw APIError("SECOND_FACTOR_LIMIT_EXCEEDED : Maximum number of second factors reached.")
    }
  }

  private static func checkNew(_ number: String, _ account: Account) throws(APIError) {
    if account.factors?.contains(where: { $0.phoneNumber == number }) == true {
      throw APIError("SECOND_FACTOR_EXISTS : Phone number already enrolled as second factor for this account.")
    }
  }

  private static func tokens(
    _ account: Account, _ session: Session, _ call: Call, _ world: inout World
  ) throws(APIError) -> JSONValue {
    try world[call.scope].issueTokens(for: account.localID, session, now: world.now)
  }
}

extension SecondFactor {
  /// A factor as an administrator gives it.
  static let fields: [String: Shape] = Shape.fields(
    texts: ["mfaEnrollmentId", "phoneInfo", "displayName", "enrolledAt"])

  private static func number(_ given: JSONValue) throws(APIError) -> String {
    guard let number = given["phoneInfo"]?.string, number.hasPrefix("+") else {
      throw APIError("INVALID_MFA_PHONE_NUMBER : Invalid format.")
    }
    return number
  }

  /// Factors of an account that an administrator makes; each number once.
  static func merged(_ given: [JSONValue]) throws(APIError) -> [SecondFactor] {
    var factors: [SecondFactor] = []
    for factor in given {
      let number = try number(factor)
      guard !factors.contains(where: { $0.phoneNumber == number }) else { continue }
      factors.append(
        SecondFactor(
          phoneNumber: number, displayName: factor["displayName"]?.string, enrolledAt: factor["enrolledAt"]?.string))
    }
    return factors
  }

  /// Factors that an administrator gives to an account in place of those it has.
  static func replaced(_ given: [JSONValue]) throws(APIError) -> [SecondFactor] {
    var factors: [SecondFactor] = []
    for factor in given {
      guard let id = factor["mfaEnrollmentId"]?.string, !id.isEmpty else {
        throw APIError("INVALID_MFA_ENROLLMENT_ID : mfaEnrollmentId must be defined.")
      }
      if factors.contains(where: { $0.id == id }) { throw APIError("DUPLICATE_MFA_ENROLLMENT_ID") }
      factors.append(
        SecondFactor(
          id: id, phoneNumber: try number(factor), displayName: factor["displayName"]?.string,
          enrolledAt: factor["enrolledAt"]?.string))
    }
    return factors
  }
}

extension JSONValue {
  /// The object without a member.
  func without(_ name: String) -> JSONValue { .object((object ?? [:]).filter { $0.key != name }) }
}
