import Foundation
import TestSupport
import Testing

@testable import Loopback

/// The page: harmless whatever is in it.
@Suite(.timeLimit(.minutes(1)))
struct ResultPageTests {
  @Test func saysWhatItIsGiven() {
    let page = ResultPage(title: "Signed in", paragraphs: ["You can close this tab.", "Bye."]).html
    #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\" dir=\"ltr\">"))
    #expect(page.contains("<title>Signed in</title>") && page.contains("<h1>Signed in</h1>"))
    #expect(page.contains("<p>You can close this tab.</p>\n<p>Bye.</p>"))
    #expect(!page.contains("<form") && !page.contains("<script"))
  }

  @Test func namesItsLanguageAndDirection() {
    let page = ResultPage(title: "x", paragraphs: [], language: "ar\"><script>", isRightToLeft: true).html
    #expect(page.contains("<html lang=\"ar&quot;&gt;&lt;script&gt;\" dir=\"rtl\">"))
  }

  static let hostile = "</title></style></p><script>alert('1')</script><img src=x onerror=\"y\">&amp;"

  @Test func markupBecomesText() {
    let page = ResultPage(
      title: Self.hostile, paragraphs: [Self.hostile],
      form: .init(button: Self.hostile, action: "/\"><script>", fields: [(name: Self.hostile, value: Self.hostile)]))
    let escaped =
      "&lt;/title&gt;&lt;/style&gt;&lt;/p&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"
      + "&lt;img src=x onerror=&quot;y&quot;&gt;&amp;amp;"
    // Title twice, paragraph, button, name and value of the field.
    #expect(page.html.components(separatedBy: escaped).count == 7)
    #expect(page.html.contains("<form method=\"post\" action=\"/&quot;&gt;&lt;script&gt;\">"))
    #expect(!page.html.contains("<script") && !page.html.contains("<img"))
    #expect(page.html.components(separatedBy: "</style>").count == 2)
  }

  @Test(
    "characters that change what one sees are left out",
    arguments: [
      ("a\u{202e}b\u{2066}c\u{2069}d\u{200f}e\u{61c}f", "abcdef"), ("a\u{0}b\u{1b}[31mc\u{7f}d\u{85}e", "ab[31mcde"),
      ("a\nb\r\nc\td\u{2028}e\u{2029}f", "a b c d e f"), ("\u{feff}a\u{fffe}b\u{e0041}c", "abc"),
      ("a\u{200d}b\u{200c}c", "a\u{200d}b\u{200c}c"), ("é ü 日本 עברית", "é ü 日本 עברית"),
    ]) func stripped(_ text: String, _ shown: String)
  {
    // "\r\n" is one Character and two line ends.
    #expect(PageText.escaped(text).replacing("  ", with: " ") == shown)
  }

  @Test func aFormPostsToItsOwnAddressUnlessToldOtherwise() {
    let page = ResultPage(title: "x", paragraphs: [], form: .init(button: "Sign in")).html
    #expect(page.contains("<form method=\"post\">\n<button type=\"submit\">Sign in</button>\n</form>"))
  }

  @Test func theStyleIsTheOneThatThePolicyAllows() async throws {
    let sum = try await Subprocess.run(["sha256sum", "-"], stdin: ResultPage.style)
    let digits = Array(sum.stdout.prefix(64))
    let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    #expect(ResultPage.styleHash == "sha256-" + Data(bytes).base64EncodedString())
  }
}
