import AuthCore

/// `accounts:lookup` (identity-toolkit 2.9) and `accounts:delete` (2.8).
enum Lookup {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:lookup", legacy: "getAccountInfo",
      fields: Shape.fields(
        texts: ["idToken"],
        others: [
          "localId": .list(.text), "email": .list(.text), "phoneNumber": .list(.text), "initialEmail": .list(.text),
          "federatedUserId": .list(.record(["providerId": .text, "rawId": .text])),
        ]),
      handler: lookup),
    .toolkit(
      "accounts:delete", legacy: "deleteAccount", fields: Shape.fields(texts: ["idToken", "localId"]), handler: delete),
  ]

  private static func lookup(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let project = world[call.scope]
    var found: [Account] = []
    if call.isPrivileged, call["idToken"] == nil {
      if call.body["initialEmail"] != nil { throw .notImplemented("Lookup by initialEmail is not implemented.") }
      let candidates =
        texts(call, "localId").map { project.account($0) } + texts(call, "email").map { project.account(email: $0) }
        + texts(call, "phoneNumber").map { project.account(phoneNumber: $0) }
        + (call.body["federatedUserId"]?.array ?? []).map { user in
          project.account(provider: user["providerId"]?.string ?? "", rawID: user["rawId"]?.string ?? "")
        }
      for case let account? in candidates where !found.contains(where: { $0.localID == account.localID }) {
        found.append(account)
      }
    } else {
      guard let token = call.filled("idToken") else { throw APIError("MISSING_ID_TOKEN") }
      found = [try project.redeem(idToken: token).account]
    }
    return .json(
      .record([
        "kind": "identitytoolkit#GetAccountInfoResponse", "users": found.isEmpty ? nil : .array(found.map(\.json)),
      ]))
  }

  private static func texts(_ call: Call, _ field: String) -> [String] {
    (call.body[field]?.array ?? []).compactMap(\.string)
  }

  private static func delete(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let localID: String
    if call.isPrivileged, call["idToken"] == nil {
      guard let id = call.filled("localId") else { throw APIError("MISSING_LOCAL_ID") }
      guard world[call.scope].account(id) != nil else { throw APIError("USER_NOT_FOUND") }
      localID = id
    } else {
      guard let token = call.filled("idToken") else { throw APIError("MISSING_ID_TOKEN") }
      localID = try world[call.scope].redeem(idToken: token).account.localID
      try world[call.scope].checkRecentLogin(call, now: world.now)
    }
    world[call.scope].delete(localID)
    return .json(["kind": "identitytoolkit#DeleteAccountResponse"])
  }
}
