import AuthCore
import Foundation
import Testing

@testable import IdentityToolkit

@Suite("ID token", .timeLimit(.minutes(1)))
struct IDTokenTests {
  /// A token with `payload`, base64url without padding.
  private func token(_ payload: String, signature: String = "c2ln") -> String {
    func encoded(_ text: String) -> String {
      Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
    return "\(encoded(#"{"alg":"RS256"}"#)).\(encoded(payload)).\(signature)"
  }

  private func error(_ text: String) -> IDTokenError? {
    do throws(IDTokenError) { _ = try IDToken(text) } catch { return error }
    return nil
  }

  @Test("claims of a good one, with characters that base64url writes otherwise")
  func good() throws {
    let token = try IDToken(
      token(
        #"{"sub":"u1","exp":1700003600,"name":"Zoë ÿ?>~","email_verified":true,"firebase":{"sign_in_provider":"password"},"n":null}"#
      ))
    #expect(token.subject == "u1")
    #expect(token.expiresAt == 1_700_003_600)
    #expect(token.claims["name"] == "Zoë ÿ?>~")
    #expect(token.claims["email_verified"] == true)
    #expect(token.claims["firebase"]?["sign_in_provider"] == "password")
    #expect(token.claims["n"] == .null)
    #expect(token.signInProvider == "password")
    #expect(token.issuedAt == nil)
    #expect(token.authenticatedAt == nil)
  }

  @Test("times and provider, and those of another type")
  func times() throws {
    let good = try IDToken(
      token(#"{"sub":"u","exp":9,"iat":5,"auth_time":3,"firebase":{"sign_in_provider":"anonymous"}}"#))
    #expect(good.issuedAt == 5)
    #expect(good.authenticatedAt == 3)
    #expect(good.signInProvider == "anonymous")
    let odd = try IDToken(token(#"{"sub":"u","exp":9,"iat":"5","auth_time":3.5,"firebase":"x"}"#))
    #expect(odd.issuedAt == nil)
    #expect(odd.authenticatedAt == nil)
    #expect(odd.signInProvider == nil)
  }

  @Test("one nested without end is refused")
  func nesting() {
    let deep = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
    #expect(error(token(#"{"sub":"u","exp":1,"x":\#(deep)}"#)) == .notAnObject)
  }

  @Test("an emulator's has no signature")
  func unsigned() throws {
    #expect(try IDToken(token(#"{"sub":"u","exp":1}"#, signature: "")).subject == "u")
  }

  @Test(
    "what is none",
    arguments: [
      ("", IDTokenError.notThreeParts), ("a.b", .notThreeParts), ("a.b.c.d", .notThreeParts), ("a.!!.c", .notBase64URL),
      ("a.e30=.c", .notBase64URL), ("a.e+/=.c", .notBase64URL),
    ])
  func malformed(_ text: String, _ expected: IDTokenError) { #expect(error(text) == expected) }

  @Test(
    "payloads",
    arguments: [
      ("[]", IDTokenError.notAnObject), ("", .notAnObject), ("{", .notAnObject), (#""x""#, .notAnObject),
      ("{}", .missingClaim), (#"{"sub":"u"}"#, .missingClaim), (#"{"exp":1}"#, .missingClaim),
      (#"{"sub":"","exp":1}"#, .missingClaim), (#"{"sub":1,"exp":1}"#, .missingClaim),
      (#"{"sub":"u","exp":"1"}"#, .missingClaim), (#"{"sub":"u","exp":1.5}"#, .missingClaim),
    ])
  func payload(_ payload: String, _ expected: IDTokenError) { #expect(error(token(payload)) == expected) }

  @Test("a long one is read, a longer one isn't looked at")
  func length() {
    let room = IDToken.limit - token(#"{"sub":"u","exp":1}"#, signature: "").utf8.count
    #expect(error(token(#"{"sub":"u","exp":1}"#, signature: String(repeating: "s", count: room))) == nil)
    #expect(error(token(#"{"sub":"u","exp":1}"#, signature: String(repeating: "s", count: room + 1))) == .tooLong)
  }
}
