import AuthCore
import Testing

@Suite("Names and addresses", .timeLimit(.minutes(1)))
struct NameTests {
  @Test("app ids", arguments: ["a", "demo", "my-app-2", "a--", "a" + String(repeating: "9", count: 62)])
  func appID(_ text: String) {
    #expect(AppID(text)?.value == text)
    #expect(AppID(text)?.description == text)
  }

  @Test(
    "what is no app id",
    arguments: [
      "", "A", "1a", "-a", "a_b", "a.b", "a b", "a/", "é", "aé", "a\u{301}", "a\n",
      "a" + String(repeating: "b", count: 63),
    ])
  func noAppID(_ text: String) { #expect(AppID(text) == nil) }

  @Test("flow ids", arguments: ["a", "Z", "0", "_", "f1_X", String(repeating: "f", count: 64)])
  func flowID(_ text: String) { #expect(FlowID(text)?.value == text) }

  @Test(
    "what is no flow id", arguments: ["", "a-b", "a/b", "a.b", "a ", "é", "a\u{0}", String(repeating: "f", count: 65)])
  func noFlowID(_ text: String) { #expect(FlowID(text) == nil) }

  @Test(
    "emulator addresses",
    arguments: [
      ("127.0.0.1:9099", "127.0.0.1", 9099 as UInt16, true), ("LocalHost:1", "localhost", 1, true),
      ("[::1]:65535", "::1", 65535, true), ("127.1.2.3:80", "127.1.2.3", 80, true),
      ("emulator.lan:9099", "emulator.lan", 9099, false),
      ("127.0.0.1.evil.example:80", "127.0.0.1.evil.example", 80, false),
      ("127.1:80", "127.1", 80, false), ("0.0.0.0:80", "0.0.0.0", 80, false),
      ("[2001:DB8::1]:80", "2001:db8::1", 80, false),
      ("localhost.evil.example:1", "localhost.evil.example", 1, false),
    ])
  func emulator(_ text: String, _ host: String, _ port: UInt16, _ isLoopback: Bool) throws {
    let address = try #require(EmulatorAddress(text))
    #expect(address.host == host)
    #expect(address.port == port)
    #expect(address.isLoopback == isLoopback)
    #expect(EmulatorAddress(address.description) == address)
    #expect(Backend(Backend.emulator(address).description) == .emulator(address))
  }

  @Test(
    "what is no emulator address",
    arguments: [
      "", ":", ":80", "localhost", "localhost:", "localhost:0", "localhost:65536", "localhost:-1", "localhost:8o",
      "::1:80",
      "[::1]", "localhost:+80", "127.0.0.1:0080", "\u{212A}.example:80", "[]:80", "[x]:80", "[1.2.3.4]:80",
      "http://localhost:80", "localhost:80/", "user@localhost:80", "a b:80",
      "münchen:80", "localhost: 80", "localhost:80\n", "a_b:80",
    ])
  func noEmulator(_ text: String) {
    #expect(EmulatorAddress(text) == nil)
    #expect(Backend(text) == nil)
  }

  @Test("production is no host")
  func production() {
    #expect(Backend("production") == .production)
    #expect(Backend.production.description == "production")
    #expect(Backend.production.emulator == nil)
  }

  // Field reports B033, B034: plus and case are kept as typed, and case isn't compared.
  @Test(
    "addresses",
    arguments: [
      ("user+tag@example.com", "user+tag", "example.com"), ("  User@Example.COM\n", "User", "Example.COM"),
      ("a@b@c", "a@b", "c"), ("zoë@bücher.example", "zoë", "bücher.example"), ("o'brien@x", "o'brien", "x"),
      (String(repeating: "a", count: 318) + "@b", String(repeating: "a", count: 318), "b"),
    ])
  func email(_ text: String, _ local: String, _ domain: String) throws {
    let address = try #require(EmailAddress(text))
    #expect(address.local == local)
    #expect(address.domain == domain)
    #expect(address.text == "\(local)@\(domain)")
    #expect(address.comparable(domainALabel: domain) == "\(local)@\(domain)".lowercased())
    #expect(address.needsALabel == (domain == "bücher.example"))
  }

  @Test(
    "what is no address",
    arguments: [
      "", "a", "@", "a@", "@b", "a b@c", "a@b c", "a\t@b", "a\u{0}@b", "a\u{202e}@b", "a@\u{200f}b", "a@b\u{2028}c",
      "a\u{a0}@b",
      "a@b\r\nBcc: c@d", String(repeating: "a", count: 319) + "@b",
    ])
  func noEmail(_ text: String) { #expect(EmailAddress(text) == nil) }

  @Test(
    "a masked address shows no name",
    arguments: [("jane@example.com", "j…@example.com"), ("a@b@c", "a…@c"), ("@b", "…"), ("nothing", "…"), ("", "…")])
  func masked(_ address: String, _ masked: String) { #expect(EmailAddress.masked(address) == masked) }

  // Field report B079: a path or a flag among the arguments isn't the link.
  @Test(
    "what is meant as a link",
    arguments: [
      ("https://a.example/", true), ("com.example.app:/x", true), (" <https://a.example>", true),
      ("\"x+y-z.1:a\"", true),
      ("'HTTPS://A'", true), ("mailto:a@b", true), ("\u{201c}https://a\u{201d}", true),
      ("\u{200c}\u{2060}https://a", true),
      ("\u{300c}https://a", true), ("\u{e4}b:c", false), ("", false), ("https:", false), (":x", false), ("./x", false),
      ("./x:y", false), ("/tmp/a:b", false), ("--flag", false), ("--url=https://a", false), ("1a:b", false),
      ("a b:c", false), ("ä:b", false), ("a_b:c", false), ("plain", false),
    ])
  func link(_ text: String, _ isLink: Bool) { #expect(LinkText.looksLikeLink(text) == isLink) }

  // Field report B046: a client has broken the link into lines.
  @Test(
    "lines are joined",
    arguments: [
      ("https://a/\n?b=c", "https://a/?b=c"), ("https://a/ \r\n  ?b=c\r\n", "https://a/?b=c"), ("\n\nx\n\ny\n", "xy"),
      ("one", "one"), ("a b\nc", "a bc"), ("", ""), ("oob=AB\u{2028}CD", "oob=ABCD"),
    ])
  func joined(_ text: String, _ whole: String) { #expect(LinkText.joinLines(text) == whole) }

  @Test(
    "methods as words",
    arguments: [
      "emailLink", "password", "phone", "anonymous", "custom", "action-code", "totp", "none", "google.com", "oidc.line",
    ])
  func method(_ word: String) { #expect(SignInMethod(word)?.description == word) }

  @Test("words of no method", arguments: ["", "EmailLink", "google"])
  func noMethod(_ word: String) { #expect(SignInMethod(word) == nil) }

  @Test("ends of a flow")
  func ends() {
    #expect(FlowStage.allCases.filter(\.isEnd) == [.succeeded, .failed, .cancelled, .expired])
  }

  @Test("schemes of an app, once each")
  func schemes() throws {
    var app = App(id: try #require(AppID("demo")), projectID: "p", apiKey: "k")
    #expect(app.callbackSchemes.isEmpty)
    #expect(app.authDomain == "p.firebaseapp.com")
    app.schemes = ["x-demo", "app-1-2-web-3"]
    app.clientID = "12-Ab.apps.googleusercontent.com"
    app.appID = "1:2:web:3"
    #expect(app.callbackSchemes == ["x-demo", "app-1-2-web-3", "com.googleusercontent.apps.12-ab"])
  }
}
