import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// Signing in again before something dangerous, and changes of the account (cli-and-config; behaviour: Reauthentication and
/// parked operations).
@Suite("linkctl and signing in again", .loopRunning, .timeLimit(.minutes(1)))
struct ReauthenticationCommandTests {
  static let user = ProviderCommandTests.user

  static func parked(_ kind: String, _ more: [String: DBusValue] = [:]) -> [String: DBusValue] {
    let way = ["kind": DBusValue.string(kind), "display-message": .string("Say who you are.")]
    return ["reauthentication": .dict(way.merging(more) { $1 })]
  }

  static func desk(_ details: [String: DBusValue] = parked("password"), purpose: String = "delete-user") async throws
    -> Desk
  {
    let desk = try await Desk()
    await desk.stub.begin("reauthentication-required", details, purpose: purpose, method: "none")
    await desk.stub.beginAgain("waiting-for-password", ["email": .string("ada@example.com"), "new": .boolean(false)])
    return desk
  }

  @Test("at a terminal it's done at once, and the flow that waited goes on to its end")
  func atOnce() async throws {
    let desk = try await Self.desk()
    let terminal = try desk.terminal("account", "delete", "--yes")
    try await terminal.asksSecretly(
      "Say who you are.\nA password is needed for ada@example.com.\nPassword: ")
    await desk.stub.react("ProvidePassword") { stub, _ in
      EventLoop.shared.after(.milliseconds(1)) {
        stub.moveAgain("succeeded", Self.user)
        stub.move("exchanging")
        stub.move("succeeded")
      }
    }
    terminal.type("correct horse")
    #expect(terminal.end() == 0)
    #expect(terminal.text.contains("Confirmed: you are ada@example.com.\n"))
    #expect(terminal.text.hasSuffix("The account has been deleted.\n") && !terminal.text.contains("correct horse"))
    #expect(await desk.stub.calls("Reauthenticate").first?.options["open-browser"]?.asBool == false)
    #expect(await desk.stub.calls("Cancel").isEmpty)
  }

  @Test("why is said in linkd's words, where it has some")
  func why() async throws {
    for (details, text) in [
      (Self.parked("phone", ["display-message": .string("Say who you\u{1b} are.")]), "Say who you are.\n"),
      (
        [:],
        "Please sign in again to continue: 'linkctl sign-in METHOD --reauthenticate' in another terminal. "
          + "Waiting for it …\n"
      ),
    ] {
      let desk = try await Self.desk(details)
      let result = try await desk.linkctl("account", "delete", "--yes")
      #expect(result.status == 4)
      #expect(
        result.stderr == text
          + "linkctl: Confirm who you are with 'linkctl reauthenticate'. The rest goes on by itself.\n")
      #expect(await desk.stub.calls("Reauthenticate").isEmpty)
    }
  }

  @Test("a browser's page, a code and a second factor work inside it")
  func inside() async throws {
    let desk = try await Self.desk(Self.parked("oauth", ["provider-name": .string("Google")]))
    await desk.stub.beginAgain("waiting-for-redirect")
    let terminal = try desk.terminal("account", "delete", "--yes", display: true)
    try await until { desk.opened != nil }
    // Late news of the flow that waits: it still does.
    await desk.stub.move("reauthentication-required", Self.parked("oauth"))
    await desk.stub.moveAgain("second-factor-required", FactorCommandTests.hints(FactorCommandTests.app))
    try await terminal.asksSecretly("Code: ")
    await desk.stub.react("ProvideCode") { stub, _ in
      EventLoop.shared.after(.milliseconds(1)) {
        stub.move("exchanging")
        stub.moveAgain("succeeded", Self.user)
        stub.move("succeeded")
      }
    }
    terminal.type("123456")
    #expect(terminal.end() == 0 && terminal.echoes)
    #expect(terminal.text.hasSuffix("The account has been deleted.\n"))
  }

  @Test("another account's sign-in is told, and can be repeated or given up")
  func wrongUser() async throws {
    let desk = try await Self.desk()
    let mismatch: [String: DBusValue] = [
      "error": .string("org.linkd.Auth1.Error.UserMismatch"), "message": .string("That was another account."),
    ]
    await desk.stub.beginAgain("failed", mismatch)
    let terminal = try desk.terminal("account", "delete", "--yes")
    try await terminal.shows("That was another account.\nTry again? [y/N] ")
    terminal.type("y")
    try await terminal.shows("Try again? [y/N] ", count: 2)
    #expect(await desk.stub.calls("Reauthenticate").count == 2)
    await desk.stub.react("Cancel") { stub, _ in stub.move("cancelled") }
    terminal.type("")
    #expect(terminal.end() == 130)
    #expect(await desk.stub.calls.filter { $0.member == "Cancel" }.map(\.path) == [StubService.flow])
  }

  @Test("who signs in by another command meanwhile needn't do it again")
  func elsewhere() async throws {
    let desk = try await Self.desk(Self.parked("oauth"))
    await desk.stub.beginAgain("waiting-for-redirect")
    let terminal = try desk.terminal("account", "delete", "--yes")
    try await terminal.shows("paste that page's address here")
    await desk.stub.move("exchanging")
    await desk.stub.move("succeeded")
    #expect(terminal.end() == 0)
    #expect(terminal.text.hasSuffix("The account has been deleted.\n"))
    #expect(await desk.stub.calls.filter { $0.member == "Cancel" }.map(\.path) == [StubService.secondFlow])
  }

  @Test("with --json both flows' lines are printed, and the last one is the operation's")
  func json() async throws {
    let desk = try await Self.desk()
    let terminal = try desk.terminal("account", "delete", "--yes", "--json")
    try await terminal.asksSecretly("Password: ")
    await desk.stub.react("ProvidePassword") { stub, _ in
      EventLoop.shared.after(.milliseconds(1)) {
        stub.moveAgain("succeeded", Self.user)
        stub.move("succeeded")
      }
    }
    terminal.type("correct horse")
    #expect(terminal.end() == 0)
    let stages = terminal.text.split(separator: "\n").compactMap { line in
      try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }.map { "\($0["flow"] ?? "") \($0["stage"] ?? "")" }
    #expect(
      stages == ["f1 reauthentication-required", "f2 waiting-for-password", "f2 succeeded", "f1 succeeded"])
  }

  @Test("reauthenticate takes a script's password and code, one each")
  func scripted() async throws {
    let desk = try await Self.desk()
    await desk.stub.react("ProvidePassword") { stub, _ in
      EventLoop.shared.after(.milliseconds(1)) {
        stub.moveAgain("second-factor-required", FactorCommandTests.hints(FactorCommandTests.app))
      }
    }
    await desk.stub.react("ProvideCode") { stub, _ in
      EventLoop.shared.after(.milliseconds(1)) { stub.moveAgain("succeeded", Self.user) }
    }
    let result = try await desk.linkctl(
      "reauthenticate", "--password-stdin", "--code-stdin", stdin: "correct horse\n123456\n")
    #expect(result.status == 0 && result.stderr.hasSuffix("Confirmed: you are ada@example.com.\n"))
    #expect(await desk.stub.calls("ProvidePassword").map { $0.arguments } == [[.string("correct horse")]])
    #expect(await desk.stub.calls("ProvideCode").map { $0.arguments } == [[.string("123456")]])
  }

  // MARK: The account

  @Test("password, address and number: what is asked for, and what is said at the end")
  func account() async throws {
    let desk = try await Desk()
    let email = ["email": DBusValue.string("new@example.com")]
    await desk.stub.begin("succeeded", email, purpose: "change-email", method: "none")
    let mail = try await desk.linkctl("account", "email", "new@example.com", "--continue-url", "https://a.example/")
    #expect(
      mail.status == 0
        && mail.stderr == "A mail is on its way to new@example.com. Its link makes that the account's address.\n")
    let call = try #require(await desk.stub.calls("ChangeEmail").first)
    #expect(call.arguments == [.string("new@example.com")])
    #expect(call.options["continue-url"]?.asString == "https://a.example/")
    await desk.stub.begin("succeeded", Self.user, purpose: "update-password", method: "none")
    let password = try await desk.linkctl("account", "password", "--password-stdin", stdin: "new horse\n")
    #expect(password.status == 0 && password.stderr == "The password has been changed.\n")
    #expect(await desk.stub.calls("UpdatePassword").map { $0.arguments } == [[.string("new horse")]])
    #expect(try await desk.linkctl("account", "password").status == 4)
    let terminal = try desk.terminal("account", "password")
    try await terminal.asksSecretly("New password: ")
    terminal.type("one")
    try await terminal.asksSecretly("New password once more: ")
    terminal.type("two")
    try await terminal.asksSecretly("The two passwords aren't the same. Try again.\nNew password: ")
    #expect(await desk.stub.calls("UpdatePassword").count == 1)
    await desk.stub.begin("succeeded", PhoneCommandTests.user, purpose: "change-phone", method: "phone")
    let phone = try await desk.linkctl("account", "phone", PhoneCommandTests.number)
    #expect(phone.stderr == "The account's phone number is +15555550100 now.\n")
  }
}
