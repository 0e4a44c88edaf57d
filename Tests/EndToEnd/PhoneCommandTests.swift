import Foundation
import TestSupport
import Testing

/// `linkctl` and phone numbers, at a terminal and in a script (cli; behaviour: Phone).
@Suite("Phone numbers from the command line", .timeLimit(.minutes(3)))
struct PhoneCommandTests {
  private static let number = PhoneTests.number

  // MARK: Sign-in

  @Test("at a terminal: a wrong code is asked for again, the right one signs in, and neither is shown")
  func typed() async throws {
    let world = try await World.start()
    let terminal = try world.person("sign-in", "phone", Self.number)
    try await terminal.asksSecretly("A code has been sent to \(Self.number).\nCode (Enter alone sends a new one): ")
    let code = try await world.message(Self.number)
    terminal.type(World.wrong(code))
    try await terminal.asksSecretly("Code (", count: 2)
    #expect(terminal.text.contains("The code is wrong.") && terminal.text.contains("Tries left: 4."))
    terminal.type(code)
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(terminal.echoes && !terminal.text.contains(code) && !terminal.text.contains(World.wrong(code)))
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
    #expect(try await world.requests("accounts:sendVerificationCode") == 1)
  }

  @Test("without a number it's asked for, and a wrong one again")
  func numberTyped() async throws {
    let world = try await World.start()
    let terminal = try world.person("sign-in", "phone", "--region", "US")
    try await terminal.shows("Phone number")
    terminal.type("12")
    try await terminal.shows("Phone number", count: 2)
    terminal.type("(555) 555-0100")
    try await terminal.asksSecretly("A code has been sent to \(Self.number).")
    try await terminal.asksSecretly("Code (")
    terminal.type(try await world.message(Self.number))
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
  }

  @Test("a script leaves, gives a wrong code and then the right one by another command")
  func scripted() async throws {
    let world = try await World.start()
    let started = try await world.script("sign-in", "phone", Self.number, "--no-wait")
    #expect(started.status == 0 && started.last["method"] as? String == "phone", "\(started)")
    let code = try await world.message(Self.number)
    try await world.flow(started.flow, at: "waiting-for-code")
    let wrong = try await world.script("code", started.flow, "--code-stdin", stdin: World.wrong(code))
    #expect(wrong.status == 4 && wrong.error == "InvalidVerificationCode", "\(wrong)")
    #expect(wrong.stage == "waiting-for-code" && wrong.last["attempts-left"] as? Int == 4)
    let done = try await world.script("code", started.flow, "--code-stdin", stdin: "\(code)\n")
    #expect(done.status == 0 && done.stage == "succeeded", "\(done)\(world.log)")
    #expect((done.last["user"] as? [String: Any])?["phone-number"] as? String == Self.number)
    #expect(done.last["is-new-user"] as? Bool == true)
    #expect(!done.result.stdout.contains(code) && !done.result.stderr.contains(code))
    #expect(try await world.uid() != nil)
    #expect(try await world.script("code", started.flow, "--code-stdin", stdin: code).status == 1)
  }

  @Test("without a terminal the command ends with 4 at the code, and the flow lives on")
  func nobody() async throws {
    let world = try await World.start()
    let stopped = try await world.script("sign-in", "phone", Self.number)
    #expect(stopped.status == 4 && stopped.stage == "waiting-for-code", "\(stopped)")
    #expect(stopped.result.stderr.contains("linkctl code \(stopped.flow)"))
    #expect(try await world.script("code", stopped.flow).status == 4)
    let code = try await world.message(Self.number)
    let plain = try await world.linkctl("code", stopped.flow, "--code-stdin", stdin: code)
    #expect(plain.status == 0 && plain.stdout.isEmpty && !plain.stderr.contains(code), "\(plain)")
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
  }

  @Test("the country comes from --region, else from LC_TELEPHONE; a plus has its own")
  func regions() async throws {
    let world = try await World.start()
    let austria = ["LC_ALL": "", "LC_TELEPHONE": "de_AT.UTF-8", "LANG": "en_US.UTF-8"]
    for (typed, options, number) in [
      ("0664 1234567", [], "+436641234567"), ("07700 900123", ["--region", "GB"], "+447700900123"),
      ("+1 555 555 0100", [], "+15555550100"),
    ] {
      let argv = ["\(World.programs)/linkctl", "sign-in", "phone", typed, "--no-wait"] + options
      let started = try await world.run(argv, environment: austria)
      let flow = started.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(started.status == 0, "\(started)")
      #expect(try await world.flow(flow, at: "waiting-for-code")["phone-number"] as? String == number)
      _ = try await world.message(number)
    }
    let nowhere = try await world.script("sign-in", "phone", "0664 1234567", "--no-wait")
    #expect(nowhere.status == 1 && nowhere.error == "InvalidPhoneNumber", "\(nowhere)")
    #expect(try await world.linkctl("sign-in", "phone", "0664 1234567", "--region", "Austria").status == 64)
  }

  @Test("Ctrl-C at the code: the terminal shows what is typed again, the exit is 130, and the flow is cancelled")
  func interrupted() async throws {
    let world = try await World.start()
    // The terminal makes the signal itself, for whom it controls.
    let terminal = try Terminal(
      ["setsid", "--ctty", "--wait", "\(World.programs)/linkctl", "sign-in", "phone", Self.number],
      environment: world.environment)
    try await terminal.asksSecretly("Code (")
    let flow = try #require(try await world.json("flows").first?["flow"] as? String)
    let monitor = try await BusMonitor(world)
    terminal.press("\u{3}")
    #expect(terminal.end() == 130, "\(terminal.text)\(world.log)")
    #expect(terminal.echoes)
    try await world.eventually("the end") { monitor.count("StageChanged", "\"cancelled\"") == 1 }
    #expect(World.refusal(try await world.flow(flow, "ProvideCode", "123456")) == "NoSuchFlow")
    #expect(try await world.json("flows").isEmpty)
    #expect(try await world.uid() == nil)
  }

  @Test("a script's code comes by standard input once the message is there")
  func piped() async throws {
    let world = try await World.start()
    let input = try Subprocess.Pipe.make(), output = try Subprocess.Pipe.make()
    let pid = try Subprocess.spawn(
      ["\(World.programs)/linkctl", "sign-in", "phone", Self.number, "--code-stdin"], environment: world.environment,
      stdin: input.read, stdout: output.write, stderr: output.write, ownGroup: true)
    [input.read, output.write].forEach { close($0) }
    defer { close(output.read) }
    let line = "\(try await world.message(Self.number))\n"
    _ = line.withCString { write(input.write, $0, strlen($0)) }
    close(input.write)
    #expect(Subprocess.wait(pid) == 0, "\(world.log)")
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
  }

  @Test("Enter too early says when a new message may be sent; linkd killed at the question loses nothing")
  func tooEarly() async throws {
    let world = try await World.start()
    let terminal = try world.person("sign-in", "phone", Self.number)
    try await terminal.asksSecretly("Code (")
    terminal.type("")
    try await terminal.asksSecretly("Code (", count: 2)
    #expect(terminal.text.contains("A new code can be sent in "), "\(terminal.text)")
    let flow = try #require(try await world.json("flows").first?["flow"] as? String)
    let early = try await world.script("resend", flow)
    #expect(early.status == 75 && early.error == "RateLimited", "\(early)")
    try await world.killDaemon()
    terminal.type(try await world.message(Self.number))
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(try await world.requests("accounts:sendVerificationCode") == 1)
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
  }

  @Test("five wrong codes: a new message is offered, not yet sent, and who doesn't want it has failed")
  func lastWrong() async throws {
    let world = try await World.start()
    let terminal = try world.person("sign-in", "phone", Self.number)
    for count in 1...5 {
      try await terminal.asksSecretly("Code (", count: count)
      terminal.type(World.wrong(try await world.message(Self.number)))
    }
    try await terminal.shows("Begin anew, with a new code? [y/N] ")
    terminal.type("y")
    try await terminal.shows("A new code can be sent in ")
    try await terminal.shows("Begin anew", count: 2)
    terminal.type("n")
    #expect(terminal.end() == 1, "\(terminal.text)\(world.log)")
    #expect(try await world.requests("accounts:sendVerificationCode") == 1)
    #expect(try await world.uid() == nil)
  }

  // MARK: The account's number

  @Test("account phone at a terminal: the number is asked for, and changes with its code")
  func changeTyped() async throws {
    let world = try await World.start()
    try await world.signIn(phone: Self.number)
    let uid = try #require(try await world.uid())
    let terminal = try world.person("account", "phone")
    try await terminal.shows("Phone number")
    terminal.type(PhoneTests.other)
    try await terminal.asksSecretly("Code (")
    let code = try await world.message(PhoneTests.other)
    terminal.type(World.wrong(code))
    try await terminal.asksSecretly("Code (", count: 2)
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
    terminal.type(code)
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(terminal.text.hasSuffix("The account's phone number is \(PhoneTests.other) now.\n"), "\(terminal.text)")
    #expect(try await world.serverAccount(uid)?["phoneNumber"] as? String == PhoneTests.other)
  }

  @Test("account phone in a script: 4 at the code, done by code; a number that is another's fails with 1")
  func changeScripted() async throws {
    let world = try await World.start()
    try await world.signIn(phone: PhoneTests.other)
    #expect(try await world.linkctl("sign-out").status == 0)
    #expect(try await world.script("account", "phone", "+15555550102").error == "NoCurrentUser")
    try await world.signIn(phone: Self.number)
    let taken = try await world.script("account", "phone", PhoneTests.other)
    #expect(taken.status == 4 && taken.stage == "waiting-for-code", "\(taken)")
    let refused = try await world.script(
      "code", taken.flow, "--code-stdin", stdin: try await world.message(PhoneTests.other))
    #expect(refused.status == 1 && refused.error == "CredentialAlreadyInUse", "\(refused)")
    #expect(try await world.script("account", "phone").status == 4)
    let free = try await world.script("account", "phone", "555 555 0102", "--region", "US", "--no-wait")
    try await world.flow(free.flow, at: "waiting-for-code")
    let done = try await world.script(
      "code", free.flow, "--code-stdin", stdin: try await world.message("+15555550102"))
    #expect(done.status == 0 && done.last["purpose"] as? String == "change-phone", "\(done)")
    #expect(try await world.whoami()["phone-number"] as? String == "+15555550102")
  }
}
