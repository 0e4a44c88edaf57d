import AuthCore
import LinkHandler
import Testing

/// Shapes that the vectors' app doesn't have, and what stands beside the fields.
@Suite("Shapes of links", .timeLimit(.minutes(1)))
struct ShapeTests {
  private func app(_ id: String = "other", change: (inout App) -> Void) throws -> App {
    var app = App(id: try #require(AppID(id)), projectID: "other-project", apiKey: "AIzaOTHER")
    change(&app)
    return app
  }

  private let code = "apiKey=AIzaOTHER&mode=signIn&oobCode=CODE"

  // MARK: Continue pages

  @Test("the loopback continue page counts on its port in every spelling, and on no other")
  func loopbackPage() throws {
    let parser = LinkParser(
      apps: [
        try app {
          $0.continueMode = .loopback
          $0.loopbackPort = 8765
        }
      ])
    for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
      #expect(try parser.parse("http://\(host):8765/any/path?\(code)").get().kind == .emailSignIn)
    }
    #expect(parser.parse("http://localhost:8766/?\(code)").reason == .untrustedHost)
    #expect(parser.parse("https://localhost:8765/?\(code)").reason == .untrustedHost)
    #expect(parser.parse("http://localhost:8765/favicon.ico").reason == .notAuthLink)
    #expect(parser.parse("http://localhost:8765/?mode=dark").reason == .notAuthLink)
    #expect(parser.parse("http://localhost:8765/?mode=signIn").reason == .missingOobCode)
    let bridge = LinkParser(apps: [try app { $0.loopbackPort = 8765 }])
    #expect(bridge.parse("http://localhost:8765/?\(code)").reason == .untrustedHost)
  }

  @Test("the loopback continue page takes the key that the emulator writes, where the app is at an emulator")
  func emulatorsKey() throws {
    func parser(_ emulator: String?) throws -> LinkParser {
      LinkParser(
        apps: [
          try app {
            $0.continueMode = .loopback
            $0.loopbackPort = 8765
            $0.emulator = emulator.flatMap { EmulatorAddress($0) }
          }
        ])
    }
    let page = "http://localhost:8765/sign-in?ui_sid=T&mode=signIn&oobCode=CODE"
    let emulated = try parser("127.0.0.1:9099")
    #expect(try emulated.parse("\(page)&apiKey=fake-api-key").get().flowToken?.reveal() == "T")
    #expect(emulated.parse("\(page)&apiKey=other").reason == .apiKeyMismatch)
    #expect(try parser(nil).parse("\(page)&apiKey=fake-api-key").reason == .apiKeyMismatch)
  }

  @Test("an app whose links are pasted has its mails end on the project's own site")
  func pasted() throws {
    let url = "https://other-project.firebaseapp.com/?ui_sid=T&\(code)"
    let paste = LinkParser(apps: [try app { $0.continueMode = .paste }])
    #expect(try paste.parse(url).get().flowToken?.reveal() == "T")
    #expect(LinkParser(apps: [try app { _ in }]).parse(url).reason == .notAuthLink)
  }

  @Test("a remote emulator counts where the app has one")
  func remoteEmulator() throws {
    let url = "http://192.168.1.5:9099/emulator/action?mode=signIn&oobCode=CODE&apiKey=fake-api-key"
    let parser = LinkParser(apps: [try app { $0.emulator = EmulatorAddress("192.168.1.5:9099") }])
    #expect(try parser.parse(url).get().emulator == EmulatorAddress("192.168.1.5:9099"))
    #expect(Judge.rejection(url)?.reason == .insecureScheme)
  }

  // MARK: Hints

  @Test("hints come from the continue URL, and from the link's own query where there's none")
  func hints() throws {
    let inside =
      "&continueUrl="
      + Judge.encoded("https://app.example.com/done?ui_sid=ROW&ui_auid=guest&ui_sd=1&ui_pid=google.com#x")
    let expected = LinkHints(
      sessionID: Secret("ROW"), anonymousUID: "guest", sameDevice: true, providerID: "google.com")
    #expect(try Judge.action(Judge.plain + inside).hints == expected)
    #expect(try Judge.action(Judge.plain + inside + "&ui_sid=OUTER&ui_auid=other").hints == expected)
    let moved = "https://app.example.com/done?ui_sid=ROW&ui_auid=guest&ui_sd=1&ui_pid=google.com&mode=signIn&oobCode=x"
    #expect(try Judge.action(moved).hints == expected)
    // From no other level.
    let wrapped = "https://demo.page.link/?link=\(Judge.encoded(Judge.plain))&ui_sid=OUTER"
    #expect(try Judge.action(wrapped).hints == LinkHints())
    #expect(
      try Judge.action("com.example.linkd://auth?ui_sid=OUTER&link=\(Judge.encoded(Judge.plain))").hints == LinkHints())
    // A continue URL without hints hides the link's own.
    #expect(try Judge.action(Judge.plain + "&continueUrl=https://app.example.com/&ui_sid=OUTER").hints == LinkHints())
    #expect(try Judge.action(Judge.plain + "&continueUrl=javascript:0&ui_sid=OUTER").hints == LinkHints())
  }

  @Test("two session ids find no row, and the link is handled all the same")
  func twoSessions() throws {
    let link = try Judge.action("https://app.example.com/?ui_sid=A&ui_sid=B&mode=signIn&oobCode=x")
    #expect(link.hints.sessionID == nil)
  }

  @Test("an address in a link is believed by nobody: there's no field for it")
  func noAddress() throws {
    let link = try Judge.action(Judge.plain + "&email=evil@example.com")
    #expect(!String(reflecting: link).contains("evil@example.com"))
  }

  @Test("B012, B006: only broken links have hints, and each hint a text of its own")
  func hintWords() {
    #expect(Set(LinkHint.allCases.map(\.textID)).count == LinkHint.allCases.count)
    #expect(Judge.rejection("https://evil.example/?oobCode==3D")?.hint == nil)
    #expect(Judge.rejection(Judge.actionPage + "mode=signIn&oobCode=a%2")?.hint == .cutOff)
    #expect(Judge.rejection(Judge.actionPage + "mode=signIn&oobCode=a b")?.hint == .joinedLines)
    let twice = "https://www.google.com/url?q=" + Judge.encoded(Judge.encoded(Judge.plain))
    #expect(Judge.rejection(twice)?.hint == .encodedTwice)
  }

  // MARK: Trust

  @Test(
    "a continue URL is trusted on the app's own hosts alone",
    arguments: [
      ("https://app.example.com/x", true), ("https://APP.example.com/x", true), ("https://auth.example.com/x", true),
      ("https://evil.example/x", false), ("http://app.example.com/x", false), ("http://localhost:3000/x", false),
      ("https://app.example.com.evil.example/", false),
    ])
  func trust(_ url: String, _ isTrusted: Bool) throws {
    let link = try Judge.action(Judge.plain + "&continueUrl=" + Judge.encoded(url))
    #expect(link.continueURL?.reveal() == url)
    #expect(link.continueURLTrusted == isTrusted)
  }

  @Test(
    "a continue URL that isn't a web URL is dropped",
    arguments: [
      "javascript:1", "data:,x", "/relative", "com.example.linkd://x", "https://u@app.example.com/", "https://",
      "a\u{85}",
    ])
  func dropped(_ url: String) throws {
    let link = try Judge.action(Judge.plain + "&continueUrl=" + Judge.encoded(url))
    #expect(link.continueURL?.reveal() == nil)
    #expect(link.continueURLRejected)
  }

  // MARK: Wrappers

  @Test("Proofpoint version 3 puts its replaced characters back")
  func proofpointV3() throws {
    // 'é' and '*' once, and a run of three: base64url of "é*äöü" is w6kqw6TDtsO8.
    let inner = "https://app.example.com/done?mode=signIn&oobCode=CODE&lang=*a*b**B"
    let url = "https://urldefense.com/v3/__\(inner)__;w6kqw6TDtsO8!!AbC!xyz$"
    #expect(try Judge.action(url).language == "éa*bäöü")
    #expect(try Judge.action(url.replacing("https://app", with: "https:/app")).oobCode.reveal() == "CODE")
    #expect(Judge.rejection(url.replacing(";w6kqw6TDtsO8!", with: ";w6k!"))?.reason == .malformed)
    #expect(Judge.rejection(url.replacing("__;", with: "_"))?.reason == .malformed)
  }

  @Test("every wrapper's host is compared as a whole")
  func wrapperHosts() throws {
    let inner = Judge.encoded(Judge.plain)
    for host in [
      "nam12.safelinks.protection.outlook.com", "EUR01.SafeLinks.Protection.Outlook.com",
      "usg01.safelinks.protection.office365.us",
    ] {
      #expect(try Judge.parser.parse("https://\(host)/?url=\(inner)&data=x").get().via == [.safelinks])
    }
    for host in [
      "evilsafelinks.protection.outlook.com", "www.google.com.evil.example", "google.evil.example", ".mimecast.com",
    ] {
      #expect(Judge.rejection("https://\(host)/url?url=\(inner)&q=\(inner)")?.reason == .untrustedHost)
    }
    #expect(try Judge.parser.parse("https://www.google.com/url?sa=t&url=\(inner)").get().via == [.google])
  }

  // MARK: Return URIs by default

  @Test("a provider without 'iss' has a return path of its own")
  func providerPath() throws {
    let parser = LinkParser(
      apps: [
        try app {
          $0.schemes = ["com.example.other"]
          $0.providers = [Provider(id: "oidc.line", kind: .oidc, displayName: "LINE")]
        }
      ])
    let uri = "com.example.other://oauth/callback/oidc.line"
    #expect(try parser.parse("\(uri)?code=C&state=S").get().kind == .oauthRedirect)
    #expect(try parser.parse("\(uri)/?code=C&state=S").get().kind == .oauthRedirect)
    #expect(parser.parse("com.example.other://oauth/callback/oidc.other?code=C&state=S").reason == .notAuthLink)
  }

  @Test("each return URI belongs to its scheme")
  func returnSchemes() {
    let query = "?code=C1&state=STATE1"
    for uri in [
      "com.example.linkd:/oauth2redirect", "fb1234567890:/oauth2redirect", "com.example.linkd://authorize",
      "com.googleusercontent.apps.123456789012-abcdef://oauth/callback",
      "app-1-123456789012-linux-0a1b2c3d4e5f://oauth/callback",
      "com.googleusercontent.apps.123456789012-abcdef:/oauth2redirect/apple",
    ] {
      #expect(Judge.rejection(uri + query)?.reason == .notAuthLink)
    }
  }
}

extension Result where Success == Link, Failure == LinkRejection {
  /// Why the link was rejected; nil if it wasn't.
  var reason: LinkRejectionReason? { if case .failure(let rejection) = self { rejection.reason } else { nil } }
}
