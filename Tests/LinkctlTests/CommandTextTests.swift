import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// What `linkctl` says where a person would be lost: what was most likely meant, and what to do next.
@Suite("linkctl's words", .loopRunning, .timeLimit(.minutes(1)))
struct CommandTextTests {
  @Test("a mistyped provider is guessed, from those that everybody knows and from the app's own")
  func mistypedProvider() async throws {
    let desk = try await Desk()
    await desk.stub.fail("SignInWithProvider", "NoSuchProvider")
    for (typed, meant) in [("googel.com", "google.com"), ("oidc.exmple", "oidc.example"), ("githib.com", "github.com")]
    {
      let result = try await desk.linkctl("sign-in", typed)
      #expect(
        result.status == 1 && result.stderr == "linkctl: There's no provider '\(typed)'. Did you mean '\(meant)'?\n")
    }
    #expect(try await desk.linkctl("sign-in", "nothing.like.it").stderr == "linkctl: The daemon's own text.\n")
    let short = try await desk.linkctl("sign-in", "google")
    #expect(short.status == 64 && short.stderr.contains("Did you mean 'google.com'?"))
  }

  @Test("several apps without a default one are named, with what to do; a name that isn't there is told as before")
  func severalApps() async throws {
    let desk = try await Desk()
    await desk.stub.fail("GetApp", "NoSuchApp")
    let result = try await desk.linkctl("sign-in", "google.com")
    #expect(result.status == 1)
    #expect(
      result.stderr
        == "linkctl: There are several apps: demo, other. Say which one with --app, or choose one for good: "
        + "'linkctl app default demo'.\n")
    let named = try await desk.linkctl("sign-in", "google.com", "--app", "nope")
    #expect(named.status == 1 && named.stderr == "linkctl: The daemon's own text.\n")
  }

  @Test("the only way into the account is taken away after a question alone")
  func lastWay() async throws {
    let desk = try await Desk()
    await desk.stub.has(ways: "google.com")
    await desk.stub.begin("succeeded", [:], purpose: "unlink")
    let script = try await desk.linkctl("account", "unlink", "google.com")
    #expect(script.status == 4 && script.stderr.contains("--yes"))
    let unsure = try desk.terminal("account", "unlink", "google.com")
    try await unsure.shows("google.com is the only way into this account")
    unsure.type("")
    #expect(unsure.end() == 130)
    #expect(await desk.stub.calls("Unlink").isEmpty)
    let sure = try desk.terminal("account", "unlink", "google.com")
    try await sure.shows("Remove it? [y/N] ")
    sure.type("y")
    #expect(sure.end() == 0)
    #expect(try await desk.linkctl("account", "unlink", "google.com", "--yes").status == 0)
    #expect(await desk.stub.calls("Unlink").count == 2)
  }

  @Test("a provider that was added is named")
  func linked() async throws {
    let desk = try await Desk()
    await desk.stub.begin("succeeded", ProviderCommandTests.user, purpose: "link")
    let result = try await desk.linkctl("account", "link", "google.com")
    #expect(result.status == 0 && result.stderr == "google.com signs in to this account now.\n")
  }

  @Test("a wrong custom token sends nobody to a password")
  func wrongToken() async throws {
    let desk = try await Desk()
    let name = DBusValue.string("org.linkd.Auth1.Error.InvalidCredentials")
    await desk.stub.begin(
      "failed", ["error": name, "message": .string("Reset the password.")], purpose: "sign-in", method: "custom")
    let result = try await desk.linkctl("sign-in", "custom-token", "--token-stdin", stdin: "t\n")
    #expect(result.status == 1 && result.stderr.contains("Get a new one from the app's own server"))
    #expect(!result.stderr.contains("password"))
  }

  /// For a clock that goes on when a test says so.
  private static let hasCompiler = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")

  @Test(
    "without a terminal a server that fails is waited for during a minute; linkd goes on then",
    .enabled(if: hasCompiler, "needs cc"))
  func failingServer() async throws {
    let desk = try await Desk()
    let (library, clock) = (desk.home.file("clock.so"), desk.home.file("clock"))
    let source = "\(World.root)/Tests/EndToEnd/wallclock.c"
    let built = try await Subprocess.run(
      ["/usr/bin/cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], environment: desk.environment(), stdin: "")
    try #require(built.status == 0, "\(built.stderr)")
    let name = DBusValue.string("org.linkd.Auth1.Error.ServiceUnavailable")
    await desk.stub.begin("exchanging", ["error": name, "message": .string("No answer.")])
    async let running = Subprocess.run(
      ["\(World.programs)/linkctl", "sign-in", "google.com", "--json"],
      environment: desk.environment(["LD_PRELOAD": library, "LINKD_TEST_BOOT_CLOCK": clock]), stdin: "")
    try await until { await desk.stub.isSeen }
    // An attempt under way is no success yet.
    await desk.stub.move("exchanging")
    try await until { await desk.stub.isSeen }
    try desk.home.write("61\n", to: "clock")
    let result = try await running
    #expect(result.status == 75 && result.stderr.contains("linkd goes on with it by itself"), "\(result)")
  }

  @Test("what is pasted into a provider's sign-in is told in its own words, and the page it began with is known")
  func pasted() async throws {
    let desk = try await Desk()
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("paste that page's address here")
    await desk.stub.refuse("Copy it again from the mail.", "malformed")
    terminal.type("hello")
    try await terminal.shows("That isn't the address that a sign-in ends at.")
    await desk.stub.refuse("The link isn't a sign-in link.", "notAuthLink")
    terminal.type("https://accounts.example/auth?client_id=a&more=1#x")
    try await terminal.shows("That is the page that the sign-in begins with.")
    await desk.stub.refuse("It was cut off.", "missingCode")
    terminal.type("https://accounts.example/back?state=s1")
    try await terminal.shows("It was cut off.")
    #expect(!terminal.text.contains("mail") && !terminal.text.contains("sign-in link"))
  }
}
