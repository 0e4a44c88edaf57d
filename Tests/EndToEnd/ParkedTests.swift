import Foundation
import TestSupport
import Testing

/// What is dangerous after an old login waits until the user has signed in again, and is then done by itself (behaviour:
/// Reauthentication and parked operations).
@Suite("Parked operations", .timeLimit(.minutes(3)))
struct ParkedTests {
  /// A deletion of the user's that has been refused, because they signed in long ago.
  private func parkedDeletion(_ world: World, by way: World.Way) async throws -> (uid: String, flow: String) {
    let uid = try await world.signIn(by: way)
    try await world.lapseLogins()
    let flow = try await world.begin("Account.DeleteUser")
    try expect(try await world.parked(flow), tells: way)
    #expect(try await world.flow(flow).details["error"] as? String == ConflictTests.error + "RequiresRecentLogin")
    return (uid, flow)
  }

  private func expect(_ reauthentication: [String: Any], tells way: World.Way) throws {
    func text(_ key: String) -> String? { reauthentication[key] as? String }
    #expect(text("kind") == way.kind)
    #expect(text("email") == (way == .phone ? nil : "ada@example.com"))
    #expect(text("phone-number") == (way == .phone ? World.ownNumber : nil))
    #expect(text("provider-id") == (way == .provider ? "facebook.com" : nil))
    #expect(text("provider-name") == (way == .provider ? "Facebook" : nil))
    let named =
      switch way {
      case .password, .emailLink: "ada@example.com"
      case .provider: "Facebook"
      case .phone: World.ownNumber
      }
    #expect(try #require(text("display-message")).contains(named))
  }

  /// The account is gone, and was asked for once before and once after.
  private func expectDeleted(_ world: World, _ uid: String, _ flow: String) async throws {
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.serverAccount(uid) == nil)
    #expect(try await world.uid() == nil)
    #expect(try await world.requests("accounts:delete") == 2)
  }

  @Test("a deletion after an old login waits, and is done once by itself, whichever way the user signs in again")
  func delete() async throws {
    for way in World.Way.allCases {
      let world = try await World.start()
      let (uid, flow) = try await parkedDeletion(world, by: way)
      #expect(try await world.uid() == uid)
      try await world.prove(try await world.reauthenticate(by: way), by: way)
      try await expectDeleted(world, uid, flow)
    }
  }

  @Test("the daemon killed while it's parked: the next one waits, and does it")
  func killed() async throws {
    for way in World.Way.allCases {
      let world = try await World.start()
      let (uid, flow) = try await parkedDeletion(world, by: way)
      try await world.killDaemon()
      try expect(try await world.parked(flow), tells: way)
      try await world.prove(try await world.reauthenticate(by: way), by: way)
      try await expectDeleted(world, uid, flow)
    }
  }

  @Test(
    "signing in again takes its second factor inside, and the first one once",
    arguments: [World.Way.password, .emailLink, .provider], [false, true])
  func secondFactor(_ way: World.Way, isKilled: Bool) async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: way)
    try await world.addPhoneFactor(to: uid)
    try await world.lapseLogins()
    let flow = try await world.begin("Account.DeleteUser")
    try expect(try await world.parked(flow), tells: way)
    let firsts = try await world.firstFactors()
    let again = try await world.reauthenticate(by: way)
    try await world.giveFirstFactor(again, by: way)
    let hints = try await world.flow(again, at: "second-factor-required")["hints"] as? [[String: Any]]
    #expect(hints?.count == 1 && hints?.first?["uid"] as? String == "second")
    #expect(hints?.first?["display-name"] as? String == "Work")
    if isKilled { try await world.killDaemon() }
    #expect(try await world.flow(flow).stage == "reauthentication-required")
    try await world.giveSecondFactor(again)
    try await world.flow(again, at: "succeeded")
    try await expectDeleted(world, uid, flow)
    #expect(try await world.firstFactors() == firsts + 1)
  }

  @Test(
    "the daemon killed while the user signs in again: it's done when the next one has finished that",
    arguments: [
      (World.Way.password, "session-committed"), (.emailLink, "session-committed"), (.provider, "session-committed"),
      (.phone, "session-committed"), (.emailLink, "exchange-sent"), (.phone, "exchange-sent"),
    ])
  func killedMeanwhile(_ way: World.Way, point: String) async throws {
    let world = try await World.start()
    let (uid, flow) = try await parkedDeletion(world, by: way)
    try world.setDaemon(["LINKD_PAUSE_AT": point])
    try await world.killDaemon()
    let again = try await world.reauthenticate(by: way)
    async let given: Void = world.giveFirstFactor(again, by: way)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try? await given
    try await expectDeleted(world, uid, flow)
  }

  @Test(
    "the daemon killed when the answer was there and nothing kept: it stays parked, and the next sign-in frees it",
    arguments: [World.Way.emailLink, .phone])
  func killedAnswered(_ way: World.Way) async throws {
    let world = try await World.start()
    let (uid, flow) = try await parkedDeletion(world, by: way)
    try world.setDaemon(["LINKD_PAUSE_AT": "exchange-answered"])
    try await world.killDaemon()
    let lost = try await world.reauthenticate(by: way)
    async let given: Void = world.giveFirstFactor(lost, by: way)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try? await given
    // The code is spent.
    try await world.flow(lost, at: "failed")
    try expect(try await world.parked(flow), tells: way)
    #expect(try await world.requests("accounts:delete") == 1)
    try await world.prove(try await world.reauthenticate(by: way), by: way)
    try await expectDeleted(world, uid, flow)
  }

  @Test("a plain sign-in of the same user isn't meant for it: it waits on for the other kind")
  func plainSignIn() async throws {
    let world = try await World.start()
    let (uid, flow) = try await parkedDeletion(world, by: .password)
    let again = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
    try await world.flow(again, at: "succeeded")
    #expect(try await world.flow(flow).stage == "reauthentication-required")
    #expect(try await world.requests("accounts:delete") == 1)
    try await world.prove(try await world.reauthenticate(by: .password), by: .password)
    try await expectDeleted(world, uid, flow)
  }

  // MARK: Dead tokens

  @Test(
    "tokens that the server has ended park it, too, and whose session that was signs in again",
    arguments: World.Way.allCases)
  func deadToken(_ way: World.Way) async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: way)
    try await world.revokeTokens(of: uid)
    let flow = try await world.begin("Account.DeleteUser")
    try expect(try await world.parked(flow), tells: way)
    #expect(try await world.flow(flow).details["error"] as? String == ConflictTests.error + "TokenRevoked")
    #expect(try await world.uid() == nil)
    try await world.prove(try await world.reauthenticate(by: way), by: way)
    try await expectDeleted(world, uid, flow)
  }

  @Test("after dead tokens a plain sign-in of the same user will do, also with the daemon killed before")
  func deadTokenPlain() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    try await world.revokeTokens(of: uid)
    let flow = try await world.begin("Account.DeleteUser")
    try await world.flow(flow, at: "reauthentication-required")
    try await world.killDaemon()
    try expect(try await world.parked(flow), tells: .password)
    let again = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
    try await world.flow(again, at: "succeeded")
    try await expectDeleted(world, uid, flow)
  }

  @Test("somebody else who signs in meanwhile doesn't get it, and ends it: who was there before isn't surprised later")
  func somebodyElse() async throws {
    for isDead in [false, true] {
      let world = try await World.start()
      let uid = try await world.signIn(by: .password)
      let bob = try await world.madeElsewhere("bob@example.com")
      if isDead { try await world.revokeTokens(of: uid) } else { try await world.lapseLogins() }
      let flow = try await world.begin("Account.DeleteUser")
      try await world.flow(flow, at: "reauthentication-required")
      let other = try await world.begin("SignIn.SignInWithPassword", "bob@example.com", "correct horse")
      try await world.flow(other, at: "succeeded")
      try await world.flow(flow, at: "cancelled")
      let again = try await world.reauthenticate(by: .password)
      try await world.prove(again, by: .password)
      #expect(try await world.uid() == bob)
      let ada = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
      try await world.flow(ada, at: "succeeded")
      #expect(try await world.requests("accounts:delete") == 1)
      #expect(try await world.uid() == uid)
      #expect(try await world.serverAccount(uid) != nil)
      #expect(try await world.serverAccount(bob) != nil)
    }
  }
}

extension World {
  /// Requests that spent a first factor.
  func firstFactors() async throws -> Int {
    var count = 0
    for operation in ["signInWithPassword", "signInWithEmailLink", "signInWithIdp", "signInWithPhoneNumber"] {
      count += try await requests("accounts:\(operation)")
    }
    return count
  }
}
