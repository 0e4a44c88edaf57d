import Foundation
import Testing

@testable import Crypto

@Suite(.timeLimit(.minutes(1)))
struct EncodingTests {
  /// RFC 4648 section 10, without the padding.
  @Test(arguments: [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
    ("foobar", "Zm9vYmFy"),
  ])
  func base64URL(text: String, encoded: String) throws {
    #expect(Base64URL.encode(Array(text.utf8)) == encoded)
    #expect(try Base64URL.decode(encoded) == Array(text.utf8))
  }

  @Test func base64URLAlphabet() throws {
    #expect(Base64URL.encode([0xfb, 0xff, 0xfe]) == "-__-")
    for length in 0..<100 {
      let value = try Random.bytes(length)
      let encoded = Base64URL.encode(value)
      let standard = Data(value).base64EncodedString().replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
      #expect(encoded == standard)
      #expect(try Base64URL.decode(encoded) == value)
    }
  }

  /// Padding, white space, the other alphabet, impossible lengths, and spellings with stray bits.
  @Test(arguments: [
    "Zg==", "Zm8=", "Z", "Zm9vY", "Zm9v\n", " Zm9v", "Zm 9v", "+__-", "-//-", "Zh", "Zm9", "Zm9vYh", "Zé", "Zm9v\0",
  ])
  func base64URLIsStrict(text: String) {
    #expect(throws: CryptoError.malformed) { try Base64URL.decode(text) }
  }

  @Test func hex() throws {
    #expect(Hex.encode([]) == "")
    #expect(Hex.encode([0x00, 0x0f, 0xa0, 0xff]) == "000fa0ff")
    #expect(try Hex.decode("000fA0Ff") == [0x00, 0x0f, 0xa0, 0xff])
    let all = (0...255).map { UInt8($0) }
    #expect(try Hex.decode(Hex.encode(all)) == all)
  }

  @Test(arguments: ["0", "0g", "0x00", " 00", "00 ", "é0", "-1", "000"])
  func hexIsStrict(text: String) {
    #expect(throws: CryptoError.malformed) { try Hex.decode(text) }
  }
}
