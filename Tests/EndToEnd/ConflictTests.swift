import Foundation
import TestSupport
import Testing

/// The conflict of an address that signs in another way: the credential waits for whoever has the address
/// (behaviour: Anonymous upgrade and conflicts).
@Suite("Addresses that sign in another way", .timeLimit(.minutes(3)))
struct ConflictTests {
  static let error = "org.linkd.Auth1.Error."
  /// A provider that doesn't vouch for the address.
  static let unproven = World.Claims("fb-ada", "ada@example.com", isVerified: false)

  private static let hasCompiler = access("/usr/bin/cc", X_OK) == 0

  /// An account of Ada's with a password, and a provider's sign-in that met it.
  private func inConflict(_ world: World, page: Bool = false) async throws -> (ada: String, flow: String) {
    let ada = try await world.madeElsewhere("ada@example.com")
    let flow =
      page
      ? try await world.throughPage("facebook.com", Self.unproven)
      : try await world.withCredential("facebook.com", Self.unproven)
    let conflict = try await world.conflict(flow)
    #expect(conflict["kind"] as? String == "account-exists-with-different-credential")
    #expect(conflict["email"] as? String == "ada@example.com")
    #expect(conflict["options"] as? [String] == ["sign-in-and-link", "cancel"])
    #expect(conflict["anonymous-uid"] == nil && conflict["existing-uid"] == nil)
    return (ada, flow)
  }

  private func signIn(_ world: World, _ address: String, app: String = "demo") async throws {
    let result = try await world.linkctl(
      "sign-in", "password", address, "--app", app, "--password-stdin", stdin: "correct horse")
    #expect(result.status == 0, "\(result.stderr)")
  }

  // MARK: Whose credential it is

  @Test(
    "B107: the provider, whose answer is spent, is added once whoever has the address has signed in, in whatever letters they write it",
    arguments: [(page: false, production: false), (false, true), (true, false), (true, true)])
  func sameAddress(page: Bool, production: Bool) async throws {
    let world = try await World.start()
    if production { try await world.followProduction() }
    let (ada, flow) = try await inConflict(world, page: page)
    #expect(try await world.uid() == nil)
    try await signIn(world, "ADA@Example.com")
    let end = try await world.flow(flow, at: "succeeded")
    #expect((end["user"] as? [String: Any])?["uid"] as? String == ada)
    #expect(try await world.uid() == ada)
    #expect(try await world.providers() == ["facebook.com", "password"])
    #expect(try await world.serverProviders(ada) == ["facebook.com", "password"])
    // Linking says nothing about how somebody signed in.
    #expect(try await world.signInMethod() == "password")
  }

  @Test("somebody with another address gets nothing unasked; asked, their account gets it")
  func otherAddress() async throws {
    let world = try await World.start()
    let (ada, flow) = try await inConflict(world)
    let bob = try await world.madeElsewhere("bob@example.com")
    try await signIn(world, "bob@example.com")
    let calls = try await world.requests("accounts:signInWithIdp")
    #expect(calls == 1)
    #expect(try await world.flow(flow).stage == "conflict")
    #expect(try await world.serverProviders(bob) == ["password"])
    #expect(try await world.flow(flow, "ResolveConflict", "sign-in-and-link").status == 0)
    try await world.flow(flow, at: "failed")
    // The server, too, knows whose address it is.
    #expect(try await world.serverProviders(ada) == ["password"])
    #expect(try await world.uid() == bob)
  }

  @Test("somebody with another address who is asked, and whom the server lets, has the provider then")
  func otherAddressAgreed() async throws {
    let world = try await World.start()
    let (ada, flow) = try await inConflict(world)
    let bob = try await world.madeElsewhere("bob@example.com")
    try await signIn(world, "bob@example.com")
    #expect(try await world.flow(flow).stage == "conflict")
    // The account that was in the way goes away.
    try await world.deleteElsewhere(ada)
    #expect(try await world.flow(flow, "ResolveConflict", "sign-in-and-link").status == 0)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.providers() == ["facebook.com", "password"])
    #expect(try await world.serverProviders(bob) == ["facebook.com", "password"])
    #expect(try await world.uid() == bob)
  }

  @Test("whoever has chosen to sign in first is waited for; before anybody has, a guest isn't somebody")
  func signInFirst() async throws {
    let world = try await World.start()
    let (ada, flow) = try await inConflict(world)
    #expect(try await world.flow(flow, "ResolveConflict", "sign-in-and-link").status == 0)
    #expect(try await world.flow(flow).stage == "conflict")
    _ = try await world.becomeGuest()
    #expect(try await world.flow(flow, "ResolveConflict", "sign-in-and-link").status == 0)
    #expect(try await world.flow(flow).stage == "conflict")
    #expect(try await world.requests("accounts:signInWithIdp") == 1)
    // A guest's own conflict on the way there.
    try await signIn(world, "ada@example.com")
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == ada)
    #expect(try await world.serverProviders(ada) == ["facebook.com", "password"])
  }

  @Test(
    "a guest's provider that doesn't vouch for an address with an account: the guest stays until they sign in there")
  func guest() async throws {
    let world = try await World.startUpgrading()
    let ada = try await world.madeElsewhere("ada@example.com")
    let guest = try await world.becomeGuest()
    let flow = try await world.withCredential("facebook.com", Self.unproven)
    let conflict = try await world.conflict(flow)
    #expect(conflict["kind"] as? String == "account-exists-with-different-credential")
    #expect(try await world.uid() == guest)
    try await signIn(world, "ada@example.com")
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == ada)
    #expect(try await world.providers() == ["facebook.com", "password"])
  }

  // MARK: Ends

  @Test("given up: nothing is linked later, and what isn't offered is refused by name")
  func cancelled() async throws {
    let world = try await World.start()
    let (ada, flow) = try await inConflict(world)
    for word in ["switch", "keep", "new-link", "nonsense"] {
      #expect(try await world.flow(flow, "ResolveConflict", word).stderr.contains("InvalidArgs"), "\(word)")
    }
    #expect(try await world.linkctl("resolve", flow, "switch").status == 64)
    #expect(try await world.flow(flow, "ResolveConflict", "cancel").status == 0)
    try await world.flow(flow, at: "cancelled")
    try await signIn(world, "ada@example.com")
    #expect(try await world.requests("accounts:signInWithIdp") == 1)
    #expect(try await world.serverProviders(ada) == ["password"])
    #expect(try await world.flow(flow, "ResolveConflict", "cancel").stderr.contains("NoSuchFlow"))
  }

  @Test("a choice at another stage is NoSuchFlow, and changes nothing")
  func otherStage() async throws {
    let world = try await World.start()
    let flow = try await world.sendLink("ada@example.com")
    try await world.flow(flow, at: "waiting-for-link")
    for choice in ["switch", "sign-in-and-link", "new-link", "keep", "cancel"] {
      #expect(try await world.flow(flow, "ResolveConflict", choice).stderr.contains("NoSuchFlow"), "\(choice)")
    }
    #expect(try await world.linkctl("resolve", flow, "cancel").status == 1)
    #expect(try await world.flow(flow).stage == "waiting-for-link")
  }

  @Test("signing out drops the credential: whoever signs in next doesn't get it")
  func signOut() async throws {
    let world = try await World.start()
    let (ada, flow) = try await inConflict(world)
    try await world.createUser("bob@example.com", "correct horse")
    #expect(try await world.flow(flow).stage == "conflict")
    #expect(try await world.linkctl("sign-out").status == 0)
    try await world.flow(flow, at: "cancelled")
    try await signIn(world, "ada@example.com")
    #expect(try await world.requests("accounts:signInWithIdp") == 1)
    #expect(try await world.serverProviders(ada) == ["password"])
  }

  @Test("killed in conflict: the credential is on disk, sealed, and linked after the restart")
  func killed() async throws {
    let world = try await World.start()
    let (ada, flow) = try await inConflict(world)
    try await world.killDaemon()
    let state = world.home.file("state/linkd")
    let found = try await world.run(["grep", "-rlaE", "fb-ada|ada@example", state])
    #expect(found.status == 1, "in clear: \(found.stdout)")
    #expect(try await world.conflict(flow)["email"] as? String == "ada@example.com")
    try await signIn(world, "ada@example.com")
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.serverProviders(ada) == ["facebook.com", "password"])
  }

  @Test(
    "nobody comes within ten minutes: the flow has expired, and nothing is linked later",
    .enabled(if: hasCompiler, "needs cc"))
  func expired() async throws {
    let world = try await World.start()
    let library = world.home.file("wallclock.so")
    let built = try await world.run([
      "cc", "-shared", "-fPIC", "-o", library, "\(World.root)/Tests/EndToEnd/wallclock.c", "-ldl",
    ])
    try #require(built.status == 0, "\(built.stderr)")
    let (ada, flow) = try await inConflict(world)
    try await world.killDaemon()
    try world.setDaemon(["LD_PRELOAD": library, "LINKD_TEST_CLOCK": world.home.file("clock")])
    _ = try world.home.write("601\n", to: "clock")
    try await world.flow(flow, at: "expired")
    try await signIn(world, "ada@example.com")
    #expect(try await world.requests("accounts:signInWithIdp") == 1)
    #expect(try await world.serverProviders(ada) == ["password"])
  }

  // MARK: Side by side, and at the terminal

  @Test("two conflicts of one app, and one of another, each end by their own")
  func twoAtOnce() async throws {
    let world = try await World.start(apps: ["demo", "other"])
    let (ada, first) = try await inConflict(world)
    let bob = try await world.madeElsewhere("bob@example.com")
    let claims = World.Claims("fb-bob", "bob@example.com", isVerified: false)
    let second = try await world.withCredential("facebook.com", claims)
    let other = try await world.withCredential("github.com", claims, app: "other")
    #expect(try await world.conflict(second)["email"] as? String == "bob@example.com")
    #expect(try await world.conflict(other)["email"] as? String == "bob@example.com")
    try await signIn(world, "bob@example.com")
    try await world.flow(second, at: "succeeded")
    #expect(try await world.serverProviders(bob) == ["facebook.com", "password"])
    #expect(try await world.serverProviders(ada) == ["password"])
    #expect(try await world.flow(first).stage == "conflict")
    #expect(try await world.flow(other).stage == "conflict")
    try await signIn(world, "ada@example.com")
    try await world.flow(first, at: "succeeded")
    #expect(try await world.serverProviders(ada) == ["facebook.com", "password"])
    #expect(try await world.flow(other).stage == "conflict")
    try await signIn(world, "bob@example.com", app: "other")
    try await world.flow(other, at: "succeeded")
    #expect(try await world.serverProviders(bob) == ["facebook.com", "github.com", "password"])
  }

  @Test("at the terminal: the question, how to go on, and the end once another command has signed in")
  func terminal() async throws {
    let world = try await World.start()
    _ = try await world.madeElsewhere("ada@example.com")
    try await world.pagesChoose(Self.unproven)
    let terminal = try WorldTerminal(world, "sign-in", "facebook.com", "--no-browser")
    try await terminal.shows("paste that page's address here")
    let url = try #require(terminal.text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("http") })
    terminal.type(try await world.run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", "\(url)"]).stdout)
    try await terminal.shows("What should be done?")
    terminal.type("1")
    try await terminal.shows("Now sign in to ada@example.com as before")
    try await signIn(world, "ada@example.com")
    #expect(terminal.end() == 0)
    #expect(terminal.text.contains("Signed in as ada@example.com."))
    #expect(try await world.providers() == ["facebook.com", "password"])
  }

  @Test("in a script: exit 4 and the command that answers, which cancels with 130")
  func script() async throws {
    let world = try await World.start()
    let (_, flow) = try await inConflict(world)
    let first = try await world.linkctl("resolve", flow, "sign-in-and-link")
    #expect(first.status == 4 && first.stderr.contains("Now sign in to ada@example.com as before"), "\(first)")
    let listed = try await world.linkctl("flows")
    #expect(listed.stdout.contains(flow) || listed.stderr.contains(flow))
    #expect(try await !world.linkctl("flows", "--json").stdout.contains("ada@example.com"))
    #expect(try await world.linkctl("resolve", flow, "cancel").status == 130)
  }
}
