import Foundation
import TestSupport
import Testing

/// What people and programs are told on the way to a provider and back, and in conflicts.
@Suite("What is said on the way", .timeLimit(.minutes(2)))
struct ProviderNoticeTests {
  @Test("where no browser can be opened the flow says that, not that something isn't registered")
  func noBrowser() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.begin("SignIn.SignInWithProvider", "oidc.test")
    var said = ""
    try await world.eventually("the word") {
      said = (try await world.flow(flow)).details["message"] as? String ?? ""
      return !said.isEmpty
    }
    #expect(said.contains("No browser could be opened") && !said.contains("register"), "\(said)")
  }

  @Test("the page that a browser is started with leads to the provider, for the flow's starter and as long as it waits")
  func startPage() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    // Another process asks.
    #expect(try await world.flow(flow.id, "GetUrl").stderr.contains("AccessDenied"))
    #expect(try await world.browse("http://127.0.0.1:\(try #require(flow.port))/start/none").status == 404)
    try await world.finish(flow)
    #expect(try await world.flow(flow.id, "GetUrl").status != 0)
  }

  @Test("a redirect that can't be read gets a page that says so, and the flow goes on")
  func unreadable() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let answer = try await world.browse("\(flow.redirectURI)?state=\(flow.token)&code=A&code=B")
    #expect(answer.status == 400 && answer.page.contains("belong to a sign-in that is under way"), "\(answer)")
    try await world.finish(flow)
  }

  @Test("who loses the provider that they signed in by is asked for another way that they have")
  func wayBack() async throws {
    let world = try await World.start { [$0.openID(), ["id": "emailLink"]] }
    try await world.signIn("ada@example.com")
    try await world.addAccount("ada", email: "ada@example.com")
    try await world.consent("ada")
    try await world.finish(try await world.goTo())
    #expect(try await world.signInMethod() == "oidc.test")
    #expect(try await world.linkctl("account", "unlink", "oidc.test").status == 0)
    let flow = try await world.begin("Account.Reauthenticate")
    #expect(try await world.flow(flow, at: "waiting-for-link")["email"] as? String == "ada@example.com")
    try await world.setProviders(["password"])
    let next = try await world.begin("Account.Reauthenticate")
    #expect(try await world.flow(next, at: "waiting-for-password")["email"] as? String == "ada@example.com")
  }

  @Test("in a conflict it can be seen that somebody with another address has signed in")
  func otherAddress() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    try await world.createUser("bob@example.com", "correct horse")
    let bob = try #require(try await world.uid())
    #expect(try await world.linkctl("sign-out").status == 0)
    let claims = World.Claims("g-1", "ada@example.com", isVerified: false)
    let flow = try await world.withCredential("google.com", claims)
    #expect(try await world.conflict(flow)["existing-uid"] == nil)
    let monitor = try await BusMonitor(world)
    let signedIn = try await world.linkctl(
      "sign-in", "password", "bob@example.com", "--password-stdin", stdin: "correct horse")
    #expect(signedIn.status == 0)
    try await world.eventually("the conflict's news") { monitor.count("StageChanged", "\"conflict\"") == 1 }
    #expect(try await world.conflict(flow)["existing-uid"] as? String == bob)
  }

  @Test("a guest whose link is spent is told of the second mail, and of a conflict that needs them")
  func notices() async throws {
    let world = try await World.startUpgrading()
    _ = try await world.madeElsewhere("ada@example.com")
    _ = try await world.becomeGuest()
    let monitor = try await BusMonitor(world, notices: true)
    _ = try await world.sendLink("ada@example.com")
    let link = try await world.button(try await world.mail("ada@example.com"))
    #expect(try await world.linkctl("open", "--no-wait", link).status == 0)
    try await world.eventually("the notice") {
      monitor.notices.contains { $0.contains("A new link has been mailed") }
    }
  }
}
