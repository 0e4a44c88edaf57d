import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// Second factors: choosing one at a sign-in (cli-and-config; behaviour: Second factors).
@Suite("linkctl and second factors", .loopRunning, .timeLimit(.minutes(1)))
struct FactorCommandTests {
  static let user = ProviderCommandTests.user
  static let phone: [String: DBusValue] = [
    "uid": .string("p1"), "kind": .string("phone"), "display-name": .string("Work"),
    "phone-number": .string("+*******0100"), "enrolled-at": .int64(86_400),
  ]
  static let app: [String: DBusValue] = ["uid": .string("t1"), "kind": .string("totp")]

  static func hints(_ factors: [String: DBusValue]...) -> [String: DBusValue] { ["hints": .dicts(factors)] }

  private static let message: [String: DBusValue] = [
    "kind": .string("phone"), "phone-number": .string("+*******0100"), "attempts-left": .uint32(5),
  ]

  static func desk(_ stage: String, _ details: [String: DBusValue], purpose: String = "sign-in") async throws -> Desk {
    let desk = try await Desk()
    await desk.stub.begin(stage, details, purpose: purpose, method: purpose == "sign-in" ? "password" : "totp")
    return desk
  }

  @Test("several are listed, and chosen by number or uid; another one can be taken at the code's question")
  func choice() async throws {
    let desk = try await Self.desk("second-factor-required", Self.hints(Self.phone, Self.app))
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("Number of the second factor: ")
    #expect(terminal.text.contains("  1  Work (+*******0100)\n  2  authenticator app\n"))
    terminal.type("")
    try await terminal.shows("Number of the second factor: ", count: 2)
    await desk.stub.react("ChooseFactor") { stub, _ in stub.moveSoon("waiting-for-code", Self.message) }
    terminal.type("1")
    try await terminal.asksSecretly(
      "A code has been sent to +*******0100.\nCode (Enter alone sends a new one, o: use another second factor): ")
    terminal.type("o")
    try await terminal.shows("Number of the second factor: ", count: 3)
    #expect(terminal.echoes)
    await desk.stub.react("ChooseFactor") { stub, _ in
      stub.moveSoon("waiting-for-code", ["kind": .string("totp"), "attempts-left": .uint32(5)])
    }
    terminal.type("t1")
    try await terminal.asksSecretly(
      "Type the code that your authenticator app shows.\nCode (o: use another second factor): ")
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    terminal.type("123456")
    #expect(terminal.end() == 0)
    #expect(await desk.stub.calls("ChooseFactor").map { $0.arguments } == [[.string("p1")], [.string("t1")]])
    #expect(await desk.stub.calls("ChooseFactor").allSatisfy { $0.options["open-browser"]?.asBool == false })
  }

  @Test("a phone alone gets its message after one Enter, not unasked")
  func onlyPhone() async throws {
    let desk = try await Self.desk("second-factor-required", Self.hints(Self.phone))
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("Press Enter to have a code sent to Work (+*******0100): ")
    #expect(await desk.stub.calls("ChooseFactor").isEmpty)
    await desk.stub.react("ChooseFactor") { stub, _ in stub.moveSoon("waiting-for-code", Self.message) }
    terminal.type("")
    try await terminal.asksSecretly("Code (Enter alone sends a new one): ")
    #expect(await desk.stub.calls("ChooseFactor").map { $0.arguments } == [[.string("p1")]])
  }

  @Test("an authenticator app alone is asked for its code at once")
  func onlyApp() async throws {
    let desk = try await Self.desk("second-factor-required", Self.hints(Self.app))
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.asksSecretly("Type the code that your authenticator app shows.\nCode: ")
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    terminal.type("123456")
    #expect(terminal.end() == 0)
    await desk.stub.move("second-factor-required", Self.hints(Self.app))
    let script = try await desk.linkctl("sign-in", "google.com", "--code-stdin", stdin: "123456\n")
    #expect(script.status == 0)
    #expect(await desk.stub.calls("ProvideCode").count == 2)
    #expect(await desk.stub.calls("ChooseFactor").isEmpty)
  }

  @Test("where nobody can be asked: exit 4, the flow's id and what to run; nothing is sent")
  func script() async throws {
    let desk = try await Self.desk("second-factor-required", Self.hints(Self.phone, Self.app))
    let result = try await desk.linkctl("sign-in", "google.com", "--json")
    #expect(result.status == 4)
    #expect(
      result.stderr == "linkctl: Choose with 'linkctl factor f1 UID': p1, Work (+*******0100); t1, authenticator app.\n"
    )
    let hints = try #require(try Desk.objects(result).last?["hints"] as? [[String: Any]])
    #expect(hints.map { $0["uid"] as? String } == ["p1", "t1"])
    #expect(await desk.stub.calls("ChooseFactor").isEmpty)
    await desk.stub.move("second-factor-required", Self.hints(Self.app))
    let only = try await desk.linkctl("sign-in", "google.com")
    #expect(only.status == 4 && only.stderr.contains("'linkctl code f1'"))
  }

  @Test("factor chooses for another command's flow, and code goes on with it")
  func factorCommand() async throws {
    let desk = try await Self.desk("second-factor-required", Self.hints(Self.phone, Self.app))
    await desk.stub.react("ChooseFactor") { stub, _ in stub.moveSoon("waiting-for-code", Self.message) }
    #expect(try await desk.linkctl("factor", "f1", "p1", "--no-wait").status == 0)
    try await until { await desk.stub.first.stage == "waiting-for-code" }
    let result = try await desk.linkctl("factor", "f1", "p1")
    #expect(result.status == 4 && result.stderr.contains("'linkctl code f1'"))
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    #expect(try await desk.linkctl("code", "f1", "--code-stdin", stdin: "123456\n").status == 0)
    #expect(try await desk.linkctl("factor", "f1").status == 64)
  }

  @Test("names from elsewhere can't change the terminal")
  func hostile() async throws {
    let evil = Self.phone.merging(["display-name": .string("A\u{1b}[31m\u{202e}B")]) { $1 }
    let desk = try await Self.desk("second-factor-required", Self.hints(evil, Self.app))
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("  1  A[31mB (+*******0100)\n")
    let script = try await desk.linkctl("sign-in", "google.com")
    #expect(!script.stderr.contains("\u{1b}") && !script.stderr.contains("\u{202e}"))
  }
}
