import Foundation
import TestSupport
import Testing

/// Issue 4: what strangers and bad luck can do to a flow by a provider, beyond the refused redirects.
@Suite("Hostile redirects", .timeLimit(.minutes(2)))
struct HostileRedirectTests {
  private static let hasCompiler = access("/usr/bin/cc", X_OK) == 0

  @Test("a code is exchanged once, also where another one came in between")
  func codeOnce() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    for code in ["A", "B", "A", "B"] {
      try await world.browse(flow.answer(["code": code, "state": flow.token, "iss": world.issuer()]))
      try await world.wait(for: flow, "waiting-for-redirect", "InvalidProviderResponse")
    }
    #expect(try await world.records("/openid/token").count == 2)
    try await world.finish(flow)
  }

  @Test("a web page that floods the listener keeps no mailed link out")
  func flood() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    for index in 0..<70 {
      try await world.browse(flow.answer(["code": "x", "state": "wrong\(index)", "iss": world.issuer()]))
    }
    // Asked for elsewhere, so that no flow here waits for it.
    _ = try await world.emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=x",
      #"{"requestType":"EMAIL_SIGNIN","email":"eve@example.com","continueUrl":"http://localhost/x"}"#)
    let opened = try await world.linkctl("open", "--no-wait", try await world.mail("eve@example.com"))
    #expect(opened.status != 75, "\(opened.stderr)")
    try await world.finish(flow)
  }

  @Test("a flow that has succeeded stays readable for a minute, also after a restart")
  func readable() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    try await world.finish(flow)
    try await world.killDaemon()
    #expect(try await world.state(flow.id) == FlowState("succeeded"))
  }

  @Test(
    "B114: an own client's ID token is judged by the provider's clock, not by a wrong one of this machine",
    .enabled(if: hasCompiler, "needs cc"), arguments: [-86400, -7200, 7200, 86400])
  func wrongClock(offset: Int) async throws {
    let world = try await World.start { [$0.openID()] }
    let library = world.home.file("wallclock.so")
    let built = try await world.run([
      "cc", "-shared", "-fPIC", "-o", library, "\(World.root)/Tests/EndToEnd/wallclock.c", "-ldl",
    ])
    try #require(built.status == 0, "\(built.stderr)")
    _ = try world.home.write("\(offset)\n", to: "clock")
    try await world.killDaemon()
    try world.setDaemon(["LD_PRELOAD": library, "LINKD_TEST_CLOCK": world.home.file("clock")])
    try await world.finish(try await world.goTo())
  }

  @Test(
    "texts in lists and dictionaries are bounded like all others",
    arguments: [
      "{'open-browser': <false>, 'scopes': <['\(String(repeating: "x", count: 33000))']>}",
      "{'open-browser': <false>, 'custom-parameters': <{'a': '\(String(repeating: "x", count: 33000))'}>}",
      "{'open-browser': <false>, 'custom-parameters': <{'\(String(repeating: "x", count: 33000))': 'a'}>}",
    ])
  func bounds(options: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let result = try await world.gdbus(
      "/org/linkd/Auth1/app/demo", "org.linkd.Auth1.SignIn.SignInWithProvider", "oidc.test", options)
    #expect(result.status != 0 && result.stderr.contains("InvalidArgs"), "\(result.stderr.prefix(300))")
  }

  @Test("a file that names another provider by the same id, while a flow waits, gives its secret to nobody")
  func otherClient() async throws {
    let world = try await World.start { [$0.openID("oidc.test", ["client-secret": "first-secret"])] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    let file = world.home.file("config/linkd/apps.d/demo.json")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let other = text.replacing("/emulator/openid\"", with: "/emulator/openid/other\"")
      .replacing("first-secret", with: "second-secret")
    #expect(other != text)
    try other.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.ReloadApps", "{}").status == 0)
    try await world.browse(url)
    try await world.wait(for: flow, "failed", "NoSuchProvider")
    #expect(try await world.records("/token").isEmpty)
  }
}
