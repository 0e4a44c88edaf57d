import Foundation
import Synchronization

/// What tests of phone numbers and second factors need: the emulator's text messages, its page that tells people from programs,
/// authenticator apps, accounts with factors.
extension World {
  // MARK: Text messages

  /// Codes of messages to `number` that nobody has used yet, oldest first.
  public func messages(_ number: String) async throws -> [String] {
    let all = try await emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/verificationCodes")
    return (all["verificationCodes"] as? [[String: Any]] ?? []).filter { $0["phoneNumber"] as? String == number }
      .compactMap { $0["code"] as? String }
  }

  /// The code of the `count`th message to `number` that isn't used yet, once it has been sent.
  public func message(_ number: String, count: Int = 1) async throws -> String {
    var found: [String] = []
    try await eventually("message \(count) to \(number)") {
      found = try await messages(number)
      return found.count >= count
    }
    return found[count - 1]
  }

  /// Another code of as many digits.
  public static func wrong(_ code: String) -> String {
    String(code.map { $0 == "9" ? "0" : Character("\(($0.wholeNumberValue ?? 0) + 1)") })
  }

  /// Says what the project asks for before it sends a message, and how long its code counts.
  public func setPhone(_ settings: [String: Any]) async throws { try await control("PATCH", "phone", settings) }

  /// Says what second factors are like.
  public func setFactors(_ settings: [String: Any]) async throws { try await control("PATCH", "factors", settings) }

  // MARK: Flows

  /// Starts a sign-in by phone; the flow's id.
  public func byPhone(_ number: String, options: String = "{}", app: String = "demo") async throws -> String {
    try await begin("SignIn.SignInWithPhoneNumber", number, options: options, app: app)
  }

  /// Gives the code of the last message to `number` to a flow that waits for it.
  @discardableResult
  public func answer(_ flow: String, _ number: String, to stage: String = "succeeded") async throws -> [String: Any] {
    try await self.flow(flow, at: "waiting-for-code")
    guard let code = try await messages(number).last else { throw Failure(description: "no message to \(number)") }
    return try await answer(flow, code: code, to: stage)
  }

  /// Gives a code to a flow.
  @discardableResult
  public func answer(_ flow: String, code: String, to stage: String = "succeeded") async throws -> [String: Any] {
    try await tell(flow, "ProvideCode", code)
    return try await self.flow(flow, at: stage)
  }

  /// Signs in by phone, from the call to the session.
  public func signIn(phone number: String, app: String = "demo") async throws {
    try await answer(try await byPhone(number, app: app), number)
  }

  /// Waits until a flow stands at `stage` with an error of that name; its details.
  @discardableResult
  public func flow(_ id: String, at stage: String, _ error: String?) async throws -> [String: Any] {
    try await wait(for: WaitingFlow(id: id, url: ""), stage, error)
    return try await flow(id).details
  }

  /// The name of the error that a call was refused with.
  public static func refusal(_ result: Subprocess.Result) -> String? {
    result.stderr.firstMatch(of: /org\.linkd\.Auth1\.Error\.(\w+)/).map { String($0.1) }
  }

  /// Calls a method that is to refuse to start a flow; the error's name.
  public func refused(
    _ member: String, _ arguments: String..., options: String = "{}", app: String = "demo"
  ) async throws -> String? {
    let call = ["gdbus", "call", "--session", "--dest", "org.linkd.Auth1", "--object-path"]
    let result = try await run(
      call + ["/org/linkd/Auth1/app/\(app)", "--method", "org.linkd.Auth1.\(member)"] + arguments + [options])
    if result.status == 0 { throw Failure(description: "\(member) wasn't refused: \(result.stdout)") }
    return World.refusal(result) ?? result.stderr
  }

  /// A program that starts a flow and does more as its starter (`starter.py`): its answer.
  public func starter(app: String = "demo", _ steps: [[Any]]) async throws -> [String: Any] {
    let text = String(decoding: try JSONSerialization.data(withJSONObject: steps), as: UTF8.self)
    let result = try await run(["/usr/bin/python3", "\(World.root)/Tests/EndToEnd/starter.py", app, text])
    guard let answer = try? JSONSerialization.jsonObject(with: Data(result.stdout.utf8)) as? [String: Any] else {
      throw Failure(description: "starter: \(result.stderr)\n\(log)")
    }
    return answer
  }

  // MARK: The page that tells people from programs

  /// Starts a flow for which the server wants the page: the flow, and the page.
  public func toPage(
    _ member: String, _ arguments: [String], options: [String: Any] = [:], app: String = "demo"
  ) async throws -> WaitingFlow {
    let begin: [Any] = ["begin", member, arguments, ["open-browser": false].merging(options) { $1 }]
    return try await page(app: app, [begin, ["at", "waiting-for-captcha"], ["call", "GetUrl", []]])
  }

  /// The same for steps of one's own, of which the last is `GetUrl`.
  public func page(app: String = "demo", _ steps: [[Any]]) async throws -> WaitingFlow {
    let answer = try await starter(app: app, steps)
    guard let id = answer["flow"] as? String, let url = (answer["GetUrl"] as? [String])?.first else {
      throw Failure(description: "no page: \(answer)")
    }
    return WaitingFlow(id: id, url: url)
  }

  /// Where one of the page's buttons leads: `continue` or `cancel`.
  public func press(_ button: String, _ page: WaitingFlow) async throws -> String {
    let text = try await run(["curl", "-fsS", page.url]).stdout
    let link = try Regex("id=\"\(button)\"[^>]*href=\"([^\"]*)\"")
    guard let found = try link.firstMatch(in: text)?.output[1].substring else {
      throw Failure(description: "no \(button) at \(page.url): \(text)")
    }
    return found.replacingOccurrences(of: "&amp;", with: "&")
  }

  /// What the page sends back, with other parameters than its own.
  public func pageAnswer(_ parameters: [(String, String)]) -> String {
    let query = ([("authType", "verifyApp")] + parameters).map { "\($0.0)=\(World.encoded($0.1))" }
    let inner = "http://\(emulatorAddress)/__/auth/callback?" + query.joined(separator: "&")
    return "app-1-123456789012-web-0a1b2c3d4e5f://firebaseauth/link?deep_link_id=\(World.encoded(inner))"
  }

  // MARK: Second factors

  /// Chooses a factor, and waits for what follows.
  @discardableResult
  public func choose(
    _ uid: String?, _ flow: String, to stage: String = "waiting-for-code"
  ) async throws -> [String: Any] {
    guard let uid else { throw Failure(description: "no factor of that name") }
    try await tell(flow, "ChooseFactor", uid)
    return try await self.flow(flow, at: stage)
  }

  /// An app that offers second factors, of a project that has authenticator apps.
  public func offerFactors(app: String = "demo", _ more: [String: Any] = [:]) async throws {
    try await setOptions(["mfa-enabled": true].merging(more) { $1 }, app: app)
    try await asOwner(
      "PATCH", "v2/projects/\(World.project)/config?updateMask=mfa",
      ["mfa": ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": [String: Any]()]]]])
  }

  /// A call to the server as its administrator.
  @discardableResult
  public func asOwner(_ method: String, _ path: String, _ body: [String: Any]) async throws -> [String: Any] {
    let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
    let result = try await run([
      "curl", "-fsS", "-X", method, "-H", "Authorization: Bearer owner", "-H", "Content-Type: application/json", "-d",
      text, "http://\(emulatorAddress)/identitytoolkit.googleapis.com/\(path)",
    ])
    guard result.status == 0 else { throw Failure(description: "\(path): \(result.stderr)") }
    return try JSONSerialization.jsonObject(with: Data(result.stdout.utf8)) as? [String: Any] ?? [:]
  }

  /// An account with a proved address and a password; its uid.
  public func verifiedAccount(_ address: String, password: String = "correct horse") async throws -> String {
    let account = try await asOwner(
      "POST", "v1/accounts:signUp?key=x", ["email": address, "password": password, "emailVerified": true])
    return account["localId"] as? String ?? ""
  }

  /// Codes of an authenticator app that were asked for, by its secret.
  private static let shown = Mutex<[String: Int]>([:])

  /// What an authenticator app shows, by a program that isn't ours. The server takes each code once, so each is another one: of
  /// a minute and a half ago, of a minute ago, and so on.
  public func totp(_ secret: String, digits: Int = 6, period: Int = 30, hash: String = "SHA1") async throws -> String {
    let count = Self.shown.withLock { shown in
      shown[secret, default: 0] += 1
      return shown[secret, default: 0]
    }
    let moment = Int(Date().timeIntervalSince1970) + (count - 4) * period
    let result = try await run([
      "/usr/bin/oathtool", "--totp=\(hash)", "--base32", "--digits=\(digits)", "--time-step-size=\(period)s",
      "--now=@\(moment)", secret,
    ])
    guard result.status == 0 else { throw Failure(description: "oathtool: \(result.stderr)") }
    return result.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Starts the enrollment of an authenticator app: the flow, its secret, and what a QR code would show.
  public func beginTOTP(
    _ name: String = "App", app: String = "demo"
  ) async throws -> (flow: String, secret: String, uri: String) {
    let answer = try await starter(
      app: app,
      [["begin", "Account.EnrollTotpFactor", [name], [:]], ["at", "waiting-for-code"], ["call", "GetSecret", []]])
    guard let flow = answer["flow"] as? String, let values = answer["GetSecret"] as? [Any], values.count == 3,
      let secret = values[0] as? String, let uri = values[1] as? String
    else { throw Failure(description: "no secret: \(answer)") }
    return (flow, secret, uri)
  }

  /// Makes an authenticator app a second factor of whoever is signed in; its secret.
  public func enrollTOTP(_ name: String = "App", app: String = "demo") async throws -> String {
    let enrollment = try await beginTOTP(name, app: app)
    try await answer(enrollment.flow, code: try await totp(enrollment.secret))
    return enrollment.secret
  }

  /// Makes a phone a second factor of whoever is signed in.
  public func enrollPhone(_ number: String, _ name: String = "Phone", app: String = "demo") async throws {
    try await answer(try await begin("Account.EnrollPhoneFactor", number, name, app: app), number)
  }

  /// The second factors of the signed-in user's account, as linkd knows them.
  public func factors(app: String = "demo") async throws -> [[String: Any]] {
    try await whoami(app: app)["second-factors"] as? [[String: Any]] ?? []
  }

  /// The uid of the account's second factor of that name, by the server's word.
  public func factor(_ name: String, of uid: String) async throws -> String {
    let all = try await serverAccount(uid)?["mfaInfo"] as? [[String: Any]] ?? []
    guard let found = all.first(where: { $0["displayName"] as? String == name })?["mfaEnrollmentId"] as? String else {
      throw Failure(description: "\(uid) has no factor \(name): \(all)")
    }
    return found
  }

  /// Signs in by password, up to where a second factor is wanted; the flow's id.
  public func toSecondFactor(
    _ address: String, _ password: String = "correct horse", app: String = "demo"
  ) async throws -> String {
    let flow = try await begin("SignIn.SignInWithPassword", address, password, app: app)
    try await self.flow(flow, at: "second-factor-required")
    return flow
  }
}
