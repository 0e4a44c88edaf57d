import AuthCore
import LinkHandler
import Testing

@Suite("Continue URLs", .timeLimit(.minutes(1)))
struct ContinueURLTests {
  private let hints = LinkHints(
    sessionID: Secret("T-_1"), anonymousUID: "a+b c/é", sameDevice: true, providerID: "google.com")
  private let added = "ui_sid=T-_1&ui_auid=a%2Bb%20c%2F%C3%A9&ui_sd=1&ui_pid=google.com"

  @Test(
    "the caller's query and fragment are kept",
    arguments: [
      ("https://app.example.com", "https://app.example.com?{}"),
      ("https://app.example.com/done", "https://app.example.com/done?{}"),
      ("https://app.example.com/done?", "https://app.example.com/done?{}"),
      ("https://app.example.com/done?a=1&b=x%2By", "https://app.example.com/done?a=1&b=x%2By&{}"),
      ("https://app.example.com/done?a=1&", "https://app.example.com/done?a=1&{}"),
      ("https://app.example.com/done#/route?x=1", "https://app.example.com/done?{}#/route?x=1"),
      ("https://app.example.com/?a#b#c", "https://app.example.com/?a&{}#b#c"),
      ("https://app.example.com/done#", "https://app.example.com/done?{}#"),
      ("HTTP://LocalHost:8765/x", "HTTP://LocalHost:8765/x?{}"),
      ("http://[::1]:8765/x", "http://[::1]:8765/x?{}"),
    ])
  func kept(_ url: String, _ expected: String) throws {
    #expect(try ContinueURL.adding(hints, to: url) == expected.replacing("{}", with: added))
  }

  @Test("without hints the URL is the caller's, byte for byte")
  func unchanged() throws {
    let url = "https://app.example.com/done?&&a=1&ui_sid=x#y"
    #expect(try ContinueURL.adding(LinkHints(), to: url) == url)
  }

  @Test("a hint that the caller has already written doesn't stand there twice")
  func replaced() throws {
    let url = try ContinueURL.adding(
      LinkHints(sessionID: Secret("NEW")), to: "https://app.example.com/?ui_sid=OLD&a=1&ui_auid=x&ui_pid")
    #expect(url == "https://app.example.com/?a=1&ui_sid=NEW")
  }

  @Test("B047: nor where an entity stands for the `&` before it")
  func replacedEntity() throws {
    let url = try ContinueURL.adding(hints, to: "https://app.example.com/?a&amp;ui_sid=OLD&amp;b&amp;ui_pid")
    #expect(url == "https://app.example.com/?a&amp;b&\(added)")
    #expect(try Judge.action(Judge.plain + "&continueUrl=\(Judge.encoded(url))").hints == hints)
  }

  @Test(
    "what isn't a web URL is refused",
    arguments: [
      "", "x", "/done", "app.example.com/done", "javascript:alert(1)", "com.example.linkd://auth",
      "https:/app.example.com",
      "https://", "https://u@app.example.com/", "https://app.example.com/a b", "https://app.example.com/\n",
      "https://app.example.com/\u{85}",
      "https://a\\b/", "https://app.example.com:x/", "mailto:a@example.com",
    ])
  func refused(_ url: String) {
    #expect(throws: ContinueURLError.notAWebURL) { try ContinueURL.adding(hints, to: url) }
  }

  @Test("the parser finds what was added, on the page and in the mail's link")
  func roundTrip() throws {
    let url = try ContinueURL.adding(hints, to: "https://app.example.com/done?a=1#f")
    #expect(try Judge.action(Judge.plain + "&continueUrl=\(Judge.encoded(url))").hints == hints)
    let page = url.replacing("#f", with: "&mode=signIn&oobCode=x#f")
    #expect(try Judge.action(page).hints == hints)
  }
}
