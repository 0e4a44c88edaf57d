import Foundation
import TestSupport
import Testing

/// `linkctl sign-in` by each way, stopped by a second factor (cli; behaviour: Second factors, Pending flows).
@Suite("Sign-ins from the command line that a second factor stops", .timeLimit(.minutes(3)))
struct StoppedCommandTests {
  enum Way: String, Sendable, CaseIterable {
    case password, emailLink, page

    /// Where the first factor goes.
    var path: String {
      switch self {
      case .password: "accounts:signInWithPassword"
      case .emailLink: "accounts:signInWithEmailLink"
      case .page: "accounts:signInWithIdp"
      }
    }

    var arguments: [String] {
      switch self {
      case .password: ["sign-in", "password", "ada@example.com"]
      case .emailLink: ["sign-in", "email-link", "ada@example.com"]
      case .page: ["sign-in", "google.com"]
      }
    }
  }

  /// Ada's account has an authenticator app and a phone; how many first factors the server has seen.
  private func world(_ way: Way) async throws -> (World, FactoredAccount, browser: [String: String], firsts: Int) {
    let world = try await World.startWithFactors()
    let ada = try await world.withFactors("ada@example.com", phones: ["Mobile": PhoneTests.number])
    try await world.pagesChoose(World.Claims("ada", "ada@example.com"))
    return (world, ada, try await world.withBrowser(), try await world.requests(way.path))
  }

  private func open(_ world: World) async throws {
    let link = try await world.button(try await world.mail("ada@example.com"))
    #expect(try await world.linkctl("open", "--no-wait", link).status == 0)
  }

  /// The number that stands before a factor in the list that was shown last.
  private func place(_ name: String, _ terminal: Terminal) throws -> String {
    let line = try #require(
      terminal.text.split(separator: "\n").last { $0.contains("  \(name) (") }, "\(terminal.text)")
    return line.split(separator: " ").first.map(String.init) ?? ""
  }

  @Test(
    "at a terminal: the factors are listed, one is chosen, another one instead, and its code signs in",
    arguments: Way.allCases)
  func typed(_ way: Way) async throws {
    let (world, ada, browser, firsts) = try await world(way)
    let terminal = try Terminal(
      ["\(World.programs)/linkctl"] + way.arguments, environment: world.environment.merging(browser) { $1 })
    if way == .password {
      try await terminal.asksSecretly("Password: ")
      terminal.type("correct horse")
    }
    if way == .emailLink { try await open(world) }
    try await terminal.shows("Number of the second factor: ")
    #expect(terminal.text.contains("The account has a second factor."), "\(terminal.text)")
    #expect(try await world.messages(PhoneTests.number).isEmpty)
    terminal.type(try place("Mobile", terminal))
    try await terminal.asksSecretly("Code (Enter alone sends a new one, o: use another second factor): ")
    terminal.type("o")
    try await terminal.shows("Number of the second factor: ", count: 2)
    terminal.type(try place("App", terminal))
    try await terminal.asksSecretly("Code (o: use another second factor): ")
    let code = try await world.totp(ada.secret)
    terminal.type(World.wrong(code))
    try await terminal.asksSecretly("Code (o: use another second factor): ", count: 2)
    terminal.type(code)
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(terminal.text.hasSuffix("Signed in as ada@example.com.\n"), "\(terminal.text)")
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.requests(way.path) == firsts + 1)
  }

  @Test(
    "without a terminal it ends with 4; factor and code finish it, with either factor", arguments: Way.allCases,
    ["App", "Mobile"])
  func scripted(_ way: Way, factor: String) async throws {
    let (world, ada, browser, firsts) = try await world(way)
    let more = way == .password ? ["--password-stdin", "--json"] : ["--json"]
    async let ended = world.run(
      ["\(World.programs)/linkctl"] + way.arguments + more, stdin: way == .password ? "correct horse" : "",
      environment: browser)
    if way == .emailLink { try await open(world) }
    let stopped = try ScriptAnswer(try await ended)
    #expect(stopped.status == 4 && stopped.stage == "second-factor-required", "\(stopped)\(world.log)")
    let hints = stopped.last["hints"] as? [[String: Any]] ?? []
    #expect(Set(hints.map { $0["uid"] as? String ?? "" }) == Set(ada.factors.values))
    let uid = try #require(ada.factors[factor])
    #expect(stopped.result.stderr.contains("linkctl factor \(stopped.flow) UID") && stopped.result.stderr.contains(uid))
    #expect(try await world.json("flows").map { $0["stage"] as? String } == ["second-factor-required"])
    #expect(try await world.messages(PhoneTests.number).isEmpty)
    let unknown = try await world.script("factor", stopped.flow, "nobody")
    #expect(unknown.status == 1 && unknown.error == "FactorNotFound", "\(unknown)")

    let chosen = try await world.script("factor", stopped.flow, uid)
    #expect(chosen.status == 4 && chosen.stage == "waiting-for-code", "\(chosen)")
    #expect(chosen.last["kind"] as? String == (factor == "App" ? "totp" : "phone"))
    let code = factor == "App" ? try await world.totp(ada.secret) : try await world.message(PhoneTests.number)
    let wrong = try await world.script("code", stopped.flow, "--code-stdin", stdin: World.wrong(code))
    #expect(wrong.status == 4 && wrong.last["attempts-left"] as? Int == 4, "\(wrong)")
    let done = try await world.script("code", stopped.flow, "--code-stdin", stdin: code)
    #expect(done.status == 0 && done.stage == "succeeded", "\(done)\(world.log)")
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.requests(way.path) == firsts + 1)
  }

  @Test("a flow that a script left is finished by factor and code at a terminal")
  func scriptThenPerson() async throws {
    let (world, ada, _, firsts) = try await world(.password)
    let stopped = try await world.script(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    #expect(stopped.status == 4)
    let factor = try world.person("factor", stopped.flow, try #require(ada.factors["Mobile"]))
    try await factor.asksSecretly("Code (")
    #expect(try await world.messages(PhoneTests.number).count == 1)
    factor.signal(SIGINT)
    #expect(factor.end() == 130 && factor.echoes)
    // It isn't that command's flow.
    #expect(try await world.flow(stopped.flow).stage == "waiting-for-code")
    let code = try world.person("code", stopped.flow)
    try await code.asksSecretly("Code: ")
    code.type(try await world.message(PhoneTests.number))
    #expect(code.end() == 0, "\(code.text)\(world.log)")
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.requests(Way.password.path) == firsts + 1)
  }

  @Test("a phone alone gets its message after one Enter; Ctrl-C at its code gives the sign-in up")
  func onlyPhone() async throws {
    let world = try await World.startWithFactors()
    let ada = try await world.withFactors("ada@example.com", app: nil, phones: ["Mobile": PhoneTests.number])
    for isInterrupted in [true, false] {
      let terminal = try Terminal(
        ["setsid", "--ctty", "--wait", "\(World.programs)/linkctl", "sign-in", "password", "ada@example.com"],
        environment: world.environment)
      try await terminal.asksSecretly("Password: ")
      terminal.type("correct horse")
      try await terminal.shows("Press Enter to have a code sent to Mobile (")
      terminal.type("")
      try await terminal.asksSecretly("Code (Enter alone sends a new one): ")
      let code = try await world.message(PhoneTests.number, count: isInterrupted ? 1 : 2)
      if isInterrupted { terminal.press("\u{3}") } else { terminal.type(code) }
      #expect(terminal.end() == (isInterrupted ? 130 : 0), "\(terminal.text)\(world.log)")
      #expect(terminal.echoes)
      try await world.eventually("no flows") { try await world.json("flows").isEmpty }
      #expect(try await world.uid() == (isInterrupted ? nil : ada.uid))
    }
  }

  @Test("a script that has the app's code gives it along with the choice")
  func codeAlong() async throws {
    let (world, ada, _, firsts) = try await world(.password)
    let stopped = try await world.script(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    let done = try await world.script(
      "factor", stopped.flow, try #require(ada.factors["App"]), "--code-stdin", stdin: try await world.totp(ada.secret))
    #expect(done.status == 0 && done.stage == "succeeded", "\(done)\(world.log)")
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.requests(Way.password.path) == firsts + 1)
  }

  @Test("B087: an authenticator app's code counts in Arabic-Indic digits with spaces, typed and scripted")
  func digits() async throws {
    let world = try await World.startWithFactors()
    let ada = try await world.withFactors("ada@example.com")
    func spelt() async throws -> String {
      let digits = try await world.totp(ada.secret).compactMap { $0.wholeNumberValue }
      let arabic = digits.compactMap { UnicodeScalar(0x0660 + UInt32($0)) }.map { "\($0)" }
      return arabic[..<3].joined() + " " + arabic[3...].joined()
    }
    let terminal = try world.person("sign-in", "password", "ada@example.com")
    try await terminal.asksSecretly("Password: ")
    terminal.type("correct horse")
    try await terminal.asksSecretly("Code: ")
    terminal.type(" \(try await spelt()) ")
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.linkctl("sign-out").status == 0)
    let stopped = try await world.script(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    // Its code is taken without a choice.
    #expect(stopped.status == 4 && stopped.result.stderr.contains("linkctl code \(stopped.flow)"), "\(stopped)")
    let done = try await world.script("code", stopped.flow, "--code-stdin", stdin: "\(try await spelt())\n")
    #expect(done.status == 0, "\(done)\(world.log)")
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.requests("mfaSignIn:finalize") == 2)
  }
}
