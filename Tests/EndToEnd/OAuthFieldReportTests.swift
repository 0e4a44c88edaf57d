import Foundation
import TestSupport
import Testing

/// What went wrong for people elsewhere when they signed in by providers: each test names the report's id. B055, B057 and B062
/// are among the refused and the twofold redirects, B067 also among the restarts.
@Suite("Field reports on providers", .timeLimit(.minutes(2)))
struct OAuthFieldReportTests {
  @Test("B051: a provider that appends a slash to the redirect URI is understood", arguments: ["loopback", "scheme"])
  func slash(way: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", way)
    try await world.fault(["openid": "redirect-slash", "times": 1])
    let url = try await world.follow(flow)
    #expect(url.contains("/callback/?"))
    if way == "loopback" {
      #expect(try await world.browse(url).status == 200)
    } else {
      #expect(try await world.linkctl("open", url).status == 0)
    }
    try await world.wait(for: flow, "succeeded")
    // The token endpoint hears the URI as it was registered.
    let form = try #require(try await world.records("/openid/token").first?["body"] as? [String: Any])
    #expect(form["redirect_uri"] as? String == flow.redirectURI)
  }

  @Test("B051: a second slash, or another path, is another URI")
  func otherPath() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    let url = try await world.follow(flow)
    for path in ["oauth/callback//", "oauth//callback", "oauth/Callback", "oauth/callback/x"] {
      let other = url.replacing("oauth/callback?", with: "\(path)?")
      #expect(other != url)
      #expect(try await world.json("open", other).last?["reason"] as? String == "notAuthLink", "\(path)")
    }
    #expect(try await world.state(flow.id) == FlowState("waiting-for-redirect"))
    try await world.finish(flow)
  }

  @Test("B052: what is sent is an https page, and what is expected is the app's scheme that it forwards to")
  func proxyPage() async throws {
    let (sent, expected) = ("https://app.example.com/cb", "com.example.linkd://oauth/callback")
    let world = try await World.start {
      [$0.openID("oidc.test", ["redirect-uri": sent, "return-uri": expected, "redirect": "scheme"])]
    }
    let flow = try await world.goTo()
    #expect(flow.redirectURI == sent)
    let url = try await world.follow(flow)
    #expect(url.hasPrefix("\(sent)?"))
    // The page's own address is pasted: nobody waits there.
    #expect(try await world.linkctl("open", url).status == 3)
    #expect(try await world.linkctl("open", url.replacing(sent, with: expected)).status == 0)
    try await world.wait(for: flow, "succeeded")
    let form = try #require(try await world.records("/openid/token").first?["body"] as? [String: Any])
    #expect(form["redirect_uri"] as? String == sent)
  }

  @Test(
    "B058: a deep link with a ready token never signs anybody in or out",
    arguments: [
      "com.example.linkd://auth/callback?token=eyATTACKER&app_token=x",
      "com.example.linkd://auth/callback#access_token=ATTACKER&refresh_token=R",
    ])
  func readyToken(url: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    for command in ["can-handle", "open"] {
      let verdict = try await world.json(command, url).last
      #expect(verdict?["handled"] as? Bool == false && verdict?["reason"] as? String == "notAuthLink")
      #expect(verdict?["kind"] as? String == "none")
    }
    #expect(try await world.state(flow.id) == FlowState("waiting-for-redirect"))
    try await world.finish(flow)
    #expect(try await world.linkctl("open", url).status == 3)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("B060: a state is of the session that made it: another one takes no answer to it")
  func otherSession() async throws {
    let ours = try await World.start { [$0.openID()] }
    let theirs = try await World.start { [$0.openID()] }
    let flow = try await ours.goTo("oidc.test", "--redirect", "scheme")
    let own = try await theirs.goTo("oidc.test", "--redirect", "scheme")
    let url = try await ours.follow(flow)
    #expect(try await theirs.json("open", url).last?["reason"] as? String == "noPendingRequest")
    try await theirs.wait(for: own, "waiting-for-redirect", "StateMismatch")
    #expect(try await theirs.linkctl("whoami").status == 1)
    #expect(try await ours.linkctl("open", url).status == 0)
  }

  @Test("B060: a state lives for ten minutes, and counts once")
  func stateOnce() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    let row = try #require(try await world.json("flows").first)
    let (created, expires) = (row["created-at"] as? Int ?? 0, row["expires-at"] as? Int ?? 0)
    // Counted from when the page was ready.
    #expect(created > 0 && (600...630).contains(expires - created))
    try await world.finish(flow)
    #expect(try await world.linkctl("sign-out").status == 0)
    // Another code with the same state: the flow has had its answer.
    try await world.linkctl("open", try await world.follow(flow))
    #expect(try await world.records("/openid/token").count == 1)
    #expect(try await world.linkctl("whoami").status == 1)
  }

  @Test("B061: Facebook's #_=_ neither replaces the query nor sticks to the code")
  func fragment() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    let url = try await world.follow(flow)
    #expect(try await world.linkctl("open", "\(url)#_=_").status == 0)
    try await world.wait(for: flow, "succeeded")
    let form = try #require(try await world.records("/openid/token").first?["body"] as? [String: Any])
    #expect(form["code"] as? String == URLComponents(string: url)?.queryItems?.first { $0.name == "code" }?.value)
  }

  @Test(
    "B063: a redirect with state, but neither code nor error, is refused, and the flow goes on",
    arguments: [
      "loopback", "scheme",
    ])
  func withoutCode(way: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", way)
    let url = flow.answer(["state": flow.token, "iss": world.issuer()])
    #expect(try await world.json("can-handle", url).last?["reason"] as? String == "missingCode")
    if way == "loopback" {
      #expect(try await world.browse(url).status == 400)
    } else {
      #expect(try await world.linkctl("open", url).status == 65)
    }
    try await world.wait(for: flow, "waiting-for-redirect", "MissingCode")
    try await world.finish(flow)
  }

  @Test(
    "B066: without a browser the URL is printed, and the pasted redirect finishes, while the browser's machine is another"
  )
  func headless() async throws {
    let world = try await World.start { [$0.openID()] }
    let (page, hints) = (world.home.file("page"), world.home.file("hints"))
    async let waiting = world.run(
      ["sh", "-c", "linkctl sign-in oidc.test >'\(page)' 2>'\(hints)'"], environment: ["DISPLAY": ""])
    var url = ""
    try await world.eventually("the page's address") {
      url = (try? String(contentsOfFile: page, encoding: .utf8)) ?? ""
      return url.hasSuffix("\n")
    }
    let id = try #require(try await world.json("flows").first?["flow"] as? String)
    let flow = WaitingFlow(id: id, url: url.trimmingCharacters(in: .whitespacesAndNewlines))
    // What the other machine's browser shows in its address bar, where nobody has answered it.
    let pasted = try await world.follow(flow)
    #expect(pasted.hasPrefix("http://127.0.0.1:"))
    #expect(try await world.linkctl("open", pasted).status == 0)
    #expect(try await waiting.status == 0)
    #expect(try String(contentsOfFile: hints, encoding: .utf8).contains("linkctl open ADDRESS"))
  }

  @Test("B066: the listener's port can be a fixed one, for a tunnel")
  func fixedPort() async throws {
    let port = try FreePort.find()
    let world = try await World.start { [$0.openID("oidc.test", ["loopback-port": port])] }
    let flow = try await world.goTo()
    #expect(flow.redirectURI == "http://127.0.0.1:\(port)/callback")
    try await world.finish(flow)
  }

  @Test("B067: the redirect comes by xdg-open and a process of its own; verifier and state wait in the daemon's rows")
  func xdgOpen() async throws {
    let world = try await World.start { [$0.openID()] }
    #expect(try await world.linkctl("register").status == 0)
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    let url = try await world.follow(flow)
    try await world.killDaemon()
    let opened = try await world.run(["xdg-open", url], environment: ["BROWSER": "false"])
    #expect(opened.status == 0, "\(opened)")
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("B068: a flow by scheme opens no listener, and a pasted answer finishes it")
  func noListener() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", "scheme")
    #expect(try world.listeners().isEmpty)
    #expect(flow.redirectURI == "\(World.scheme)://oauth/callback")
    #expect(try await world.linkctl("open", "-", stdin: "\(try await world.follow(flow))\n").status == 0)
    try await world.wait(for: flow, "succeeded")
  }
}
