import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// Phone numbers and the codes that are sent to them (cli-and-config; behaviour: Phone).
@Suite("linkctl and phones", .loopRunning, .timeLimit(.minutes(1)))
struct PhoneCommandTests {
  static let number = "+15555550100"
  static let user = ["user": DBusValue.dict(["uid": .string("u1"), "phone-number": .string(number)])]

  static func code(_ more: [String: DBusValue] = [:]) -> [String: DBusValue] {
    let details: [String: DBusValue] = [
      "kind": .string("phone"), "phone-number": .string(number), "code-length": .uint32(6),
      "attempts-left": .uint32(5), "can-resend-at": .int64(0),
    ]
    return details.merging(more) { $1 }
  }

  static func wrong(_ left: UInt32) -> [String: DBusValue] {
    code([
      "error": .string("org.linkd.Auth1.Error.InvalidVerificationCode"), "message": .string("The code is wrong."),
      "attempts-left": .uint32(left),
    ])
  }

  static func desk(_ stage: String = "waiting-for-code", _ details: [String: DBusValue] = code()) async throws -> Desk {
    let desk = try await Desk()
    await desk.stub.begin(stage, details, purpose: "sign-in", method: "phone")
    return desk
  }

  // MARK: The number

  @Test("the number is asked for, a wrong one again, and the locale's country goes along where there's no +")
  func number() async throws {
    let desk = try await Self.desk()
    await desk.stub.fail("SignInWithPhoneNumber", "InvalidPhoneNumber")
    let terminal = try Terminal(
      ["\(World.programs)/linkctl", "sign-in", "phone"],
      environment: desk.environment(["LC_TELEPHONE": "de_AT.UTF-8"]))
    try await terminal.shows("Phone number, with + and the country's code: ")
    terminal.type("0660 1")
    try await terminal.shows("The daemon's own text.")
    await desk.stub.mend("SignInWithPhoneNumber")
    terminal.type(" +1 555 555 0100 ")
    try await terminal.asksSecretly("A code has been sent to +15555550100.\nCode (Enter alone sends a new one): ")
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    terminal.type("123456")
    #expect(terminal.end() == 0)
    #expect(terminal.text.hasSuffix("Signed in as +15555550100.\n") && terminal.echoes)
    let calls = await desk.stub.calls("SignInWithPhoneNumber")
    #expect(calls.map { $0.arguments } == [[.string("0660 1")], [.string("+1 555 555 0100")]])
    #expect(calls.map { $0.options["region"]?.asString } == ["AT", nil])
    #expect(calls.allSatisfy { $0.options["open-browser"]?.asBool == false })
  }

  @Test("a country of the locale that has no numbers is passed over; one that was given isn't")
  func unknownCountry() async throws {
    let desk = try await Self.desk()
    let run = ["\(World.programs)/linkctl", "sign-in", "phone", "0660 1", "--no-wait"]
    let locale = desk.environment(["LC_TELEPHONE": "en_EU.UTF-8", "LC_ALL": "C.UTF-8", "LANG": "de_AT@euro"])
    #expect(try await Subprocess.run(run, environment: locale).status == 0)
    let regions = await desk.stub.calls("SignInWithPhoneNumber").map { $0.options["region"]?.asString }
    #expect(regions == ["AT"])
    let given = try await Subprocess.run(run + ["--region", "eu"], environment: locale)
    #expect(given.status == 64 && given.stderr.contains("--region"))
  }

  @Test("--region and the purpose go along; what can't be meant is wrong usage")
  func options() async throws {
    let desk = try await Self.desk()
    let run = ["sign-in", "phone", "0660 123456", "--region", "at", "--link", "--no-wait"]
    let result = try await Subprocess.run(["\(World.programs)/linkctl"] + run, environment: desk.environment())
    #expect(result.status == 0 && result.stdout == "f1\n")
    let options = try #require(await desk.stub.calls("SignInWithPhoneNumber").first?.options)
    #expect(options["region"]?.asString == "AT" && options["purpose"]?.asString == "link")
    #expect(options["open-browser"]?.asBool == true)
    #expect(try await desk.linkctl("account", "link", "phone", Self.number, "--no-wait").status == 0)
    #expect(await desk.stub.calls("SignInWithPhoneNumber").last?.options["purpose"]?.asString == "link")
    #expect(try await desk.linkctl("sign-in", "phone", "0660", "--region", "Austria").status == 64)
    #expect(try await desk.linkctl("sign-in", "phone", "+1", "555").status == 64)
    #expect(try await desk.linkctl("sign-in", "phone").status == 4)
  }

  // MARK: The page

  @Test("the page of the check opens in the person's browser, a second one too")
  func page() async throws {
    let desk = try await Self.desk("waiting-for-captcha", ["expires-at": .int64(9)])
    let terminal = try desk.terminal("sign-in", "phone", Self.number, display: true)
    try await until { desk.opened != nil }
    #expect(desk.opened == ["1", StubService.url, "/dev/null"])
    try await terminal.shows("Show in the browser that you're a person")
    try FileManager.default.removeItem(atPath: desk.home.file("opened"))
    await desk.stub.move("starting")
    await desk.stub.move("waiting-for-code", Self.code())
    try await terminal.asksSecretly("Code (Enter")
    await desk.stub.move("starting")
    try await until { await desk.stub.isSeen }
    await desk.stub.move("waiting-for-captcha", ["expires-at": .int64(9)])
    try await until { desk.opened != nil }
    await desk.stub.refuse("No mail.", "notAuthLink")
    terminal.type("https://example.com/")
    try await terminal.shows("That isn't the address that the check ends at.")
    await desk.stub.move("succeeded", Self.user)
    #expect(terminal.end() == 0)
  }

  @Test("--no-browser prints the page's URL; with --json it's a key of that stage alone")
  func printed() async throws {
    let desk = try await Self.desk("waiting-for-captcha", [:])
    await desk.stub.react("GetUrl") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    let result = try await desk.linkctl("sign-in", "phone", Self.number, "--no-browser")
    #expect(result.status == 0 && result.stdout == StubService.url + "\n" && desk.opened == nil)
    await desk.stub.move("waiting-for-captcha")
    let lines = try Desk.objects(try await desk.linkctl("sign-in", "phone", Self.number, "--no-browser", "--json"))
    #expect(lines.map { $0["url"] as? String } == [StubService.url, nil])
  }

  @Test("who switches to the number's own account is told so, at a terminal and by resolve")
  func switched() async throws {
    let conflict: DBusValue = .dict([
      "kind": .string("credential-already-in-use"), "options": .strings(["switch", "keep", "cancel"]),
      "message": .string("That number is another account's."), "phone-number": .string(Self.number),
    ])
    let desk = try await Desk()
    await desk.stub.begin("conflict", ["conflict": conflict], purpose: "link", method: "phone")
    let masked = try await desk.linkctl("flows", "--json")
    #expect(masked.stdout.contains("+*******0100") && !masked.stdout.contains(Self.number))
    await desk.stub.react("ResolveConflict") { stub, _ in stub.moveSoon("succeeded", Self.user) }
    let terminal = try desk.terminal("account", "link", "phone", Self.number)
    try await terminal.shows("What should be done? ")
    terminal.type("1")
    #expect(terminal.end() == 0 && terminal.text.hasSuffix("Signed in as +15555550100.\n"))
    await desk.stub.begin("succeeded", Self.user)
    let linked = try await desk.linkctl("account", "link", "phone", Self.number)
    #expect(linked.stderr == "You can sign in to this account with your phone number now.\n")
    #expect(try await desk.linkctl("resolve", "f1", "switch").stderr == "Signed in as +15555550100.\n")
  }

  // MARK: Looking on

  @Test("who only looks sees no whole number")
  func masked() async throws {
    let how: [String: DBusValue] = [
      "kind": .string("phone"), "phone-number": .string(Self.number),
      "display-message": .string("A code goes to +15555550100."),
    ]
    let desk = try await Self.desk("waiting-for-code", Self.code(["reauthentication": .dict(how)]))
    let json = try await desk.linkctl("flows", "--json")
    #expect(json.status == 0 && json.stdout.contains("+*******0100") && !json.stdout.contains("5555550100"))
    let text = try await desk.linkctl("flows")
    #expect(text.stdout.contains("+*******0100") && !text.stdout.contains("5555550100"))
    #expect(text.stderr.contains("linkctl code f1"))
  }

  @Test("resend says what is sent")
  func resendCommand() async throws {
    let desk = try await Self.desk()
    #expect(try await desk.linkctl("resend", "f1").stderr == "A new code is on its way.\n")
    await desk.stub.begin("waiting-for-link", [:], purpose: "sign-in", method: "emailLink")
    #expect(try await desk.linkctl("resend", "f1").stderr == "A new mail has been sent.\n")
  }
}
