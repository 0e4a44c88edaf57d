import Foundation
import TestSupport
import Testing

/// How what is parked ends otherwise, and what is parked side by side (behaviour: Reauthentication and parked operations).
@Suite("Ends of parked operations", .timeLimit(.minutes(3)))
struct ParkedEndsTests {
  private static let error = ConflictTests.error
  private static let hasCompiler = access("/usr/bin/cc", X_OK) == 0

  private func parkedDeletion(_ world: World) async throws -> (uid: String, flow: String) {
    let uid = try await world.signIn(by: .password)
    try await world.lapseLogins()
    let flow = try await world.begin("Account.DeleteUser")
    try await world.flow(flow, at: "reauthentication-required")
    return (uid, flow)
  }

  @Test("another account's credentials: UserMismatch, nothing of theirs is kept, and the right ones still do")
  func userMismatch() async throws {
    let world = try await World.start()
    let (uid, flow) = try await parkedDeletion(world)
    let bob = try await world.madeElsewhere("bob@example.com")
    let claims = World.Claims("fb-bob", "bob@example.com")
    _ = try await world.madeElsewhere(by: "facebook.com", claims)
    let token = try await world.linkctl("token").stdout
    let purpose = "{'purpose': <'reauthenticate'>}"
    let foreign = try await world.withCredential("facebook.com", claims, options: purpose)
    #expect(try await world.flow(foreign, at: "failed")["error"] as? String == Self.error + "UserMismatch")
    let password = try await world.gdbus(
      "/org/linkd/Auth1/app/demo", "org.linkd.Auth1.SignIn.SignInWithPassword", "bob@example.com", "correct horse",
      purpose)
    #expect(password.stderr.contains("UserMismatch"), "\(password)")
    for (member, whose) in [("SendSignInLink", "bob@example.com"), ("SignInWithPhoneNumber", World.ownNumber)] {
      let refused = try await world.gdbus(
        "/org/linkd/Auth1/app/demo", "org.linkd.Auth1.SignIn.\(member)", whose, purpose)
      #expect(refused.stderr.contains("UserMismatch"), "\(refused)")
    }
    #expect(try await world.uid() == uid)
    #expect(try await world.linkctl("token").stdout == token)
    #expect(try await world.parked(flow)["email"] as? String == "ada@example.com")
    #expect(try await world.requests("accounts:delete") == 1)
    try await world.prove(try await world.reauthenticate(by: .password), by: .password)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.serverAccount(uid) == nil)
    #expect(try await world.serverAccount(bob) != nil)
  }

  @Test("given up: signing in again does nothing more; giving up the sign-in alone leaves it parked")
  func cancelled() async throws {
    let world = try await World.start()
    let (uid, flow) = try await parkedDeletion(world)
    let first = try await world.reauthenticate(by: .password)
    try await world.tell(first, "Cancel")
    try await world.flow(first, at: "cancelled")
    #expect(try await world.flow(flow).stage == "reauthentication-required")
    try await world.tell(flow, "Cancel")
    try await world.flow(flow, at: "cancelled")
    try await world.prove(try await world.reauthenticate(by: .password), by: .password)
    #expect(try await world.flow(flow).stage == "cancelled")
    #expect(try await world.requests("accounts:delete") == 1)
    #expect(try await world.uid() == uid)
  }

  @Test("signing out gives it up")
  func signedOut() async throws {
    let world = try await World.start()
    let (uid, flow) = try await parkedDeletion(world)
    #expect(try await world.linkctl("sign-out").status == 0)
    try await world.flow(flow, at: "cancelled")
    let again = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
    try await world.flow(again, at: "succeeded")
    #expect(try await world.requests("accounts:delete") == 1)
    #expect(try await world.serverAccount(uid) != nil)
  }

  @Test(
    "nobody comes within ten minutes: it has expired, whether the daemon ran on or not",
    .enabled(if: hasCompiler, "needs cc"), arguments: [false, true])
  func overdue(isKilled: Bool) async throws {
    let world = try await World.start()
    let (uid, flow) = try await parkedDeletion(world)
    try world.setDaemon(try await world.clocks())
    try await world.killDaemon()
    for (seconds, stage) in [(540, "reauthentication-required"), (601, "expired")] {
      _ = try world.home.write("\(seconds)\n", to: "clock")
      if !isKilled { _ = try world.home.write("\(seconds)\n", to: "boot-clock") }
      if isKilled { try await world.killDaemon() }
      try await world.flow(flow, at: stage)
    }
    try await world.prove(try await world.reauthenticate(by: .password), by: .password)
    #expect(try await world.requests("accounts:delete") == 1)
    #expect(try await world.uid() == uid)
  }

  @Test("refused again after signing in again: that's the end, and the account stays")
  func refusedAgain() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    try await world.fault(["path": "accounts:delete", "error": "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "times": 2])
    let flow = try await world.begin("Account.DeleteUser")
    try await world.flow(flow, at: "reauthentication-required")
    try await world.prove(try await world.reauthenticate(by: .password), by: .password)
    let end = try await world.flow(flow, at: "failed")
    #expect(end["error"] as? String == Self.error + "RequiresRecentLogin")
    #expect(end["retry"] as? Bool == false)
    #expect(try await world.requests("accounts:delete") == 2)
    #expect(try await world.uid() == uid)
  }

  // MARK: Side by side

  @Test(
    "two operations at once: one sign-in lets both go on, also if one ends the tokens that the other has",
    arguments: [false, true])
  func twoOperations(isSlow: Bool) async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    try await world.addPhoneFactor(to: uid)
    try await world.lapseLogins()
    try await world.reload()
    let password = try await world.begin("Account.UpdatePassword", "another horse")
    let factor = try await world.begin("Account.UnenrollFactor", "second")
    try await world.flow(password, at: "reauthentication-required")
    try await world.flow(factor, at: "reauthentication-required")
    let again = try await world.reauthenticate(by: .password)
    try await world.giveFirstFactor(again, by: .password)
    if isSlow {
      // Tokens end by the second: the new password is of a later one, and the factor's turn comes after that.
      try await world.fault(["path": "accounts:update", "delay": 1200])
      try await world.fault(["path": "mfaEnrollment:withdraw", "delay": 3000, "times": 1])
    }
    try await world.giveSecondFactor(again)
    try await world.flow(password, at: "succeeded")
    try await world.flow(factor, at: "succeeded")
    #expect(try await world.uid() == uid)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    #expect((try await world.serverAccount(uid)?["mfaInfo"] as? [Any] ?? []).isEmpty)
  }

  @Test("two deletions at once: the account goes, and whoever signs in afterwards stays")
  func twoDeletions() async throws {
    let world = try await World.start()
    let (uid, first) = try await parkedDeletion(world)
    let second = try await world.begin("Account.DeleteUser")
    try await world.flow(second, at: "reauthentication-required")
    try await world.fault(["path": "accounts:delete", "hold-before-handling": true, "times": 2])
    try await world.prove(try await world.reauthenticate(by: .password), by: .password)
    try await world.eventually("both requests") { try await world.requests("accounts:delete") == 4 }
    try await world.clearFaults()
    for flow in [first, second] {
      try await world.eventually("the end") {
        ["succeeded", "cancelled"].contains(try await world.flow(flow).stage)
      }
    }
    #expect(try await world.serverAccount(uid) == nil)
    #expect(try await world.uid() == nil)
    let bob = try await world.signIn(by: .password, "bob")
    #expect(try await world.uid() == bob)
  }

  @Test("two apps at once: each goes on by its own user alone")
  func twoApps() async throws {
    let world = try await World.start(apps: ["demo", "other"])
    let ada = try await world.signIn(by: .password)
    let bob = try await world.signIn(by: .emailLink, "bob", app: "other")
    try await world.lapseLogins()
    let first = try await world.begin("Account.DeleteUser")
    let second = try await world.begin("Account.DeleteUser", app: "other")
    #expect(try await world.parked(first)["kind"] as? String == "password")
    #expect(try await world.parked(first)["email"] as? String == "ada@example.com")
    #expect(try await world.parked(second)["kind"] as? String == "email-link")
    #expect(try await world.parked(second)["email"] as? String == "bob@example.com")
    try await world.prove(
      try await world.reauthenticate(by: .emailLink, app: "other"), by: .emailLink, "bob", app: "other")
    try await world.flow(second, at: "succeeded")
    #expect(try await world.flow(first).stage == "reauthentication-required")
    #expect(try await world.serverAccount(bob) == nil)
    #expect(try await world.uid(app: "other") == nil)
    #expect(try await world.uid() == ada)
    try await world.prove(try await world.reauthenticate(by: .password), by: .password)
    try await world.flow(first, at: "succeeded")
    #expect(try await world.serverAccount(ada) == nil)
  }
}

extension World {
  /// `ReloadUser`.
  func reload(app: String = "demo") async throws {
    let result = try await gdbus("/org/linkd/Auth1/app/\(app)", "org.linkd.Auth1.Session.ReloadUser", "{}")
    guard result.status == 0 else { throw Failure(description: "ReloadUser: \(result.stderr)\n\(log)") }
  }
}
