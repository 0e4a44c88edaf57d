import Foundation
import TestSupport
import Testing

/// Ways into an account that are added and taken away, and what is in the way of that (behaviour: Anonymous upgrade and
/// conflicts; identity-toolkit 8.4).
@Suite("Ways into an account", .timeLimit(.minutes(3)))
struct LinkUnlinkTests {
  static let error = "org.linkd.Auth1.Error."
  static let link = "{'purpose': <'link'>}"
  /// Somebody at a provider who tells no address.
  static let plain = World.Claims("g-1")

  /// Ada, with a password.
  private func ada(_ world: World) async throws -> String {
    try await world.createUser("ada@example.com", "correct horse")
    return try await world.uid() ?? ""
  }

  /// The session is the one it was, and works.
  private func isStill(_ uid: String, _ method: String, _ world: World) async throws {
    #expect(try await world.uid() == uid)
    #expect(try await world.signInMethod() == method)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  // MARK: A provider that is another account's

  @Test(
    "credential-already-in-use: the session stays, unless somebody switches",
    arguments: ["switch", "keep", "cancel"], [true, false])
  func credentialInUse(_ choice: String, page: Bool) async throws {
    let world = try await World.start()
    let other = try await world.madeElsewhere(by: "google.com", Self.plain)
    let ada = try await ada(world)
    let flow =
      page
      ? try await world.throughPage("google.com", Self.plain, app: "demo", "--link")
      : try await world.withCredential("google.com", Self.plain, options: Self.link)
    let conflict = try await world.conflict(flow)
    #expect(conflict["kind"] as? String == "credential-already-in-use")
    #expect(conflict["options"] as? [String] == ["switch", "keep", "cancel"])
    #expect(conflict["anonymous-uid"] == nil && conflict["existing-uid"] == nil)
    try await isStill(ada, "password", world)
    #expect(try await world.flow(flow, "ResolveConflict", "sign-in-and-link").stderr.contains("InvalidArgs"))
    #expect(try await world.flow(flow, "ResolveConflict", choice).status == 0)
    try await world.flow(flow, at: choice == "switch" ? "succeeded" : "cancelled")
    if choice == "switch" {
      try await isStill(other, "google.com", world)
    } else {
      try await isStill(ada, "password", world)
    }
    #expect(try await world.serverProviders(ada) == ["password"])
    #expect(try await world.serverProviders(other) == ["google.com"])
  }

  @Test("credential-already-in-use at the terminal, and by a refusal with status 400")
  func credentialInUseTerminal() async throws {
    let world = try await World.start()
    let other = try await world.madeElsewhere(by: "google.com", Self.plain)
    let ada = try await ada(world)
    try await world.pagesChoose(Self.plain)
    let terminal = try WorldTerminal(world, "account", "link", "google.com", "--no-browser")
    try await terminal.shows("paste that page's address here")
    let url = try #require(terminal.text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http") })
    terminal.type(try await world.run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", "\(url)"]).stdout)
    try await terminal.shows("What should be done?")
    terminal.type("keep")
    #expect(terminal.end() == 130)
    try await isStill(ada, "password", world)
    try await world.fault(["path": "accounts:signInWithIdp", "error": "FEDERATED_USER_ID_ALREADY_LINKED", "times": 1])
    let flow = try await world.withCredential("google.com", Self.plain, options: Self.link)
    _ = try await world.conflict(flow)
    let switched = try await world.linkctl("resolve", flow, "switch")
    #expect(switched.status == 0, "\(switched)")
    try await isStill(other, "google.com", world)
  }

  @Test("a credential that waits for its address is linked when somebody gets there by switching, too")
  func switchThenLink() async throws {
    let world = try await World.start()
    let other = try await world.madeElsewhere(by: "google.com", World.Claims("g-2", "eve@example.com"))
    let waiting = try await world.withCredential(
      "facebook.com", World.Claims("fb-eve", "eve@example.com", isVerified: false))
    _ = try await world.conflict(waiting)
    _ = try await ada(world)
    let flow = try await world.withCredential(
      "google.com", World.Claims("g-2", "eve@example.com"), options: Self.link)
    _ = try await world.conflict(flow)
    #expect(try await world.flow(flow, "ResolveConflict", "switch").status == 0)
    try await world.flow(waiting, at: "succeeded")
    #expect(try await world.serverProviders(other) == ["facebook.com", "google.com"])
  }

  // MARK: An address that is another account's

  @Test(
    "email-already-in-use by a mailed link: a new link signs in to the other account; else all stays",
    arguments: ["new-link", "keep", "cancel"])
  func mailedLink(_ choice: String) async throws {
    let world = try await World.start()
    let ada = try await world.madeElsewhere("ada@example.com")
    let mine = try await world.withCredential("google.com", Self.plain)
    try await world.flow(mine, at: "succeeded")
    let me = try await world.uid() ?? ""
    let flow = try await world.sendLink("ada@example.com", "--link")
    let first = try await world.mail("ada@example.com")
    #expect(try await world.linkctl("open", "--no-wait", try await world.button(first)).status == 0)
    let conflict = try await world.conflict(flow)
    #expect(conflict["kind"] as? String == "email-already-in-use" && conflict["email"] as? String == "ada@example.com")
    #expect(conflict["options"] as? [String] == ["new-link", "keep", "cancel"])
    try await isStill(me, "google.com", world)
    for word in ["switch", "sign-in-and-link"] {
      #expect(try await world.flow(flow, "ResolveConflict", word).stderr.contains("InvalidArgs"), "\(word)")
    }
    #expect(try await world.flow(flow, "ResolveConflict", choice).status == 0)
    guard choice == "new-link" else {
      try await world.flow(flow, at: "cancelled")
      try await isStill(me, "google.com", world)
      return #expect(try await world.mails("ada@example.com").isEmpty)
    }
    try await world.flow(flow, at: "waiting-for-link")
    try await isStill(me, "google.com", world)
    let second = try await world.mail("ada@example.com")
    #expect(second != first)
    #expect(try await world.linkctl("open", try await world.button(second)).status == 0)
    try await isStill(ada, "emailLink", world)
    #expect(try await world.serverProviders(me) == ["google.com"])
  }

  @Test("email-already-in-use by a provider: it's linked once the address's owner has signed in")
  func providerAddress() async throws {
    let world = try await World.start()
    let ada = try await world.madeElsewhere("ada@example.com")
    try await world.createUser("bob@example.com", "correct horse")
    let bob = try await world.uid() ?? ""
    let claims = World.Claims("g-ada", "ada@example.com")
    let flow = try await world.withCredential("google.com", claims, options: Self.link)
    let conflict = try await world.conflict(flow)
    #expect(conflict["kind"] as? String == "email-already-in-use" && conflict["email"] as? String == "ada@example.com")
    #expect(conflict["options"] as? [String] == ["sign-in-and-link", "keep", "cancel"])
    try await isStill(bob, "password", world)
    // Bob himself can't have it: the server has said so.
    #expect(try await world.flow(flow, "ResolveConflict", "sign-in-and-link").status == 0)
    #expect(try await world.flow(flow).stage == "conflict")
    #expect(try await world.requests("accounts:signInWithIdp") == 1)
    let signedIn = try await world.linkctl(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    #expect(signedIn.status == 0)
    try await world.flow(flow, at: "succeeded")
    try await isStill(ada, "password", world)
    #expect(try await world.serverProviders(ada) == ["google.com", "password"])
    #expect(try await world.serverProviders(bob) == ["password"])
    // Once more, and kept.
    let again = try await world.withCredential(
      "github.com", World.Claims("gh-bob", "bob@example.com"), options: Self.link)
    _ = try await world.conflict(again)
    #expect(try await world.flow(again, "ResolveConflict", "keep").status == 0)
    try await world.flow(again, at: "cancelled")
    try await isStill(ada, "password", world)
  }

  // MARK: Added, and added twice

  @Test("a provider is added by page and by credential, without a change of the session; a second time it's refused")
  func linkedOnce() async throws {
    let world = try await World.start()
    let ada = try await ada(world)
    let monitor = try await BusMonitor(world)
    try await world.flow(try await world.throughPage("google.com", Self.plain, app: "demo", "--link"), at: "succeeded")
    let github = World.Claims("gh-1", "ada@example.com")
    try await world.flow(try await world.withCredential("github.com", github, options: Self.link), at: "succeeded")
    #expect(try await world.providers() == ["github.com", "google.com", "password"])
    try await isStill(ada, "password", world)
    try await world.eventually("the signals") { monitor.count("ProvidersChanged", "/org/linkd") == 2 }
    #expect(monitor.count("ProvidersChanged", "\"google.com\"") == 1)
    #expect(monitor.count("StateChanged", "\"unauthenticated\"") == 0)
    #expect(monitor.count("StateChanged", "\"authenticating\"") == 0)
    let calls = try await world.requests("accounts:signInWithIdp")
    for other in [Self.plain, World.Claims("g-2")] {
      await #expect(throws: World.Failure.self) {
        _ = try await world.withCredential("google.com", other, options: Self.link)
      }
    }
    let again = try await world.json("account", "link", "google.com", "--no-browser")
    #expect(again.last?["error"] as? String == Self.error + "ProviderAlreadyLinked" && again.last?["exit"] as? Int == 1)
    #expect(try await world.requests("accounts:signInWithIdp") == calls)
  }

  @Test("a link that is refused since the account is gone ends the session, as every other call does")
  func deadAccount() async throws {
    let world = try await World.start()
    try await world.deleteElsewhere(try await ada(world))
    let flow = try await world.withCredential("google.com", Self.plain, options: Self.link)
    let end = try await world.flow(flow, at: "failed")
    #expect(end["error"] as? String == Self.error + "UserNotFound", "\(end)")
    let status = try await world.json("status").last
    #expect(status?["state"] as? String == "unauthenticated" && status?["health"] as? String == "attention-needed")
  }

  // MARK: Taken away

  @Test("a provider is taken away, and told; what isn't there is NoSuchProvider without a call")
  func unlink() async throws {
    let world = try await World.start()
    let ada = try await ada(world)
    try await world.flow(
      try await world.withCredential("google.com", Self.plain, options: Self.link), at: "succeeded")
    let monitor = try await BusMonitor(world)
    #expect(try await world.linkctl("account", "unlink", "google.com").status == 0)
    #expect(try await world.providers() == ["password"])
    #expect(try await world.serverProviders(ada) == ["password"])
    try await world.eventually("the signal") { monitor.count("ProvidersChanged", "\"google.com\"") == 1 }
    try await isStill(ada, "password", world)
    let calls = try await world.requests("accounts:update")
    for id in ["google.com", "github.com", "nonsense", ""] {
      let lines = try await world.gdbus("/org/linkd/Auth1/app/demo", "org.linkd.Auth1.Account.Unlink", id, "{}")
      #expect(lines.stderr.contains("NoSuchProvider"), "\(id): \(lines)")
    }
    #expect(try await world.requests("accounts:update") == calls)
    #expect(try await world.linkctl("sign-out").status == 0)
    let nobody = try await world.gdbus(
      "/org/linkd/Auth1/app/demo", "org.linkd.Auth1.Account.Unlink", "google.com", "{}")
    #expect(nobody.stderr.contains("NoCurrentUser"))
  }

  @Test("the last way in is taken away like any other: the session goes on, with nothing to list")
  func last() async throws {
    let world = try await World.start()
    try await world.flow(try await world.withCredential("google.com", Self.plain), at: "succeeded")
    let uid = try await world.uid()
    #expect(try await world.linkctl("account", "unlink", "google.com").status == 4)
    #expect(try await world.providers() == ["google.com"])
    #expect(try await world.linkctl("account", "unlink", "google.com", "--yes").status == 0)
    #expect(try await world.providers() == [])
    #expect(try await world.uid() == uid)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  @Test("too old a sign-in parks it until the user has signed in again, by the provider they came by")
  func parked() async throws {
    let world = try await World.start()
    let google = World.Claims("g-ada", "ada@example.com")
    try await world.flow(try await world.throughPage("google.com", google), at: "succeeded")
    try await world.flow(
      try await world.withCredential("github.com", World.Claims("gh-1"), options: Self.link), at: "succeeded")
    try await world.fault(["path": "accounts:update", "error": "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "times": 1])
    let flow = try await world.begin("Account.Unlink", "github.com")
    let how = try await world.flow(flow, at: "reauthentication-required")["reauthentication"] as? [String: Any]
    #expect(how?["kind"] as? String == "oauth" && how?["provider-id"] as? String == "google.com", "\(how ?? [:])")
    #expect(try await world.providers() == ["github.com", "google.com"])
    let again = try await world.linkctl("reauthenticate", "--no-browser", "--no-wait")
    let page = try #require(again.stdout.split(separator: "\n").last.map(String.init))
    let back = try await world.run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", page]).stdout
    #expect(try await world.linkctl("open", back).status == 0)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.providers() == ["google.com"])
    #expect(try await world.requests("accounts:update") == 2)
  }

  @Test("B110: a sign-in that takes other ways into the account away says which")
  func takenAway() async throws {
    let world = try await World.start()
    let ada = try await ada(world)
    let monitor = try await BusMonitor(world)
    // The provider vouches for an address that nobody has proved: the server drops the password.
    try await world.flow(
      try await world.withCredential("google.com", World.Claims("g-ada", "ada@example.com")), at: "succeeded")
    #expect(try await world.uid() == ada)
    #expect(try await world.serverProviders(ada) == ["google.com"])
    #expect(try await world.providers() == ["google.com"])
    try await world.eventually("the signal") { monitor.count("ProvidersChanged", "\"password\"") == 1 }
    #expect(monitor.count("ProvidersChanged", "\"google.com\"") == 1)
  }
}
