import AuthCore

/// `v2/accounts/passkeyEnrollment` and `passkeySignIn` (identity-toolkit 2.21). What the authenticator signs isn't looked
/// at: a passkey is its id.
enum Passkeys {
  static let operations: [Operation] = [
    operation("accounts/passkeyEnrollment:start", Shape.fields(texts: ["idToken"]), startEnrollment),
    operation(
      "accounts/passkeyEnrollment:finalize",
      Shape.fields(
        texts: ["idToken", "name", "displayName"],
        others: ["authenticatorRegistrationResponse": .record(["id": .text])]), finalizeEnrollment),
    operation("accounts/passkeySignIn:start", [:], startSignIn),
    operation(
      "accounts/passkeySignIn:finalize",
      Shape.fields(
        texts: ["name", "displayName"], others: ["authenticatorAuthenticationResponse": .record(["id": .text])]),
      finalizeSignIn),
  ]

  private static func operation(
    _ path: String, _ fields: [String: Shape], _ handler: @escaping Operation.Handler
  ) -> Operation {
    var operation = Operation.toolkit(path, version: "v2", fields: fields, handler: handler)
    operation.access = .key
    return operation
  }

  private static func startEnrollment(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let account = try owner(call, world)
    return .json([
      "credentialCreationOptions": [
        "rp": ["name": "localhost", "id": "localhost"],
        "user": [
          "id": .string(Base64.encode(account.localID)), "name": .string(account.email ?? ""),
          "displayName": .string(account.displayName ?? "User"),
        ],
        "challenge": .string(challenge),
        "pubKeyCredParams": [["type": "public-key", "alg": -7], ["type": "public-key", "alg": -257]],
        "timeout": 60_000, "attestation": "none",
      ]
    ])
  }

  private static func finalizeEnrollment(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    var account = try owner(call, world)
    let id = try credentialID(call.body["authenticatorRegistrationResponse"])
    if world[call.scope].account(passkey: id) != nil { throw APIError("CREDENTIAL_ALREADY_IN_USE") }
    account.passkeys = (account.passkeys ?? []) + [Passkey(credentialID: id, name: call["name"])]
    let answer: JSONValue = ["localId": .string(account.localID)]
    return .json(answer.adding(try tokens(account, call, &world)))
  }

  private static func startSignIn(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    .json([
      "credentialRequestOptions": [
        "challenge": .string(challenge), "rpId": "localhost", "userVerification": "required",
      ]
    ])
  }

  private static func finalizeSignIn(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let id = try credentialID(call.body["authenticatorAuthenticationResponse"])
    guard var account = world[call.scope].account(passkey: id) else { throw APIError("PASSKEY_CREDENTIAL_NOT_FOUND") }
    if account.disabled == true { throw APIError("USER_DISABLED") }
    account.lastLoginAt = String(world.now)
    return .json(try tokens(account, call, &world))
  }

  private static var challenge: String { Base64.encode(RandomText.letters(32)) }

  private static func owner(_ call: Call, _ world: World) throws(APIError) -> Account {
    guard let token = call.filled("idToken") else { throw APIError("MISSING_ID_TOKEN") }
    return try world[call.scope].redeem(idToken: token).account
  }

  private static func credentialID(_ response: JSONValue?) throws(APIError) -> String {
    guard let response else { throw APIError("MISSING_AUTHENTICATOR_RESPONSE") }
    guard let id = response["id"]?.string, !id.isEmpty else { throw APIError("INVALID_CREDENTIAL_ID") }
    return id
  }

  private static func tokens(_ account: Account, _ call: Call, _ world: inout World) throws(APIError) -> JSONValue {
    world[call.scope].store(account)
    let session = Session(provider: "passkey")
    return try world[call.scope].issueTokens(for: account.localID, session, now: world.now).without("expiresIn")
  }
}
