import Foundation
import TestSupport
import Testing

/// The other operations that may be parked, each done after the user has signed in again.
@Suite("Parked changes of the account", .timeLimit(.minutes(3)))
struct ParkedAccountTests {
  private static let error = ConflictTests.error

  /// Ada, with a password, and with a second factor where that is what it's about.
  private func ada(_ world: World, hasFactor: Bool = false) async throws -> String {
    let uid = try await world.signIn(by: .password)
    if hasFactor {
      try await world.addPhoneFactor(to: uid)
    } else {
      try await world.administrate(uid, ["emailVerified": true])
    }
    try await world.reload()
    try await world.lapseLogins()
    return uid
  }

  /// Once `flow` is parked: the user signs in again.
  private func signInAgain(_ world: World, _ flow: String, hasFactor: Bool = false) async throws {
    #expect(try await world.parked(flow)["kind"] as? String == "password")
    let again = try await world.reauthenticate(by: .password)
    try await world.giveFirstFactor(again, by: .password)
    if hasFactor { try await world.giveSecondFactor(again) }
    try await world.flow(again, at: "succeeded")
  }

  /// The server refuses the next request for `path` as one of an old login.
  private func refuse(_ world: World, _ path: String) async throws {
    try await world.fault(["path": path, "error": "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "times": 1])
  }

  @Test("a new password")
  func password() async throws {
    let world = try await World.start()
    let uid = try await ada(world)
    let flow = try await world.begin("Account.UpdatePassword", "another horse")
    try await signInAgain(world, flow)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == uid)
    let other = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "another horse")
    try await world.flow(other, at: "succeeded")
  }

  @Test("a new password, with the daemon killed while it's parked: it's nowhere on disk, so it's asked for again")
  func passwordKilled() async throws {
    let world = try await World.start()
    _ = try await ada(world)
    let flow = try await world.begin("Account.UpdatePassword", "another horse")
    try await world.flow(flow, at: "reauthentication-required")
    try await world.killDaemon()
    #expect(try await world.run(["grep", "-rlaE", "another horse", world.home.file("state/linkd")]).status == 1)
    try await signInAgain(world, flow)
    let details = try await world.flow(flow, at: "waiting-for-password")
    #expect(details["new"] as? Bool == true && details["email"] as? String == "ada@example.com")
    #expect(details["error"] == nil)
    try await world.tell(flow, "ProvidePassword", "a third horse")
    try await world.flow(flow, at: "succeeded")
    let other = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "a third horse")
    try await world.flow(other, at: "succeeded")
  }

  @Test("another address: the mail goes out", arguments: [false, true])
  func email(isKilled: Bool) async throws {
    let world = try await World.start()
    _ = try await ada(world)
    let flow = try await world.begin("Account.ChangeEmail", "new@example.com")
    try await world.flow(flow, at: "reauthentication-required")
    if isKilled { try await world.killDaemon() }
    try await signInAgain(world, flow)
    #expect(try await world.flow(flow, at: "succeeded")["email"] as? String == "new@example.com")
    #expect(try await world.requests("accounts:sendOobCode") == 2)
  }

  @Test("a provider taken away", arguments: [false, true])
  func unlink(isKilled: Bool) async throws {
    let world = try await World.start()
    let uid = try await ada(world)
    try await world.linkElsewhere("github.com", World.Claims("gh-ada"))
    try await world.reload()
    try await refuse(world, "accounts:update")
    let flow = try await world.begin("Account.Unlink", "github.com")
    try await world.flow(flow, at: "reauthentication-required")
    if isKilled { try await world.killDaemon() }
    try await signInAgain(world, flow)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.serverProviders(uid) == ["password"])
    #expect(try await world.providers() == ["password"])
  }

  @Test("a second factor taken away", arguments: [false, true])
  func unenroll(isKilled: Bool) async throws {
    let world = try await World.start()
    let uid = try await ada(world, hasFactor: true)
    let flow = try await world.begin("Account.UnenrollFactor", "second")
    try await world.flow(flow, at: "reauthentication-required")
    if isKilled { try await world.killDaemon() }
    try await signInAgain(world, flow, hasFactor: true)
    try await world.flow(flow, at: "succeeded")
    #expect((try await world.serverAccount(uid)?["mfaInfo"] as? [Any] ?? []).isEmpty)
    #expect((try await world.whoami()["second-factors"] as? [Any] ?? []).isEmpty)
  }

  @Test("a phone as a second factor: its message is sent after the sign-in", arguments: [false, true])
  func enrollPhone(isKilled: Bool) async throws {
    let world = try await World.start()
    try await world.offerFactors()
    _ = try await ada(world)
    let flow = try await world.begin("Account.EnrollPhoneFactor", World.factorNumber, "Work")
    try await world.flow(flow, at: "reauthentication-required")
    if isKilled { try await world.killDaemon() }
    try await signInAgain(world, flow)
    #expect(try await world.flow(flow, at: "waiting-for-code")["phone-number"] as? String == World.factorNumber)
    try await world.tell(flow, "ProvideCode", try await world.message(World.factorNumber))
    try await world.flow(flow, at: "succeeded")
    let factors = try await world.whoami()["second-factors"] as? [[String: Any]]
    #expect(factors?.count == 1 && factors?.first?["display-name"] as? String == "Work")
  }

  @Test("a phone as a second factor, with the daemon killed right after the sign-in: the next one sends the message")
  func enrollPhoneFreed() async throws {
    let world = try await World.start()
    try await world.offerFactors()
    _ = try await ada(world)
    let flow = try await world.begin("Account.EnrollPhoneFactor", World.factorNumber, "Work")
    try await world.flow(flow, at: "reauthentication-required")
    try world.setDaemon(["LINKD_PAUSE_AT": "session-committed"])
    try await world.killDaemon()
    let again = try await world.reauthenticate(by: .password)
    async let given: Void = world.giveFirstFactor(again, by: .password)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try? await given
    try await world.flow(flow, at: "waiting-for-code")
    try await world.tell(flow, "ProvideCode", try await world.message(World.factorNumber))
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.factors().count == 1)
  }

  @Test("an authenticator app: its secret is made after the sign-in", arguments: [false, true])
  func enrollTOTP(isKilled: Bool) async throws {
    let world = try await World.start()
    try await world.offerFactors()
    _ = try await ada(world)
    let flow = try await world.begin("Account.EnrollTotpFactor", "App")
    try await world.flow(flow, at: "reauthentication-required")
    if isKilled { try await world.killDaemon() }
    try await signInAgain(world, flow)
    #expect(try await world.flow(flow, at: "waiting-for-code")["kind"] as? String == "totp")
    #expect(try await world.requests("mfaEnrollment:start") == 2)
  }

  @Test("another phone number: back to the code, which no refusal has spent")
  func changePhone() async throws {
    for isKilled in [false, true] {
      let world = try await World.start()
      let uid = try await ada(world)
      try await refuse(world, "accounts:signInWithPhoneNumber")
      let flow = try await world.begin("Account.ChangePhoneNumber", World.ownNumber)
      try await world.flow(flow, at: "waiting-for-code")
      let code = try await world.message(World.ownNumber)
      try await world.tell(flow, "ProvideCode", code)
      try await world.flow(flow, at: "reauthentication-required")
      if isKilled { try await world.killDaemon() }
      try await signInAgain(world, flow)
      // Where it stood: the refusal came before the code was looked at, so that it still counts.
      #expect(try await world.flow(flow, at: "waiting-for-code")["phone-number"] as? String == World.ownNumber)
      try await world.tell(flow, "ProvideCode", code)
      try await world.flow(flow, at: "succeeded")
      #expect(try await world.serverAccount(uid)?["phoneNumber"] as? String == World.ownNumber)
      #expect(try await world.whoami()["phone-number"] as? String == World.ownNumber)
      #expect(try await world.signInMethod() == "password")
    }
  }
}
