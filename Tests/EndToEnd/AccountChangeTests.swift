import Foundation
import TestSupport
import Testing

/// Passwords, addresses and numbers of the signed-in account (contract: Account).
@Suite("Changes of the account", .timeLimit(.minutes(3)))
struct AccountChangeTests {
  private static let error = ConflictTests.error
  private static let account = "org.linkd.Auth1.Account"
  private static let demo = "/org/linkd/Auth1/app/demo"

  /// The signed-in user's token, once the clock has gone on since it was issued: what ends tokens counts seconds.
  private func oldToken(_ world: World) async throws -> String {
    let token = try await world.linkctl("token").stdout.trimmingCharacters(in: .whitespacesAndNewlines)
    let second = Int(Date().timeIntervalSince1970)
    try await world.eventually("another second") { Int(Date().timeIntervalSince1970) > second }
    return token
  }

  /// Whether the server still takes a token.
  private func counts(_ token: String, _ world: World) async throws -> Bool {
    let result = try await world.run([
      "curl", "-sS", "-H", "Content-Type: application/json", "-d", "{\"idToken\":\"\(token)\"}",
      "http://\(world.emulatorAddress)/identitytoolkit.googleapis.com/v1/accounts:lookup?key=x",
    ])
    return !result.stdout.contains("TOKEN_EXPIRED")
  }

  // MARK: Password

  @Test("a new password ends the old tokens and leaves the session, which has new ones")
  func password() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    let before = try await oldToken(world)
    let monitor = try await BusMonitor(world)
    let flow = try await world.begin("Account.UpdatePassword", "another horse")
    try await world.flow(flow, at: "succeeded")
    #expect(try await !counts(before, world))
    let after = try await world.linkctl("token").stdout.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(after != before)
    #expect(try await counts(after, world))
    #expect(try await world.uid() == uid)
    try await world.eventually("the signal") { monitor.count("IdTokenChanged", "/app/demo") == 1 }
    #expect(monitor.count("StateChanged", "\"unauthenticated\"") == 0)
    #expect(!monitor.output.contains("another horse"))
    // The refresh token is a new one, too.
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    try await world.killDaemon()
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    #expect(try await world.linkctl("sign-out").status == 0)
    let old = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
    #expect(
      try await world.flow(old, at: "waiting-for-password")["error"] as? String == Self.error + "InvalidCredentials")
    try await world.tell(old, "ProvidePassword", "another horse")
    try await world.flow(old, at: "succeeded")
  }

  @Test("who is refused with the old tokens while a new password's answer is on its way gets the new ones")
  func passwordOnItsWay() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    _ = try await oldToken(world)
    try await world.fault(["path": "accounts:update", "hold-after-handling": true, "times": 1])
    let lookups = try await world.records("accounts:lookup").count
    let flow = try await world.begin("Account.UpdatePassword", "another horse")
    try await world.eventually("the new password") {
      try await world.records("accounts:update").last?["handled"] as? Bool == true
    }
    async let reloaded: Void = world.reload()
    try await world.eventually("the refusal") {
      let calls = try await world.records("accounts:lookup")
      return calls.count > lookups && calls.last?["status"] as? Int == 400
    }
    try await world.clearFaults()
    try await reloaded
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == uid)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  @Test("a weak password is asked for again, an empty one is refused without a request")
  func weakPassword() async throws {
    let world = try await World.start()
    _ = try await world.signIn(by: .password)
    let empty = try await world.gdbus(Self.demo, "\(Self.account).UpdatePassword", "''", "{}")
    #expect(empty.stderr.contains("WeakPassword"), "\(empty)")
    #expect(try await world.requests("accounts:update") == 0)
    let flow = try await world.begin("Account.UpdatePassword", "abc")
    let details = try await world.flow(flow, at: "waiting-for-password")
    #expect(details["error"] as? String == Self.error + "WeakPassword" && details["new"] as? Bool == true)
    #expect(try await world.flow(flow, "ProvidePassword", "''").stderr.contains("WeakPassword"))
    try await world.tell(flow, "ProvidePassword", "another horse")
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.requests("accounts:update") == 2)
  }

  @Test("what needs an address or a user says that there's none")
  func nobody() async throws {
    let world = try await World.start()
    func refusal(_ member: String, _ arguments: String...) async throws -> String {
      try await world.run(
        ["gdbus", "call", "--session", "--dest", "org.linkd.Auth1", "--object-path", Self.demo, "--method"]
          + ["\(Self.account).\(member)"] + arguments + ["{}"]
      ).stderr
    }
    #expect(try await refusal("UpdatePassword", "another horse").contains("NoCurrentUser"))
    #expect(try await refusal("ChangeEmail", "new@example.com").contains("NoCurrentUser"))
    #expect(try await refusal("Reauthenticate").contains("NoCurrentUser"))
    _ = try await world.signIn(by: .phone)
    #expect(try await refusal("UpdatePassword", "another horse").contains("OperationNotAllowed"))
    #expect(try await refusal("ChangeEmail", "no address").contains("InvalidEmail"))
    #expect(try await refusal("Unlink", "github.com").contains("NoSuchProvider"))
    #expect(try await refusal("UnenrollFactor", "second").contains("FactorNotFound"))
  }

  // MARK: Address

  @Test("another address counts once the mail's link is opened: user, broadcast, tokens")
  func email() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    let flow = try await world.begin("Account.ChangeEmail", "New@Example.com")
    #expect((try await world.flow(flow, at: "succeeded")["email"] as? String)?.lowercased() == "new@example.com")
    #expect(try await world.email() == "ada@example.com")
    let link = try await world.mail("ada@example.com")
    #expect(link.contains("mode=verifyAndChangeEmail"))
    let monitor = try await BusMonitor(world)
    let opened = try await world.json("open", link)
    #expect(
      opened.last?["stage"] as? String == "succeeded" && opened.last?["kind"] as? String == "verifyAndChangeEmail")
    try await world.eventually("the new address") { try await world.email() == "new@example.com" }
    #expect(try await world.whoami()["email-verified"] as? Bool == true)
    #expect(try await world.uid() == uid)
    try await world.eventually("the signal") { monitor.count("StateChanged", "\"authenticated\"") >= 1 }
    #expect(!monitor.output.contains("new@example.com") && !monitor.output.contains("ada@example.com"))
    let token = try await world.json("token", "--force-refresh").last
    #expect((token?["claims"] as? [String: Any])?["email"] as? String == "new@example.com", "\(token ?? [:])")
  }

  @Test("B119: after a change of address that ends every token the session waits for a sign-in with the new one")
  func emailEndsTokens() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    let flow = try await world.begin("Account.ChangeEmail", "new@example.com")
    try await world.flow(flow, at: "succeeded")
    // The server has ended every token of the old address.
    try await world.fault(["path": "accounts:lookup", "error": "TOKEN_EXPIRED", "times": 1])
    _ = try await world.json("open", try await world.mail("ada@example.com"))
    try await world.eventually("the end of the session") {
      try await world.json("status").last?["health"] as? String == "attention-needed"
    }
    let again = try await world.reauthenticate(by: .password)
    #expect(try await world.flow(again, at: "waiting-for-password")["email"] as? String == "new@example.com")
    try await world.tell(again, "ProvidePassword", "correct horse")
    try await world.flow(again, at: "succeeded")
    #expect(try await world.uid() == uid)
    #expect(try await world.email() == "new@example.com")
    #expect(try await world.json("status").last?["health"] as? String == "ok")
  }

  @Test("an address that is somebody else's is EmailAlreadyInUse; one taken after the mail fails at the link")
  func emailInUse() async throws {
    let world = try await World.start()
    _ = try await world.madeElsewhere("bob@example.com")
    _ = try await world.signIn(by: .password)
    let taken = try await world.begin("Account.ChangeEmail", "bob@example.com")
    #expect(try await world.flow(taken, at: "failed")["error"] as? String == Self.error + "EmailAlreadyInUse")
    let flow = try await world.begin("Account.ChangeEmail", "eve@example.com")
    try await world.flow(flow, at: "succeeded")
    _ = try await world.madeElsewhere("eve@example.com")
    let opened = try await world.json("open", try await world.mail("ada@example.com"))
    #expect(opened.last?["error"] as? String == Self.error + "EmailAlreadyInUse", "\(opened)")
    #expect(try await world.email() == "ada@example.com")
  }

  // MARK: Phone number

  @Test("another number is the account's once its code is given; the session is signed in as before")
  func phoneNumber() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    let number = World.ownNumber
    let flow = try await world.begin("Account.ChangePhoneNumber", "(555) 555-0100", options: "{'region': <'US'>}")
    #expect(try await world.flow(flow, at: "waiting-for-code")["phone-number"] as? String == number)
    try await world.tell(flow, "ProvideCode", try await world.message(number))
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.whoami()["phone-number"] as? String == number)
    #expect(try await world.uid() == uid)
    #expect(try await world.signInMethod() == "password")
    #expect(try await world.providers() == ["password", "phone"])
    let unlink = try await world.begin("Account.Unlink", "phone")
    try await world.flow(unlink, at: "succeeded")
    #expect(try await world.whoami()["phone-number"] == nil)
    #expect(try await world.providers() == ["password"])
    #expect(try await world.serverAccount(uid)?["phoneNumber"] == nil)
  }

  @Test("a number that is somebody else's can't become the account's: CredentialAlreadyInUse")
  func phoneNumberInUse() async throws {
    let world = try await World.start()
    let other = try await world.signIn(by: .phone)
    #expect(try await world.linkctl("sign-out").status == 0)
    let uid = try await world.signIn(by: .password)
    let flow = try await world.begin("Account.ChangePhoneNumber", World.ownNumber)
    try await world.flow(flow, at: "waiting-for-code")
    try await world.tell(flow, "ProvideCode", try await world.message(World.ownNumber))
    #expect(try await world.flow(flow, at: "failed")["error"] as? String == Self.error + "CredentialAlreadyInUse")
    #expect(try await world.uid() == uid)
    #expect(try await world.serverAccount(other)?["phoneNumber"] as? String == World.ownNumber)
  }
}
