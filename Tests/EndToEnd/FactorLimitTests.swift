import Foundation
import TestSupport
import Testing

/// What is too long, too often or too late around codes and the account: each was found by an attack.
@Suite("Limits of codes, factors and account changes", .timeLimit(.minutes(3)))
struct FactorLimitTests {
  private static let invalidArgs = "org.freedesktop.DBus.Error.InvalidArgs"

  @Test("a factor's name, which comes back with each lookup, and a password have a bound; so have numbers and codes")
  func tooLong() async throws {
    let world = try await World.start()
    try await world.offerFactors()
    let uid = try await world.signIn(by: .password)
    let long = String(repeating: "a", count: 257)
    for (member, arguments) in [
      ("Account.EnrollTotpFactor", [long]), ("Account.EnrollPhoneFactor", [World.factorNumber, long]),
      ("Account.UpdatePassword", [String(repeating: "p", count: 4097)]),
      ("SignIn.SignInWithPassword", ["ada@example.com", String(repeating: "p", count: 4097)]),
    ] {
      let result = try await world.run(
        [
          "gdbus", "call", "--session", "--dest", "org.linkd.Auth1", "--object-path", "/org/linkd/Auth1/app/demo",
          "--method", "org.linkd.Auth1.\(member)",
        ] + arguments + ["{}"])
      #expect(result.stderr.contains(Self.invalidArgs), "\(member): \(result)")
    }
    #expect(try await world.refused("SignIn.SignInWithPhoneNumber", "+1" + long) == "InvalidPhoneNumber")
    let flow = try await world.byPhone(World.factorNumber)
    try await world.flow(flow, at: "waiting-for-code")
    let code = try await world.flow(flow, "ProvideCode", String(repeating: "1", count: 257))
    #expect(World.refusal(code) == "InvalidVerificationCode")
    #expect(try await world.flow(flow).details["attempts-left"] as? Int == 5)
    #expect(try await world.uid() == uid)
  }

  @Test("agreeing again to a mail whose sending failed is counted as a mail")
  func mailsCounted() async throws {
    let world = try await World.start()
    _ = try await world.signIn(by: .password)
    try await world.fault(["path": "accounts:sendOobCode", "status": 503, "times": 20])
    let flow = try await world.begin("Account.ChangeEmail", "new@example.com")
    for _ in 0..<4 {
      try await world.flow(flow, at: "waiting-for-confirmation")
      #expect(try await world.flow(flow, "Confirm").status == 0)
    }
    try await world.flow(flow, at: "waiting-for-confirmation")
    #expect(World.refusal(try await world.flow(flow, "Confirm")) == "RateLimited")
    #expect(try await world.requests("accounts:sendOobCode") == 5)
  }

  @Test("a guest, who can't sign in again, is told so at once")
  func guest() async throws {
    let world = try await World.start()
    let guest = try await world.becomeGuest()
    try await world.fault(["path": "accounts:delete", "error": "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "times": 1])
    let flow = try await world.begin("Account.DeleteUser")
    #expect(try await world.flow(flow, at: "failed", "RequiresRecentLogin")["retry"] as? Bool == false)
    #expect(try await world.uid() == guest)
  }

  @Test("what is parked waits on when the server ends the session, also over a restart")
  func endedWhileParked() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    try await world.lapseLogins()
    let flow = try await world.begin("Account.DeleteUser")
    try await world.flow(flow, at: "reauthentication-required")
    try await world.revokeTokens(of: uid)
    let reload = "org.linkd.Auth1.Session.ReloadUser"
    #expect(try await world.gdbus("/org/linkd/Auth1/app/demo", reload, "{}").status != 0)
    #expect(try await world.uid() == nil)
    try await world.killDaemon()
    try await world.flow(flow, at: "reauthentication-required")
    try await world.prove(try await world.reauthenticate(by: .password), by: .password)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.serverAccount(uid) == nil)
  }

  @Test("a refresh with the old token, refused because a new password came meanwhile, ends nobody's session")
  func replacedToken() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    // The tokens that the new password brings are of a later second than its end of the old ones.
    try await world.fault(["path": "/v1/token", "hold-before-handling": true, "times": 1])
    async let refreshed = world.linkctl("token", "--force-refresh")
    try await world.eventually("the refresh") { try await world.requests("/v1/token") == 1 }
    let flow = try await world.begin("Account.UpdatePassword", "battery staple")
    try await world.flow(flow, at: "succeeded")
    try await world.clearFaults()
    _ = try await refreshed
    #expect(try await world.uid() == uid)
    #expect(try await world.linkctl("token").status == 0)
  }

  @Test("who has Apple and a second factor: what Apple gave is revoked before the account goes")
  func appleBehindFactor() async throws {
    let world = try await World.start()
    let claims = World.Claims("apple-ada", "ada@example.com").json
    let apple = "{'provider-id': <'apple.com'>, 'id-token': <'\(claims)'>, 'access-token': <'apple-access'>}"
    let first = try await world.begin("SignIn.SignInWithCredential", apple)
    try await world.flow(first, at: "succeeded")
    let uid = try #require(try await world.uid())
    try await world.addPhoneFactor(to: uid)
    #expect(try await world.linkctl("sign-out").status == 0)
    let second = try await world.begin("SignIn.SignInWithCredential", apple)
    try await world.flow(second, at: "second-factor-required")
    try await world.choose("second", second)
    try await world.answer(second, World.factorNumber)
    let flow = try await world.begin("Account.DeleteUser")
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.serverAccount(uid) == nil)
    #expect(try await world.requests("accounts:revokeToken") == 1)
  }
}
