import Foundation
import TestSupport
import Testing

/// What comes to a waiting flow and isn't its answer: each is refused for its own reason, and the true answer that comes
/// afterwards still signs in (behaviour: OAuth and OpenID Connect; RFC 6749, 8252, 9207, 9700).
@Suite("Refused redirects", .timeLimit(.minutes(2)))
struct RefusedRedirectTests {
  /// The flow finishes by the provider's true answer.
  private func succeeds(_ flow: WaitingFlow, _ world: World, app: String = "demo") async throws {
    try await world.finish(flow)
    #expect(try await world.email(app: app) == "ada@example.com")
  }

  // MARK: State

  @Test("B055: a wrong state by loopback is a page with status 400 and news at once, and the true flow goes on")
  func wrongState() async throws {
    let world = try await World.start { [$0.openID()] }
    let monitor = try await BusMonitor(world, notices: true)
    let flow = try await world.goTo()
    try await world.fault(["openid": "redirect-wrong-state", "times": 1])
    let wrong = try await world.follow(flow)
    #expect(!wrong.contains(flow.token))
    let answer = try await world.browse(wrong)
    #expect(answer.status == 400 && answer.page.contains("<html"))
    let query = try #require(URLComponents(string: wrong)?.queryItems)
    for value in query.compactMap(\.value) { #expect(!answer.page.contains(value)) }
    try await world.wait(for: flow, "waiting-for-redirect", "StateMismatch")
    try await world.eventually("the news") { monitor.count("StageChanged", "StateMismatch") == 1 }
    try await world.eventually("the notice") {
      monitor.notices.contains { $0.contains("That answer belongs to no sign-in of yours") }
    }
    #expect(try await world.records("/openid/token").isEmpty)
    try await succeeds(flow, world)
  }

  @Test("B055: a wrong state by scheme is refused with exit 3, and the true flow goes on")
  func wrongStateByScheme() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    let wrong = flow.answer(["code": "C1", "state": "OTHER", "iss": world.issuer()])
    let verdict = try await world.json("can-handle", wrong).last
    #expect(verdict?["handled"] as? Bool == false && verdict?["reason"] as? String == "noPendingRequest")
    #expect(try await world.state(flow.id) == FlowState("waiting-for-redirect"), "can-handle changes nothing")
    #expect(try await world.linkctl("open", wrong).status == 3)
    try await world.wait(for: flow, "waiting-for-redirect", "StateMismatch")
    #expect(try await world.records("/openid/token").isEmpty)
    try await succeeds(flow, world)
  }

  @Test("whoever waits at a terminal reads that an answer was ignored, and waits on until the true one")
  func waitingCommand() async throws {
    let world = try await World.start { [$0.openID()] }
    let (out, err) = (world.home.file("out"), world.home.file("err"))
    func read(_ file: String) -> String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }
    async let waiting = world.run([
      "sh", "-c", "linkctl sign-in oidc.test --no-browser --json >'\(out)' 2>'\(err)'",
    ])
    try await world.eventually("the page") { read(out).contains("\"url\"") }
    let first = try #require(read(out).split(separator: "\n").last { $0.contains("\"url\"") })
    let object = try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any]
    let flow = WaitingFlow(id: object?["flow"] as? String ?? "", url: object?["url"] as? String ?? "")
    try await world.browse(flow.answer(["code": "C1", "state": "OTHER", "iss": world.issuer()]))
    try await world.eventually("the line") { read(out).contains("Error.StateMismatch") }
    try await succeeds(flow, world)
    #expect(try await waiting.status == 0)
    let lines = read(out).split(separator: "\n")
    #expect(lines.filter { $0.contains("\"url\"") }.count == 1 && lines.last?.contains("succeeded") == true)
  }

  @Test("a page that floods the listener with wrong states keeps nobody out, and tells the person once")
  func flood() async throws {
    let world = try await World.start { [$0.openID()] }
    let monitor = try await BusMonitor(world)
    let flow = try await world.goTo()
    let statuses = try await world.run([
      "curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}\n", "\(flow.redirectURI)?code=C1&state=OTHER[1-80]",
    ]).stdout.split(separator: "\n")
    // More than a minute's opens that are for nobody aren't looked at.
    #expect(statuses.count == 80 && Set(statuses) == ["400", "503"])
    try await succeeds(flow, world)
    try await world.eventually("the end") { monitor.count("StageChanged", "succeeded") == 1 }
    #expect(monitor.count("StageChanged", "StateMismatch") == 1)
  }

  @Test("a state counts byte for byte after one decode")
  func stateBytes() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    let url = try await world.follow(flow)
    let bytes = flow.token.utf8.map { String($0, radix: 16, uppercase: true) }
    let (once, twice) = (bytes.map { "%\($0)" }.joined(), bytes.map { "%25\($0)" }.joined())
    let others = [twice, "\(flow.token)%20", "+\(flow.token)", "\(flow.token)%00", flow.token.uppercased(), ""]
    for other in others where other != flow.token {
      let verdict = try await world.json("can-handle", url.replacing(flow.token, with: other)).last
      #expect(verdict?["handled"] as? Bool == false, "\(other)")
    }
    #expect(try await world.linkctl("open", url.replacing(flow.token, with: once)).status == 0)
    try await world.wait(for: flow, "succeeded")
  }

  @Test("a redirect for another app's flow is refused at this app's scheme, and both flows go on")
  func otherApp() async throws {
    let world = try await World.start { [$0.openID()] }
    try await world.addApp("other", scheme: "com.example.other", providers: [world.openID()])
    let ours = try await world.goTo("oidc.test", "--redirect", "scheme")
    let theirs = try await world.goTo("oidc.test", app: "other", "--redirect", "scheme")
    let url = try await world.follow(theirs)
    #expect(url.hasPrefix("com.example.other://"))
    let strayed = url.replacing("com.example.other://", with: "\(World.scheme)://")
    #expect(try await world.json("can-handle", strayed).last?["reason"] as? String == "noPendingRequest")
    #expect(try await world.linkctl("open", strayed).status == 3)
    try await world.wait(for: ours, "waiting-for-redirect", "StateMismatch")
    #expect(try await world.state(theirs.id) == FlowState("waiting-for-redirect"))
    #expect(try await world.records("/openid/token").isEmpty)
    try await succeeds(theirs, world, app: "other")
    #expect(try await world.email() == nil)
    try await succeeds(ours, world)
  }

  @Test("a redirect for another app's flow is refused at this app's listener, and both flows go on")
  func otherAppsListener() async throws {
    let world = try await World.start { [$0.openID()] }
    let port = try FreePort.find()
    try await world.addApp(
      "other", scheme: "com.example.other", providers: [world.openID("oidc.test", ["loopback-port": port])])
    let ours = try await world.goTo()
    let theirs = try await world.goTo("oidc.test", app: "other")
    #expect(theirs.port == port && ours.port != port)
    let strayed = try await world.follow(theirs).replacing(theirs.redirectURI, with: ours.redirectURI)
    #expect(try await world.browse(strayed).status == 400)
    try await world.wait(for: ours, "waiting-for-redirect", "StateMismatch")
    #expect(try await world.state(theirs.id) == FlowState("waiting-for-redirect"))
    try await succeeds(theirs, world, app: "other")
    try await succeeds(ours, world)
  }

  @Test("two apps with the same fixed port have a flow each, and each gets its own answer")
  func samePort() async throws {
    let port = try FreePort.find()
    let world = try await World.start { [$0.openID("oidc.test", ["loopback-port": port])] }
    try await world.addApp(
      "other", scheme: "com.example.other", providers: [world.openID("oidc.test", ["loopback-port": port])])
    let ours = try await world.goTo()
    let theirs = try await world.goTo("oidc.test", app: "other")
    #expect(ours.port == port && theirs.port == port)
    try await succeeds(theirs, world, app: "other")
    try await succeeds(ours, world)
  }

  // MARK: Whose answer it is

  @Test(
    "another provider's iss is refused, and so is none where one was promised; the true flow goes on",
    arguments: ["redirect-wrong-iss", "redirect-missing-iss"])
  func issuer(fault: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    try await world.fault(["openid": fault, "times": 1])
    #expect(try await world.browse(try await world.follow(flow)).status == 400)
    try await world.wait(for: flow, "waiting-for-redirect", "IssuerMismatch")
    #expect(try await world.records("/openid/token").isEmpty)
    try await succeeds(flow, world)
  }

  @Test(
    "mix-up: a provider without iss has a path of its own, and no other's code is taken there",
    arguments: [
      "loopback", "scheme",
    ])
  func mixUp(way: String) async throws {
    let world = try await World.start { [$0.openID("oidc.one", at: "one"), $0.openID("oidc.two", at: "two")] }
    for name in ["one", "two"] { try await world.control("PATCH", "openid/\(name)", ["sendsIssuer": false]) }
    let one = try await world.goTo("oidc.one", "--redirect", way)
    let two = try await world.goTo("oidc.two", "--redirect", way)
    #expect(one.redirectURI.hasSuffix("/callback/oidc.one") && two.redirectURI.hasSuffix("/callback/oidc.two"))
    // The code of the one, at the way back of the other; and at the path that the others share.
    let query = try #require(try await world.follow(one).split(separator: "?").last)
    let plain = one.redirectURI.dropLast("/oidc.one".count)
    for url in ["\(two.redirectURI)?\(query)", "\(plain)?\(query)"] {
      if way == "loopback" {
        #expect([400, 404].contains(try await world.browse(url).status))
      } else {
        #expect(try await world.linkctl("open", url).status == 3)
      }
    }
    try await world.wait(for: two, "waiting-for-redirect", "StateMismatch")
    #expect(try await world.state(one.id)?.stage == "waiting-for-redirect")
    #expect(try await world.records("/token").isEmpty)
    try await succeeds(one, world)
    try await succeeds(two, world)
  }

  // MARK: Codes and tokens

  @Test("a code that another flow has had is refused without asking anybody, and the true flow goes on")
  func replayed() async throws {
    let world = try await World.start { [$0.openID()] }
    let first = try await world.goTo()
    let url = try await world.follow(first)
    let code = try #require(URLComponents(string: url)?.queryItems?.first { $0.name == "code" }?.value)
    #expect(try await world.browse(url).status == 200)
    try await world.wait(for: first, "succeeded")
    let second = try await world.goTo()
    let replay = second.answer(["code": code, "state": second.token, "iss": world.issuer()])
    #expect(try await world.browse(replay).status == 400)
    try await world.wait(for: second, "waiting-for-redirect", "InvalidProviderResponse")
    #expect(try await world.records("/openid/token").count == 1)
    try await succeeds(second, world)
  }

  @Test("a code that the provider refuses leaves the flow waiting for the true one")
  func refusedCode() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let forged = flow.answer(["code": "FORGED", "state": flow.token, "iss": world.issuer()])
    #expect(try await world.browse(forged).status == 200)
    try await world.wait(for: flow, "waiting-for-redirect", "InvalidProviderResponse")
    #expect(world.log.contains("code=invalid_grant"))
    try await succeeds(flow, world)
  }

  @Test("a token in a URL that nobody asked for is recognised and never used", arguments: ["loopback", "scheme"])
  func tokenInURL(way: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", way)
    // Without `state` it's for nobody; with it, for this flow.
    for (parameters, reason) in [
      ("access_token=PLANTED1&id_token=PLANTED2", "missingState"), ("access_token=PLANTED1&state=\(flow.token)", ""),
    ] {
      let opened = try await world.json("open", "--no-wait", "\(flow.redirectURI)#\(parameters)").last
      #expect(opened?["kind"] as? String == "oauthRedirect")
      #expect(opened?["reason"] as? String ?? "" == reason)
    }
    try await world.wait(for: flow, "waiting-for-redirect", "InvalidProviderResponse")
    #expect(try await world.requests("signInWithIdp") == 0)
    try await succeeds(flow, world)
    for record in try await world.records("") { #expect(!"\(record)".contains("PLANTED")) }
  }
}
