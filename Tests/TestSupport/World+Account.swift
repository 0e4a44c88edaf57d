import Foundation

/// What tests of the account need: logins that have become old, second factors, and the ways to sign in again.
extension World {
  /// A way to sign in, and to do so again.
  public enum Way: String, CaseIterable, Sendable, CustomStringConvertible {
    case password, emailLink, provider, phone

    /// The word of the case.
    public var description: String { rawValue }
    /// `kind` of `reauthentication` (contract: Flow).
    public var kind: String {
      switch self {
      case .password: "password"
      case .emailLink: "email-link"
      case .provider: "oauth"
      case .phone: "phone"
      }
    }
  }

  /// The number that `signIn(by: .phone)` has.
  public static let ownNumber = "+15555550100"
  /// The number of the second factor that `addPhoneFactor` gives.
  public static let factorNumber = "+15555550177"

  // MARK: The server's side

  /// A change that an administrator makes to an account.
  public func administrate(_ uid: String, _ change: [String: Any]) async throws {
    try await asOwner(
      "POST", "v1/projects/\(World.project)/accounts:update", change.merging(["localId": uid]) { $1 })
  }

  /// Makes every login so far old.
  public func lapseLogins() async throws { try await control("POST", "recentLogin:lapse") }

  /// Ends every token of an account, and waits until new ones are younger than that.
  public func revokeTokens(of uid: String) async throws {
    let end = Int(Date().timeIntervalSince1970) + 1
    try await administrate(uid, ["validSince": String(end)])
    try await eventually("tokens of another second") { Int(Date().timeIntervalSince1970) >= end }
  }

  /// Gives an account a phone as a second factor, and a proved address, without which it can't have one.
  public func addPhoneFactor(to uid: String, _ number: String = World.factorNumber, id: String = "second") async throws
  {
    let factor = ["mfaEnrollmentId": id, "phoneInfo": number, "displayName": "Work"]
    try await administrate(uid, ["emailVerified": true, "mfa": ["enrollments": [factor]]])
  }

  // MARK: Signing in, and again

  /// Signs in to an account of `name`'s; its uid.
  public func signIn(by way: Way, _ name: String = "ada", app: String = "demo", number: String = World.ownNumber)
    async throws -> String
  {
    let address = "\(name)@example.com"
    switch way {
    case .password:
      let uid = try await madeElsewhere(address)
      let flow = try await begin("SignIn.SignInWithPassword", address, "correct horse", app: app)
      try await self.flow(flow, at: "succeeded")
      return uid
    case .emailLink: try await signIn(address, app: app, scheme: schemeOf(app))
    case .provider:
      let flow = try await throughPage("facebook.com", claims(name), app: app)
      try await self.flow(flow, at: "succeeded")
    case .phone: try await signIn(phone: number, app: app)
    }
    return try await uid(app: app) ?? ""
  }

  /// Starts a flow in which the user signs in again, in the way that they did before.
  public func reauthenticate(by way: Way, app: String = "demo") async throws -> String {
    guard way == .provider else { return try await begin("Account.Reauthenticate", app: app) }
    let argv = ["\(World.programs)/linkctl", "reauthenticate", "--app", app, "--no-browser", "--no-wait", "--json"]
    let result = try await run(argv)
    guard result.status == 0, let line = result.stdout.split(separator: "\n").last,
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      let id = object["flow"] as? String, let url = object["url"] as? String
    else { throw Failure(description: "reauthenticate: \(result.stdout)\(result.stderr)\n\(log)") }
    _ = try home.write(url, to: "page-\(id)")
    return id
  }

  /// Gives what a flow that `reauthenticate` began waits for: the first factor.
  public func giveFirstFactor(
    _ flow: String, by way: Way, _ name: String = "ada", app: String = "demo", number: String = World.ownNumber,
    as claims: Claims? = nil
  ) async throws {
    switch way {
    case .password:
      try await self.flow(flow, at: "waiting-for-password")
      try await tell(flow, "ProvidePassword", "correct horse")
    case .emailLink:
      try await self.flow(flow, at: "waiting-for-link")
      try await open(try await button(try await mail("\(name)@example.com"), scheme: schemeOf(app)))
    case .provider:
      try await pagesChoose(claims ?? self.claims(name))
      let url = try String(contentsOfFile: home.file("page-\(flow)"), encoding: .utf8)
      try await open(try await run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", url]).stdout)
    case .phone:
      try await self.flow(flow, at: "waiting-for-code")
      try await tell(flow, "ProvideCode", try await message(number))
    }
  }

  /// Gives the first factor, and waits until that was enough.
  public func prove(
    _ flow: String, by way: Way, _ name: String = "ada", app: String = "demo", number: String = World.ownNumber
  ) async throws {
    try await giveFirstFactor(flow, by: way, name, app: app, number: number)
    try await self.flow(flow, at: "succeeded")
  }

  /// Gives the code of a second factor that is a phone, and waits until that was enough.
  public func giveSecondFactor(_ flow: String, _ uid: String = "second") async throws {
    try await self.flow(flow, at: "second-factor-required")
    try await choose(uid, flow)
    try await answer(flow, World.factorNumber)
  }

  /// Calls a method of a flow's, which has to be taken.
  public func tell(_ flow: String, _ member: String, _ argument: String? = nil) async throws {
    let arguments = argument.map { [$0] } ?? []
    let result = try await call(flow, member, arguments)
    guard result.status == 0 else { throw Failure(description: "\(member): \(result.stderr)\n\(log)") }
  }

  /// `reauthentication` of a flow that is parked.
  public func parked(_ flow: String) async throws -> [String: Any] {
    try await self.flow(flow, at: "reauthentication-required")["reauthentication"] as? [String: Any] ?? [:]
  }

  private func open(_ url: String) async throws {
    let result = try await linkctl("open", "--no-wait", url)
    guard result.status == 0 else { throw Failure(description: "open: \(result.stderr)\n\(log)") }
  }

  private func claims(_ name: String) -> Claims { Claims("fb-\(name)", "\(name)@example.com") }

  private func schemeOf(_ app: String) -> String { app == "demo" ? World.scheme : "\(World.scheme).\(app)" }
}
