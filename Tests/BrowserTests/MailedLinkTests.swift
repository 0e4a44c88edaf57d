import Foundation
import Glibc
import TestSupport
import Testing

/// With a real browser, one at a time: two cores have enough to do with each. By hand: `swift test --filter BrowserTests`,
/// with `chromium` and `chromium-driver` (`make deps`); `LINKD_SCREENSHOTS=DIR` keeps pictures of what it shows.
@Suite(.serialized) struct BrowserTests {}

extension BrowserTests {
  /// Behaviour: How a mail's link reaches linkd.
  @Suite("A mailed link in a browser", .timeLimit(.minutes(3)))
  struct MailedLinkTests {
    private let address = "user@example.com"

    @Test(
      "the mail's link, the continue page and a click on its button end in a session, and a second click changes nothing"
    )
    func bridge() async throws {
      let world = try await registered()
      _ = try await world.sendLink(address)
      let link = try await world.mail(address)
      try await Browser.run(in: world) { browser in
        try await browser.open(link)
        try await browser.eventually("the continue page") {
          try await browser.url.hasPrefix("http://\(world.emulatorAddress)/emulator/continue?")
        }
        #expect(try await browser.text("#open") == "Open \(World.project)")
        try await browser.picture("continue-page")
        try await browser.click("#open")
        try await world.eventually("the session") { try await world.email() == address }
        try await browser.picture("continue-page-clicked")

        try await browser.click("#open")
        try await world.eventually("the second link") { Self.opened(world) == 2 }
        #expect(try await world.email() == address)
      }
      #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
      #expect(try await world.json("flows").isEmpty)
    }

    @Test("a scanner that fetches every address on the way first, and a browser that only looks, spend nothing")
    func scanner() async throws {
      let world = try await registered()
      _ = try await world.sendLink(address)
      let link = try await world.mail(address)

      var scanner = Scanner(in: world)
      try await scanner.scan(link)
      let origin = "http://\(world.emulatorAddress)/emulator"
      for place in ["action?", "continue?", "bridge.js", "config.js", "texts.js", "style.css"] {
        #expect(scanner.visited.contains { $0.hasPrefix("\(origin)/\(place)") }, "\(place): \(scanner.visited)")
      }
      try await Browser.run(in: world) { browser in
        try await browser.open(link)
        try await browser.eventually("the button") { try await browser.shows("#open") }
        // A script's click isn't the person's.
        try await browser.run("document.getElementById('open').click()")
        #expect(try await browser.text("#status").isEmpty)
      }
      #expect(Self.opened(world) == 0)
      #expect(try await world.requests("accounts:signInWithEmailLink") == 0)
      #expect(try await world.mails(address) == [link])

      try await Browser.run(in: world) { browser in
        try await browser.open(link)
        try await browser.click("#open")
        try await world.eventually("the session") { try await world.email() == address }
      }
      #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
    }

    @Test("where nothing takes the link the page says so after 3 s, and the link that it shows finishes by hand")
    func nobody() async throws {
      let world = try await World.start()
      _ = try await world.sendLink(address)
      let link = try await world.mail(address)
      let shown = try await Browser.run(in: world) { browser in
        try await browser.open(link)
        #expect(try await browser.text("#status").isEmpty)
        let start = ContinuousClock.now
        try await browser.click("#open")
        try await browser.eventually("the page's word") {
          try await browser.text("#status").contains("It looks as if nothing has taken the link.")
        }
        #expect(ContinuousClock.now - start >= .seconds(3))
        #expect(try await browser.text("#status").contains("linkctl register"))
        try await browser.picture("continue-page-ignored")
        #expect(try await browser.property("value", of: "#link") == (try await browser.url))
        return try await browser.property("value", of: "#link")
      }
      #expect(try await world.email() == nil)
      #expect(try await world.linkctl("open", "-", stdin: "\(shown)\n").status == 0)
      #expect(try await world.email() == address)
    }

    @Test("without scripts there is no button, and the page says what to do instead")
    func scriptsOff() async throws {
      let world = try await registered()
      _ = try await world.sendLink(address)
      let link = try await world.mail(address)
      var settings = Browser.Settings()
      settings.runsScripts = false
      let shown = try await Browser.run(in: world, settings) { browser in
        try await browser.open(link)
        #expect(try await browser.text("noscript").hasPrefix("JavaScript is switched off"))
        #expect(try await browser.text("#manual").contains("linkctl open -"))
        #expect(try await browser.shows("#open") == false)
        try await browser.picture("continue-page-without-scripts")
        return try await browser.url
      }
      #expect(try await world.linkctl("open", "-", stdin: "\(shown)\n").status == 0)
      #expect(try await world.email() == address)
    }

    @Test("by the loopback continue page the link is spent by its button alone, whatever a scanner fetches before")
    func loopback() async throws {
      let world = try await World.start(apps: [])
      let port = try FreePort.find()
      try await world.addApp(
        "demo", scheme: World.scheme, at: nil, "--continue", "loopback", "--loopback-port", "\(port)")
      _ = try await world.sendLink(address)
      let link = try await world.mail(address)
      var scanner = Scanner(in: world)
      scanner.origins.append("http://localhost:\(port)")
      try await scanner.scan(link)
      #expect(scanner.visited.contains { $0.hasPrefix("http://localhost:\(port)/") })
      try await Browser.run(in: world) { browser in
        try await browser.open(link)
        #expect(try await browser.url.hasPrefix("http://localhost:\(port)/"))
        try await browser.eventually("the button") { try await browser.shows("form button") }
        try await browser.picture("loopback-mail")
        #expect(try await world.requests("accounts:signInWithEmailLink") == 0)
        try await browser.click("form button")
        try await browser.eventually("its word") { try await browser.text("main").contains("You can close this tab.") }
        try await browser.picture("loopback-mail-signed-in")
      }
      try await world.eventually("the session") { try await world.email() == address }
      #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
    }

    /// How many links have reached linkd.
    private static func opened(_ world: World) -> Int {
      world.log.split(separator: "\n").filter { $0.contains("kind=emailSignIn") }.count
    }

    /// A world whose links the desktop knows.
    private func registered() async throws -> World {
      let world = try await World.start()
      #expect(try await world.linkctl("register").status == 0)
      return world
    }
  }
}
