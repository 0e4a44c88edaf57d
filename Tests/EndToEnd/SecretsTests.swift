import Foundation
import TestSupport
import Testing

@Suite("Nothing secret gets out", .timeLimit(.minutes(2)))
struct SecretsTests {
  /// Everything of a whole sign-in that nobody else may learn.
  private func planted(_ world: World, _ link: String, _ page: String) async throws -> [String: String] {
    let token = try #require(try await world.json("token").last?["token"] as? String)
    let key = try String(contentsOfFile: world.home.file("state/linkd/key"), encoding: .utf8)
    let state = URLComponents(string: page)?.queryItems?.first { $0.name == "link" }?.value ?? ""
    let linkToken = URLComponents(string: state)?.queryItems?.first { $0.name == "ui_sid" }?.value ?? ""
    return [
      "code": world.code(link), "link token": linkToken, "ID token": token,
      "signature part": String(token.split(separator: ".")[1]), "key": String(key.split(separator: ":")[2].prefix(64)),
      "address": "planted.user@example.com", "query": "oobCode=", "API key": "AIzaEXAMPLEKEY0000",
    ]
  }

  @Test("no code, token, key, query or full address in the debug log or in any broadcast")
  func logAndSignals() async throws {
    let world = try await World.start()
    let monitor = try await BusMonitor(world)
    _ = try await world.sendLink("planted.user@example.com")
    let link = try await world.mail("planted.user@example.com")
    let page = try await world.button(link)
    // A click, a second one, a broken one, a foreign one, a wrong code, a refresh, an error of the server's.
    #expect(try await world.linkctl("open", page).status == 0)
    #expect(try await world.linkctl("open", page).status == 0)
    try await world.linkctl("open", String(page.dropLast(30)))
    try await world.linkctl("open", "com.example.linkd://settings?token=\(world.code(link))")
    try await world.linkctl("open", page.replacingOccurrences(of: "oobCode%3D", with: "oobCode%3Dx"))
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    try await world.fault(["path": "v1/token", "status": 500, "times": 1])
    try await world.linkctl("token", "--force-refresh")
    let secrets = try await planted(world, link, page)
    try await world.linkctl("sign-out")
    try await world.eventually("the last signal") { monitor.count("StateChanged", "\"unauthenticated\"") >= 1 }
    #expect(world.log.contains("<7>") || world.log.contains("<6>"))
    for (name, value) in secrets {
      #expect(value.count > 5, "\(name) is missing")
      #expect(!world.log.contains(value), "\(name) is in the log")
      #expect(!monitor.output.contains(value), "\(name) was broadcast")
    }
  }

  @Test("nothing secret stands in the stored files as it is")
  func files() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("planted.user@example.com")
    let link = try await world.mail("planted.user@example.com")
    let page = try await world.button(link)
    #expect(try await world.linkctl("open", page).status == 0)
    _ = try await world.sendLink("waiting.user@example.com")
    var secrets = try await planted(world, link, page)
    secrets["second address"] = "waiting.user@example.com"
    let folder = world.home.file("state/linkd")
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file != "key" {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)"))
      for (name, value) in secrets {
        #expect(bytes.range(of: Data(value.utf8)) == nil, "\(name) is in \(file)")
      }
    }
    for file in ["key", "linkd.sqlite"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(file)")
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test("no password and no reset code in the debug log, in any broadcast, in what is shown, or in the stored files")
  func passwords() async throws {
    let world = try await World.start()
    let monitor = try await BusMonitor(world)
    let secrets = ["planted-first-1", "planted-wrong-2", "planted-reset-3"]
    var shown = ""
    func run(_ arguments: String..., stdin: String = "") async throws {
      let result = try await world.run(["\(World.programs)/linkctl", "--json"] + arguments, stdin: stdin)
      shown += result.stdout + result.stderr
    }
    try await run("create-user", "planted.user@example.com", "--password-stdin", stdin: secrets[0])
    try await run("sign-out")
    try await run("sign-in", "password", "planted.user@example.com", "--password-stdin", stdin: secrets[1])
    try await run("account", "reset-password", "planted.user@example.com")
    let link = try await world.mail("planted.user@example.com")
    try await run("open", link)
    let rows = try await world.json("flows")
    let flow = try #require(rows.first { $0["purpose"] as? String == "action-code" }?["flow"] as? String)
    try await run("password", flow, "--password-stdin", stdin: secrets[2])
    try await run("sign-in", "password", "planted.user@example.com", "--password-stdin", stdin: secrets[2])
    #expect(try await world.email() == "planted.user@example.com")
    try await world.eventually("the signals") { monitor.count("StateChanged", "\"authenticated\"") >= 1 }
    let folder = world.home.file("state/linkd")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).map { name in
      try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    for secret in secrets + [world.code(link)] {
      #expect(!world.log.contains(secret) && !monitor.output.contains(secret) && !shown.contains(secret))
      #expect(files.allSatisfy { $0.range(of: Data(secret.utf8)) == nil })
    }
  }

  @Test("what linkd starts gets nothing secret in its arguments or its environment")
  func startedPrograms() async throws {
    let world = try await World.start()
    // The only program it starts is update-desktop-database: this one tells what it was given.
    _ = try world.home.write(
      "#!/bin/sh\n{ echo \"$@\"; env; } >>'\(world.home.file("started"))'\n", to: "bin/update-desktop-database",
      executable: true)
    try world.setDaemon(["PATH": "\(world.home.file("bin")):/usr/bin:/bin"])
    try await world.killDaemon()
    try await world.signIn("planted.user@example.com")
    _ = try await world.sendLink("planted.user@example.com")
    let link = try await world.mail("planted.user@example.com")
    let page = try await world.button(link)
    #expect(try await world.linkctl("register").status == 0)
    let started = try String(contentsOfFile: world.home.file("started"), encoding: .utf8)
    #expect(started.contains("applications"))
    for (name, value) in try await planted(world, link, page) {
      #expect(!started.contains(value), "\(name) was handed to a program")
    }
  }
}
