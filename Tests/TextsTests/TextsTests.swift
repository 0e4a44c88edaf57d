import AuthCore
import Testing

@testable import Texts

@Suite("Texts", .timeLimit(.minutes(1)))
struct TextsTests {
  @Test("every error has a text", arguments: AuthError.allCases)
  func errors(error: AuthError) { #expect(Texts.source[error.textID] != nil, "\(error.textID)") }

  @Test("every reason has a text", arguments: LinkRejectionReason.allCases)
  func reasons(reason: LinkRejectionReason) { #expect(Texts.source["link.\(reason.rawValue)"] != nil) }

  @Test("texts are whole sentences")
  func sentences() {
    for (id, text) in Texts.source {
      #expect(text.first?.isUppercase == true || text.hasPrefix("{"), "\(id)")
      #expect(!text.hasSuffix(" ") && text.count < 160, "\(id)")
    }
  }

  @Test("values are put in as data")
  func values() {
    #expect(Texts.lookup("notice.signed-in", locale: nil, ["name": "a\u{202e}b\n{name}"]) == "Signed in as ab{name}.")
    #expect(Texts.lookup("no.such.text", locale: "fr") == "no.such.text")
    #expect(Texts.printable(String(repeating: "x", count: 500)).count == 200)
  }
}
