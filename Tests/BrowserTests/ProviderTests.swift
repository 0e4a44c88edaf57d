import Foundation
import TestSupport
import Testing

extension BrowserTests {
  /// Behaviour: OAuth and OpenID Connect. Each time `linkctl sign-in` has `xdg-open` start the browser, as for a person.
  @Suite("A provider in a browser", .timeLimit(.minutes(3)))
  struct ProviderTests {
    private let id = "oidc.demo"
    private let address = "user@example.com"

    @Test("a provider on the emulator's page, back by loopback, ends in a session, and a scanner before spoils nothing")
    func loopback() async throws {
      let world = try await world()
      let result = try await signIn(world, id) { page, browser in
        var scanner = Scanner(in: world)
        scanner.readsPages = false
        scanner.origins.append(try Self.origin(of: page.parameter("redirect_uri")))
        try await scanner.scan(world.pages[0])
        #expect(scanner.visited.contains(page))
        #expect(scanner.visited.contains(try page.parameter("redirect_uri")))
        try await browser.open(page)
        try await browser.picture("emulator-provider")
        try await browser.useAccount(subject: "1001", email: address)
        try await browser.eventually("linkd's page") {
          try await browser.url.hasPrefix(try page.parameter("redirect_uri"))
        }
        try await browser.eventually("its word") { try await browser.text("main").contains("You can close this tab.") }
        try await browser.picture("loopback-signed-in")
      }
      #expect(result.status == 0, "\(result.stderr)\(world.log)")
      #expect(try await world.email() == address)
      #expect(try await world.requests("accounts:signInWithIdp") == 1)
    }

    @Test("back by scheme, through xdg-open and linkctl")
    func scheme() async throws {
      let world = try await world()
      let result = try await signIn(world, id, "--redirect", "scheme") { page, browser in
        #expect(try page.parameter("redirect_uri").hasPrefix("\(World.scheme)://oauth/callback"))
        try await browser.open(page)
        try await browser.useAccount(subject: "1001", email: address)
      }
      #expect(result.status == 0, "\(result.stderr)\(world.log)")
      #expect(try await world.email() == address)
    }

    @Test("by Firebase's page, which comes back by the app's own scheme")
    func handler() async throws {
      let world = try await world()
      let result = try await signIn(world, "github.com") { page, browser in
        var scanner = Scanner(in: world)
        scanner.readsPages = false
        try await scanner.scan(page)
        try await browser.open(page)
        try await browser.useAccount(subject: "2002", email: address)
        try await browser.picture("emulator-handler")
        try await browser.click("#continue")
      }
      #expect(result.status == 0, "\(result.stderr)\(world.log)")
      #expect(try await world.email() == address)
    }

    @Test("a refused consent ends as cancelled", arguments: ["loopback", "scheme", "handler"])
    func refused(_ way: String) async throws {
      let world = try await world()
      let options = way == "handler" ? [] : ["--redirect", way]
      let result = try await signIn(world, way == "handler" ? "github.com" : id, options: options) { page, browser in
        try await browser.open(page)
        try await browser.click("#cancel")
        guard way == "loopback" else { return }
        try await browser.eventually("linkd's word") {
          try await browser.text("main").contains("the sign-in was cancelled")
        }
        try await browser.picture("loopback-cancelled")
      }
      #expect(result.stdout.contains("\"stage\":\"cancelled\""), "\(result.stdout)\(result.stderr)\(world.log)")
      #expect(try await world.email() == nil)
      #expect(try await world.requests("accounts:signInWithIdp") == 0)
    }

    // MARK: A provider that isn't ours

    @Test(
      "an independent OpenID provider, with discovery, PKCE and its key set",
      arguments: zip(["loopback", "scheme"], ["a-secret-of-the-client", nil]))
    func independent(_ way: String, secret: String?) async throws {
      let redirects = ["http://127.0.0.1/callback/oidc.toolkit", "\(World.scheme)://oauth/callback/oidc.toolkit"]
      let provider = try await IndependentProvider.start(redirects: redirects, secret: secret)
      var entry: [String: Any] = [
        "id": "oidc.toolkit", "kind": "oidc", "issuer": provider.issuer, "client-id": IndependentProvider.client,
      ]
      entry["client-secret"] = secret
      let world = try await world([entry])
      let user = provider.users[0]
      let result = try await signIn(world, "oidc.toolkit", "--redirect", way) { page, browser in
        try await browser.open(page)
        try await browser.signIn(as: user)
        try await browser.consent()
        guard way == "loopback" else { return }
        try await browser.eventually("linkd's word") { try await browser.text("main").contains("close this tab") }
      }
      #expect(result.status == 0, "\(result.stderr)\(world.log)\(provider.requests)")
      #expect(try await world.email() == user.email)
      for step in ["GET /o/.well-known/openid-configuration", "POST /o/token/", "GET /o/.well-known/jwks.json"] {
        #expect(provider.requests.filter { $0 == step }.count == 1, "\(step): \(provider.requests)")
      }
      let asked = try #require(provider.requests.first { $0.hasPrefix("GET /o/authorize/") })
      for name in ["code_challenge", "nonce", "state"] { #expect(asked.contains(" \(name)"), "\(asked)") }
    }

    @Test("a consent refused to the independent provider ends as cancelled")
    func independentRefused() async throws {
      let provider = try await IndependentProvider.start(redirects: ["http://127.0.0.1/callback/oidc.toolkit"])
      let world = try await world([
        ["id": "oidc.toolkit", "kind": "oidc", "issuer": provider.issuer, "client-id": IndependentProvider.client]
      ])
      let result = try await signIn(world, "oidc.toolkit", "--redirect", "loopback") { page, browser in
        try await browser.open(page)
        try await browser.signIn(as: provider.users[0])
        try await browser.consent(false)
      }
      #expect(result.stdout.contains("\"stage\":\"cancelled\""), "\(result.stdout)\(result.stderr)\(world.log)")
      #expect(provider.requests.contains { $0.hasPrefix("POST /o/token/") } == false)
    }

    // MARK: The way there

    /// A desktop with the app, its links registered, whose browser is ours to start.
    private func world(_ more: [[String: Any]] = []) async throws -> World {
      let world = try await World.start(apps: [])
      let entry: [String: Any] = [
        "id": id, "kind": "oidc", "issuer": "http://\(world.emulatorAddress)/emulator/openid", "client-id": "a-client",
      ]
      try await world.addApp("demo", providers: [entry, ["id": "github.com", "kind": "handler"]] + more)
      #expect(try await world.linkctl("register").status == 0)
      try world.catchPages()
      return world
    }

    private func signIn(
      _ world: World, _ provider: String, _ more: String...,
      person: (_ page: String, _ browser: Browser) async throws -> Void
    ) async throws -> Subprocess.Result {
      try await signIn(world, provider, options: more, person: person)
    }

    /// `linkctl sign-in` to its end, while the person does what they do with the page in the browser.
    private func signIn(
      _ world: World, _ provider: String, options: [String],
      person: (_ page: String, _ browser: Browser) async throws -> Void
    ) async throws -> Subprocess.Result {
      let running = Task {
        try await world.run(
          ["\(World.programs)/linkctl", "sign-in", provider, "--json"] + options, timeout: .seconds(120))
      }
      try await world.eventually("the page") { world.pages.count == 1 }
      let start = world.pages[0]
      // linkd's page leads to the provider's; `--redirect scheme` wants no listener.
      let isStart = start.contains("/start/")
      #expect(isStart != options.contains("scheme"))
      let page = isStart ? try await world.redirect(from: start) : start
      // The handler's page comes back by the app id's scheme. B072: xdg-open of Debian 12, left to itself, takes no digits in it;
      // where there is a desktop, it asks that one's own opener.
      var settings = Browser.Settings(schemes: [World.scheme, "app-1-123456789012-web-0a1b2c3d4e5f"])
      settings.desktop = provider == "github.com" ? "GNOME" : nil
      return try await Browser.run(in: world, settings) { browser in
        if isStart { try await browser.open(start) }
        try await person(page, browser)
        // The browser stays open until then: what it starts is of its group.
        return try await running.value
      }
    }

    private static func origin(of url: String) throws -> String {
      let parts = try #require(URLComponents(string: url))
      return "http://\(parts.host ?? ""):\(parts.port ?? 0)"
    }
  }
}

extension String {
  /// The value of a parameter of the query.
  func parameter(_ name: String) throws -> String {
    try #require(URLComponents(string: self)?.queryItems?.first { $0.name == name }?.value, "no \(name) in \(self)")
  }
}
