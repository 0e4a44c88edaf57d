import AuthCore

/// From a request to its operation: the checks that come before every handler, in the order of the recorded service.
struct Router: Sendable {
  let operations: [Operation]

  func answer(_ request: HTTPRequest, world: inout World) -> Reply {
    if request.method == "OPTIONS" { return preflight(request) }
    var reply: Reply
    do throws(APIError) {
      reply = try dispatch(request, world: &world)
    } catch {
      reply = error.reply
    }
    if let origin = request.headers["origin"] { reply.headers.append(("Access-Control-Allow-Origin", origin)) }
    return reply
  }

  private func dispatch(_ request: HTTPRequest, world: inout World) throws(APIError) -> Reply {
    let fitting = operations.compactMap { operation in operation.captures(request.path).map { (operation, $0) } }
    guard !fitting.isEmpty else { throw .notFound }
    guard let (operation, captures) = fitting.first(where: { $0.0.method == request.method }) else {
      return wrongMethod(request, allowed: fitting.map(\.0.method))
    }
    let isPrivileged = try authenticate(request, operation.access)
    if operation.access != .anybody { try Self.check(query: request) }
    let body = try body(of: request, operation)
    let target = captures["project"] ?? body["targetProjectId"]?.string
    if target != nil, !isPrivileged, operation.access == .keyOrBearer {
      throw APIError("INSUFFICIENT_PERMISSION : Only authenticated requests can specify target_project_id.")
    }
    let scope = Scope(project: target ?? world.mainProject, tenant: try tenant(captures["tenant"], body))
    if scope.tenant != nil, world.projects[scope] == nil { world[scope] = world[scope] }
    if operation.needsEnabledTenant, world[scope].tenant?.isDisabled == true { throw APIError("PROJECT_DISABLED") }
    let call = Call(request: request, captures: captures, body: body, isPrivileged: isPrivileged, scope: scope)
    return try operation.handler(call, &world)
  }

  /// The tenant that path, body and tokens agree on.
  private func tenant(_ named: String?, _ body: JSONValue) throws(APIError) -> String? {
    let mismatch = APIError("TENANT_ID_MISMATCH")
    let inBody = body["tenantId"]?.string
    if let named, let inBody, named != inBody { throw mismatch }
    var tenant = named ?? inBody
    if let claims = body["idToken"]?.string.flatMap(JWT.claims) {
      let own = try JWT.firebase(claims)["tenant"]?.string
      if let own, let tenant, own != tenant { throw mismatch }
      tenant = tenant ?? own
    }
    if let own = body["refreshToken"]?.string.flatMap(RefreshToken.content)?["tenantId"]?.string {
      if let tenant, own != tenant {
        throw APIError("TENANT_ID_MISMATCH: ((Refresh token tenant ID does not match target tenant ID.))")
      }
      tenant = tenant ?? own
    }
    return tenant
  }

  /// True for the project's owner.
  private func authenticate(_ request: HTTPRequest, _ access: Operation.Access) throws(APIError) -> Bool {
    if access == .anybody { return false }
    if access == .keyOrBearer, let bearer = Self.bearer(request) {
      guard bearer == "owner" || bearer.hasPrefix("ya29.") else { throw .invalidBearer }
      return true
    }
    let key = request.headers["x-goog-api-key"] ?? request.parameter("key") ?? ""
    guard !key.isEmpty else { throw .missingKey }
    return false
  }

  private static func bearer(_ request: HTTPRequest) -> String? {
    let words = (request.headers["authorization"] ?? "").lowercased().split(separator: " ")
    return words.count == 2 && words[0] == "bearer" ? String(words[1]) : nil
  }

  private static func check(query request: HTTPRequest) throws(APIError) {
    if let pretty = request.parameter("prettyPrint"), pretty != "true", pretty != "false" {
      throw .invalidPayload(" must be boolean")
    }
    if let alt = request.parameter("alt"), !["json", "media", "proto"].contains(alt) {
      throw .invalidPayload(" must be equal to one of the allowed values")
    }
  }

  private func body(of request: HTTPRequest, _ operation: Operation) throws(APIError) -> JSONValue {
    let (fields, takesForm): ([String: Shape], Bool)
    switch operation.body {
    case .none: return [:]
    case .json(let known): (fields, takesForm) = (known, false)
    case .jsonOrForm(let known): (fields, takesForm) = (known, true)
    }
    guard let type = request.mediaType else {
      guard operation.access != .anybody else { return [:] }
      throw .unhandled("Cannot read properties of undefined (reading '\(operation.firstField)')", reason: "TypeError")
    }
    if takesForm, type == "application/x-www-form-urlencoded" {
      let pairs = URLText.pairs(String(decoding: request.body, as: UTF8.self)).map {
        ($0.name, JSONValue.string($0.value))
      }
      return try Shape.record(fields).admit(.object(Dictionary(pairs) { first, _ in first }))
    }
    guard type == "application/json" else {
      throw APIError(400, "Invalid content-type: \(type)", reason: "unknown")
    }
    return try Shape.record(fields).admit(Self.json(request.body))
  }

  /// JSON of a request's body: an object or an array, and nothing at all for an object without members.
  private static func json(_ body: [UInt8]) throws(APIError) -> JSONValue {
    guard let first = body.first(where: { !" \t\r\n".utf8.contains($0) }) else { return [:] }
    do throws(JSONSyntaxError) {
      guard "{[".utf8.contains(first) else { throw .unexpected(Unicode.Scalar(first), in: "#") }
      return try JSONText.parse(body)
    } catch {
      throw .invalidPayload(error.message, reason: "parseError")
    }
  }

  private func preflight(_ request: HTTPRequest) -> Reply {
    Reply(
      status: 204, type: nil, body: "",
      headers: [
        ("Access-Control-Allow-Origin", request.headers["origin"] ?? "*"),
        ("Access-Control-Allow-Headers", request.headers["access-control-request-headers"] ?? ""),
        ("Access-Control-Allow-Methods", "GET,HEAD,PUT,PATCH,POST,DELETE"),
      ])
  }

  private func wrongMethod(_ request: HTTPRequest, allowed: [String]) -> Reply {
    var reply = Reply.json(
      ["message": .string("Method \(request.method) not allowed for \(request.target)")], status: 405)
    reply.headers.append(("Allow", allowed.joined(separator: ", ")))
    return reply
  }
}
