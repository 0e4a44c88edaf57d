import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// Second factors: adding, listing, removing (cli-and-config; behaviour: Second factors).
@Suite("linkctl mfa", .loopRunning, .timeLimit(.minutes(1)))
struct EnrollmentCommandTests {
  static let totp: [String: DBusValue] = [
    "kind": .string("totp"), "attempts-left": .uint32(5), "code-length": .uint32(6),
  ]

  @Test("an authenticator app is added by its secret, in groups of four, and a code; the address on request")
  func enrollApp() async throws {
    let desk = try await FactorCommandTests.desk("waiting-for-code", Self.totp, purpose: "enroll-factor")
    let terminal = try desk.terminal("mfa", "enroll-totp", "--name", "My phone")
    try await terminal.asksSecretly("JBSW Y3DP EHPK 3PXP\nCode (u: show the otpauth address): ")
    #expect(!terminal.text.contains("otpauth://") && !terminal.text.contains("##"))
    terminal.type("u")
    try await terminal.asksSecretly(StubService.setupURI + "\nCode (u")
    let wrong = Self.totp.merging([
      "error": .string("org.linkd.Auth1.Error.InvalidVerificationCode"), "message": .string("Wrong."),
      "attempts-left": .uint32(4),
    ]) { $1 }
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("waiting-for-code", wrong) }
    terminal.type("000000")
    try await terminal.asksSecretly("Wrong. Tries left: 4.\nCode (u")
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", FactorCommandTests.user) }
    terminal.type("123456")
    #expect(terminal.end() == 0)
    #expect(terminal.text.hasSuffix("The second factor has been added. It's asked for from the next sign-in on.\n"))
    #expect(terminal.text.components(separatedBy: "JBSW Y3DP").count == 2)
    #expect(await desk.stub.calls("EnrollTotpFactor").map { $0.arguments } == [[.string("My phone")]])
    #expect(await desk.stub.calls("GetSecret").count == 1)
  }

  @Test("--qr shows the code where the output is no terminal; --json has secret and address in its line, never a code")
  func enrollScript() async throws {
    let desk = try await FactorCommandTests.desk("waiting-for-code", Self.totp, purpose: "enroll-factor")
    let shown = try await desk.linkctl("mfa", "enroll-totp", "--qr", "--uri")
    #expect(shown.status == 4 && shown.stderr.contains("'linkctl code f1'"))
    #expect(shown.stdout.contains("####") && shown.stdout.hasSuffix("JBSW Y3DP EHPK 3PXP\n\(StubService.setupURI)\n"))
    #expect(!shown.stdout.contains("\u{1b}"))
    #expect(try await desk.linkctl("mfa", "enroll-totp").stdout == "JBSW Y3DP EHPK 3PXP\n")
    let json = try await desk.linkctl("mfa", "enroll-totp", "--qr", "--json")
    let lines = try Desk.objects(json)
    #expect(lines.count == 1 && json.stdout.split(separator: "\n").count == 1)
    #expect(lines[0]["secret"] as? String == StubService.secret)
    #expect(lines[0]["otpauth-uri"] as? String == StubService.setupURI)
    #expect(!(json.stderr + shown.stderr).contains("JBSW"))
    await desk.stub.begin("starting", [:], purpose: "enroll-factor", method: "totp")
    async let leaving = desk.linkctl("mfa", "enroll-totp", "--no-wait")
    try await until { await desk.stub.calls("EnrollTotpFactor").count == 4 }
    await desk.stub.move("waiting-for-code", Self.totp)
    let left = try await leaving
    #expect(left.status == 0 && left.stdout == "f1\nJBSW Y3DP EHPK 3PXP\n")
    #expect(left.stderr.hasSuffix("shows.\nType this secret into the authenticator app; spaces don't count:\n"))
  }

  @Test("the QR code says the address, as a reader that isn't ours finds")
  func readBack() async throws {
    let desk = try await FactorCommandTests.desk("waiting-for-code", Self.totp, purpose: "enroll-factor")
    let lines = try await desk.linkctl("mfa", "enroll-totp", "--qr").stdout.split(separator: "\n").dropLast()
    let rows = lines.flatMap { line in
      let modules = stride(from: 0, to: line.utf8.count, by: 2).map { Array(line.utf8)[$0] == UInt8(ascii: "#") }
      let dots = modules.map { $0 ? "1 1 1 1" : "0 0 0 0" }.joined(separator: " ")
      return Array(repeating: dots, count: 4)
    }
    let width = (lines.first?.utf8.count ?? 0) * 2
    let file = try desk.home.write(
      "P1\n\(width) \(rows.count)\n" + rows.joined(separator: "\n") + "\n", to: "code.pbm")
    let read = try await Subprocess.run(["zbarimg", "--quiet", "--raw", "--oneshot", "-Sbinary", file])
    #expect(read.stdout == StubService.setupURI)
  }

  @Test("the terminal gets what it can show: black on white, or no colour, or no code where it's too narrow")
  func screens() async throws {
    let desk = try await FactorCommandTests.desk("waiting-for-code", Self.totp, purpose: "enroll-factor")
    func shown(_ columns: Int, _ more: [String: String] = [:]) async throws -> String {
      let command = "stty cols \(columns); '\(World.programs)/linkctl' mfa enroll-totp </dev/null"
      let variables = ["TERM": "xterm", "SHELL": "/bin/sh"].merging(more) { $1 }
      return try await Subprocess.run(
        ["script", "-qec", command, "/dev/null"], environment: desk.environment(variables)
      ).stdout
    }
    #expect(try await shown(100).contains("\u{1b}[38;5;16;48;5;231m"))
    #expect(try await shown(200, ["LC_ALL": "C"]).contains("\u{1b}[107m"))
    let narrow = try await shown(40)
    #expect(!narrow.contains("█") && narrow.contains("too narrow for the QR code") && narrow.contains("JBSW Y3DP"))
    for more in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
      let plain = try await shown(200, more)
      #expect(!plain.contains("\u{1b}") && plain.contains("##"))
    }
  }

  @Test("a phone is added by a code sent to it")
  func enrollPhone() async throws {
    let desk = try await FactorCommandTests.desk("waiting-for-code", PhoneCommandTests.code(), purpose: "enroll-factor")
    await desk.stub.react("ProvideCode") { stub, _ in stub.moveSoon("succeeded", FactorCommandTests.user) }
    let result = try await desk.linkctl(
      "mfa", "enroll-phone", PhoneCommandTests.number, "--name", "Work", "--code-stdin", stdin: "123456\n")
    #expect(result.status == 0)
    let call = try #require(await desk.stub.calls("EnrollPhoneFactor").first)
    #expect(call.arguments == [.string(PhoneCommandTests.number), .string("Work")])
  }

  // MARK: Listing and removing

  @Test("mfa list has what the contract says; whoami has both lists always")
  func list() async throws {
    let desk = try await Desk()
    let nobody = try await desk.linkctl("mfa", "list")
    #expect(nobody.status == 0 && nobody.stderr.contains("mfa enroll-totp"))
    #expect(try Desk.objects(try await desk.linkctl("whoami", "--json"))[0]["second-factors"] as? [Int] == [])
    await desk.stub.has(user: ["second-factors": .dicts([FactorCommandTests.phone, FactorCommandTests.app])])
    let json = try await desk.linkctl("mfa", "list", "--json")
    #expect(
      json.stdout
        == #"{"uid":"p1","kind":"phone","display-name":"Work","phone-number":"+*******0100","enrolled-at":86400}"#
        + "\n"
        + #"{"uid":"t1","kind":"totp"}"# + "\n")
    let text = try await desk.linkctl("mfa", "list")
    #expect(text.stdout.hasPrefix("p1  Work (phone +*******0100)  since 1970-01-0"))
    #expect(text.stdout.hasSuffix("\nt1  totp\n"))
    #expect(try await desk.linkctl("whoami").stdout.contains("second-factors  Work (phone +*******0100), totp\n"))
  }

  @Test("removing asks which one, and whether to; scripts say both")
  func unenroll() async throws {
    let desk = try await FactorCommandTests.desk("succeeded", FactorCommandTests.user, purpose: "unenroll-factor")
    #expect(try await desk.linkctl("mfa", "unenroll", "--yes").status == 1)
    await desk.stub.has(user: ["second-factors": .dicts([FactorCommandTests.phone, FactorCommandTests.app])])
    for arguments in [["mfa", "unenroll"], ["mfa", "unenroll", "--yes"], ["mfa", "unenroll", "p1"]] {
      let result = try await Subprocess.run(
        ["\(World.programs)/linkctl"] + arguments, environment: desk.environment())
      #expect(result.status == 4, "\(arguments)")
    }
    #expect(await desk.stub.calls("UnenrollFactor").isEmpty)
    let script = try await desk.linkctl("mfa", "unenroll", "t1", "--yes")
    #expect(script.status == 0 && script.stderr == "The second factor has been removed.\n")
    let terminal = try desk.terminal("mfa", "unenroll")
    try await terminal.shows("Number of the second factor: ")
    terminal.type("1")
    try await terminal.shows("Remove the second factor Work (+*******0100)? [y/N] ")
    terminal.type("y")
    #expect(terminal.end() == 0)
    #expect(await desk.stub.calls("UnenrollFactor").map { $0.arguments } == [[.string("t1")], [.string("p1")]])
  }
}
