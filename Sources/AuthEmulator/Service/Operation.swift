import AuthCore

/// One call as its handler sees it: authenticated and with a body of the right shape.
struct Call: Sendable {
  let request: HTTPRequest
  /// What the path's placeholders stood for.
  let captures: [String: String]
  let body: JSONValue
  /// `Authorization: Bearer owner` and the like: the caller administers the project.
  let isPrivileged: Bool
  let scope: Scope

  /// The call as one of a tenant.
  func within(tenant: String?) -> Call {
    Call(
      request: request, captures: captures, body: body, isPrivileged: isPrivileged,
      scope: Scope(project: scope.project, tenant: tenant))
  }

  /// A text of the body; nil where it's absent.
  subscript(_ field: String) -> String? { body[field]?.string }

  /// A text of the body; nil also where it's empty.
  func filled(_ field: String) -> String? { self[field].flatMap { $0.isEmpty ? nil : $0 } }
}

/// One row of the service: what it answers to, and how.
struct Operation: Sendable {
  /// Who may call.
  enum Access: Sendable {
    /// Any API key, or a bearer token that stands for the project's owner.
    case keyOrBearer
    /// An API key; bearer tokens don't count.
    case key
    /// Anybody: pages and the control endpoints.
    case anybody
  }

  enum Body: Sendable {
    case none
    case json([String: Shape])
    case jsonOrForm([String: Shape])
  }

  typealias Handler = @Sendable (_ call: Call, _ world: inout World) throws(APIError) -> Reply

  let name: String
  var method = "POST"
  /// Paths with `{project}` placeholders.
  var paths: [String]
  var access = Access.keyOrBearer
  var body: Body = .none
  /// The field whose absence shows when the request has no body at all.
  var firstField = "idToken"
  /// Whether a tenant whose authentication is off refuses it.
  var needsEnabledTenant = false
  let handler: Handler

  /// A call of the Identity Toolkit: `accounts:signUp`, also below a project and a tenant
  /// (`projects/{project}/accounts:signUp`), and under its name of the old service (identity-toolkit 1.2).
  static func toolkit(
    _ path: String, version: String = "v1", legacy: String? = nil, fields: [String: Shape],
    firstField: String = "idToken",
    handler: @escaping Handler
  ) -> Operation {
    let base = "/identitytoolkit.googleapis.com/\(version)/"
    let old = legacy.map { "/www.googleapis.com/identitytoolkit/v3/relyingparty/\($0)" }
    let below = ["projects/{project}/", "projects/{project}/tenants/{tenant}/"].map { base + $0 + path }
    return Operation(
      name: path, paths: [base + path] + below + (old.map { [$0] } ?? []),
      body: .json(fields.merging(["targetProjectId": .text, "tenantId": .text]) { $1 }), firstField: firstField,
      needsEnabledTenant: true, handler: handler)
  }

  /// What the placeholders stand for if one of the paths fits; nil if none does.
  func captures(_ path: String) -> [String: String]? {
    for template in paths {
      if let captures = Self.match(path, template) { return captures }
    }
    return nil
  }

  private static func match(_ path: String, _ template: String) -> [String: String]? {
    let have = path.split(separator: "/", omittingEmptySubsequences: false)
    let want = template.split(separator: "/", omittingEmptySubsequences: false)
    guard have.count == want.count else { return nil }
    var captures: [String: String] = [:]
    for (segment, pattern) in zip(have, want) where segment != pattern {
      guard pattern.first == "{", let close = pattern.firstIndex(of: "}") else { return nil }
      let suffix = pattern[pattern.index(after: close)...]
      guard segment.hasSuffix(suffix), segment.count > suffix.count else { return nil }
      let value = segment.dropLast(suffix.count)
      guard !value.contains(":") else { return nil }
      captures[String(pattern.dropFirst().prefix { $0 != "}" })] = URLText.decode(value, plusIsSpace: false)
    }
    return captures
  }
}
