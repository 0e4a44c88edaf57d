import Foundation
import TestSupport
import Testing

/// A number that is another account's (field report B107), and guests who sign in by one.
@Suite("Numbers that are somebody's already", .timeLimit(.minutes(4)))
struct PhoneConflictTests {
  private static let number = PhoneTests.number
  private static let options = ["switch", "keep", "cancel"]

  /// Bob has the number; Ada, who is signed in, wants to link it. Her flow stands in conflict.
  private func inConflict(_ world: World) async throws -> (bob: String, ada: String, flow: String) {
    try await world.signIn(phone: Self.number)
    let bob = try #require(try await world.uid())
    #expect(try await world.linkctl("sign-out").status == 0)
    try await world.createUser("ada@example.com", "correct horse")
    let ada = try #require(try await world.uid())
    let flow = try await world.byPhone(Self.number, options: "{'purpose': <'link'>}")
    let details = try await world.answer(flow, Self.number, to: "conflict")
    let conflict = try #require(details["conflict"] as? [String: Any])
    #expect(conflict["kind"] as? String == "credential-already-in-use")
    #expect(conflict["options"] as? [String] == Self.options)
    #expect(conflict["phone-number"] as? String == Self.number)
    #expect((conflict["message"] as? String)?.isEmpty == false)
    #expect(try await world.uid() == ada)
    return (bob, ada, flow)
  }

  /// A guest, and an account of Bob's that has the number.
  private func guestAndBob(_ world: World) async throws -> (guest: String, bob: String) {
    try await world.signIn(phone: Self.number)
    let bob = try #require(try await world.uid())
    #expect(try await world.linkctl("sign-out").status == 0)
    return (try await world.becomeGuest(), bob)
  }

  // MARK: Linking

  @Test("B107: the code is spent, and its proof signs in to the other account without another message")
  func switched() async throws {
    let world = try await World.start()
    let (bob, ada, flow) = try await inConflict(world)
    let messages = try await world.requests("sendVerificationCode")
    #expect(try await world.flow(flow, "ResolveConflict", "switch").status == 0)
    let end = try await world.flow(flow, at: "succeeded")
    #expect((end["user"] as? [String: Any])?["uid"] as? String == bob && end["is-new-user"] as? Bool == false)
    #expect(try await world.uid() == bob)
    #expect(try await world.signInMethod() == "phone")
    #expect(try await world.serverProviders(ada) == ["password"])
    #expect(try await world.requests("sendVerificationCode") == messages)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  @Test("kept or given up: nobody's account has changed", arguments: ["keep", "cancel"])
  func kept(_ choice: String) async throws {
    let world = try await World.start()
    let (bob, ada, flow) = try await inConflict(world)
    for word in ["sign-in-and-link", "new-link", "both"] {
      #expect(try await world.flow(flow, "ResolveConflict", word).stderr.contains("InvalidArgs"), "\(word)")
    }
    #expect(try await world.flow(flow, "ResolveConflict", choice).status == 0)
    try await world.flow(flow, at: "cancelled")
    #expect(try await world.uid() == ada)
    #expect(try await world.signInMethod() == "password")
    #expect(try await world.serverProviders(ada) == ["password"])
    #expect(try await world.serverProviders(bob) == ["phone"])
    #expect(World.refusal(try await world.flow(flow, "ResolveConflict", "switch")) == "NoSuchFlow")
  }

  @Test("killed in conflict, and on the way to the other account: the proof is kept", arguments: [false, true])
  func killed(_ later: Bool) async throws {
    let world = try await World.start()
    let (bob, ada, flow) = try await inConflict(world)
    try await world.killDaemon()
    let conflict = try await world.conflict(flow)
    #expect(conflict["phone-number"] as? String == Self.number && conflict["options"] as? [String] == Self.options)
    #expect(try await world.uid() == ada)
    try await world.fault(["path": "signInWithPhoneNumber", "hold-before-handling": true, "times": 1])
    let asked = try await world.requests("signInWithPhoneNumber")
    #expect(try await world.flow(flow, "ResolveConflict", "switch").status == 0)
    try await world.eventually("the request") { try await world.requests("signInWithPhoneNumber") == asked + 1 }
    if later { try await world.killDaemon() }
    try await world.clearFaults()
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == bob)
  }

  @Test("temporary trouble on the way to the other account is waited out")
  func trouble() async throws {
    let world = try await World.start()
    let (bob, _, flow) = try await inConflict(world)
    try await world.fault(["path": "signInWithPhoneNumber", "status": 503, "times": 1])
    #expect(try await world.flow(flow, "ResolveConflict", "switch").status == 0)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == bob)
  }

  @Test("a proof that counts no more ends the flow, and the session stays")
  func staleProof() async throws {
    let world = try await World.start()
    let (_, ada, flow) = try await inConflict(world)
    try await world.fault(["path": "signInWithPhoneNumber", "error": "INVALID_TEMPORARY_PROOF", "times": 1])
    #expect(try await world.flow(flow, "ResolveConflict", "switch").status == 0)
    try await world.flow(flow, at: "failed", "SessionExpired")
    #expect(try await world.uid() == ada)
  }

  @Test("another account's number can't become the account's own")
  func changeNumber() async throws {
    let world = try await World.start(apps: ["demo", "other"])
    try await world.signIn(phone: Self.number, app: "other")
    try await world.signIn(phone: PhoneTests.other)
    let uid = try await world.uid()
    let flow = try await world.begin("Account.ChangePhoneNumber", Self.number)
    let end = try await world.answer(flow, Self.number, to: "failed")
    #expect(end["error"] as? String == "org.linkd.Auth1.Error.CredentialAlreadyInUse" && end["retry"] as? Bool == false)
    #expect(try await world.uid() == uid)
    #expect(try await world.whoami()["phone-number"] as? String == PhoneTests.other)
    #expect(try await world.uid(app: "other") != uid)
  }

  // MARK: Guests

  @Test("a guest whose number is new becomes the account, with the same uid")
  func upgraded() async throws {
    let world = try await World.startUpgrading()
    let guest = try await world.becomeGuest()
    let end = try await world.answer(try await world.byPhone(Self.number), Self.number)
    #expect(end["upgraded"] as? Bool == true && end["previous-uid"] == nil)
    #expect(try await world.uid() == guest)
    let user = try await world.whoami()
    #expect(user["is-anonymous"] as? Bool == false && user["phone-number"] as? String == Self.number)
    #expect(try await world.signInMethod() == "phone")
  }

  @Test("a guest whose number has an account gets to choose, and one message is all it takes", arguments: options)
  func guestConflict(_ choice: String) async throws {
    let world = try await World.startUpgrading()
    let (guest, bob) = try await guestAndBob(world)
    let messages = try await world.requests("sendVerificationCode")
    try await world.setPhone(["testNumbers": [Self.number: "123456"]])
    // In one program: five seconds aren't long.
    let met = try await world.starter([
      ["begin", "SignIn.SignInWithPhoneNumber", [Self.number], [:]], ["at", "waiting-for-code"],
      ["call", "ProvideCode", ["123456"]], ["at", "conflict"], ["call", "ResolveConflict", [choice]],
    ])
    let conflict = try #require((met["details"] as? [String: Any])?["conflict"] as? [String: Any])
    #expect(conflict["kind"] as? String == "anonymous-upgrade" && conflict["options"] as? [String] == Self.options)
    #expect(conflict["anonymous-uid"] as? String == guest && conflict["existing-uid"] as? String == bob)
    let flow = try #require(met["flow"] as? String)
    let end = try await world.flow(flow, at: choice == "switch" ? "succeeded" : "cancelled")
    if choice == "switch" {
      #expect(end["previous-uid"] as? String == guest && end["upgraded"] as? Bool == false)
      #expect(try await world.signInMethod() == "phone")
    }
    #expect(try await world.uid() == (choice == "switch" ? bob : guest))
    #expect(try await world.requests("sendVerificationCode") == messages + 1)
  }

  @Test("a guest's conflict settles itself, after a restart in the midst of it, too", arguments: [false, true])
  func guestSettles(_ restarts: Bool) async throws {
    let world = try await World.startUpgrading()
    let (guest, bob) = try await guestAndBob(world)
    try await world.setPhone(["testNumbers": [Self.number: "123456"]])
    let met = try await world.starter([
      ["begin", "SignIn.SignInWithPhoneNumber", [Self.number], [:]], ["at", "waiting-for-code"],
      ["call", "ProvideCode", ["123456"]], ["at", "conflict"],
    ])
    let flow = try #require(met["flow"] as? String)
    if restarts { try await world.killDaemon() }
    let end = try await world.flow(flow, at: "succeeded")
    #expect(end["previous-uid"] as? String == guest)
    #expect(try await world.uid() == bob)
  }
}
