import Foundation
import TestSupport
import Testing

/// What a sign-in by a provider must keep to itself (behaviour: OAuth and OpenID Connect; RFC 6749 10).
@Suite("Nothing of a provider's gets out", .timeLimit(.minutes(2)))
struct OAuthSecretsTests {
  /// The values of a request that one endpoint has got, as the emulator recorded it.
  private func body(_ world: World, _ suffix: String, _ index: Int = 0) async throws -> [String: Any] {
    let records = try await world.records(suffix)
    return try #require(records.indices.contains(index) ? records[index]["body"] as? [String: Any] : nil)
  }

  /// Every secret of an own client's sign-in that has ended: from its page, from its redirect, and from what the servers got.
  private func ownClient(_ world: World, _ flow: WaitingFlow, _ redirect: String) async throws -> [String: String] {
    let form = try await body(world, "/openid/token")
    let given = try await body(world, "signInWithIdp")
    let post = try #require(URLComponents(string: "x:?\(given["postBody"] as? String ?? "")")?.queryItems)
    func posted(_ name: String) -> String { post.first { $0.name == name }?.value ?? "" }
    return [
      "state": flow.token, "challenge": flow["code_challenge"] ?? "", "hashed nonce": flow["nonce"] ?? "",
      "code": form["code"] as? String ?? "", "verifier": form["code_verifier"] as? String ?? "",
      "client secret": "planted-client-secret", "access token": posted("access_token"), "ID token": posted("id_token"),
      "raw nonce": posted("nonce"), "query": "code=", "page": "code_challenge_method",
      "redirect": String(redirect.suffix(60)), "address": "ada@example.com",
    ]
  }

  private func stored(_ world: World) throws -> [(name: String, bytes: Data)] {
    let folder = world.home.file("state/linkd")
    return try FileManager.default.contentsOfDirectory(atPath: folder).map {
      ($0, try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")))
    }
  }

  private func nowhere(
    _ secrets: [String: String], _ world: World, _ monitor: BusMonitor, _ shown: String, besides: Set<String> = []
  ) throws {
    #expect(world.log.contains("<6>"))
    let files = try stored(world)
    for (name, value) in secrets {
      #expect(value.count > 4, "\(name) is missing")
      #expect(!world.log.contains(value), "\(name) is in the log")
      #expect(!monitor.output.contains(value), "\(name) was broadcast")
      if !besides.contains(name) { #expect(!shown.contains(value), "\(name) is in a flow's properties") }
      for file in files where file.name != "key" {
        #expect(file.bytes.range(of: Data(value.utf8)) == nil, "\(name) is in \(file.name)")
      }
    }
  }

  /// All that anybody may read of the flows and the app by D-Bus.
  private func objects(_ world: World) async throws -> String {
    try await world.gdbus("/org/linkd/Auth1", "org.freedesktop.DBus.ObjectManager.GetManagedObjects").stdout
  }

  @Test("an own client's: not in the debug log, nor in a broadcast, nor in properties, nor in clear in a file")
  func ownClient() async throws {
    let world = try await World.start { [$0.openID("oidc.test", ["client-secret": "planted-client-secret"])] }
    let monitor = try await BusMonitor(world)
    let flow = try await world.goTo()
    var shown = try await objects(world)
    let redirect = try await world.follow(flow)
    // A wrong one, the true one with every request slow enough to be looked at, a second one.
    try await world.browse(flow.answer(["code": "C1", "state": "OTHER", "iss": world.issuer()]))
    try await world.fault(["path": "signInWithIdp", "hold-before-handling": true, "times": 1])
    try await world.browse(redirect)
    try await world.eventually("the request") { try await world.requests("signInWithIdp") == 1 }
    shown += try await objects(world)
    let secrets = try await ownClient(world, flow, redirect)
    try nowhere(secrets, world, monitor, shown)
    try await world.clearFaults()
    try await world.wait(for: flow, "succeeded")
    try await world.linkctl("open", "--no-wait", redirect)
    shown += try await objects(world)
    try await world.eventually("the signals") { monitor.count("StateChanged", "\"authenticated\"") >= 1 }
    // Who is signed in may be read, but isn't broadcast.
    try nowhere(secrets, world, monitor, shown, besides: ["address"])
  }

  @Test("Firebase's page's: the event, the session id and the answer")
  func handler() async throws {
    let world = try await World.start { _ in [] }
    let monitor = try await BusMonitor(world)
    let flow = try await world.goTo("google.com")
    let redirect = try await world.follow(flow)
    var shown = try await objects(world)
    try await world.fault(["path": "signInWithIdp", "hold-before-handling": true, "times": 1])
    #expect(try await world.linkctl("open", "--no-wait", redirect).status == 0)
    try await world.eventually("the request") { try await world.requests("signInWithIdp") == 1 }
    shown += try await objects(world)
    let given = try await body(world, "signInWithIdp")
    let address = given["requestUri"] as? String ?? ""
    try nowhere(
      [
        "event": flow.token, "hashed session id": flow["sessionId"] ?? "",
        "session id": given["sessionId"] as? String ?? "", "answer": String(address.suffix(43)),
        "query": "deep_link_id", "key": "AIzaEXAMPLEKEY0000", "address": "ada@example.com",
      ], world, monitor, shown)
    try await world.clearFaults()
    try await world.wait(for: flow, "succeeded")
  }

  // MARK: To whom it goes

  @Test("no provider's code, verifier, secret or token reaches another's endpoint")
  func endpoints() async throws {
    let world = try await World.start {
      [
        $0.openID("oidc.one", at: "one", ["client-secret": "planted-secret-one"]),
        $0.openID("oidc.two", at: "two", ["client-secret": "planted-secret-two"]),
      ]
    }
    for id in ["oidc.one", "oidc.two"] {
      try await world.finish(try await world.goTo(id))
      #expect(try await world.linkctl("sign-out").status == 0)
    }
    func form(_ name: String) async throws -> [String: Any] { try await body(world, "/openid/\(name)/token") }
    for (name, other, index) in [("one", "two", 0), ("two", "one", 1)] {
      let post = try await body(world, "signInWithIdp", index)["postBody"] as? String ?? ""
      let tokens = try #require(URLComponents(string: "x:?\(post)")?.queryItems)
      let own = try await form(name)
      let secrets = ["code", "code_verifier", "client_secret"].map { own[$0] as? String ?? "" }
      for secret in secrets + tokens.filter({ $0.name != "providerId" }).compactMap(\.value) {
        #expect(secret.count > 10)
        for record in try await world.records("") where (record["path"] as? String)?.contains("/\(other)/") == true {
          #expect(!"\(record)".contains(secret), "\(name)'s at \(other)'s \(record["path"] ?? "")")
        }
      }
    }
  }

  @Test(
    "a token endpoint that leads elsewhere isn't followed: nothing gets there, and the code still counts",
    arguments: [
      301, 302, 303, 307, 308,
    ])
  func redirected(status: Int) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let elsewhere = "\(world.issuer("elsewhere"))/token"
    try await world.fault(["path": "/openid/token", "redirect": elsewhere, "status": status, "times": 1])
    try await world.browse(try await world.follow(flow))
    try await world.wait(for: flow, "exchanging", "ServiceUnavailable")
    #expect(world.log.contains("code=REDIRECT"))
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.records("/elsewhere/token").isEmpty)
    #expect(try await world.records("/openid/token").count == 2)
  }

  @Test(
    "an answer without end is left off: the daemon stays small, and the flow goes on",
    arguments: [
      "/openid/token", "/openid/jwks", "/.well-known/openid-configuration",
    ])
  func huge(path: String) async throws {
    let world = try await World.start { [$0.openID()] }
    try await world.fault(["path": path, "huge": 256 << 20, "times": 1])
    let flow = try await world.goTo()
    if path == "/openid/token" {
      // The provider has spent its code for that answer; the page, still open, gives another.
      try await world.browse(try await world.follow(flow))
      try await world.wait(for: flow, "waiting-for-redirect", "InvalidProviderResponse")
    }
    try await world.finish(flow)
    #expect(try await world.records(path).count == (path == "/openid/token" ? 3 : 2))
    let pid = try #require(try world.daemonPID())
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    let peak = status.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.1) }
    #expect(try #require(peak) < 100 << 10, "kilobytes")
  }
}
