import AuthCore
import EventLoop
import Foundation
import Testing

@testable import IdentityToolkit

@Suite("Lookup", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct LookupTests {
  @Test("lookup") @LoopActor
  func lookup() async throws {
    let server = try ScriptedServer(
      .json(
        200,
        """
        {"users":[{"localId":"u1","email":"a@b.c","emailVerified":true,"displayName":"","photoUrl":"p",
          "phoneNumber":"+1","createdAt":"1700000000123","lastLoginAt":1700000001999,"tenantId":"t",
          "providerUserInfo":[{"providerId":"google.com","federatedId":"f","rawId":"r","email":"g@b.c"},
            {"providerId":"password","rawId":"r2"},{"federatedId":"nameless"}],
          "mfaInfo":[{"mfaEnrollmentId":"f1","phoneInfo":"+15555550142"}]}]}
        """))
    let user = try await IdentityToolkit(http: HTTPClient()).lookup(
      idToken: Secret("ID"), project: try server.project())
    #expect(server.requests.first?.json["idToken"] as? String == "ID")
    #expect(server.requests.first?.target.contains("/v1/accounts:lookup?") == true)
    #expect(user.uid == "u1")
    #expect(user.email == "a@b.c")
    #expect(user.emailVerified)
    #expect(user.displayName == nil)
    #expect(user.photoURL == "p")
    #expect(user.phoneNumber == "+1")
    #expect(user.createdAt == 1_700_000_000)
    #expect(user.lastSignInAt == 1_700_000_001)
    #expect(user.tenantID == "t")
    #expect(!user.isAnonymous)
    #expect(user.providers.map(\.providerID) == ["google.com", "password"])
    #expect(user.providers.map(\.uid) == ["f", "r2"])
    #expect(user.secondFactors.map(\.uid) == ["f1"])
    #expect(user.secondFactors.map(\.phoneNumber) == ["+*******0142"], "whole numbers are nobody's to show")
  }

  @Test(
    "who is a guest",
    arguments: [
      (#"{"localId":"u"}"#, true), (#"{"localId":"u","email":"","providerUserInfo":[]}"#, true),
      (#"{"localId":"u","email":"a@b.c"}"#, false), (#"{"localId":"u","phoneNumber":"+1"}"#, false),
      (#"{"localId":"u","customAuth":true}"#, false),
      (#"{"localId":"u","providerUserInfo":[{"providerId":"x.y"}]}"#, false),
    ]) @LoopActor
  func guest(_ account: String, _ isAnonymous: Bool) async throws {
    let server = try ScriptedServer(.json(200, "{\"users\":[\(account)]}"))
    let user = try await IdentityToolkit(http: HTTPClient()).lookup(
      idToken: Secret("ID"), project: try server.project())
    #expect(user.isAnonymous == isAnonymous)
  }

  @Test(
    "who came by a provider isn't a guest, with nothing left to sign in by",
    arguments: [("anonymous", true), ("google.com", false), ("custom", false)]) @LoopActor
  func guestByToken(_ provider: String, _ isAnonymous: Bool) async throws {
    let payload = Data(#"{"sub":"u","exp":1,"firebase":{"sign_in_provider":"\#(provider)"}}"#.utf8)
    let encoded = payload.base64EncodedString().replacingOccurrences(of: "=", with: "")
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    let server = try ScriptedServer(.json(200, #"{"users":[{"localId":"u"}]}"#))
    let user = try await IdentityToolkit(http: HTTPClient()).lookup(
      idToken: Secret("e30.\(encoded)."), project: try server.project())
    #expect(user.isAnonymous == isAnonymous)
  }

  @Test(
    "a lookup of none, of two, of nobody",
    arguments: [#"[]"#, #"[{"localId":"a"},{"localId":"b"}]"#, #"[{"localId":""}]"#])
  @LoopActor
  func notOneUser(_ users: String) async throws {
    let server = try ScriptedServer(.json(200, "{\"users\":\(users)}"))
    let project = try server.project()
    let error = try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: HTTPClient()).lookup(idToken: Secret("ID"), project: project)
    }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "NOT_ONE_USER"))
  }
}
