import Foundation
import TestSupport
import Testing

@Suite("The command line", .timeLimit(.minutes(2)))
struct CommandLineTests {
  @Test("the help names every command, and each command's help has an example")
  func help() async throws {
    let world = try await World.start(apps: [])
    let overview = try await world.linkctl("--help")
    #expect(overview.status == 0)
    for command in [
      "open", "can-handle", "sign-in", "sign-out", "status", "whoami", "token", "flows", "resend", "cancel", "email",
      "monitor", "reauthenticate", "register",
    ] {
      #expect(overview.stdout.contains("\n  \(command) "))
      let help = try await world.linkctl(command, "--help")
      #expect(help.status == 0 && help.stdout.contains("Example:\n  ") && help.stdout.contains("--json"))
    }
    #expect(try await world.linkctl("app", "add", "--help").stdout.contains("--scheme"))
    #expect(try await world.linkctl("--version").stdout.hasPrefix("linkctl 0."))
    #expect(try await world.linkctl().status == 64)
    let unknown = try await world.linkctl("frobnicate")
    #expect(unknown.status == 64 && unknown.stderr.split(separator: "\n").count == 1 && unknown.stdout.isEmpty)
    #expect(try await world.linkctl("sing-in", "--help").stderr.contains("Did you mean 'sign-in'?"))
    #expect(try await world.linkctl("app", "lst").stderr.contains("Did you mean 'app list'?"))
    #expect(try await world.linkctl("help", "token").stdout == world.linkctl("token", "--help").stdout)
    #expect(try await world.linkctl("status", "--version").stdout.hasPrefix("linkctl 0."))
    #expect(try await world.linkctl("--app", "demo", "--help").stdout == overview.stdout)
    let group = try await world.linkctl("app", "--help")
    #expect(group.status == 0 && group.stdout.contains("app bridge") && !group.stdout.contains("whoami"))
  }

  @Test("what is for a person says what is missing and what to do next")
  func peoplesOutput() async throws {
    let world = try await World.start(apps: [])
    #expect(try await world.linkctl("app", "list").stderr.contains("linkctl app add"))
    #expect(try await world.linkctl("register").stderr.contains("linkctl app add"))
    #expect(try await world.linkctl("flows").stderr == "Nothing is pending.\n")
    #expect(try await world.linkctl("app", "list", "--json").stderr.isEmpty)
    let flow = try await world.linkctl("cancel", "0123456789abcdef0123456789abcdef")
    #expect(flow.status == 1 && !flow.stderr.contains("/org/") && flow.stderr.contains("linkctl flows"))
    let noBus = try await world.linkctl("status", environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"])
    #expect(noBus.stderr.contains("There's no session bus."))
    let usage = try await world.linkctl("cancel")
    #expect(usage.stderr.hasPrefix("linkctl: FLOW is missing.") && usage.stderr.contains("Usage: linkctl cancel FLOW"))
  }

  @Test("a person reads times, lists and users, and no JSON")
  func tables() async throws {
    let world = try await World.start()
    let guest = try await world.linkctl("sign-in", "anonymous")
    #expect(guest.stderr.hasSuffix("Signed in as a guest.\n"))
    let uid = try #require(try await world.whoami()["uid"] as? String)
    let whoami = try await world.linkctl("whoami").stdout
    #expect(whoami.contains(/\ncreated-at +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}\n/), "\(whoami)")
    #expect(try await world.linkctl("status").stdout.contains(/\nuser +\S+ \(guest\)\n/))
    for command in [["whoami"], ["status"], ["app", "show"]] {
      let text = try await world.run(["\(World.programs)/linkctl"] + command).stdout
      #expect(!text.contains("{") && !text.contains("[") && (command == ["app", "show"]) != text.contains(uid))
    }
  }

  @Test("app show says how providers are reached and where browsers come back")
  func shownProviders() async throws {
    let world = try await World.start(apps: [])
    let file = try world.home.write(
      """
      { "id": "demo", "project-id": "demo-linkd", "api-key": "AIzaEXAMPLEKEY0000", "app-id": "1:1:web:0a1b",
        "schemes": ["com.example.demo"], "continue": "loopback", "loopback-port": 8123,
        "providers": [{ "id": "password" }, { "id": "google.com" },
          { "id": "oidc.x", "client-id": "c", "client-secret": "HIDDEN", "issuer": "https://login.example.com" }] }
      """, to: "demo.json")
    #expect(try await world.linkctl("app", "add", file).status == 0)
    let shown = try await world.linkctl("app", "show").stdout.split(separator: "\n").map {
      $0.split(separator: " ").joined(separator: " ")
    }
    let own = "http://127.0.0.1:*/callback or http://127.0.0.1:*/callback/oidc.x"
    let scheme = "com.example.demo://oauth/callback or com.example.demo://oauth/callback/oidc.x"
    for row in [
      "continue loopback", "loopback-port 8123", "provider password",
      "provider google.com: Firebase's page, back to app-1-1-web-0a1b://firebaseauth/link",
      "provider oidc.x: own client at https://login.example.com, back to \(own) or \(scheme)",
    ] {
      #expect(shown.contains(row), "\(shown)")
    }
    #expect(!shown.contains { $0.contains("HIDDEN") })
  }

  @Test("app add and app show say which keys mean nothing, those of a provider's file too, and the log names them")
  func unknownKeys() async throws {
    let world = try await World.start(apps: [])
    let config = try world.home.write(
      #"{ "apiKey": "AIzaEXAMPLEKEY0000", "projectId": "demo-linkd", "appId": "1:1:web:0a1b" }"#, to: "config.json")
    let entry = try world.home.write(
      #"{ "id": "oidc.example", "issuer": "http://127.0.0.1:1/x", "clientId": "any" }"#, to: "provider.json")
    let warning = "'providers[0].clientId'; it's kept as it is. Did you mean 'client-id'?\n"
    let added = try await world.linkctl("app", "add", config, "--app", "demo", "--provider", entry)
    #expect(added.status == 0 && added.stderr.contains(warning), "\(added.stderr)")
    #expect(try await world.linkctl("app", "show").stderr.contains(warning))
    #expect(world.log.contains("key=providers[0].clientId"), "\(world.log)")
    let json = try await world.linkctl("app", "add", config, "--app", "demo", "--provider", entry, "--json")
    #expect(json.stdout.contains(#""warnings":["linkd doesn't know the key 'providers[0].clientId'"#), "\(json.stdout)")
    let fine = try await world.linkctl("app", "add", config, "--app", "demo", "--json")
    #expect(!fine.stdout.contains("warnings") && fine.stderr.isEmpty, "\(fine.stdout)\(fine.stderr)")
    let none = try world.home.write("[]", to: "none.json")
    let refused = try await world.linkctl("app", "add", config, "--app", "demo", "--provider", none)
    #expect(refused.status == 64 && refused.stderr.contains("'providers[0]' must be"), "\(refused.stderr)")
  }

  @Test("monitor says whose flow it is, and passes over those of other apps")
  func monitoredFlows() async throws {
    let world = try await World.start(apps: ["demo", "other"])
    // Both listen before the flow begins, and end when a later change of the other app has come.
    let script = """
      cd "$HOME"
      linkctl monitor --json >all & all=$!
      linkctl monitor --json --app other >other & other=$!
      until [ -s all ] && [ -s other ]; do sleep 0.05; done
      linkctl sign-in email-link user@example.com --no-wait --app demo >flow
      linkctl sign-in anonymous --app other 2>log
      until grep -q succeeded all && grep -q is-anonymous other; do sleep 0.05; done
      kill $all $other
      wait
      """
    _ = try await world.run(["sh", "-c", script])
    func flows(_ file: String) throws -> [String] {
      try String(contentsOfFile: world.home.file(file), encoding: .utf8).split(separator: "\n").map(String.init)
        .filter { $0.contains(#""event":"flow""#) }
    }
    let all = try flows("all")
    #expect(all.contains { $0.contains(#""app":"demo","stage":"waiting-for-link""#) }, "\(all)")
    #expect(all.allSatisfy { $0.contains(#","app":""#) }, "\(all)")
    let other = try flows("other")
    #expect(other.allSatisfy { $0.contains(#""app":"other""#) }, "\(other)")
  }

  @Test(
    "with --json every failure's last line is an object with the exit code",
    arguments: [
      (["frobnicate"], 64), (["sign-in"], 64), (["status", "--frobnicate"], 64), (["create-user"], 64),
      (["create-user", "a@example.com"], 4), (["account", "delete"], 4), (["open"], 64), (["token"], 1),
      (["app", "add", "/no/such/file"], 1), (["confirm", "nobody"], 1),
    ])
  func failuresAsJSON(arguments: [String], status: Int) async throws {
    let world = try await World.start()
    let result = try await world.run(["\(World.programs)/linkctl"] + arguments + ["--json"])
    #expect(result.status == Int32(status), "\(result.stderr)")
    let line = try #require(result.stdout.split(separator: "\n").last)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(object["exit"] as? Int == status && (object["message"] as? String)?.isEmpty == false)
    if status == 64 { #expect(object["error"] as? String == "org.freedesktop.DBus.Error.InvalidArgs") }
  }

  @Test(
    "B079: open takes the one argument that is a link, wherever a launcher put it",
    arguments: [
      (["open"], 64), (["open", "./x"], 64), (["open", "--"], 64), (["open", "--", "hunter2"], 65),
      (["open", "--", "%u"], 65), (["open", "--", "--help"], 65),
      (["open", "https://a.example/", "https://b.example/"], 64),
      (["open", "--flag", "./x", "https://evil.example/__/auth/action?mode=signIn&oobCode=X"], 3),
      (["open", "--", "https://demo-linkd.firebaseapp.com/__/auth/action?mode=signIn"], 65),
      (["open", "vscode://vscode.github-authentication/did-authenticate?code=x"], 3),
      (["can-handle", "com.example.linkd://settings/open?tab=2"], 3),
      (["can-handle", "https:/links.example.com/?link=x"], 65),
    ])
  func findingTheLink(arguments: [String], status: Int) async throws {
    let world = try await World.start()
    let result = try await world.run(["\(World.programs)/linkctl"] + arguments)
    #expect(result.status == Int32(status), "\(result.stderr)")
    if status != 0 { #expect(!result.stderr.isEmpty) }
  }

  @Test("B046: a link broken over lines is joined from standard input")
  func joinedLines() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com")
    let link = try await world.mail("user@example.com")
    let half = link.index(link.startIndex, offsetBy: link.count / 2)
    let broken = "\(link[..<half])\r\n  \(link[half...])\r\n"
    #expect(try await world.linkctl("open", "--", broken).status == 65)
    let result = try await world.linkctl("open", "-", stdin: broken)
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try await world.email() == "user@example.com")
  }

  @Test("a zero byte in a pasted link is a broken link")
  func zeroByte() async throws {
    let world = try await World.start(apps: [])
    #expect(try await world.linkctl("open", "-", stdin: "https://a.example/x\0y").status == 65)
  }

  @Test("an argument that isn't UTF-8 is refused from its raw bytes")
  func invalidUTF8() async throws {
    let world = try await World.start(apps: [])
    let result = try await world.run(["sh", "-c", "linkctl open -- \"$(printf 'https://a.example/\\377')\""])
    #expect(result.status == 65)
  }

  @Test("exit codes say what kind of trouble it is")
  func exitCodes() async throws {
    let world = try await World.start()
    #expect(try await world.linkctl("whoami").status == 1)
    let token = try await world.linkctl("token")
    #expect(token.status == 1 && token.stdout.isEmpty && token.stderr.contains("signed in"))
    #expect(try await world.linkctl("status", "--app", "nobody").status == 1)
    #expect(try await world.linkctl("cancel", "nosuchflow").status == 1)
    #expect(try await world.linkctl("sign-in", "email-link").status == 4)
    #expect(try await world.linkctl("sign-in", "email-link", "no-address").status == 1)
    #expect(try await world.linkctl("sign-in", "email-link", "slow@example.com", "--timeout", "1").status == 75)
    let noBus = try await world.linkctl("status", environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"])
    #expect(noBus.status == 69)
    try await world.fault(["path": "accounts:sendOobCode", "status": 503])
    #expect(try await world.linkctl("sign-in", "email-link", "down@example.com").status == 75)
  }

  @Test("a failed command with --json ends with the error's object")
  func jsonErrors() async throws {
    let world = try await World.start()
    let last = try #require(try await world.json("whoami").last)
    #expect(last["error"] as? String == "org.linkd.Auth1.Error.NoCurrentUser")
    #expect(last["exit"] as? Int == 1)
    let usage = try #require(try await world.json("cancel").last)
    #expect(usage["error"] as? String == "org.freedesktop.DBus.Error.InvalidArgs" && usage["exit"] as? Int == 64)
    let option = try #require(try await world.json("cancel", "--nope").last)
    #expect(option["exit"] as? Int == 64)
    let nobody = try #require(try await world.json("sign-in", "password", "a@example.com").last)
    #expect(nobody["exit"] as? Int == 4 && nobody["error"] == nil && nobody["message"] != nil)
    let handled = try #require(try await world.json("can-handle", "https://evil.example/").last)
    #expect(handled["handled"] as? Bool == false && handled["kind"] as? String == "none")
    #expect(handled["reason"] as? String == "untrustedHost" && handled["via"] as? [String] == [])
  }

  @Test("a linkd that dies under a command is started anew, and the command sees its flow's end")
  func daemonDies() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    #expect(try await world.linkctl("sign-out").status == 0)
    _ = try await world.sendLink("ada@example.com")
    let link = try await world.button(try await world.mail("ada@example.com"))
    try await world.fault(["path": "accounts:signInWithEmailLink", "hang": true, "times": 1])
    async let opened = world.linkctl("open", link)
    try await world.eventually("the request") { try await world.requests("accounts:signInWithEmailLink") == 1 }
    try await world.killDaemon()
    #expect(try await opened.status == 0)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("an interrupt ends with 130 and leaves the flow alone")
  func interrupted() async throws {
    let world = try await World.start()
    let result = try await world.run(
      [
        "sh", "-c",
        "linkctl sign-in email-link user@example.com & pid=$!; until linkctl flows | grep -q waiting; do sleep 0.05; done; kill -TERM $pid; wait $pid",
      ])
    #expect(result.status == 130)
    #expect(try await world.json("flows").count == 1)
    let link = try await world.button(try await world.mail("user@example.com"))
    #expect(try await world.linkctl("open", link).status == 0)
  }

  @Test("FIREBASE_AUTH_EMULATOR_HOST keeps its session apart from the app's own")
  func emulatorVariable() async throws {
    let world = try await World.start(apps: [])
    let config = try world.home.write(
      "{ \"projectId\": \"demo-linkd\", \"apiKey\": \"AIzaEXAMPLEKEY0000\", \"appId\": \"1:1:web:1\" }", to: "c.json")
    let added = try await world.linkctl("app", "add", config, "--app", "demo", "--scheme", World.scheme)
    #expect(added.status == 0, "\(added.stderr) \(world.log)")
    let emulated = ["FIREBASE_AUTH_EMULATOR_HOST": world.emulatorAddress]
    let guest = try await world.linkctl("sign-in", "anonymous", environment: emulated)
    #expect(guest.status == 0, "\(guest.stderr)")
    let there = try await world.linkctl("status", environment: emulated)
    #expect(there.stdout.contains(world.emulatorAddress) && there.stdout.contains(/is-anonymous +true/))
    let here = try await world.linkctl("status")
    #expect(!here.stdout.contains(world.emulatorAddress) && here.stdout.contains(/is-anonymous +false/))
    let remote = try await world.linkctl("status", environment: ["FIREBASE_AUTH_EMULATOR_HOST": "192.0.2.1:9099"])
    #expect(remote.status == 77)
  }
}
