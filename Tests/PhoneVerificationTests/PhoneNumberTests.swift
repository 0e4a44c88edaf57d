import Foundation
import PhoneVerification
import Testing

@Suite("Phone numbers", .timeLimit(.minutes(2)))
struct PhoneNumberTests {
  static func region(_ code: String) throws -> Region { try #require(Region(code)) }

  @Test(
    "B087: a number is the same whatever digits, spaces, dashes, brackets and marks it's typed with",
    arguments: [
      "+447700900123", "+٤٤٧٧٠٠٩٠٠١٢٣", "+۴۴۷۷۰۰۹۰۰۱۲۳", "+४४७७००९००१२३", "＋４４　７７００　９００１２３", "+44 7700 900 123",
      "+44-7700-900-123", "+44 (7700) 900.123", "(+44) 7700/900123", "[+44] 7700 900123", "+44·7700·900123",
      "+44\u{a0}7700\u{2009}900\u{2011}123", "\u{200e}+44 7700 900123\u{200f}", "\u{202a}+44 7700 900123\u{202c}",
      "\u{feff}+\u{2066}44\u{2069}7700–900−123", " +44 7700 900123\n", "+44 (0)7700 900123", "tel:+44-7700-900123",
      "TEL:+44-7700-900123", "0044 7700 900123", "٠٠٤٤٧٧٠٠٩٠٠١٢٣", "00 44 (0) 7700 900123",
    ])
  func fillers(_ text: String) throws {
    #expect(try PhoneNumber(text, region: nil).e164 == "+447700900123")
    #expect(try PhoneNumber(text, region: Self.region("US")).e164 == "+447700900123")
  }

  @Test(
    "B088: a leading plus, 00 or the region's own prefix wins over the region",
    arguments: [
      ("GB", "+44 7700 900123"), ("DE", "+44 7700 900123"), ("US", "+44 7700 900123"), ("DE", "0044 7700 900123"),
      ("US", "0044 7700 900123"), ("US", "011 44 7700 900123"), ("AU", "0011 44 7700 900123"),
      ("AU", "0044 7700 900123"), ("RU", "8~10 44 7700 900123"), ("RU", "810447700900123"),
      ("JP", "010 44 7700 900123"),
      ("KR", "001 44 7700 900123"), ("KR", "00700 44 7700 900123"), ("BR", "0021 44 7700 900123"),
      ("BR", "0044 7700 900123"), ("CL", "1810 44 7700 900123"), ("CU", "119 44 7700 900123"),
      ("FI", "990 44 7700 900123"), ("IL", "012 44 7700 900123"),
    ])
  func internationalPrefix(_ region: String, _ text: String) throws {
    #expect(try PhoneNumber(text, region: Self.region(region)).e164 == "+447700900123")
  }

  @Test(
    "B088: everybody's 00 before the region's own code isn't a carrier's prefix", arguments: ["KR", "SG", "BR", "TH"])
  func ownCode(_ code: String) throws {
    let own = ["KR": "+821020001234", "SG": "+6581234567", "BR": "+5511961234567", "TH": "+66812345678"]
    let e164 = try #require(own[code])
    #expect(try PhoneNumber("00" + e164.dropFirst(), region: Self.region(code)).e164 == e164)
  }

  @Test(
    "the national prefix is each country's own",
    arguments: [
      // None; 0; 8; 1; 06; a 0 that belongs to the number.
      ("ES", "612 34 56 78", "+34612345678"), ("GB", "020 7946 0958", "+442079460958"),
      ("RU", "8 (912) 345-67-89", "+79123456789"), ("KZ", "8 701 234 5678", "+77012345678"),
      ("BY", "8029 491 19 11", "+375294911911"), ("US", "1 (415) 555-1234", "+14155551234"),
      ("US", "(415) 555-1234", "+14155551234"), ("HU", "06 20 123 4567", "+36201234567"),
      ("IT", "06 698 12345", "+390669812345"), ("VA", "06 698 12345", "+390669812345"),
      ("IT", "312 345 6789", "+393123456789"), ("SM", "886377", "+3780549886377"),
      // Both ways of writing Lithuania's, and Gabon's since 2019.
      ("LT", "8 612 34567", "+37061234567"), ("LT", "0 612 34567", "+37061234567"),
      ("GA", "066 01 23 45", "+24166012345"),
      // Islands that share a code dial each other's areas in full, and their own without.
      ("GG", "01481 256789", "+441481256789"), ("GG", "256789", "+441481256789"),
      ("JE", "07797 712345", "+447797712345"),
      ("AG", "460-1234", "+12684601234"), ("BB", "1 246 250 1234", "+12462501234"),
      // Argentina's 15 and Mexico's old prefixes; carriers of Brazil and Colombia.
      ("AR", "011 15-2345-6789", "+5491123456789"), ("AR", "(02944) 15-123456", "+5492944123456"),
      ("AR", "0351 15 123-4567", "+5493511234567"), ("AR", "011 4123-4567", "+541141234567"),
      ("AR", "0 9 3715 628619", "+5493715628619"),
      ("AR", "+54 9 11 2345 6789", "+5491123456789"), ("MX", "044 55 1234 5678", "+525512345678"),
      ("MX", "01 55 1234 5678", "+525512345678"), ("MX", "55 1234 5678", "+525512345678"),
      ("BR", "0 21 11 96123-4567", "+5511961234567"), ("BR", "(11) 96123-4567", "+5511961234567"),
      ("CO", "03 321 1234567", "+573211234567"),
    ])
  func nationalPrefix(_ region: String, _ text: String, _ e164: String) throws {
    #expect(try PhoneNumber(text, region: Self.region(region)).e164 == e164)
  }

  @Test(
    "a national prefix after the calling code is taken out, Italy's zero stays",
    arguments: [
      ("+44 (0)20 7946 0958", "+442079460958"), ("+49 (0) 151 23456789", "+4915123456789"),
      ("+7 8 912 345 67 89", "+79123456789"), ("+39 (06) 698 12345", "+390669812345"),
      ("+36 06 20 123 4567", "+36201234567"),
      ("+49 0 0151 23456789", "+4915123456789"), ("+7 8 800 555 35 35", "+78005553535"),
      ("+7 800 555 35 35", "+78005553535"),
      ("+52 1 55 1234 5678", "+525512345678"), ("+54 11 15 2345 6789", "+5491123456789"),
    ])
  func prefixAfterCode(_ text: String, _ e164: String) throws {
    #expect(try PhoneNumber(text, region: nil).e164 == e164)
  }

  @Test("B091: Kosovo is 383, not Monaco's 377")
  func kosovo() throws {
    #expect(try PhoneNumber("043 201 234", region: Self.region("XK")).e164 == "+38343201234")
    #expect(try PhoneNumber("+383 43 201 234", region: nil).e164 == "+38343201234")
  }

  @Test("B093: a well-formed number that the service may refuse isn't refused here")
  func notAccepted() throws {
    for region in [nil, "GB", "US"] {
      #expect(try PhoneNumber("+441632960123", region: region.map(Self.region)).e164 == "+441632960123")
    }
    #expect(try PhoneNumber("01632 960123", region: Self.region("GB")).e164 == "+441632960123")
  }

  @Test(
    "numbers of companies are shorter or longer than persons'",
    arguments: [
      ("AU", "13 00 00", "+61130000"), ("AU", "1800 123 456", "+611800123456"), ("NO", "02000", "+4702000"),
      ("BY", "8 801 123 4567", "+3758011234567"), ("GB", "0800 1111", "+448001111"),
    ])
  func services(_ region: String, _ text: String, _ e164: String) throws {
    #expect(try PhoneNumber(text, region: Self.region(region)).e164 == e164)
    #expect(try PhoneNumber(e164, region: nil).e164 == e164)
  }

  @Test("a missing digit isn't made up for by a shorter number of a company's")
  func shortOfServices() throws {
    #expect(throws: PhoneNumberError.tooShort) { try PhoneNumber("0412 345 67", region: Self.region("AU")) }
    #expect(throws: PhoneNumberError.tooShort) { try PhoneNumber("07700 900", region: Self.region("GB")) }
  }

  @Test("B091: the table names its version")
  func version() {
    #expect(PhoneNumber.tableVersion.wholeMatch(of: #/[0-9]+\.[0-9]+\.[0-9]+/#) != nil)
  }

  @Test("a number with plus isn't refused for being longer than the table knows, up to E.164's fifteen digits")
  func grown() throws {
    #expect(try PhoneNumber("+225 07 08 09 10 11 12", region: nil).e164 == "+225070809101112")
    #expect(throws: PhoneNumberError.tooLong) { try PhoneNumber("+225 0708 0910 1112 1", region: nil) }
  }

  @Test(
    "what is wrong is told apart",
    arguments: [
      ("", nil, PhoneNumberError.empty), ("+", nil, .empty), (" ()-", "DE", .empty), ("tel:", nil, .empty),
      ("0151 23456789", nil, .noRegion), ("1 415 555 1234", nil, .noRegion),
      ("+999 123456789", nil, .unknownCallingCode), ("+0 123456789", nil, .unknownCallingCode),
      ("00 999 123456", "DE", .unknownCallingCode), ("+3", nil, .unknownCallingCode), ("00", nil, .unknownCallingCode),
      ("+44 7700", nil, .tooShort), ("+44", nil, .tooShort), ("555-1234", "US", .tooShort), ("0612", "FR", .tooShort),
      // A digit is missing: the national prefix doesn't make up for it.
      ("06 12 34 56 7", "FR", .tooShort), ("1 415 555 123", "US", .tooShort), ("+33 06 12 34 56 7", nil, .tooShort),
      ("011 44 77", "US", .tooShort), ("+1234567890123456", nil, .tooLong), ("+1 415 555 12345", nil, .tooLong),
      ("001 44 7700 900123", "DE", .tooLong), ("06 12 34 56 78 90", "FR", .tooLong),
      ("44 7700 900123", "US", .tooLong),
      ("+44 (0)20 7946 09581", nil, .tooLong), (String(repeating: "1", count: 1000), nil, .tooLong),
      ("1-800-FLOWERS", "US", .hasLetters), ("call +1 415", nil, .hasLetters), ("+1 415 555 123O", nil, .hasLetters),
      ("+1 415 555 1234 x12", nil, .hasExtension), ("+1 415 555 1234 ext. 12", nil, .hasExtension),
      ("+1 415 555 1234#12", nil, .hasExtension), ("tel:+1-415-555-1234;ext=12", nil, .hasExtension),
      ("+1 415 555 1234,,12", nil, .hasExtension), ("8 912 345 67 89 доб. 1", "RU", .hasExtension),
      ("++44 7700 900123", nil, .foreignCharacter), ("44+7700900123", nil, .foreignCharacter),
      ("+44 7700 900123 +1", nil, .foreignCharacter), ("+44 7700 90012\u{b3}", nil, .foreignCharacter),
      ("+44 7700\u{0}900123", nil, .foreignCharacter), ("+44 7700 900123!", nil, .foreignCharacter),
      ("user@example.com", nil, .hasLetters),
    ] as [(String, String?, PhoneNumberError)])
  func faults(_ text: String, _ region: String?, _ error: PhoneNumberError) throws {
    let region = try region.map(Self.region)
    #expect(throws: error) { try PhoneNumber(text, region: region) }
  }

  @Test(
    "a number is printed masked, in no way in full",
    arguments: [
      ("+14155554444", "+*******4444"), ("+447700900123", "+********0123"), ("+4915123456789", "+*********6789"),
      ("+24762889", "+****2889"), ("+6837291", "+****291"),
    ])
  func masked(_ e164: String, _ shown: String) throws {
    let number = try PhoneNumber(e164, region: nil)
    #expect("\(number)" == shown && String(reflecting: number) == shown && "\([number])".contains(shown))
    var dumped = ""
    dump([number], to: &dumped)
    #expect(!dumped.contains(e164.dropFirst(4)))
  }
}
