import AuthCore

/// `securetoken.googleapis.com/v1/token`: a refresh token for an ID token (identity-toolkit 2.20).
enum TokenRefresh {
  static let operations: [Operation] = [
    Operation(
      name: "token", paths: ["/securetoken.googleapis.com/v1/token"], access: .key,
      body: .jsonOrForm(
        Shape.fields(texts: ["grantType", "refreshToken", "code", "scope", "targetProjectId", "tenantId"])),
      firstField: "grantType", handler: handle)
  ]

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard let grant = call.filled("grantType") else { throw APIError("MISSING_GRANT_TYPE") }
    guard grant == "refresh_token" else { throw APIError("INVALID_GRANT_TYPE") }
    guard let token = call.filled("refreshToken") else { throw APIError("MISSING_REFRESH_TOKEN") }
    let (account, session) = try world[call.scope].redeem(refreshToken: token)
    let tokens = try world[call.scope].issueTokens(for: account.localID, session, now: world.now)
    return .json(
      .record([
        "id_token": tokens["idToken"], "access_token": tokens["idToken"], "expires_in": tokens["expiresIn"],
        "refresh_token": tokens["refreshToken"], "token_type": "Bearer", "user_id": .string(account.localID),
        "project_id": "12345",
      ]))
  }
}
