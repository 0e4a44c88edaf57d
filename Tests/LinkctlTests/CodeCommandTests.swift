import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// Codes of text messages: asked for, wrong, sent again, given by scripts and by other commands (cli-and-config; behaviour:
/// Phone).
@Suite("linkctl and codes", .loopRunning, .timeLimit(.minutes(1)))
struct CodeCommandTests {
  @Test("a wrong code is asked for again, with the tries that are left; none is shown")
  func wrongCode() async throws {
    let desk = try await PhoneCommandTests.desk()
    let terminal = try desk.terminal("sign-in", "phone", PhoneCommandTests.number)
    try await terminal.asksSecretly("Code (Enter")
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("waiting-for-code", PhoneCommandTests.wrong(4)) }
    terminal.type("000000")
    try await terminal.asksSecretly("The code is wrong. Tries left: 4.\nCode (Enter", count: 1)
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", PhoneCommandTests.user) }
    terminal.type("١٢٣ ٤٥٦")
    #expect(terminal.end() == 0)
    // As it was typed: the daemon knows every digit (B087).
    #expect(await desk.stub.calls("ProvideCode").map { $0.arguments } == [[.string("000000")], [.string("١٢٣ ٤٥٦")]])
    #expect(!terminal.text.contains("000000"))
  }

  @Test("B087: a code that linkd refuses at once is asked for again")
  func malformed() async throws {
    let desk = try await PhoneCommandTests.desk()
    await desk.stub.fail("ProvideCode", "InvalidVerificationCode")
    let terminal = try desk.terminal("sign-in", "phone", PhoneCommandTests.number)
    try await terminal.asksSecretly("Code (Enter")
    terminal.type("12")
    try await terminal.asksSecretly("The daemon's own text.\nCode (Enter")
    await desk.stub.mend("ProvideCode")
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", PhoneCommandTests.user) }
    terminal.type("123456")
    #expect(terminal.end() == 0)
    await desk.stub.fail("ProvideCode", "InvalidVerificationCode")
    await desk.stub.move("waiting-for-code", PhoneCommandTests.code())
    for command in [["sign-in", "phone", PhoneCommandTests.number], ["code", "f1"]] {
      let script = try await Subprocess.run(
        ["\(World.programs)/linkctl"] + command + ["--code-stdin"], environment: desk.environment(), stdin: "12\n")
      #expect(script.status == 4 && script.stderr.contains("The daemon's own text."), "\(script)")
    }
  }

  @Test("Enter alone or r has a new message sent, once that's allowed; before that it says when", arguments: ["", "r"])
  func resend(_ typed: String) async throws {
    let later = Int64(Date().timeIntervalSince1970) + 50
    let desk = try await PhoneCommandTests.desk(
      "waiting-for-code", PhoneCommandTests.code(["can-resend-at": .int64(later)]))
    let terminal = try desk.terminal("sign-in", "phone", PhoneCommandTests.number)
    try await terminal.asksSecretly("Code (Enter")
    terminal.type(typed)
    try await terminal.asksSecretly("A new code can be sent in ")
    #expect(await desk.stub.calls("Resend").isEmpty)
    await desk.stub.move("waiting-for-code", PhoneCommandTests.code())
    try await terminal.asksSecretly("Code (Enter", count: 3)
    await desk.stub.react("Resend") { stub, _ in stub.moveSoon("starting") }
    terminal.type(typed)
    try await terminal.shows("Starting …")
    #expect(await desk.stub.calls("Resend").first?.options["open-browser"]?.asBool == false)
    await desk.stub.move("waiting-for-code", PhoneCommandTests.code())
    try await terminal.asksSecretly("A code has been sent to", count: 3)
    await desk.stub.move("succeeded", PhoneCommandTests.user)
    #expect(terminal.end() == 0 && terminal.echoes)
  }

  @Test("a code given by another command ends the question")
  func elsewhere() async throws {
    let desk = try await PhoneCommandTests.desk()
    let terminal = try desk.terminal("sign-in", "phone", PhoneCommandTests.number)
    try await terminal.asksSecretly("Code (Enter")
    let given = try await desk.linkctl("code", "f1", "--code-stdin", "--no-wait", stdin: "123456\n")
    #expect(given.status == 0)
    await desk.stub.move("exchanging")
    try await terminal.shows("Signing in …")
    await desk.stub.move("succeeded", PhoneCommandTests.user)
    #expect(terminal.end() == 0 && terminal.echoes)
    #expect(terminal.text.hasSuffix(": \nSigning in …\nSigned in as +15555550100.\n"), "\(terminal.text)")
  }

  @Test("no tries left: a new message is offered, or the flow has failed")
  func noTriesLeft() async throws {
    let failed = ["retry": DBusValue.boolean(true)].merging(PhoneCommandTests.wrong(0)) { $1 }
    let desk = try await PhoneCommandTests.desk("failed", failed)
    let script = try await desk.linkctl("sign-in", "phone", PhoneCommandTests.number, "--json")
    #expect(script.status == 1 && script.stderr.contains("linkctl resend f1"))
    #expect(try Desk.objects(script).last?["error"] as? String == "org.linkd.Auth1.Error.InvalidVerificationCode")
    let terminal = try desk.terminal("sign-in", "phone", PhoneCommandTests.number)
    try await terminal.shows("Begin anew, with a new code? [y/N] ")
    await desk.stub.react("Resend") { stub, _ in stub.moveSoon("waiting-for-code", PhoneCommandTests.code()) }
    terminal.type("y")
    try await terminal.asksSecretly("Code (Enter")
    await desk.stub.move("failed", failed)
    try await terminal.shows("Begin anew", count: 2)
    terminal.type("")
    #expect(terminal.end() == 1)
    #expect(await desk.stub.calls("Resend").count == 1)
  }

  @Test("where nobody can be asked: exit 4, what to run, and the details in the line")
  func script() async throws {
    let desk = try await PhoneCommandTests.desk()
    let result = try await desk.linkctl("sign-in", "phone", PhoneCommandTests.number, "--json")
    #expect(result.status == 4 && result.stderr.contains("'linkctl code f1'"))
    let line = try #require(try Desk.objects(result).last)
    #expect(
      line["stage"] as? String == "waiting-for-code" && line["phone-number"] as? String == PhoneCommandTests.number)
    #expect(
      line["attempts-left"] as? Int == 5 && line["code-length"] as? Int == 6 && line["can-resend-at"] as? Int == 0)
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("waiting-for-code", PhoneCommandTests.wrong(4)) }
    let wrong = try await desk.linkctl(
      "sign-in", "phone", PhoneCommandTests.number, "--code-stdin", "--json", stdin: "000000\n1\n")
    let last = try #require(try Desk.objects(wrong).last)
    #expect(wrong.status == 4 && last["exit"] as? Int == 4)
    #expect(last["error"] as? String == "org.linkd.Auth1.Error.InvalidVerificationCode")
    #expect(await desk.stub.calls("ProvideCode").count == 1)
  }

  @Test("a script's code comes from standard input, when the flow waits for it, and is in no output")
  func scripted() async throws {
    let desk = try await PhoneCommandTests.desk("starting", [:])
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", PhoneCommandTests.user) }
    async let running = desk.linkctl("sign-in", "phone", PhoneCommandTests.number, "--code-stdin", stdin: "123456\n")
    try await until { await desk.stub.isSeen }
    #expect(await desk.stub.calls("ProvideCode").isEmpty)
    await desk.stub.move("waiting-for-code", PhoneCommandTests.code())
    let result = try await running
    #expect(result.status == 0 && !(result.stdout + result.stderr).contains("123456"))
    #expect(await desk.stub.calls("ProvideCode").map { $0.arguments } == [[.string("123456")]])
    await desk.stub.move("waiting-for-code", PhoneCommandTests.code())
    let silent = try await desk.linkctl("sign-in", "phone", PhoneCommandTests.number, "--code-stdin")
    #expect(silent.status == 4)
  }

  @Test("code gives it to another command's flow, and waits for what comes of it")
  func codeCommand() async throws {
    let desk = try await PhoneCommandTests.desk()
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", PhoneCommandTests.user) }
    #expect(try await desk.linkctl("code", "f1").status == 4)
    let script = try await desk.linkctl("code", "f1", "--code-stdin", stdin: "123456\n")
    #expect(script.status == 0 && script.stderr == "Signed in as +15555550100.\n")
    let late = try await desk.linkctl("code", "f1", "--code-stdin", stdin: "123456\n")
    #expect(late.status == 1 && late.stderr.contains("isn't waiting for a code"))
    await desk.stub.move("waiting-for-code", PhoneCommandTests.code())
    let terminal = try desk.terminal("code", "f1")
    try await terminal.asksSecretly("A code has been sent to +15555550100.\nCode: ")
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("waiting-for-code", PhoneCommandTests.wrong(1)) }
    terminal.type("000000")
    try await terminal.asksSecretly("Tries left: 1.\nCode (Enter")
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", PhoneCommandTests.user) }
    terminal.type("123456")
    #expect(terminal.end() == 0 && terminal.echoes)
  }
}
