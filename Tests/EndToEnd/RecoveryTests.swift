import Foundation
import TestSupport
import Testing

/// The other ways into an account that is in the way, for apps that want them offered (`legacy-recovery`;
/// firebaseui-behaviour 3.5).
@Suite("Other ways into the account", .timeLimit(.minutes(2)))
struct RecoveryTests {
  static let unproven = World.Claims("fb-ada", "ada@example.com", isVerified: false)

  /// An app that wants recovery and lists these ways.
  private func world(_ providers: String..., isWanted: Bool = true) async throws -> World {
    let world = try await World.start()
    try await world.setProviders(providers)
    try await world.setOptions(["legacy-recovery": isWanted])
    return world
  }

  /// `recovery` of a sign-in with a provider that doesn't vouch for Ada's address, once it has been asked for.
  private func recovery(_ world: World, _ flow: String) async throws -> [String: Any]? {
    try await world.eventually("the question") { try await world.requests("accounts:createAuthUri") == 1 }
    var found: [String: Any]?
    try await world.eventually("the answer") {
      found = try await world.flow(flow, at: "conflict")["recovery"] as? [String: Any]
      return found != nil
    }
    return found
  }

  /// The conflict stands, without other ways.
  private func isPlain(_ world: World, _ flow: String) async throws {
    // Whatever the answer was, it's here by the time that a later one is.
    _ = try await world.gdbus(
      "/org/linkd/Auth1/app/demo", "org.linkd.Auth1.SignIn.FetchSignInMethods", "nobody@example.com", "{}")
    #expect(try await world.flow(flow, at: "conflict")["recovery"] == nil)
  }

  @Test("B111: every way into the account is told, those that the app has and those it hasn't")
  func ways() async throws {
    let world = try await world("password", "emailLink", "facebook.com", "apple.com")
    let ada = try await world.madeElsewhere("ada@example.com")
    try await world.signIn("ada@example.com")
    #expect(try await world.uid() == ada)
    for (provider, claims) in [("apple.com", World.Claims("a-1")), ("github.com", World.Claims("gh-1"))] {
      // What the app doesn't list, it can't link; somebody did so elsewhere.
      try await world.linkElsewhere(provider, claims)
    }
    #expect(try await world.linkctl("sign-out").status == 0)
    let monitor = try await BusMonitor(world)
    let flow = try await world.withCredential("facebook.com", Self.unproven)
    let found = try await recovery(world, flow)
    #expect(found?["email"] as? String == "ada@example.com")
    #expect((found?["options"] as? [String])?.sorted() == ["apple.com", "emailLink", "password"])
    #expect(found?["unavailable"] as? [String] == ["github.com"])
    // A change that a client can see is told, and what was found isn't.
    try await world.eventually("the signals") { monitor.count("StageChanged", "\"conflict\"") == 2 }
    #expect(!monitor.output.contains("ada@example.com"))
    let masked = try await world.linkctl("flows", "--json").stdout
    #expect(masked.contains("recovery") && !masked.contains("ada@example.com"))
    // Still known after a restart.
    try await world.killDaemon()
    #expect((try await world.flow(flow, at: "conflict")["recovery"] as? [String: Any])?["options"] != nil)
    #expect(try await world.requests("accounts:createAuthUri") == 1)
    // The mailed link that apple.com didn't capture.
    try await world.signIn("ada@example.com")
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == ada)
    #expect(try await world.serverProviders(ada).contains("facebook.com"))
  }

  @Test("an app that doesn't want it asks nobody")
  func unwanted() async throws {
    let world = try await world("password", "facebook.com", isWanted: false)
    _ = try await world.madeElsewhere("ada@example.com")
    let flow = try await world.withCredential("facebook.com", Self.unproven)
    #expect(try await world.flow(flow, at: "conflict")["recovery"] == nil)
    #expect(try await world.requests("accounts:createAuthUri") == 0)
  }

  @Test(
    "a server that hides or doesn't say how an address signs in leaves the conflict as it is", arguments: [true, false])
  func unknown(isHidden: Bool) async throws {
    let world = try await world("password", "facebook.com")
    _ = try await world.madeElsewhere("ada@example.com")
    if isHidden {
      try await world.hideAddresses()
    } else {
      try await world.fault(["path": "accounts:createAuthUri", "error": "QUOTA_EXCEEDED", "times": 1])
    }
    let flow = try await world.withCredential("facebook.com", Self.unproven)
    try await world.eventually("the question") { try await world.requests("accounts:createAuthUri") == 1 }
    try await isPlain(world, flow)
  }

  @Test("ways that the app has none of are no recovery")
  func none() async throws {
    let world = try await world("emailLink", "facebook.com")
    _ = try await world.madeElsewhere("ada@example.com")
    let flow = try await world.withCredential("facebook.com", Self.unproven)
    try await world.eventually("the question") { try await world.requests("accounts:createAuthUri") == 1 }
    try await isPlain(world, flow)
  }
}
