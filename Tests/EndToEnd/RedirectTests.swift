import Foundation
import TestSupport
import Testing

/// A provider's true answer, however often and by whatever way it comes, and the ends that it may say.
@Suite("Redirects", .timeLimit(.minutes(2)))
struct RedirectTests {
  // MARK: Yes

  @Test("a provider with named endpoints and no ID token signs in by its access token, at a path of its own")
  func withoutIDToken() async throws {
    let world = try await World.start {
      [
        [
          "id": "github.com", "kind": "oauth2", "client-id": "client", "scopes": ["user"],
          "authorization-endpoint": "\($0.issuer())/authorize", "token-endpoint": "\($0.issuer())/token",
        ]
      ]
    }
    try await world.control("PATCH", "openid", ["sendsIssuer": false])
    let flow = try await world.goTo("github.com")
    #expect(flow.redirectURI.hasSuffix("/callback/github.com") && flow["nonce"] == nil)
    #expect(flow["code_challenge_method"] == "S256" && flow.token.utf8.count == 43)
    try await world.finish(flow)
    let user = try await world.whoami()
    let providers = user["providers"] as? [[String: Any]] ?? []
    #expect(providers.map { $0["provider-id"] as? String } == ["github.com"])
    #expect(providers.map { $0["uid"] as? String } == ["ada"])
  }

  @Test("many flows wait at once, and each answer ends its own alone", arguments: ["loopback", "scheme"])
  func many(way: String) async throws {
    let world = try await World.start { [$0.openID(), $0.openID("oidc.other", at: "other")] }
    var flows: [WaitingFlow] = []
    for id in ["oidc.test", "oidc.other", "oidc.test"] { flows.append(try await world.goTo(id, "--redirect", way)) }
    #expect(Set(flows.map(\.token)).count == 3)
    var waiting = Set(flows.map(\.id))
    for index in [1, 2, 0] {
      try await world.finish(flows[index])
      waiting.remove(flows[index].id)
      for id in waiting { #expect(try await world.state(id) == FlowState("waiting-for-redirect")) }
    }
    #expect(try await world.records("/openid/token").count == 2)
    #expect(try await world.records("/openid/other/token").count == 1)
  }

  @Test("a fixed port that somebody else has: the scheme serves instead, unless loopback was asked for")
  func portTaken() async throws {
    let other = try PortHolder(port: 0)
    let world = try await World.start { [$0.openID("oidc.test", ["loopback-port": other.port])] }
    let flow = try await world.goTo()
    #expect(flow.redirectURI == "\(World.scheme)://oauth/callback")
    try await world.finish(flow)
    let lines = try await world.json("sign-in", "oidc.test", "--redirect", "loopback", "--no-browser")
    #expect(lines.last?["error"] as? String == "org.linkd.Auth1.Error.HandlerMissing")
    #expect(lines.allSatisfy { $0["url"] == nil })
    withExtendedLifetime(other) {}
  }

  // MARK: Twice

  @Test(
    "B057: the same redirect twice in 200 ms is one exchange, and both get the outcome",
    arguments: [
      "loopback", "scheme",
    ])
  func twice(way: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", way)
    let url = try await world.follow(flow)
    // The exchange is under way while the second one comes.
    try await world.fault(["path": "/openid/token", "delay": 500, "times": 1])
    if way == "loopback" {
      async let first = world.browse(url)
      let second = try await world.browse(url)
      #expect(try await first.status == 200 && second.status == 200, "\(second)")
    } else {
      async let first = world.linkctl("open", url)
      let second = try await world.json("open", url)
      #expect(try await first.status == 0)
      #expect(second.last?["stage"] as? String == "succeeded" && second.last?["flow"] as? String == flow.id)
    }
    try await world.wait(for: flow, "succeeded")
    #expect(try await world.records("/openid/token").count == 1)
    #expect(try await world.requests("signInWithIdp") == 1)
  }

  @Test(
    "B057: a redirect that comes again after it has succeeded gets the first one's outcome",
    arguments: [
      "loopback", "scheme",
    ])
  func again(way: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo("oidc.test", "--redirect", way)
    let url = try await world.follow(flow)
    if way == "loopback" {
      try await world.browse(url)
    } else {
      #expect(try await world.linkctl("open", url).status == 0)
    }
    try await world.wait(for: flow, "succeeded")
    // Reloaded, or delivered by the other way.
    if way == "loopback" { #expect(try await world.browse(url).status == 200) }
    let judged = try await world.json("can-handle", url).last
    #expect(judged?["handled"] as? Bool == true && judged?["kind"] as? String == "oauthRedirect")
    let opened = try await world.json("open", url).last
    #expect(opened?["stage"] as? String == "succeeded" && opened?["flow"] as? String == flow.id)
    #expect(try await world.records("/openid/token").count == 1)
    #expect(try await world.requests("signInWithIdp") == 1)
  }

  @Test("B057: a return URI of the app's own choice is known the second time, too")
  func againAtOwnURI() async throws {
    let back = "com.example.linkd://signed-in"
    let world = try await World.start { [$0.openID("oidc.test", ["redirect": "scheme", "redirect-uri": back])] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    #expect(url.hasPrefix(back))
    #expect(try await world.linkctl("open", url).status == 0)
    #expect(try await world.json("open", url).last?["stage"] as? String == "succeeded")
    #expect(try await world.records("/openid/token").count == 1)
  }

  // MARK: No

  @Test(
    "B062: a refused consent is cancelled with exit 130, no error and no notice", arguments: ["loopback", "scheme"])
  func refused(way: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let monitor = try await BusMonitor(world, notices: true)
    try await world.consent(nil)
    let flow = try await world.goTo("oidc.test", "--redirect", way)
    let url = try await world.follow(flow)
    #expect(url.contains("error=access_denied"))
    if way == "loopback" {
      #expect(try await world.browse(url).status == 200)
    } else {
      let opened = try await world.linkctl("open", "--json", url)
      #expect(opened.status == 130 && !opened.stdout.contains("\"error\""), "\(opened.stdout)")
    }
    try await world.wait(for: flow, "cancelled")
    try await world.eventually("the signal") { monitor.count("StageChanged", "\"cancelled\"") == 1 }
    #expect(monitor.notices.isEmpty)
    #expect(try await world.records("/openid/token").isEmpty)
    #expect(try await world.linkctl("whoami").status == 1)
  }

  @Test("B062: whoever waits for a flow that is refused leaves with 130, and says no error")
  func refusedWhileWaiting() async throws {
    let world = try await World.start { [$0.openID()] }
    try await world.consent(nil)
    async let waiting = world.linkctl("sign-in", "oidc.test", "--no-browser", "--json")
    var flow: String?
    try await world.eventually("the flow") {
      flow =
        try await world.json("flows").first { $0["stage"] as? String == "waiting-for-redirect" }?["flow"] as? String
      return flow != nil
    }
    let known = try await world.gdbus(
      "/org/linkd/Auth1/flow/\(try #require(flow))", "org.linkd.Auth1.Flow.GetUrl", "{}")
    // The page is the starter's alone.
    #expect(known.status != 0 && known.stderr.contains("AccessDenied"), "\(known)")
    #expect(try await world.linkctl("cancel", try #require(flow)).status == 0)
    let result = try await waiting
    #expect(result.status == 130 && !result.stdout.contains("\"error\""), "\(result)")
  }

  @Test("other words for no are cancelled, too", arguments: ["user_cancelled_login", "consent_required"])
  func otherWords(word: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let no = flow.answer(["error": word, "state": flow.token, "iss": world.issuer()])
    #expect(try await world.browse(no).status == 200)
    try await world.wait(for: flow, "cancelled")
  }

  @Test("server_error leaves the page open: the flow waits on, and the second try signs in")
  func serverError() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    try await world.fault(["openid": "server-error", "times": 1])
    let url = try await world.follow(flow)
    #expect(url.contains("error=server_error"))
    try await world.browse(url)
    try await world.wait(for: flow, "waiting-for-redirect", "ServiceUnavailable")
    try await world.finish(flow)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("other errors fail, and nobody is signed in", arguments: ["invalid_scope", "unauthorized_client", "x y"])
  func otherErrors(word: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let no = flow.answer(["error": word, "state": flow.token, "iss": world.issuer()])
    #expect(try await world.browse(no).status == 400)
    try await world.wait(for: flow, "failed", "InvalidProviderResponse")
    #expect(try await world.records("/openid/token").isEmpty)
    #expect(try await world.linkctl("whoami").status == 1)
  }

  @Test("an error without the promised iss is anybody's: the flow waits on")
  func errorWithoutIssuer() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    try await world.browse(flow.answer(["error": "access_denied", "state": flow.token]))
    try await world.wait(for: flow, "waiting-for-redirect", "IssuerMismatch")
    try await world.finish(flow)
  }
}
