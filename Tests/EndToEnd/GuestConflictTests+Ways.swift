import Foundation
import TestSupport
import Testing

/// The same by a new account's password, and by providers.
extension GuestConflictTests {
  @Test("a new account for an address that has one: the right password leads there, a wrong one loses nothing")
  func createUser() async throws {
    let world = try await World.startUpgrading()
    let ada = try await world.madeElsewhere("ada@example.com")
    let guest = try await world.becomeGuest()
    let wrong = try await world.begin("SignIn.CreateUser", "ada@example.com", "another horse")
    #expect(try await world.flow(wrong, at: "failed")["error"] as? String == Self.error + "EmailAlreadyInUse")
    try await isStill(guest, world)
    let right = try await world.begin("SignIn.CreateUser", "ada@example.com", "correct horse")
    let conflict = try await world.conflict(right)
    #expect(conflict["anonymous-uid"] as? String == guest && conflict["existing-uid"] as? String == ada)
    #expect(try await world.flow(right, "ResolveConflict", "switch").status == 0)
    try await world.flow(right, at: "succeeded")
    #expect(try await world.uid() == ada)
    #expect(try await world.signInMethod() == "password")
  }

  /// How the server says that a guest can't become the account.
  struct Refusal: Sendable, CustomTestStringConvertible {
    let way: UpgradeWay
    /// An account with the credential, or with its address alone.
    let isCredentialTaken: Bool
    /// A refusal with status 400, besides the one with 200 (identity-toolkit 3.5).
    var code: String?
    var isProduction = false
    var testDescription: String { "\(way) \(isCredentialTaken) \(code ?? "200") \(isProduction ? "production" : "")" }
  }

  @Test(
    "B106: a guest's provider that leads to an account, however the server says so: both uids, then the account",
    arguments: [
      Refusal(way: .providerPage, isCredentialTaken: true), Refusal(way: .credential, isCredentialTaken: true),
      Refusal(way: .providerPage, isCredentialTaken: true, isProduction: true),
      Refusal(way: .credential, isCredentialTaken: true, code: "FEDERATED_USER_ID_ALREADY_LINKED"),
      Refusal(way: .providerPage, isCredentialTaken: true, code: "FEDERATED_USER_ID_ALREADY_LINKED"),
      Refusal(way: .credential, isCredentialTaken: true, code: "CREDENTIAL_ALREADY_IN_USE"),
      Refusal(way: .providerPage, isCredentialTaken: false), Refusal(way: .credential, isCredentialTaken: false),
      Refusal(way: .credential, isCredentialTaken: false, isProduction: true),
      Refusal(way: .credential, isCredentialTaken: false, code: "EMAIL_EXISTS"),
    ])
  func provider(_ refusal: Refusal) async throws {
    let world = try await World.startUpgrading()
    if refusal.isProduction { try await world.followProduction() }
    let ada =
      refusal.isCredentialTaken
      ? try await world.madeElsewhere(by: "google.com", UpgradeWay.ada)
      : try await world.madeElsewhere("ada@example.com")
    let guest = try await world.becomeGuest()
    if let code = refusal.code { try await world.fault(["path": "accounts:signInWithIdp", "error": code, "times": 1]) }
    let flow = try await refusal.way.go(world)
    let conflict = try await world.conflict(flow)
    #expect(conflict["kind"] as? String == "anonymous-upgrade" && conflict["options"] as? [String] == Self.options)
    #expect(conflict["anonymous-uid"] as? String == guest && conflict["existing-uid"] as? String == ada)
    #expect(try await world.uid() == guest)
    #expect(try await world.flow(flow, "ResolveConflict", "switch").status == 0)
    let end = try await world.flow(flow, at: "succeeded")
    #expect(end["upgraded"] as? Bool == false && end["previous-uid"] as? String == guest)
    #expect(try await world.uid() == ada)
    #expect(try await world.signInMethod() == "google.com")
    #expect(try await world.providers().contains("google.com"))
  }
}
