import Foundation
import TestSupport
import Testing

/// What went wrong for people elsewhere, from the field reports: each test names the report's id.
@Suite("Field reports", .timeLimit(.minutes(2)))
struct FieldReportTests {
  @Test("B001: a scanner's GET spends nothing; a code spent elsewhere ends with one-step resend and the address kept")
  func scanner() async throws {
    let world = try await World.start()
    let flow = try await world.sendLink("user@example.com")
    let link = try await world.mail("user@example.com")
    let button = try await world.button(link)
    for url in [link, try await world.run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", link]).stdout] {
      try await world.run(["curl", "-fsS", "-I", url])
      try await world.run(["curl", "-fsSL", url])
    }
    // Judging a link asks nobody.
    let before = try await world.requests("accounts:signInWithEmailLink")
    #expect(try await world.linkctl("can-handle", button).status == 0)
    #expect(try await world.requests("accounts:signInWithEmailLink") == before)
    // Somebody else spends the code.
    _ = try await world.emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:signInWithEmailLink?key=x",
      "{\"email\":\"user@example.com\",\"oobCode\":\"\(world.code(link))\"}")
    let lines = try await world.json("open", button)
    let last = try #require(lines.last { $0["stage"] != nil })
    #expect(lines.last?["error"] as? String == "org.linkd.Auth1.Error.InvalidActionCode")
    #expect(lines.last?["exit"] as? Int == 1)
    #expect(last["retry"] as? Bool == true && last["flow"] as? String == flow)
  }

  @Test("B030: an older mail's link still works after a newer one was sent")
  func olderLink() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com")
    let first = try await world.button(try await world.mail("user@example.com"))
    _ = try await world.sendLink("user@example.com")
    _ = try await world.mail("user@example.com", count: 2)
    #expect(try await world.linkctl("open", first).status == 0)
    #expect(try await world.email() == "user@example.com")
  }

  @Test("B032: an address in a URL is never believed; the person is asked, and nothing is spent until then")
  func addressInURL() async throws {
    let world = try await World.start()
    // A link that another machine asked for, with an address planted in its continue URL.
    _ = try await world.emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=x",
      """
      {"requestType":"EMAIL_SIGNIN","email":"victim@example.com","canHandleCodeInApp":true,
       "continueUrl":"http://\(world.emulatorAddress)/emulator/continue?email=attacker@example.com&ui_email=attacker@example.com"}
      """)
    let button = try await world.button(try await world.mail("victim@example.com"))
    let opened = try await world.json("open", button)
    #expect(opened.last?["stage"] as? String == "waiting-for-email")
    #expect(try await world.linkctl("open", button).status == 4)
    #expect(try await world.requests("accounts:signInWithEmailLink") == 0)
    let flow = try #require(opened.last?["flow"] as? String)
    // A wrong address keeps the flow, the right one finishes it (B039).
    let lines = try await world.json("email", flow, "attacker@example.com")
    let wrong = try #require(lines.last { $0["stage"] != nil })
    #expect(lines.last?["exit"] as? Int == 4)
    #expect(wrong["error"] as? String == "org.linkd.Auth1.Error.EmailMismatch")
    #expect(wrong["stage"] as? String == "waiting-for-email")
    #expect(try await world.linkctl("email", flow, "victim@example.com").status == 0)
    #expect(try await world.email() == "victim@example.com")
  }

  @Test(
    "B033, B034, B035: plus, letter case and international domains reach the server and come back as one account",
    arguments: [
      ("user+tag@example.com", "user+tag@example.com"), ("User@Example.COM", "user@example.com"),
      ("user@bücher.example", "user@xn--bcher-kva.example"),
    ])
  func addresses(typed: String, known: String) async throws {
    let world = try await World.start()
    _ = try await world.sendLink(typed)
    let link = try await world.mail(known)
    #expect(try await world.linkctl("open", try await world.button(link)).status == 0)
    #expect(try await world.email() == known)
    // The same account by the other spelling: reauthentication finds its own address.
    #expect(try await world.linkctl("reauthenticate", "--no-wait").status == 0)
  }

  @Test("B038: every link of the day is noticed, not the first alone")
  func secondLink() async throws {
    let world = try await World.start()
    try await world.signIn("a@example.com")
    #expect(try await world.linkctl("sign-out").status == 0)
    try await world.signIn("b@example.com")
    #expect(try await world.email() == "b@example.com")
  }

  @Test("B050: mails hold web links alone, never one in an app's scheme")
  func webLinksAlone() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com")
    let link = try #require(URLComponents(string: try await world.mail("user@example.com")))
    #expect(link.scheme == "http")
    let target = try #require(link.queryItems?.first { $0.name == "continueUrl" }?.value)
    #expect(URLComponents(string: target)?.scheme == "http")
    let refused = try await world.linkctl(
      "sign-in", "email-link", "user@example.com", "--no-wait", "--continue-url", "com.example.linkd://auth")
    #expect(refused.status == 1)
    #expect(try await world.mails("user@example.com").count == 1)
  }

  @Test("B059: a token in a URL of the app's scheme is handed to nobody but the app, once")
  func tokenInURL() async throws {
    let world = try await World.start()
    let monitor = try await BusMonitor(world)
    let url = "com.example.linkd://auth/callback?token=eyATTACKER&app_token=x"
    #expect(try await world.linkctl("open", url).status == 3)
    #expect(try await world.linkctl("whoami").status == 1)
    try await world.eventually("Unhandled") { monitor.count("Unhandled", "com.example.linkd") == 1 }
    #expect(!monitor.output.contains("eyATTACKER"))
    let id = try #require(
      monitor.output.components(separatedBy: "member=Unhandled").last?.components(separatedBy: "uint64 ").last?
        .prefix { $0.isNumber })
    let taken = try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Links.TakeUnhandled", "\(id)", "{}")
    #expect(taken.stdout.contains("token=eyATTACKER"))
    #expect(try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Links.TakeUnhandled", "\(id)", "{}").status != 0)
    // Nothing is emitted for web links.
    try await world.linkctl("open", "https://evil.example/x")
    #expect(monitor.count("Unhandled", "https") == 0)
  }

  @Test("B080, B081: a link pasted from any step is taken: the mail's, the address bar's, the button's")
  func pasted() async throws {
    let world = try await World.start()
    for step in 0..<3 {
      let address = "user\(step)@example.com"
      _ = try await world.sendLink(address)
      let mail = try await world.mail(address)
      let bar = try await world.run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", mail]).stdout
      let link = [mail, bar, try await world.button(mail)][step]
      #expect(try await world.linkctl("open", "-", stdin: "\(link)\n").status == 0)
      #expect(try await world.email() == address)
    }
  }

  @Test("B125: three apps that ask for a guest at once get the same one")
  func oneGuest() async throws {
    let world = try await World.start()
    try await world.fault(["path": "accounts:signUp", "delay": 300])
    let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
      for _ in 0..<3 { group.addTask { try await world.linkctl("sign-in", "anonymous").status } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses == [0, 0, 0])
    #expect(try await world.requests("accounts:signUp") == 1)
    let status = try #require(try await world.json("status").last)
    #expect(status["is-anonymous"] as? Bool == true && status["state"] as? String == "unauthenticated")
  }

  @Test("B126: one sign-in is one StateChanged to 'authenticated', and a second delivery is none")
  func oneSignal() async throws {
    let world = try await World.start()
    let monitor = try await BusMonitor(world)
    _ = try await world.sendLink("user@example.com")
    let link = try await world.button(try await world.mail("user@example.com"))
    #expect(try await world.linkctl("open", link).status == 0)
    #expect(try await world.linkctl("open", link).status == 0)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    try await world.run(["gdbus", "emit", "--session", "--object-path", "/probe", "--signal", "org.example.Probe.End"])
    try await world.eventually("the end") { monitor.output.contains("member=End") }
    #expect(monitor.count("StateChanged", "\"authenticated\"") == 1)
  }

  @Test("B127: who reads the properties and follows signals with a higher sequence misses nothing, even at activation")
  func readThenFollow() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    try await world.killDaemon()
    let monitor = try await BusMonitor(world)
    // The read itself starts the daemon.
    let read = try #require(try await world.json("status").last)
    #expect(read["state"] as? String == "authenticated")
    let sequence = try #require(read["sequence"] as? Int)
    #expect(try await world.linkctl("sign-out").status == 0)
    try await world.eventually("the change") { monitor.count("StateChanged", "\"unauthenticated\"") == 1 }
    let later = try #require(try await world.json("status").last?["sequence"] as? Int)
    #expect(later > sequence)
  }

  @Test("B128: after a restart every state is said anew, and linkctl monitor goes on")
  func restart() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    let file = world.home.file("monitor.json")
    async let monitor = world.run(["sh", "-c", "linkctl monitor --json >'\(file)' & echo $! >'\(file).pid'; wait"])
    func lines() -> [String] {
      ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }
    try await world.eventually("the first line") { lines().contains { $0.contains("\"state\":\"authenticated\"") } }
    let before = try #require(try await world.json("status").last?["sequence"] as? Int)
    try await world.killDaemon()
    try await world.eventually("the loss") { lines().contains { $0.contains("\"running\":false") } }
    let after = try #require(try await world.json("status").last?["sequence"] as? Int)
    #expect(after >= before)
    try await world.eventually("the state anew") {
      lines().last { $0.contains("\"event\":\"state\"") } != lines().first { $0.contains("\"event\":\"state\"") }
        || lines().filter { $0.contains("\"state\":\"authenticated\"") }.count >= 2
    }
    #expect(lines().contains { $0.contains("\"running\":true") })
    let pid = try String(contentsOfFile: "\(file).pid", encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    try await world.run(["kill", "-TERM", pid])
    _ = try await monitor
  }
}
