import Foundation
import TestSupport
import Testing

extension BrowserTests {
  /// The page that tells people from programs before a message is sent (behaviour: Phone).
  @Suite("Phone sign-in through the page in a browser", .timeLimit(.minutes(3)))
  struct CaptchaTests {
    private let number = "+15555550100"

    @Test("the page is gone through, comes back by the app's scheme, and the code signs in")
    func passed() async throws {
      let world = try await world()
      let result = try await signIn(world) { browser in
        try await browser.picture("captcha")
        #expect(try await browser.title == "Are you a robot?")
        try await browser.click("a#continue")
      }
      #expect(result.status == 0, "\(result.stderr)\(world.log)")
      #expect(try await world.whoami()["phone-number"] as? String == number)
      // Without the page there was no message, with it there was one.
      #expect(try await world.requests("accounts:sendVerificationCode") == 2)
    }

    @Test("the page is given up: the flow is cancelled, and no message is sent")
    func cancelled() async throws {
      let world = try await world()
      let result = try await signIn(world) { browser in try await browser.click("a#cancel") }
      #expect(result.status == 1)
      #expect(result.stdout.contains("\"stage\": \"cancelled\""), "\(result.stdout)\(result.stderr)\(world.log)")
      #expect(try await world.uid() == nil)
      #expect(try await world.requests("accounts:sendVerificationCode") == 1)
    }

    @Test("at the terminal: linkctl opens the page, and the code is typed where it's asked for")
    func terminal() async throws {
      let world = try await world()
      let terminal = try WorldTerminal(world, "sign-in", "phone", number)
      try await browse(world) { browser in
        try await browser.click("a#continue")
        try await terminal.shows("Code (Enter alone sends a new one): ", isSecret: true)
        terminal.type(try await world.message(number))
        #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
      }
      #expect(try await world.whoami()["phone-number"] as? String == number)
    }

    /// A desktop with the app, its links registered, whose browser is ours to start, where messages need the page.
    private func world() async throws -> World {
      let world = try await World.start()
      try await world.control("PATCH", "phone", ["captcha": true])
      #expect(try await world.linkctl("register").status == 0)
      try world.catchPages()
      return world
    }

    /// A client that isn't ours signs in, opens the page as any program does, and reads the message for the person.
    private func signIn(_ world: World, person: (Browser) async throws -> Void) async throws -> Subprocess.Result {
      let codes = "http://\(world.emulatorAddress)/emulator/v1/projects/\(World.project)/verificationCodes"
      let last = "import json, sys; print(json.load(sys.stdin)['verificationCodes'][-1]['code'])"
      let program = try world.home.write(
        """
        #!/bin/sh
        case "$1" in
          page) xdg-open "$2" ;;
          code) curl -fsS '\(codes)' | /usr/bin/python3 -c "\(last)" ;;
        esac
        """, to: "person", executable: true)
      let script = ["/usr/bin/python3", "\(World.root)/Tests/EndToEnd/second_factors.py", "--ask", program]
      let running = Task {
        try await world.run(script + ["sign-in", "phone", number], timeout: .seconds(120))
      }
      return try await browse(world) { browser in
        try await person(browser)
        return try await running.value
      }
    }

    /// Once something has opened the page: the person goes there.
    private func browse<Value>(_ world: World, person: (Browser) async throws -> Value) async throws -> Value {
      try await world.eventually("the page") { world.pages.count == 1 }
      let start = world.pages[0]
      // linkctl's way there goes by a page of linkd's.
      let page = start.contains("/start/") ? try await world.redirect(from: start) : start
      #expect(try page.parameter("authType") == "verifyApp")
      // See ProviderTests: the page comes back by the app id's scheme, which has digits.
      var settings = Browser.Settings(schemes: [World.scheme, "app-1-123456789012-web-0a1b2c3d4e5f"])
      settings.desktop = "GNOME"
      return try await Browser.run(in: world, settings) { browser in
        try await browser.open(start)
        return try await person(browser)
      }
    }
  }
}
