import AuthCore
import PhoneVerification
import Testing

@Suite("Verification codes", .timeLimit(.minutes(1)))
struct VerificationCodeTests {
  @Test(
    "B087: a code is the same whatever digits, spaces, dashes and marks it's typed with",
    arguments: [
      "123456", "١٢٣٤٥٦", "۱۲۳۴۵۶", "१२३४५६", "１２３４５６", "𝟏𝟐𝟑𝟒𝟓𝟔", "123 456", "123-456", "12-34-56", " 123456\n",
      "123\u{a0}456", "123\u{2009}456", "123–456", "123\u{2212}456", "123\u{2011}456", "\u{200f}۱۲۳ ۴۵۶\u{200e}",
      "\u{202b}١٢٣-٤٥٦\u{202c}", "\u{2067}123456\u{2069}", "\u{feff}123456", "1۲٣456",
    ])
  func accepted(_ text: String) throws {
    #expect(try VerificationCode(text).digits.reveal() == "123456")
  }

  @Test("leading zeros stay")
  func zeros() throws {
    #expect(try VerificationCode("٠٠٠٠٠٧").digits.reveal() == "000007")
  }

  @Test("nothing but fillers is empty", arguments: ["", " ", "--", "\u{200f}\u{200e}", "\n\t"])
  func empty(_ text: String) {
    #expect(throws: VerificationCodeError.empty) { try VerificationCode(text) }
  }

  @Test("another number of digits is told apart", arguments: [("12345", 5), ("1234567", 7), ("١", 1)])
  func length(_ text: String, _ count: Int) {
    #expect(throws: VerificationCodeError.wrongLength(count)) { try VerificationCode(text) }
  }

  @Test(
    "letters, signs, fractions and superscripts are no digits",
    arguments: [
      "12345a", "G-123456", "123456!", "12345²", "12345½", "12345Ⅵ", "12345六", "123.456", "+123456", "12345\u{0}6",
    ])
  func foreign(_ text: String) {
    #expect(throws: VerificationCodeError.foreignCharacter) { try VerificationCode(text) }
  }

  @Test("a server can ask for another length")
  func otherLength() throws {
    #expect(try VerificationCode("1234 5678", length: 8).digits.reveal() == "12345678")
    #expect(throws: VerificationCodeError.wrongLength(6)) { try VerificationCode("123456", length: 8) }
  }

  @Test("a code isn't printed")
  func secrecy() throws {
    let code = try VerificationCode("123456")
    #expect(!"\(code)".contains("123456"))
    #expect(!String(reflecting: code).contains("123456"))
  }

  @Test("every decimal digit that Unicode knows is read by its value")
  func allDigits() throws {
    var count = 0
    for scalar in (0...0x1ffff).compactMap(Unicode.Scalar.init)
    where scalar.properties.generalCategory == .decimalNumber {
      let value = try #require(scalar.properties.numericValue)
      #expect(try VerificationCode(String(scalar), length: 1).digits.reveal() == "\(Int(value))")
      count += 1
    }
    #expect(count >= 650)
  }
}
