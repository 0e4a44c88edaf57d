import Foundation
import TestSupport
import Testing

/// Mailed links that change the account, second factors that go, and deletion (contract: Account, Links).
@Suite("Links, factors and the end of the account", .timeLimit(.minutes(3)))
struct AccountLinksTests {
  private static let error = ConflictTests.error
  private static let account = "org.linkd.Auth1.Account"

  // MARK: Links

  @Test(
    "B120: an address that a browser has verified is verified here once the session looks, or its link is opened here",
    arguments: ["ReloadUser", "link"])
  func verifiedElsewhere(_ way: String) async throws {
    let world = try await World.start()
    _ = try await world.signIn(by: .password)
    let demo = "/org/linkd/Auth1/app/demo"
    #expect(try await world.gdbus(demo, "\(Self.account).SendEmailVerification", "{}").status == 0)
    let link = try await world.mail("ada@example.com")
    // A browser opens the mail's page, which spends the code.
    #expect(try await world.run(["curl", "-fsS", "-o", "/dev/null", link]).status == 0)
    try await world.eventually("the spent code") { try await world.mails("ada@example.com").isEmpty }
    #expect(try await world.whoami()["email-verified"] as? Bool == false)
    let monitor = try await BusMonitor(world)
    if way == "ReloadUser" {
      try await world.reload()
    } else {
      let opened = try await world.json("open", link)
      #expect(opened.last?["error"] as? String == Self.error + "InvalidActionCode", "\(opened)")
    }
    try await world.eventually("the news") { try await world.whoami()["email-verified"] as? Bool == true }
    try await world.eventually("the signal") { monitor.count("StateChanged", "\"authenticated\"") == 1 }
  }

  @Test("a link that takes a new second factor back waits for an agreement, then the user is looked up and told")
  func revertSecondFactor() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    try await world.administrate(uid, ["emailVerified": true])
    try await world.offerFactors()
    try await world.control("PATCH", "factors", ["mailsAdditions": true])
    let enroll = try await world.begin("Account.EnrollPhoneFactor", World.factorNumber, "Work")
    try await world.flow(enroll, at: "waiting-for-code")
    try await world.tell(enroll, "ProvideCode", try await world.message(World.factorNumber))
    try await world.flow(enroll, at: "succeeded")
    #expect((try await world.whoami()["second-factors"] as? [Any])?.count == 1)
    let link = try await world.mail("ada@example.com")
    let monitor = try await BusMonitor(world)
    let opened = try await world.json("open", "--no-wait", link)
    let flow = try #require(opened.last?["flow"] as? String, "\(opened)")
    #expect(try await world.flow(flow, at: "waiting-for-confirmation")["kind"] as? String == "revertSecondFactor")
    #expect((try await world.serverAccount(uid)?["mfaInfo"] as? [Any])?.count == 1)
    try await world.tell(flow, "Confirm")
    try await world.flow(flow, at: "succeeded")
    #expect((try await world.serverAccount(uid)?["mfaInfo"] as? [Any] ?? []).isEmpty)
    try await world.eventually("the news") { (try await world.whoami()["second-factors"] as? [Any] ?? []).isEmpty }
    try await world.eventually("the signal") { monitor.count("StateChanged", "\"authenticated\"") == 1 }
  }

  @Test("a link that gives the old address back waits for an agreement, then the user is looked up and told")
  func recoverEmail() async throws {
    let world = try await World.start()
    let uid = try await world.madeElsewhere("ada@example.com")
    try await world.administrate(uid, ["email": "thief@example.com"])
    let signIn = try await world.begin("SignIn.SignInWithPassword", "thief@example.com", "correct horse")
    try await world.flow(signIn, at: "succeeded")
    #expect(try await world.email() == "thief@example.com")
    let link = try await world.mail("ada@example.com")
    let monitor = try await BusMonitor(world)
    let opened = try await world.json("open", "--no-wait", link)
    let flow = try #require(opened.last?["flow"] as? String, "\(opened)")
    let details = try await world.flow(flow, at: "waiting-for-confirmation")
    #expect(details["kind"] as? String == "recoverEmail")
    #expect(try await world.serverAccount(uid)?["email"] as? String == "thief@example.com")
    try await world.tell(flow, "Confirm")
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.serverAccount(uid)?["email"] as? String == "ada@example.com")
    try await world.eventually("the news") { try await world.email() == "ada@example.com" }
    try await world.eventually("the signal") { monitor.count("StateChanged", "\"authenticated\"") == 1 }
  }

  // MARK: Second factors

  @Test("a second factor goes, with tokens in the answer and without", arguments: [true, false])
  func unenroll(hasTokens: Bool) async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    try await world.addPhoneFactor(to: uid)
    try await world.reload()
    let refreshes = try await world.requests("v1/token")
    try await world.control("PATCH", "factors", ["quietRemovals": !hasTokens])
    let flow = try await world.begin("Account.UnenrollFactor", "second")
    try await world.flow(flow, at: "succeeded")
    #expect((try await world.serverAccount(uid)?["mfaInfo"] as? [Any] ?? []).isEmpty)
    #expect((try await world.whoami()["second-factors"] as? [Any] ?? []).isEmpty)
    #expect(try await world.uid() == uid)
    #expect(try await world.requests("v1/token") == refreshes + (hasTokens ? 0 : 1))
  }

  // MARK: Apple

  /// Signs in by Apple's page; the account's uid.
  private func signInByApple(_ world: World) async throws -> String {
    let claims = World.Claims("apple-ada", "ada@example.com")
    let flow = try await world.throughPage("apple.com", claims)
    try await world.flow(flow, at: "succeeded")
    return try await world.uid() ?? ""
  }

  /// Apple's token was revoked once, before the account went.
  private func expectRevoked(_ world: World, _ token: String = "FirebaseAuthEmulatorFakeAccessToken_apple.com")
    async throws
  {
    let calls = try await world.records("").filter {
      let path = $0["path"] as? String ?? ""
      return path.hasSuffix("accounts:revokeToken") || path.hasSuffix("accounts:delete")
    }
    #expect(calls.compactMap { ($0["path"] as? String)?.split(separator: ":").last } == ["revokeToken", "delete"])
    let body = calls.first?["body"] as? [String: Any]
    #expect(body?["providerId"] as? String == "apple.com" && body?["tokenType"] as? String == "2")
    #expect(body?["token"] as? String == token)
    #expect((body?["idToken"] as? String)?.isEmpty == false)
    #expect(!world.log.contains(token))
  }

  @Test("who signed in with Apple is deleted after Apple was told, whether Apple could be told or not")
  func apple() async throws {
    for error in [nil, "INVALID_IDP_RESPONSE"] as [String?] {
      let world = try await World.start()
      let uid = try await signInByApple(world)
      if let error { try await world.fault(["path": "accounts:revokeToken", "error": error]) }
      let flow = try await world.begin("Account.DeleteUser")
      try await world.flow(flow, at: "succeeded")
      try await expectRevoked(world)
      #expect(try await world.serverAccount(uid) == nil)
      #expect(try await world.uid() == nil)
    }
  }

  @Test("where the daemon has lost Apple's token, the user signs in with Apple again first")
  func appleAfterRestart() async throws {
    let world = try await World.start()
    let uid = try await signInByApple(world)
    try await world.killDaemon()
    let flow = try await world.begin("Account.DeleteUser")
    let way = try await world.parked(flow)
    #expect(way["kind"] as? String == "oauth" && way["provider-id"] as? String == "apple.com")
    #expect(way["provider-name"] as? String == "Apple")
    #expect(try await world.requests("accounts:delete") == 0)
    let again = try await world.reauthenticate(by: .provider)
    try await world.giveFirstFactor(again, by: .provider, as: World.Claims("apple-ada", "ada@example.com"))
    try await world.flow(again, at: "succeeded")
    try await world.flow(flow, at: "succeeded")
    try await expectRevoked(world)
    #expect(try await world.serverAccount(uid) == nil)
  }

  @Test("an access token of Apple's that the app has brought is the one that is revoked")
  func appleCredential() async throws {
    let world = try await World.start()
    let claims = World.Claims("apple-ada", "ada@example.com")
    let credential =
      "{'provider-id': <'apple.com'>, 'id-token': <'\(claims.json)'>, 'access-token': <'an-access-token'>}"
    let signIn = try await world.begin("SignIn.SignInWithCredential", credential)
    try await world.flow(signIn, at: "succeeded")
    let flow = try await world.begin("Account.DeleteUser")
    try await world.flow(flow, at: "succeeded")
    try await expectRevoked(world, "an-access-token")
  }

  @Test("nobody else's deletion tells Apple anything")
  func notApple() async throws {
    let world = try await World.start()
    _ = try await world.signIn(by: .provider)
    let flow = try await world.begin("Account.DeleteUser")
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.requests("accounts:revokeToken") == 0)
  }
}
