import AuthCore

/// `v2/accounts:revokeToken` (identity-toolkit 2.19), which the recorded service answers with 501: that a provider's token
/// shall count no longer, before its account is deleted. What came is listed by
/// `GET /emulator/v1/projects/{project}/revokedTokens`.
enum RevokeToken {
  static let operations: [Operation] = [
    Operation(
      name: name, paths: ["/identitytoolkit.googleapis.com/v2/accounts:revokeToken"],
      body: .json(Shape.fields(texts: ["providerId", "tokenType", "token", "idToken", "tenantId"])), handler: revoke),
    Operation(name: "revokedTokens", method: "GET", paths: ProjectControl.paths("revokedTokens"), access: .anybody) {
      call, world in .json(["revokedTokens": .array(world[call.scope].revokedTokens.map(\.json))])
    },
  ]

  private static let name = "identitytoolkit.accounts.revokeToken"
  /// By their numbers, as clients send them.
  private static let types = ["2": RevokedToken.Kind.accessToken, "3": .authorizationCode]

  private static func revoke(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard call["providerId"] == "apple.com", let kind = types[call["tokenType"] ?? ""] else {
      throw .notImplemented("\(name) is not implemented in the Auth Emulator.")
    }
    guard let idToken = call.filled("idToken") else { throw APIError("MISSING_ID_TOKEN") }
    let account = try world[call.scope].redeem(idToken: idToken).account
    guard let token = call.filled("token") else { throw APIError("INVALID_ARGUMENT : ((Missing token.))") }
    world[call.scope].revokedTokens.append(RevokedToken(kind: kind, token: token, localID: account.localID))
    return .json([:])
  }
}

/// A provider's token that somebody gave up.
public struct RevokedToken: Sendable, Equatable {
  /// What kind of token; a refresh token isn't taken.
  public enum Kind: String, Sendable {
    case accessToken = "ACCESS_TOKEN"
    case authorizationCode = "CODE"
  }

  /// What kind of token it is.
  public let kind: Kind
  /// The token.
  public let token: String
  /// The account that it was given up for.
  public let localID: String

  var json: JSONValue { ["tokenType": .string(kind.rawValue), "token": .string(token), "localId": .string(localID)] }
}
