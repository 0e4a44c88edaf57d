import Foundation
import TestSupport
import Testing

/// What `GetIdToken` promises (behaviour: Tokens), with the real programs.
@Suite("Tokens", .timeLimit(.minutes(5)))
struct TokenTests {
  /// A signed-in world whose first token lives for `lifetime` seconds.
  private func signedIn(lifetime: Int? = nil, apps: [String] = ["demo"]) async throws -> World {
    let world = try await World.start(apps: apps)
    if let lifetime { try await world.fault(["path": "signInWithEmailLink", "expires-in": lifetime]) }
    try await world.signIn("user@example.com")
    return world
  }

  private func refreshes(_ world: World) async throws -> Int { try await world.requests("v1/token") }

  private func held(_ world: World) async throws -> Int {
    let faults = try await world.emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/faults")["faults"]
    return (faults as? [[String: Any]] ?? []).compactMap { $0["held"] as? Int }.reduce(0, +)
  }

  @Test("two hundred callers at once, over eight connections, are one request and get one token")
  func singleFlight() async throws {
    let world = try await signedIn(lifetime: 0)
    try await world.fault(["path": "v1/token", "hold-before-handling": true])
    let output = world.home.file("callers")
    async let callers = world.run(
      ["sh", "-c", "exec /usr/bin/python3 '\(World.root)/Tests/EndToEnd/callers.py' 8 200 >'\(output)'"])
    func lines() -> [String] {
      ((try? String(contentsOfFile: output, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }
    try await world.eventually("two hundred calls on their way") { lines().first == "sent" }
    try await world.eventually("the request") { try await held(world) > 0 }
    // The daemon answers others meanwhile, and so has read what came before.
    #expect(try await world.json("status").last?["state"] as? String == "authenticated")
    #expect(try await held(world) == 1)
    try await world.clearFaults()
    let result = try await callers
    #expect(result.status == 0, "\(result.stderr)")
    #expect(lines().count == 2 && lines()[1].hasPrefix("200 ey"), "\(lines())")
    #expect(try await refreshes(world) == 1)
  }

  @Test("twenty processes at once are one request")
  func manyProcesses() async throws {
    let world = try await signedIn(lifetime: 0)
    try await world.fault(["path": "v1/token", "delay": 500])
    let result = try await world.run([
      "sh", "-c", "for i in $(seq 20); do linkctl token >'\(world.home.path)/token'$i & done; wait",
    ])
    #expect(result.status == 0 && result.stderr.isEmpty, "\(result.stderr)")
    let tokens = try (1...20).map { try String(contentsOfFile: world.home.file("token\($0)"), encoding: .utf8) }
    #expect(Set(tokens).count == 1 && tokens[0].hasPrefix("ey"))
    #expect(try await refreshes(world) == 1)
  }

  @Test("a cached token is handed out while a refresh hangs, to its own app's callers and to another's")
  func cachedWhileHanging() async throws {
    let world = try await signedIn(apps: ["demo", "other"])
    try await world.signIn("other@example.com", app: "other", scheme: "\(World.scheme).other")
    let token = try await world.linkctl("token", "--app", "demo").stdout
    try await world.fault(["path": "v1/token", "hold-before-handling": true])
    async let forced = world.linkctl("token", "--app", "demo", "--force-refresh")
    try await world.eventually("the request") { try await held(world) == 1 }
    let start = ContinuousClock.now
    #expect(try await world.linkctl("token", "--app", "demo").stdout == token)
    #expect(try await world.linkctl("token", "--app", "other").status == 0)
    #expect(ContinuousClock.now - start < .seconds(15), "sooner than the request's time limit")
    #expect(try await held(world) == 1)
    try await world.clearFaults()
    #expect(try await forced.status == 0)
  }

  @Test("a token younger than a minute is refreshed by force alone; an older life's by what it lacks of min-validity")
  func youngTokens() async throws {
    let world = try await signedIn(lifetime: 100)
    let first = try await world.linkctl("token", "--min-validity", "300")
    #expect(first.status == 0)
    #expect(try await world.linkctl("token", "--min-validity", "4000").stdout == first.stdout)
    #expect(try await refreshes(world) == 0)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
    #expect(try await refreshes(world) == 1)
    // The next daemon doesn't know when the token came; what it needs to know is how long it lives.
    try await world.killDaemon()
    #expect(try await world.linkctl("token").status == 0)
    #expect(try await refreshes(world) == 1)
    #expect(try await world.linkctl("token", "--min-validity", "4000").status == 0)
    #expect(try await world.linkctl("token", "--min-validity", "4000").status == 0)
    #expect(try await refreshes(world) == 2)
  }

  @Test("B115: Retry-After is honoured: until then nobody asks again, but by force, and the session stays")
  func retryAfter() async throws {
    let world = try await signedIn(lifetime: 0)
    try await world.fault(["path": "v1/token", "status": 429, "retry-after": "5"])
    for _ in 0..<3 {
      let last = try #require(try await world.json("token").last)
      #expect(last["error"] as? String == "org.linkd.Auth1.Error.TooManyRequests" && last["exit"] as? Int == 75)
    }
    #expect(try await refreshes(world) == 1)
    #expect(try await world.linkctl("token", "--force-refresh").status == 75)
    #expect(try await refreshes(world) == 2)
    try await world.clearFaults()
    #expect(try await world.linkctl("token").status == 75)
    #expect(try await refreshes(world) == 2)
    try await world.eventually("the end of the wait") { try await world.linkctl("token").status == 0 }
    #expect(try await refreshes(world) == 3)
  }

  @Test("without Retry-After the waits grow: a server that failed isn't asked by every caller")
  func backOff() async throws {
    let world = try await signedIn(lifetime: 0)
    try await world.fault(["path": "v1/token", "status": 503])
    let calls = try await world.run([
      "sh", "-c", "for i in $(seq 40); do linkctl token; echo $? >>'\(world.home.path)/codes'; sleep 0.1; done",
    ])
    #expect(calls.stdout.isEmpty)
    #expect(Set(try String(contentsOfFile: world.home.file("codes"), encoding: .utf8).split(separator: "\n")) == ["75"])
    // At least half a second, a second, two, four … between them.
    let asked = try await refreshes(world)
    #expect((2...6).contains(asked), "\(asked)")
  }

  @Test(
    "what ends a session ends it at once, says why and whose it was, and is remembered until somebody signs out",
    arguments: [
      ("TOKEN_EXPIRED", "TokenRevoked"), ("USER_DISABLED", "UserDisabled"), ("USER_NOT_FOUND", "UserNotFound"),
      ("INVALID_REFRESH_TOKEN", "TokenRevoked"),
    ])
  func forcedSignOut(code: String, name: String) async throws {
    let world = try await signedIn()
    let uid = try #require(try await world.whoami()["uid"] as? String)
    try await world.fault(["path": "v1/token", "error": code])
    let last = try #require(try await world.json("token", "--force-refresh").last)
    #expect(last["error"] as? String == "org.linkd.Auth1.Error.\(name)" && last["exit"] as? Int == 1)
    for _ in 0..<2 {
      let status = try #require(try await world.json("status").last)
      #expect(status["state"] as? String == "unauthenticated" && status["user"] == nil)
      #expect(status["health"] as? String == "attention-needed")
      #expect(status["health-reason"] as? String == "org.linkd.Auth1.Error.\(name)")
      let user = try await lastUser(world)
      #expect(user.contains("'uid': <'\(uid)'>") && user.contains("user@example.com") && user.contains("emailLink"))
      // The next daemon knows it too.
      try await world.killDaemon()
    }
    #expect(try await world.json("token").last?["error"] as? String == "org.linkd.Auth1.Error.NoCurrentUser")
    #expect(try await refreshes(world) == 1)
    #expect(try await world.linkctl("sign-out").status == 0)
    #expect(!(try await lastUser(world)).contains(uid))
    #expect(try await world.json("status").last?["health"] as? String == "ok")
  }

  private func lastUser(_ world: World) async throws -> String {
    try await world.gdbus(
      "/org/linkd/Auth1/app/demo", "org.freedesktop.DBus.Properties.Get", "org.linkd.Auth1.Session", "LastUser"
    ).stdout
  }

  @Test("B097: a code with a detail behind it is the code, and a rate limit is told as one")
  func detail() async throws {
    let world = try await signedIn()
    try await world.fault(["path": "v1/token", "error": "TOO_MANY_ATTEMPTS_TRY_LATER : Too many attempts. Wait."])
    let last = try #require(try await world.json("token", "--force-refresh").last)
    #expect(last["error"] as? String == "org.linkd.Auth1.Error.TooManyRequests" && last["exit"] as? Int == 75)
    try await world.clearFaults()
    try await world.fault(["path": "sendOobCode", "error": "INVALID_EMAIL : The address is badly formatted."])
    let refused = try await world.json("sign-in", "email-link", "user@example.com")
    #expect(refused.last?["error"] as? String == "org.linkd.Auth1.Error.InvalidEmail")
    #expect(refused.dropLast().last?["stage"] as? String == "failed")
  }

  @Test("B118: at a start without a server the user is known at once and the token that lives is handed out")
  func startWithoutServer() async throws {
    let world = try await signedIn()
    let token = try await world.linkctl("token").stdout
    try await world.killDaemon()
    try await world.fault(["hang": true])
    let start = ContinuousClock.now
    let status = try #require(try await world.json("status").last)
    #expect(status["state"] as? String == "authenticated")
    #expect(try await world.email() == "user@example.com")
    #expect(try await world.linkctl("token").stdout == token)
    #expect(ContinuousClock.now - start < .seconds(15), "sooner than a request's time limit")
  }

  @Test("B121: a refused refresh token is told at once, after one request, and others aren't kept waiting")
  func refusedToken() async throws {
    let world = try await signedIn(apps: ["demo", "other"])
    try await world.signIn("other@example.com", app: "other", scheme: "\(World.scheme).other")
    try await world.fault(["path": "v1/token", "error": "INVALID_REFRESH_TOKEN"])
    async let refused = world.linkctl("token", "--app", "demo", "--force-refresh")
    #expect(try await world.linkctl("token", "--app", "other").status == 0)
    #expect(try await refused.status == 1)
    #expect(try await refreshes(world) == 1)
    #expect(try await world.email(app: "other") == "other@example.com")
  }

  @Test("B122: a refresh that brought nothing new is a failure: an exit code, nothing on standard output, a reason")
  func nothingNew() async throws {
    let world = try await signedIn()
    try await world.fault(["path": "v1/token", "reset": true])
    let result = try await world.linkctl("token", "--force-refresh")
    #expect(result.status == 75 && result.stdout.isEmpty)
    #expect(result.stderr.contains("can't be reached"))
  }
}
