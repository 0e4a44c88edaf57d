import AuthCore

/// `v2/accounts/mfaSignIn`: the second factor of a sign-in (identity-toolkit 2.18).
enum SecondFactorSignIn {
  static let operations: [Operation] = [
    .toolkit(
      "accounts/mfaSignIn:start", version: "v2",
      fields: Shape.fields(
        texts: ["mfaPendingCredential", "mfaEnrollmentId"], others: ["phoneSignInInfo": SecondFactorEnrollment.wish]
      ),
      firstField: "mfaPendingCredential", handler: start),
    .toolkit(
      "accounts/mfaSignIn:finalize", version: "v2",
      fields: Shape.fields(
        texts: ["mfaPendingCredential", "mfaEnrollmentId"],
        others: [
          "phoneVerificationInfo": .record(SecondFactorEnrollment.phoneFields),
          "totpVerificationInfo": .record(["verificationCode": .text]),
        ]),
      firstField: "mfaPendingCredential", handler: finalize),
  ]

  private static func start(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    try SecondFactorEnrollment.checkEnabled(world[call.scope])
    guard let pending = call.filled("mfaPendingCredential") else {
      throw APIError("MISSING_MFA_PENDING_CREDENTIAL : Request does not have MFA pending credential.")
    }
    guard let id = call.filled("mfaEnrollmentId") else {
      throw APIError("MISSING_MFA_ENROLLMENT_ID : No second factor identifier is provided.")
    }
    let isStrict = world.hasProductionRules
    let account = try PendingCredential.redeem(pending, world[call.scope], now: world.now, isStrict: isStrict).account
    guard let number = account.factors?.first(where: { $0.id == id })?.phoneNumber else {
      throw APIError("MFA_ENROLLMENT_NOT_FOUND")
    }
    let session = try world.sendSMS(to: number, call.body["phoneSignInInfo"], call.scope)
    return .json(["phoneResponseInfo": ["sessionInfo": .string(session)]])
  }

  private static func finalize(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    try SecondFactorEnrollment.checkEnabled(world[call.scope])
    // Another code than at the start, as in production.
    guard let pending = call.filled("mfaPendingCredential") else {
      throw APIError("MISSING_CREDENTIAL : Please set MFA Pending Credential.")
    }
    let isStrict = world.hasProductionRules
    var (account, provider) = try PendingCredential.redeem(
      pending, world[call.scope], now: world.now, isStrict: isStrict)
    let factor = try proven(call, account, pending, &world)
    account.factors = account.factors?.map { $0.id == factor.id ? factor : $0 }
    // A code counts once, even for somebody who isn't let in.
    world[call.scope].store(account)
    if account.disabled == true { throw APIError("USER_DISABLED") }
    account.lastLoginAt = String(world.now)
    world[call.scope].store(account)
    var session = Session(provider: provider)
    session.factor = Session.Factor(id: factor.id, kind: factor.kind)
    let tokens = try world.admit(account, session, call.scope)
    world[call.scope].pending[pending]?.isSpent = true
    return .json(tokens.without("expiresIn"))
  }

  private static func proven(
    _ call: Call, _ account: Account, _ pending: String, _ world: inout World
  ) throws(APIError) -> SecondFactor {
    if world[call.scope].hasTOTP, let info = call.body["totpVerificationInfo"] {
      guard var factor = account.factors?.first(where: { $0.id == call["mfaEnrollmentId"] }) else {
        throw APIError("MFA_ENROLLMENT_NOT_FOUND")
      }
      guard try TOTP.accepts(info["verificationCode"]?.string, of: &factor, now: world.now) else {
        world[call.scope].pending[pending]?.attempts += 1
        throw APIError("INVALID_CODE")
      }
      return factor
    }
    guard let info = call.body["phoneVerificationInfo"] else {
      throw APIError("INVALID_ARGUMENT : MFA provider not supported!")
    }
    let number = try SecondFactorEnrollment.provenNumber(info, call.scope, &world)
    // Clients that know the masked number alone send the code there.
    let factor = account.factors?.first { $0.phoneNumber == number || $0.maskedNumber == number }
    guard let factor else { throw APIError("MFA_ENROLLMENT_NOT_FOUND") }
    return factor
  }
}
