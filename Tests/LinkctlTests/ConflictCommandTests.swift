import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// Accounts that collide, at the terminal and in scripts (behaviour: Anonymous upgrade and conflicts).
@Suite("linkctl and conflicts", .loopRunning, .timeLimit(.minutes(1)))
struct ConflictCommandTests {
  static let user = ProviderCommandTests.user

  private static func conflict(_ kind: String, _ options: String..., email: String? = "ada@example.com")
    -> [String: DBusValue]
  {
    var conflict: [String: DBusValue] = [
      "kind": .string(kind), "options": .strings(options), "message": .string("There is one already."),
    ]
    conflict["email"] = email.map(DBusValue.string)
    return ["conflict": .dict(conflict)]
  }

  static let inUse = conflict("credential-already-in-use", "switch", "keep", "cancel")
  static let different = conflict("account-exists-with-different-credential", "sign-in-and-link", "cancel")

  @Test("at a terminal it's a numbered question, asked again until it's answered")
  func question() async throws {
    let desk = try await Desk()
    await desk.stub.begin("conflict", Self.inUse)
    let terminal = try desk.terminal("account", "link", "google.com")
    try await terminal.shows("What should be done?")
    #expect(terminal.text.contains("There is one already.\n  1  Switch to the other account\n  2  Stay as it is\n"))
    terminal.type("4")
    try await terminal.shows("What should be done?", count: 2)
    terminal.type("")
    try await terminal.shows("What should be done?", count: 3)
    await desk.stub.react("ResolveConflict") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    terminal.type("1")
    #expect(terminal.end() == 0)
    #expect(await desk.stub.calls("ResolveConflict").map { $0.arguments } == [[.string("switch")]])
  }

  @Test("choices that do the same are shown once, and both are taken")
  func sameChoices() async throws {
    let desk = try await Desk()
    await desk.stub.begin("conflict", Self.inUse)
    let terminal = try desk.terminal("account", "link", "google.com")
    try await terminal.shows("What should be done?")
    #expect(!terminal.text.contains("Cancel"))
    await desk.stub.react("ResolveConflict") { stub, _ in stub.moveSoon("cancelled") }
    terminal.type("cancel")
    #expect(terminal.end() == 130)
    #expect(await desk.stub.calls("ResolveConflict").map { $0.arguments } == [[.string("cancel")]])
  }

  @Test("somebody who has signed in with another address is asked about, before and after the choice")
  func otherAddress() async throws {
    let desk = try await Desk()
    func met(_ uid: String) -> [String: DBusValue] {
      let members = Self.different["conflict"]?.asDict ?? [:]
      return ["conflict": .dict(members.merging(["existing-uid": .string(uid)]) { $1 })]
    }
    await desk.stub.begin("conflict", Self.different)
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("What should be done?")
    await desk.stub.move("conflict", met("u8"))
    try await terminal.shows("What should be done?", count: 2)
    #expect(
      terminal.text.hasSuffix(
        "What should be done? \nSomebody has signed in with another address than ada@example.com.\n"
          + "  1  Add the new way to the account that has just signed in\n  2  Cancel\nWhat should be done? "))
    terminal.type("1")
    try await terminal.shows("Now sign in to ada@example.com as before")
    await desk.stub.move("conflict", met("u8"))
    await desk.stub.move("conflict", met("u9"))
    try await terminal.shows("What should be done?", count: 3)
    await desk.stub.react("ResolveConflict") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    terminal.type("1")
    #expect(terminal.end() == 0)
    #expect(terminal.text.components(separatedBy: "There is one already.").count == 2)
    #expect(await desk.stub.calls("ResolveConflict").count == 2)
  }

  @Test("the ways into the account are named where they're known")
  func ways() async throws {
    let desk = try await Desk()
    let recovery = DBusValue.dict(["options": .strings(["password", "google.com"])])
    await desk.stub.begin("conflict", Self.different.merging(["recovery": recovery]) { $1 })
    let result = try await desk.linkctl("resolve", "f1", "sign-in-and-link")
    #expect(
      result.stderr == "Now sign in to ada@example.com as before, in another terminal: "
        + "'linkctl sign-in password ada@example.com' or 'linkctl sign-in google.com'. The new way is added by itself "
        + "then.\n")
  }

  @Test("who is to sign in another way first is told how, once, and the flow waited for")
  func signInFirst() async throws {
    let desk = try await Desk()
    await desk.stub.begin("conflict", Self.different)
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("What should be done?")
    await desk.stub.react("ResolveConflict") { stub, _ in stub.moveSoon("conflict", Self.different) }
    terminal.type("sign-in-and-link")
    try await terminal.shows("Now sign in to ada@example.com as before")
    await desk.stub.move("exchanging")
    await desk.stub.move("succeeded", Self.user)
    #expect(terminal.end() == 0)
    #expect(terminal.text.components(separatedBy: "What should be done?").count == 2)
  }

  @Test("a guest's upgrade settles itself, with or without a terminal")
  func upgrade() async throws {
    let desk = try await Desk()
    await desk.stub.begin("conflict", Self.conflict("anonymous-upgrade", "switch", "keep", "cancel"))
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("What should be done?")
    #expect(terminal.text.contains("Without an answer you switch to it in five seconds.\nWhat"))
    await desk.stub.forgetReads()
    async let running = desk.linkctl("sign-in", "google.com", "--json")
    try await until { await desk.stub.isSeen }
    await desk.stub.move("exchanging")
    try await terminal.shows("What should be done? \nSigning in …\n")
    await desk.stub.move("exchanging")
    let end = Self.user.merging(["previous-uid": .string("g1")]) { $1 }
    await desk.stub.move("succeeded", end)
    #expect(terminal.end() == 0)
    #expect(terminal.text.hasSuffix("Signed in as ada@example.com. What you did as a guest stayed with the guest.\n"))
    #expect(terminal.text.components(separatedBy: "Signing in …").count == 2)
    let script = try await running
    let lines = try Desk.objects(script)
    #expect(script.status == 0)
    let conflict = try #require(lines.first?["conflict"] as? [String: Any])
    #expect(conflict["kind"] as? String == "anonymous-upgrade" && conflict["options"] as? [String] != nil)
    #expect(lines.last?["previous-uid"] as? String == "g1")
  }

  @Test("a guest who became the account is told so")
  func upgraded() async throws {
    let desk = try await Desk()
    let upgraded = ["upgraded": DBusValue.boolean(true), "previous-uid": .string("u1")]
    await desk.stub.begin("succeeded", Self.user.merging(upgraded) { $1 })
    let result = try await desk.linkctl("sign-in", "google.com")
    #expect(result.stderr == "Signed in as ada@example.com. Your guest account has become this account.\n")
  }

  @Test("where nobody can be asked, any other conflict ends with 4 and the command that answers")
  func script() async throws {
    let desk = try await Desk()
    await desk.stub.begin("conflict", Self.different)
    let result = try await desk.linkctl("sign-in", "google.com")
    #expect(result.status == 4)
    #expect(result.stderr.contains("linkctl resolve f1 CHOICE': sign-in-and-link, cancel."))
    let flows = try await desk.linkctl("flows")
    #expect(flows.stderr.contains("linkctl resolve f1 CHOICE"))
    // Who only looks sees no whole address.
    #expect(try await !desk.linkctl("flows", "--json").stdout.contains("ada@example.com"))
  }

  @Test("resolve takes a choice and waits for what comes of it")
  func resolve() async throws {
    let desk = try await Desk()
    await desk.stub.begin("conflict", Self.inUse)
    #expect(try await desk.linkctl("resolve", "f1", "keep", "--no-wait").status == 0)
    await desk.stub.react("ResolveConflict") { stub, _ in stub.move("succeeded", Self.user) }
    let result = try await desk.linkctl("resolve", "f1", "switch")
    #expect(result.status == 0 && result.stderr == "Signed in as ada@example.com.\n")
    #expect(await desk.stub.calls("ResolveConflict").map { $0.arguments } == [[.string("keep")], [.string("switch")]])
    await desk.stub.react("ResolveConflict") { stub, _ in stub.move("conflict", Self.different) }
    let first = try await desk.linkctl("resolve", "f1", "sign-in-and-link")
    #expect(first.status == 4 && first.stderr.contains("Now sign in to ada@example.com as before"))
  }

  @Test("a mailed link that was spent on a guest's conflict is waited for again, and why is said")
  func secondLink() async throws {
    let desk = try await Desk()
    await desk.stub.begin("waiting-for-link", ["email": .string("ada@example.com")])
    async let running = desk.linkctl("sign-in", "email-link", "ada@example.com")
    try await until { await desk.stub.isSeen }
    let error = DBusValue.string("org.linkd.Auth1.Error.EmailAlreadyInUse")
    await desk.stub.move(
      "waiting-for-link", ["email": .string("ada@example.com"), "error": error, "message": .string("A new link.")])
    try await until { await desk.stub.isSeen }
    await desk.stub.move("succeeded", Self.user)
    let result = try await running
    #expect(result.status == 0 && result.stderr.contains("A new link.\n"))
  }
}
