import Foundation

/// What tests of accounts that collide need: accounts at the server and at providers, flows over D-Bus, a terminal.
extension World {
  // MARK: The server's accounts

  /// An account with a password that somebody made elsewhere; its uid.
  public func madeElsewhere(_ address: String, password: String = "correct horse") async throws -> String {
    let account = try await emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=x",
      "{\"email\":\"\(address)\",\"password\":\"\(password)\"}")
    return account["localId"] as? String ?? ""
  }

  /// An account that somebody made elsewhere by signing in with a provider; its uid.
  public func madeElsewhere(by provider: String, _ claims: Claims) async throws -> String {
    try await idpAnswer(provider, claims)["localId"] as? String ?? ""
  }

  /// Adds a provider to the signed-in user's account, as another program of theirs would.
  public func linkElsewhere(_ provider: String, _ claims: Claims) async throws {
    let token = try await linkctl("token").stdout.trimmingCharacters(in: .whitespacesAndNewlines)
    _ = try await idpAnswer(provider, claims, ["idToken": token])
  }

  private func idpAnswer(_ provider: String, _ claims: Claims, _ more: [String: Any] = [:]) async throws -> [String:
    Any]
  {
    let token = claims.json.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let body: [String: Any] = [
      "requestUri": "http://localhost", "postBody": "providerId=\(provider)&id_token=\(token)",
      "returnSecureToken": true,
    ]
    return try await emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:signInWithIdp?key=x",
      String(decoding: try JSONSerialization.data(withJSONObject: body.merging(more) { $1 }), as: UTF8.self))
  }

  /// The account with that uid as the server has it; nil for none.
  public func serverAccount(_ uid: String) async throws -> [String: Any]? {
    let all = try await emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/accounts")["users"]
    return (all as? [[String: Any]])?.first { $0["localId"] as? String == uid }
  }

  /// The ways into an account, as an administrator sees them.
  public func serverProviders(_ uid: String) async throws -> [String] {
    (try await serverAccount(uid)?["providerUserInfo"] as? [[String: Any]] ?? [])
      .compactMap { $0["providerId"] as? String }.sorted()
  }

  /// A sign-in link that somebody else asked for, with `query` in its continue URL, as the page's button has it.
  public func mailedElsewhere(_ address: String, _ query: String) async throws -> String {
    _ = try await emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=x",
      """
      {"requestType":"EMAIL_SIGNIN","email":"\(address)","canHandleCodeInApp":true,
       "continueUrl":"http://\(emulatorAddress)/emulator/continue?\(query)"}
      """)
    return try await button(try await mail(address))
  }

  /// An administrator deletes the account.
  public func deleteElsewhere(_ uid: String) async throws {
    let result = try await run([
      "curl", "-fsS", "-H", "Authorization: Bearer owner", "-H", "Content-Type: application/json", "-d",
      "{\"localId\":\"\(uid)\"}",
      "http://\(emulatorAddress)/identitytoolkit.googleapis.com/v1/projects/\(World.project)/accounts:delete",
    ])
    guard result.status == 0 else { throw Failure(description: result.stderr) }
  }

  /// Turns on what hides whether an address has an account.
  public func hideAddresses() async throws {
    _ = try await emulatorJSON(
      "PATCH", "/emulator/v1/projects/\(World.project)/config",
      "{\"emailPrivacyConfig\":{\"enableImprovedEmailPrivacy\":true}}")
  }

  // MARK: Providers

  /// What a provider says about somebody.
  public struct Claims: Sendable {
    /// The provider's own id of the account.
    public var subject: String
    /// The address.
    public var email: String?
    /// Whether the provider vouches for the address.
    public var isVerified: Bool

    /// Every field.
    public init(_ subject: String, _ email: String? = nil, isVerified: Bool = true) {
      (self.subject, self.email, self.isVerified) = (subject, email, isVerified)
    }

    /// As an ID token that nobody signed.
    public var json: String {
      let address = email.map { ",\"email\":\"\($0)\",\"email_verified\":\(isVerified)" } ?? ""
      return "{\"sub\":\"\(subject)\"\(address)}"
    }
  }

  /// Lets the emulator's pages know somebody, and choose them by themselves.
  public func pagesChoose(_ claims: Claims) async throws {
    var account: [String: Any] = ["sub": claims.subject, "emailVerified": claims.isVerified]
    account["email"] = claims.email
    let control = "/emulator/v1/projects/\(World.project)"
    _ = try await emulatorJSON(
      "POST", "\(control)/providerAccounts",
      String(decoding: try JSONSerialization.data(withJSONObject: account), as: UTF8.self))
    _ = try await emulatorJSON("PATCH", "\(control)/consent", "{\"account\":\"\(claims.subject)\"}")
  }

  /// Lets `accounts:signInWithIdp` do what production does.
  public func followProduction() async throws {
    _ = try await emulatorJSON("PATCH", "/emulator/v1/projects/\(World.project)/productionRules", "{\"on\":true}")
  }

  /// Starts a flow by a provider's page, goes through the page as `claims`, and opens where it leads; the flow's id.
  public func throughPage(
    _ provider: String, _ claims: Claims, app: String = "demo", _ more: String...
  ) async throws -> String {
    try await pagesChoose(claims)
    let started = try await run(
      ["\(World.programs)/linkctl", "sign-in", provider, "--app", app, "--no-browser", "--no-wait"] + more)
    let lines = started.stdout.split(separator: "\n").map(String.init)
    guard started.status == 0, lines.count == 2 else { throw Failure(description: "sign-in: \(started)\n\(log)") }
    let page = try await run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", lines[1]])
    let opened = try await linkctl("open", "--no-wait", page.stdout)
    guard opened.status == 0 else { throw Failure(description: "open \(page.stdout): \(opened)\n\(log)") }
    return lines[0]
  }

  /// `SignInWithCredential`'s first argument.
  public func credential(_ provider: String, _ claims: Claims) -> String {
    "{'provider-id': <'\(provider)'>, 'id-token': <'\(claims.json)'>}"
  }

  /// Starts a flow with a credential that the app has got by itself; the flow's id.
  public func withCredential(
    _ provider: String, _ claims: Claims, app: String = "demo", options: String = "{}"
  ) async throws -> String {
    try await begin("SignIn.SignInWithCredential", credential(provider, claims), options: options, app: app)
  }

  // MARK: Flows on D-Bus

  /// Calls a method of an app's that starts a flow; the flow's id.
  public func begin(
    _ member: String, _ arguments: String..., options: String = "{}", app: String = "demo"
  ) async throws -> String {
    let call = ["gdbus", "call", "--session", "--dest", "org.linkd.Auth1", "--object-path"]
    let result = try await run(
      call + ["/org/linkd/Auth1/app/\(app)", "--method", "org.linkd.Auth1.\(member)"] + arguments + [options])
    guard let id = result.stdout.components(separatedBy: "/flow/").last?.prefix(while: { $0 != "'" }),
      result.status == 0
    else { throw Failure(description: "\(member): \(result.stderr)") }
    return String(id)
  }

  /// Calls a method of a flow's.
  @discardableResult
  public func flow(_ id: String, _ member: String, _ arguments: String...) async throws -> Subprocess.Result {
    try await call(id, member, arguments)
  }

  func call(_ id: String, _ member: String, _ arguments: [String]) async throws -> Subprocess.Result {
    let call = ["gdbus", "call", "--session", "--dest", "org.linkd.Auth1", "--object-path"]
    return try await run(
      call + ["/org/linkd/Auth1/flow/\(id)", "--method", "org.linkd.Auth1.Flow.\(member)"] + arguments + ["{}"])
  }

  /// Where a flow stands, and its details.
  public func flow(_ id: String) async throws -> (stage: String, details: [String: Any]) {
    let result = try await run(["/usr/bin/python3", "\(World.root)/Tests/EndToEnd/flow.py", id])
    guard let all = try? JSONSerialization.jsonObject(with: Data(result.stdout.utf8)) as? [String: Any] else {
      throw Failure(description: "flow \(id): \(result.stderr)\n\(log)")
    }
    return (all["Stage"] as? String ?? "", all["Details"] as? [String: Any] ?? [:])
  }

  /// The details of a flow once it stands at `stage`.
  @discardableResult
  public func flow(_ id: String, at stage: String) async throws -> [String: Any] {
    var last: (stage: String, details: [String: Any]) = ("", [:])
    try await eventually("flow \(id) at \(stage)") {
      last = try await flow(id)
      let isOver = ["succeeded", "failed", "cancelled", "expired"].contains(last.stage)
      if isOver, last.stage != stage { throw Failure(description: "\(last)\n\(log)") }
      return last.stage == stage
    }
    return last.details
  }

  /// `conflict` of a flow's details, once it stands there.
  public func conflict(_ id: String) async throws -> [String: Any] {
    try await flow(id, at: "conflict")["conflict"] as? [String: Any] ?? [:]
  }

  // MARK: The session

  /// A world whose apps let guests become users.
  public static func startUpgrading(apps: [String] = ["demo"]) async throws -> World {
    let world = try await start(apps: apps)
    for app in apps { try await world.setOptions(["auto-upgrade-anonymous": true], app: app) }
    return world
  }

  /// Signs in as a guest; its uid.
  public func becomeGuest(app: String = "demo") async throws -> String {
    let result = try await linkctl("sign-in", "anonymous", "--app", app)
    guard result.status == 0 else { throw Failure(description: "anonymous: \(result.stderr)") }
    return try await uid(app: app) ?? ""
  }

  /// The signed-in user's uid.
  public func uid(app: String = "demo") async throws -> String? { try await whoami(app: app)["uid"] as? String }

  /// The ways into the signed-in user's account, as linkd knows them.
  public func providers(app: String = "demo") async throws -> [String] {
    (try await whoami(app: app)["providers"] as? [[String: Any]] ?? []).compactMap { $0["provider-id"] as? String }
      .sorted()
  }

  /// How the session was signed in to.
  public func signInMethod(app: String = "demo") async throws -> String? {
    try await json("status", "--app", app).last?["sign-in-method"] as? String
  }

  /// Sets options of an app in its file.
  public func setOptions(_ options: [String: Any], app: String = "demo") async throws {
    try await changeFile(of: app) { content in
      content["options"] = (content["options"] as? [String: Any] ?? [:]).merging(options) { $1 }
    }
  }

  /// Sets the ways of signing in that an app lists.
  public func setProviders(_ ids: [String], app: String = "demo") async throws {
    try await changeFile(of: app) { content in content["providers"] = ids.map { ["id": $0] } }
  }

  private func changeFile(of app: String, _ change: (inout [String: Any]) -> Void) async throws {
    let file = URL(fileURLWithPath: home.file("config/linkd/apps.d/\(app).json"))
    var content = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
    change(&content)
    try JSONSerialization.data(withJSONObject: content).write(to: file, options: .atomic)
    let result = try await gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.ReloadApps", "{}")
    guard result.status == 0 else { throw Failure(description: "ReloadApps: \(result.stderr)") }
  }
}
