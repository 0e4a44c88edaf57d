import Foundation
import TestSupport
import Testing

/// Who and what knocks at the listener of a waiting flow besides the person's browser (RFC 8252 8.3; behaviour: OAuth and
/// OpenID Connect).
@Suite("Strangers at the listener", .timeLimit(.minutes(2)))
struct LoopbackGuestTests {
  /// Nothing that came has touched the flow, and the true answer signs in.
  private func untouched(_ flow: WaitingFlow, _ world: World) async throws {
    #expect(try await world.state(flow.id) == FlowState("waiting-for-redirect"))
    #expect(try await world.records("/openid/token").isEmpty)
    try await world.finish(flow)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("favicon.ico and other paths get 404, by every method, and never touch the flow")
  func strays() async throws {
    let world = try await World.start { [$0.openID()] }
    let monitor = try await BusMonitor(world, notices: true)
    let flow = try await world.goTo()
    let origin = "http://127.0.0.1:\(try #require(flow.port))"
    let query = "?code=C1&state=\(flow.token)&iss=\(World.encoded(world.issuer()))"
    for path in ["/favicon.ico", "/", "/robots.txt", "/apple-touch-icon.png", "/callback/x", "//callback", "/Callback"]
    {
      for options in [["--head"], [], ["-X", "POST", "-d", "x=1"]] {
        let answer = try await world.run(
          ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}"] + options + [origin + path + query])
        #expect(answer.stdout == "404", "\(options) \(path)")
      }
    }
    // The way back itself, by a method that isn't a browser's way there.
    for method in ["POST", "PUT", "OPTIONS", "DELETE"] {
      let status = try await world.browse("\(origin)/callback\(query)", "-X", method).status
      #expect((400..<600).contains(status), "\(method)")
    }
    #expect(monitor.notices.isEmpty)
    try await untouched(flow, world)
  }

  @Test("a scanner's HEAD of the true answer spends nothing")
  func head() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    for _ in 0..<2 { #expect(try await world.browse(url, "--head").status == 200) }
    // Nor does one of a false answer tell the person anything.
    #expect(try await world.browse(url.replacing(flow.token, with: "OTHER"), "--head").status == 400)
    #expect(try await world.state(flow.id) == FlowState("waiting-for-redirect"))
    #expect(try await world.records("/openid/token").isEmpty)
    #expect(try await world.browse(url).status == 200)
    try await world.wait(for: flow, "succeeded")
  }

  @Test("a foreign Host is turned away: a name that was made to point here learns and does nothing")
  func foreignHost() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    let port = try #require(flow.port)
    for host in ["evil.example", "evil.example:\(port)", "127.0.0.1.evil.example:\(port)", "127.0.0.1:1", ""] {
      #expect([400, 421].contains(try await world.browse(url, "-H", "Host: \(host)").status), "\(host)")
    }
    #expect(world.log.contains("foreignHost"))
    try await untouched(flow, world)
  }

  @Test("another user's process is turned away without a byte", .enabled(if: getuid() == 0))
  func otherUser() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    for address in [url, url.replacing("//127.0.0.1:", with: "//[::1]:")] {
      let result = try await world.run([
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "curl", "-sS", "--globoff", "--http0.9",
        "--max-time", "20", address,
      ])
      // 56: the connection was reset; 7: so early that it counts as none; 52: nothing came.
      #expect([7, 52, 56].contains(result.status) && result.stdout.isEmpty, "\(result)")
    }
    #expect(world.log.components(separatedBy: "foreignUser").count == 3)
    try await untouched(flow, world)
  }

  @Test("the listener is on 127.0.0.1 and ::1 alone, and gone when the flow ends")
  func addresses() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let port = try #require(flow.port)
    let hexadecimal = String(format: "%04X", port)
    // The kernel's table may miss a row while others come and go.
    try await world.eventually("both listeners") {
      try world.listeners() == ["0100007F:\(hexadecimal)", "00000000000000000000000001000000:\(hexadecimal)"]
    }
    #expect(try await world.linkctl("cancel", flow.id).status == 0)
    #expect(try world.listeners().isEmpty)
  }

  @Test(
    "after success the listener stays for the minute in which the browser may come again",
    .enabled(if: access("/usr/bin/cc", X_OK) == 0, "needs cc"))
  func lingers() async throws {
    let world = try await World.start { [$0.openID()] }
    try await world.killDaemon()
    try world.setDaemon(try await world.clocks())
    let flow = try await world.goTo()
    let url = try await world.follow(flow)
    for _ in 0..<2 {
      #expect(try await world.browse(url).status == 200)
      try await world.wait(for: flow, "succeeded")
    }
    _ = try world.home.write("60\n", to: "boot-clock")
    try await world.eventually("the end of the minute") { try await world.state(flow.id) == nil }
    #expect(try await world.browse(url).status == 0)
    #expect(try await world.json("can-handle", url).last?["reason"] as? String == "noPendingRequest")
  }

  @Test("what is too long is turned away")
  func tooLong() async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let url = flow.answer(["code": "C1", "state": flow.token, "iss": world.issuer()])
    #expect(
      [400, 414, 431].contains(try await world.browse("\(url)&x=\(String(repeating: "x", count: 33 << 10))").status))
    let body = try world.home.write(String(repeating: "x", count: 17 << 10), to: "body")
    #expect(try await world.browse(url, "-H", "Expect:", "--data-binary", "@\(body)").status == 413)
    try await untouched(flow, world)
  }

  @Test("an answer at ::1 and at localhost is the flow's, too", arguments: ["[::1]", "localhost"])
  func otherNames(host: String) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    let url = try await world.follow(flow).replacing("//127.0.0.1:", with: "//\(host):")
    #expect(try await world.browse(url).status == 200)
    try await world.wait(for: flow, "succeeded")
  }
}
