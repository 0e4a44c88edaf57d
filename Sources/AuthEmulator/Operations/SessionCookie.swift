import AuthCore

/// `projects/{project}:createSessionCookie`: an ID token for a longer-lived one of another issuer.
enum SessionCookie {
  static let operations: [Operation] = [
    Operation(
      name: "createSessionCookie",
      paths: [
        "/identitytoolkit.googleapis.com/v1/projects/{project}:createSessionCookie",
        "/identitytoolkit.googleapis.com/v1/projects/{project}/tenants/{tenant}:createSessionCookie",
      ], body: .json(Shape.fields(texts: ["idToken", "validDuration", "tenantId"])), handler: handle)
  ]

  /// Seconds: five minutes to fourteen days.
  private static let durations: ClosedRange<Int64> = 300...1_209_600

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard let token = call.filled("idToken") else { throw APIError("MISSING_ID_TOKEN") }
    let duration = call.filled("validDuration").map { Int64($0) ?? 0 } ?? durations.upperBound
    guard durations.contains(duration) else { throw APIError("INVALID_DURATION") }
    _ = try world[call.scope].redeem(idToken: token)
    guard let claims = JWT.claims(token) else { throw APIError("INVALID_ID_TOKEN") }
    let now = world.now / 1000
    let cookie = claims.adding([
      "iat": .integer(now), "exp": .integer(now + duration),
      "iss": .string("https://session.firebase.google.com/\(call.scope.project)"),
    ])
    return .json(["sessionCookie": .string(JWT.unsigned(cookie))])
  }
}
