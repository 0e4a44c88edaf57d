import Foundation
import TestSupport
import Testing

/// Second factors of an account come and go (behaviour: Second factors; identity-toolkit 2.18, 8.9).
@Suite("Second factors come and go", .timeLimit(.minutes(4)))
struct SecondFactorTests {
  private static let number = PhoneTests.number
  private static let hasCompiler = access("/usr/bin/cc", X_OK) == 0

  /// Ada, whose address is proved, is signed in to an app that offers second factors.
  private func signedIn(_ more: [String: Any] = [:]) async throws -> World {
    let world = try await World.start()
    try await world.offerFactors(more)
    try await signIn(world)
    return world
  }

  private func signIn(_ world: World) async throws {
    _ = try await world.verifiedAccount("ada@example.com")
    let flow = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
    try await world.flow(flow, at: "succeeded")
  }

  private func query(_ uri: String) -> [String: String] {
    let items = URLComponents(string: uri)?.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
  }

  // MARK: They come

  @Test(
    "an authenticator app, with whatever codes the server wants: its secret is the starter's alone",
    arguments: [(6, 30, "SHA1"), (8, 60, "SHA256")])
  func totp(digits: Int, period: Int, hash: String) async throws {
    let world = try await signedIn(["mfa-issuer": "Example App"])
    try await world.setFactors(["digits": digits, "period": period, "algorithm": hash])
    let uid = try await world.uid()
    let (flow, secret, uri) = try await world.beginTOTP("My & app")
    let details = try await world.flow(flow, at: "waiting-for-code")
    #expect(details["kind"] as? String == "totp" && details["code-length"] as? Int == digits)
    #expect(details["attempts-left"] as? Int == 5 && details["phone-number"] == nil && details["can-resend-at"] == nil)
    #expect(uri.hasPrefix("otpauth://totp/Example%20App:ada%40example.com?"), "\(uri)")
    #expect(
      query(uri) == [
        "secret": secret, "issuer": "Example App", "algorithm": hash, "digits": "\(digits)", "period": "\(period)",
      ])
    #expect(World.refusal(try await world.flow(flow, "GetSecret")) == "AccessDenied")
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "NoSuchFlow")
    #expect(try await world.factors().isEmpty)
    let code = try await world.totp(secret, digits: digits, period: period, hash: hash)
    #expect(code.count == digits)
    #expect(
      World.refusal(try await world.flow(flow, "ProvideCode", String(code.dropLast()))) == "InvalidVerificationCode")
    #expect(try await world.flow(flow, "ProvideCode", World.wrong(code)).status == 0)
    let again = try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    #expect(again["attempts-left"] as? Int == 4)
    try await world.answer(flow, code: code)
    let factors = try await world.factors()
    #expect(factors.count == 1 && factors[0]["kind"] as? String == "totp")
    #expect(factors[0]["display-name"] as? String == "My & app" && factors[0]["phone-number"] == nil)
    #expect(factors[0]["enrolled-at"] as? Int != nil && (factors[0]["uid"] as? String)?.isEmpty == false)
    #expect(try await world.uid() == uid)
    #expect(try await world.signInMethod() == "password")
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  @Test("a phone: the number is whole for who gives it, and masked ever after")
  func phone() async throws {
    let world = try await signedIn()
    let flow = try await world.begin(
      "Account.EnrollPhoneFactor", "(555) 555-0100", "Mobile", options: "{'region': <'US'>}")
    let details = try await world.flow(flow, at: "waiting-for-code")
    #expect(details["kind"] as? String == "phone" && details["phone-number"] as? String == Self.number)
    #expect(details["can-resend-at"] as? Int != nil && details["attempts-left"] as? Int == 5)
    let code = try await world.message(Self.number)
    #expect(try await world.flow(flow, "ProvideCode", World.wrong(code)).status == 0)
    try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    try await world.answer(flow, code: code)
    let factor = try #require(try await world.factors().first)
    #expect(factor["kind"] as? String == "phone" && factor["display-name"] as? String == "Mobile")
    let masked = try #require(factor["phone-number"] as? String)
    #expect(masked == "+*******0100")
    // It's no way into the account, and no number of it.
    #expect(try await world.providers() == ["password"])
    #expect(try await world.whoami()["phone-number"] == nil)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  @Test("a phone whose message takes the page gets it, and several factors stand side by side")
  func several() async throws {
    let world = try await signedIn()
    _ = try await world.enrollTOTP("App")
    try await world.setPhone(["captcha": true])
    let page = try await world.toPage("Account.EnrollPhoneFactor", [Self.number, "Mobile"])
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
    try await world.answer(page.id, Self.number)
    #expect(try await world.factors().map { $0["display-name"] as? String } == ["App", "Mobile"])
  }

  @Test("who wants no more of it gives up, and nothing is enrolled")
  func cancelled() async throws {
    let world = try await signedIn()
    let (flow, secret, _) = try await world.beginTOTP()
    #expect(try await world.flow(flow, "Cancel").status == 0)
    try await world.flow(flow, at: "cancelled")
    #expect(World.refusal(try await world.flow(flow, "ProvideCode", try await world.totp(secret))) == "NoSuchFlow")
    #expect(try await world.requests("mfaEnrollment:finalize") == 0)
  }

  @Test("B089: two enrollments of each kind at once, in two apps: each has its own secret and number")
  func manyAtOnce() async throws {
    let world = try await World.startWithFactors(apps: ["demo", "other"])
    for (app, address) in [("demo", "ada@example.com"), ("other", "bob@example.com")] {
      _ = try await world.verifiedAccount(address)
      let flow = try await world.begin("SignIn.SignInWithPassword", address, "correct horse", app: app)
      try await world.flow(flow, at: "succeeded")
    }
    let numbers = ["demo": ["+15555550111", "+15555550112"], "other": ["+15555550121", "+15555550122"]]
    var apps: [(flow: String, secret: String)] = []
    var phones: [(flow: String, number: String)] = []
    for app in ["demo", "other"] {
      for index in 0...1 {
        let begun = try await world.beginTOTP("App \(index)", app: app)
        apps.append((begun.flow, begun.secret))
        let number = try #require(numbers[app]?[index])
        phones.append((try await world.begin("Account.EnrollPhoneFactor", number, "Phone \(index)", app: app), number))
      }
    }
    #expect(Set(apps.map(\.secret)).count == 4)
    // Its neighbour's code isn't its own.
    #expect(try await world.flow(apps[1].flow, "ProvideCode", try await world.totp(apps[0].secret)).status == 0)
    let refused = try await world.flow(apps[1].flow, at: "waiting-for-code", "InvalidVerificationCode")
    #expect(refused["attempts-left"] as? Int == 4)
    for phone in phones.reversed() { try await world.answer(phone.flow, code: try await world.message(phone.number)) }
    for app in apps.reversed() { try await world.answer(app.flow, code: try await world.totp(app.secret)) }
    for app in ["demo", "other"] {
      let names = try await world.factors(app: app).compactMap { $0["display-name"] as? String }
      #expect(names.sorted() == ["App 0", "App 1", "Phone 0", "Phone 1"])
    }
  }

  // MARK: They go

  @Test("removed by its uid: the others stay, and the next sign-in doesn't ask for it")
  func removed() async throws {
    let world = try await signedIn()
    let secret = try await world.enrollTOTP("App")
    try await world.enrollPhone(Self.number, "Mobile")
    let factors = try await world.factors()
    let mobile = try #require(factors.first { $0["kind"] as? String == "phone" }?["uid"] as? String)
    #expect(try await world.refused("Account.UnenrollFactor", "nobody") == "FactorNotFound")
    try await world.flow(try await world.begin("Account.UnenrollFactor", mobile), at: "succeeded")
    #expect(try await world.factors().map { $0["kind"] as? String } == ["totp"])
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    #expect(try await world.refused("Account.UnenrollFactor", mobile) == "FactorNotFound")
    #expect(try await world.linkctl("sign-out").status == 0)
    let flow = try await world.toSecondFactor("ada@example.com")
    #expect(try await world.hints(flow).map { $0["kind"] as? String } == ["totp"])
    try await world.answer(flow, code: try await world.totp(secret))
    let app = try #require(try await world.factors().first?["uid"] as? String)
    try await world.flow(try await world.begin("Account.UnenrollFactor", app), at: "succeeded")
    #expect(try await world.factors().isEmpty)
    #expect(try await world.linkctl("sign-out").status == 0)
    let plain = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
    try await world.flow(plain, at: "succeeded")
  }

  // MARK: Refused

  @Test("an app that doesn't offer them refuses at once, and offers what its file lists alone")
  func notOffered() async throws {
    let world = try await World.start()
    try await signIn(world)
    #expect(try await world.refused("Account.EnrollTotpFactor", "App") == "OperationNotAllowed")
    #expect(try await world.refused("Account.EnrollPhoneFactor", Self.number, "Mobile") == "OperationNotAllowed")
    for (kind, member) in [("phone", "EnrollTotpFactor"), ("totp", "EnrollPhoneFactor")] {
      try await world.setOptions(["mfa-enabled": true, "allowed-second-factors": [kind]])
      let arguments = kind == "phone" ? ["App", "{}"] : [Self.number, "Mobile", "{}"]
      let refused = try await world.run(
        ["gdbus", "call", "--session", "--dest", "org.linkd.Auth1", "--object-path", "/org/linkd/Auth1/app/demo"]
          + ["--method", "org.linkd.Auth1.Account.\(member)"] + arguments)
      #expect(World.refusal(refused) == "OperationNotAllowed" && refused.stderr.contains("second factor"), "\(refused)")
    }
    #expect(try await world.requests("mfaEnrollment:start") == 0)
    // A project may have no authenticator apps.
    try await world.setOptions(["mfa-enabled": true, "allowed-second-factors": ["totp"]])
    let flow = try await world.begin("Account.EnrollTotpFactor", "App")
    #expect(try await world.flow(flow, at: "failed", "OperationNotAllowed")["retry"] as? Bool == false)
    #expect(try await world.linkctl("sign-out").status == 0)
    #expect(try await world.refused("Account.EnrollTotpFactor", "App") == "NoCurrentUser")
  }

  @Test("the server's own reasons are said by their names")
  func serversReasons() async throws {
    let world = try await signedIn()
    try await world.enrollPhone(Self.number, "Mobile")
    let twice = try await world.begin("Account.EnrollPhoneFactor", Self.number, "Again")
    #expect(try await world.flow(twice, at: "failed", "SecondFactorExists")["retry"] as? Bool == false)
    try await world.fault(["path": "mfaEnrollment:start", "error": "SECOND_FACTOR_LIMIT_EXCEEDED", "times": 1])
    let many = try await world.begin("Account.EnrollPhoneFactor", PhoneTests.other, "Sixth")
    try await world.flow(many, at: "failed", "SecondFactorLimit")
    #expect(try await world.factors().count == 1)
    // An address that nobody has proved.
    try await world.createUser("bob@example.com", "correct horse")
    for flow in [
      try await world.begin("Account.EnrollTotpFactor", "App"),
      try await world.begin("Account.EnrollPhoneFactor", PhoneTests.other, "Mobile"),
    ] { try await world.flow(flow, at: "failed", "UnverifiedEmail") }
    // A first factor that is no better than a second one.
    try await world.signIn(phone: PhoneTests.other)
    try await world.flow(
      try await world.begin("Account.EnrollTotpFactor", "App"), at: "failed", "UnsupportedFirstFactor")
  }

  @Test("five wrong codes of an authenticator app are enough, and there's no other message to ask for")
  func lastWrong() async throws {
    let world = try await signedIn()
    let (flow, secret, _) = try await world.beginTOTP()
    let wrong = World.wrong(try await world.totp(secret))
    for _ in 1...5 {
      try await world.flow(flow, at: "waiting-for-code")
      #expect(try await world.flow(flow, "ProvideCode", wrong).status == 0)
    }
    #expect(try await world.flow(flow, at: "failed", "InvalidVerificationCode")["retry"] as? Bool == false)
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "NoSuchFlow")
    #expect(try await world.factors().isEmpty)
  }

  @Test("an enrollment that took too long says start again")
  func tooLong() async throws {
    let world = try await signedIn()
    let (flow, secret, _) = try await world.beginTOTP()
    try await world.fault(["path": "mfaEnrollment:finalize", "error": "SESSION_EXPIRED", "times": 1])
    #expect(try await world.flow(flow, "ProvideCode", try await world.totp(secret)).status == 0)
    #expect(try await world.flow(flow, at: "failed", "SessionExpired")["retry"] as? Bool == false)
    // The server says how long it has.
    try await world.setFactors(["enrollmentLifetime": 60])
    let before = Int(Date().timeIntervalSince1970)
    let next = try await world.beginTOTP()
    let end = try #require(try await world.flow(next.flow, at: "waiting-for-code")["expires-at"] as? Int)
    #expect((before + 55...before + 80).contains(end))
    try await world.answer(next.flow, code: try await world.totp(next.secret))
  }

  @Test(
    "a wrong code of an authenticator app names the clock, if that's more than 15 seconds off",
    .enabled(if: hasCompiler, "needs cc"), arguments: [100, -100, 5])
  func clock(_ seconds: Int) async throws {
    let world = try await World.start()
    try await world.killDaemon()
    try world.setDaemon(try await world.clocks())
    _ = try world.home.write("\(seconds)\n", to: "clock")
    try await world.offerFactors()
    try await signIn(world)
    let (flow, secret, _) = try await world.beginTOTP()
    #expect(try await world.flow(flow, "ProvideCode", World.wrong(try await world.totp(secret))).status == 0)
    let details = try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    #expect((details["message"] as? String)?.contains("clock") == (abs(seconds) > 15), "\(details)")
    try await world.answer(flow, code: try await world.totp(secret))
  }
}
