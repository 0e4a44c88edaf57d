import Foundation
import TestSupport
import Testing

/// A flow that concerns one account finishes while another is signed in (behaviour: Reauthentication: the uid of the answer
/// must be the one being protected, and nothing else changes).
@Suite("Somebody else has signed in meanwhile", .timeLimit(.minutes(2)))
struct SomebodyElseTests {
  static let mismatch = "org.linkd.Auth1.Error.UserMismatch"

  @Test("a link that confirms the first account leaves the second one signed in, and isn't spent")
  func reauthenticate() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    let sent = try await world.linkctl("sign-in", "email-link", "ada@example.com", "--reauthenticate", "--no-wait")
    #expect(sent.status == 0)
    let link = try await world.mail("ada@example.com")
    try await world.createUser("bob@example.com", "correct horse")
    let opened = try await world.json("open", link)
    #expect(opened.last?["error"] as? String == Self.mismatch)
    #expect(try await world.email() == "bob@example.com")
    #expect(try await world.requests("accounts:signInWithEmailLink") == 0)
  }

  @Test("a link that adds an address to the first account doesn't give it to the second one")
  func link() async throws {
    let world = try await World.start()
    #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
    #expect(try await world.linkctl("sign-in", "email-link", "eve@example.com", "--link", "--no-wait").status == 0)
    let link = try await world.mail("eve@example.com")
    try await world.createUser("bob@example.com", "correct horse")
    let opened = try await world.json("open", link)
    #expect(opened.last?["error"] as? String == Self.mismatch)
    let app = "/org/linkd/Auth1/app/demo"
    #expect(try await world.gdbus(app, "org.linkd.Auth1.Session.ReloadUser", "{}").status == 0)
    #expect(try await world.email() == "bob@example.com")
    #expect(try await world.mails("eve@example.com").count == 1)
  }

  @Test("a password that is typed late isn't added to the second account")
  func linkByPassword() async throws {
    let world = try await World.start()
    #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
    let weak = try await world.json(
      "sign-in", "password", "eve@example.com", "--link", "--password-stdin", stdin: "x")
    let flow = try #require(weak.dropLast().last?["flow"] as? String)
    try await world.createUser("bob@example.com", "correct horse")
    let late = try await world.json("password", flow, "--password-stdin", stdin: "another horse")
    #expect(late.last?["error"] as? String == Self.mismatch)
    #expect(try await world.requests("accounts:signUp") == 3)
    #expect(try await world.email() == "bob@example.com")
  }

  @Test("a refresh of the first account's token that hangs keeps nothing from the second one")
  func refresh() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    try await world.fault(["path": "v1/token", "hold-before-handling": true, "times": 1])
    async let first = world.json("token", "--force-refresh")
    try await world.eventually("the request") { try await world.requests("v1/token") == 1 }
    try await world.createUser("bob@example.com", "correct horse")
    let second = try await world.json("token", "--force-refresh").last
    #expect((second?["claims"] as? [String: Any])?["email"] as? String == "bob@example.com", "\(second ?? [:])")
    try await world.clearFaults()
    #expect(try await first.last?["error"] as? String == "org.linkd.Auth1.Error.NoCurrentUser")
    #expect(try await world.json("token").last?["token"] as? String == second?["token"] as? String)
  }

  @Test("the end of the first account doesn't sign the second one out")
  func delete() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    try await world.fault(["path": "accounts:delete", "hold-after-handling": true])
    let started = try await world.linkctl("account", "delete", "--yes", "--no-wait")
    let flow = started.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
    try await world.eventually("the request") { try await world.requests("accounts:delete") == 1 }
    try await world.createUser("bob@example.com", "correct horse")
    _ = try await world.sendLink("carol@example.com")
    try await world.clearFaults()
    let stage = "org.freedesktop.DBus.Properties.Get"
    try await world.eventually("the end") {
      try await world.gdbus("/org/linkd/Auth1/flow/\(flow)", stage, "org.linkd.Auth1.Flow", "Stage").stdout
        .contains("succeeded")
    }
    #expect(try await world.email() == "bob@example.com")
    #expect(try await world.json("flows").count == 1)
  }

  @Test("an account that is deleted though its flow was given up is signed out of")
  func cancelledDelete() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    try await world.fault(["path": "accounts:delete", "hold-after-handling": true])
    let started = try await world.linkctl("account", "delete", "--yes", "--no-wait")
    let flow = started.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
    try await world.eventually("the request") { try await world.requests("accounts:delete") == 1 }
    #expect(try await world.linkctl("cancel", flow).status == 0)
    try await world.clearFaults()
    try await world.eventually("the end of the session") { try await world.whoami()["uid"] == nil }
  }
}
