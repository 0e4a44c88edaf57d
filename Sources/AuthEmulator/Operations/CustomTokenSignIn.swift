import AuthCore

/// `accounts:signInWithCustomToken`: JSON in clear, or a JWT that nobody verifies (identity-toolkit 2.4).
enum CustomTokenSignIn {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:signInWithCustomToken", legacy: "verifyCustomToken", fields: Shape.fields(texts: ["token"]),
      firstField: "token", handler: handle)
  ]

  /// What the audience of a custom token has to be.
  private static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard let token = call.filled("token") else { throw APIError("MISSING_CUSTOM_TOKEN") }
    let content = try content(token, tenant: call.scope.tenant)
    guard let localID = identifier(content["uid"]) ?? identifier(content["user_id"]) else {
      throw APIError("MISSING_IDENTIFIER")
    }
    var claims: [String: JSONValue] = [:]
    if let given = content["claims"] {
      guard let members = given.object else { throw APIError("INVALID_CLAIMS") }
      try CustomClaims.check(members)
      claims = members
    }
    let existing = world[call.scope].account(localID)
    if existing?.disabled == true { throw APIError("USER_DISABLED") }
    var account = existing ?? Account(localID: localID, now: world.now)
    (account.customAuth, account.lastLoginAt) = (true, String(world.now))
    world[call.scope].store(account)
    let session = Session(provider: "custom", extraClaims: claims)
    let answer: JSONValue = ["kind": "identitytoolkit#VerifyCustomTokenResponse", "isNewUser": .bool(existing == nil)]
    return .json(answer.adding(try world[call.scope].issueTokens(for: localID, session, now: world.now)))
  }

  private static func content(_ token: String, tenant: String?) throws(APIError) -> JSONValue {
    if token.hasPrefix("{") {
      guard let content = try? JSONText.parse(token) else {
        throw APIError(
          "INVALID_CUSTOM_TOKEN : ((Auth Emulator only accepts strict JSON or JWTs as fake custom tokens.))")
      }
      return content
    }
    guard let content = JWT.claims(token) else { throw APIError("INVALID_CUSTOM_TOKEN : Invalid assertion format") }
    guard content["aud"]?.string == audience else {
      throw APIError(
        "INVALID_CUSTOM_TOKEN : ((Invalid aud (audience): \(content["aud"]?.string ?? "undefined") Note: Firebase ID Tokens"
          + " / third-party tokens cannot be used with signInWithCustomToken.))")
    }
    if let tenant, content["tenant_id"]?.string != tenant { throw APIError("TENANT_ID_MISMATCH") }
    return content
  }

  /// A text, or a number as text.
  private static func identifier(_ value: JSONValue?) -> String? {
    switch value {
    case .string(let text): text.isEmpty ? nil : text
    case .integer, .number: value?.text
    case .null, .bool, .array, .object, nil: nil
    }
  }
}
