import AuthCore
import Testing

@Suite("PhoneMask", .timeLimit(.minutes(1)))
struct PhoneMaskTests {
  @Test(
    "the last digits are shown, as the server shows a second factor's",
    arguments: [
      ("+14155554444", "+*******4444"), ("+15555550100", "+*******0100"), ("+447700900123", "+********0123"),
      ("+24762889", "+****2889"), ("+6837291", "+****291"), ("+44", "+**"),
    ])
  func numbers(_ number: String, _ shown: String) { #expect(PhoneMask.masked(number) == shown) }

  @Test("what the server has masked stays", arguments: ["+*******4444", "+*****42", "+49***1"])
  func masked(_ text: String) { #expect(PhoneMask.masked(text) == text) }

  @Test("what is no number shows nothing", arguments: ["", "+", "4155554444", "+1x", "•", "+1 415 555 4444"])
  func foreign(_ text: String) { #expect(PhoneMask.masked(text) == "…") }
}
