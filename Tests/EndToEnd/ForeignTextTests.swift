import Foundation
import TestSupport
import Testing

@Suite("What a server says is foreign", .timeLimit(.minutes(2)))
struct ForeignTextTests {
  static let app = "/org/linkd/Auth1/app/demo"

  // D-Bus carries no zero byte: one in a name kept the whole user, and every managed object, from being read.
  @Test("a zero byte in an account's name or in a claim takes nothing away but itself")
  func zeroBytes() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    let uid = try #require(try await world.whoami()["uid"] as? String)
    let claims = #"{\"a\\u0000b\":1,\"role\":\"admin\"}"#
    let result = try await world.run([
      "curl", "-fsS", "-H", "Authorization: Bearer owner", "-H", "Content-Type: application/json", "-d",
      #"{"localId":"\#(uid)","displayName":"A\u0000da","photoUrl":"\u0000","customAttributes":"\#(claims)"}"#,
      "http://\(world.emulatorAddress)/identitytoolkit.googleapis.com/v1/projects/\(World.project)/accounts:update",
    ])
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try await world.gdbus(Self.app, "org.linkd.Auth1.Session.ReloadUser", "{}").status == 0)
    let user = try await world.whoami()
    #expect(user["display-name"] as? String == "Ada" && user["photo-url"] == nil)
    let all = try await world.gdbus("/org/linkd/Auth1", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
    #expect(all.status == 0, "\(all.stderr)")
    let token = try await world.json("token", "--force-refresh").last
    #expect((token?["claims"] as? [String: Any])?["role"] as? String == "admin", "\(token ?? [:])")
  }

  // Each request has 18 s, and these need several.
  @Test("methods that need several slow answers say within 20 s that the network doesn't do")
  func answersInTime() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    #expect(try await world.linkctl("account", "verify-email").status == 0)
    let link = try await world.mail("ada@example.com")
    for path in ["accounts:resetPassword", "accounts:update"] {
      try await world.fault(["path": path, "delay": 12_000])
    }
    let start = ContinuousClock.now
    let late = try await world.run(
      [
        "gdbus", "call", "--session", "--dest", "org.linkd.Auth1", "--object-path", Self.app, "--method",
        "org.linkd.Auth1.SignIn.ApplyActionCode", link, "{}",
      ], timeout: .seconds(40))
    #expect(late.stderr.contains("NetworkUnavailable"), "\(late.stdout) \(late.stderr)")
    #expect(ContinuousClock.now - start < .seconds(23))
    // What was asked for goes on.
    try await world.eventually("the verification") { try await world.whoami()["email-verified"] as? Bool == true }
  }

  @Test("an emulator's code is shown to no other backend")
  func otherBackend() async throws {
    let world = try await World.start()
    let other = try await World.start()
    try await other.createUser("ada@example.com", "correct horse")
    #expect(try await other.linkctl("account", "reset-password", "ada@example.com").status == 0)
    let link = try await other.mail("ada@example.com")
    let emulator = "{'emulator': <'\(other.emulatorAddress)'>}"
    let named = try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.GetApp", "demo", emulator)
    let path = try #require(named.stdout.split(separator: "'").first { $0.hasPrefix("/org") }.map(String.init))
    let member = "org.linkd.Auth1.SignIn.CheckActionCode"
    #expect(try await world.gdbus(path, member, link, "{}").stdout.contains("passwordReset"))
    #expect(try await world.gdbus(Self.app, member, link, "{}").stderr.contains("InvalidArgs"))
    #expect(try await world.requests("accounts:resetPassword") == 0)
  }

  @Test("an option is a text of at most 32 KiB: nobody fills rows and requests with more")
  func longOptions() async throws {
    let world = try await World.start()
    let long = String(repeating: "x", count: 32 * 1024 + 1)
    for option in ["locale", "display-name"] {
      let result = try await world.gdbus(
        Self.app, "org.linkd.Auth1.SignIn.CreateUser", "ada@example.com", "correct horse", "{'\(option)': <'\(long)'>}")
      #expect(result.stderr.contains("InvalidArgs") && result.stderr.contains(option), "\(result.stderr.prefix(300))")
    }
    #expect(try await world.requests("accounts:signUp") == 0)
  }
}
