import AuthCore
import Crypto
import IdentityToolkit

/// ID tokens, as texts or as payloads around which one is made.
enum IDTokens {
  static func check(_ input: [UInt8]) throws(Fault) {
    let isPayload = input.first == UInt8(ascii: "{")
    let text = isPayload ? "e30.\(Base64URL.encode(input))." : String(decoding: input, as: UTF8.self)
    try base64(text, input)
    guard let token = try? IDToken(text) else { return }
    try require(!token.subject.isEmpty, "a token has a subject")
    try require(token.claims["exp"]?.integer == token.expiresAt, "a token ends when it says")
    _ = (token.issuedAt, token.authenticatedAt, token.signInProvider)
    guard isPayload else { return }
    try require(JSONValue(json: input) == .object(token.claims), "the claims are the payload")
  }

  private static func base64(_ text: String, _ input: [UInt8]) throws(Fault) {
    guard let same = try? Base64URL.decode(Base64URL.encode(input)) else { throw Fault(what: "base64url reads back") }
    try require(same == input, "base64url is the same both ways")
    if let bytes = try? Base64URL.decode(text) {
      try require(Base64URL.encode(bytes) == text, "a value has one spelling")
    }
    if let bytes = try? Hex.decode(text) { try require(Hex.encode(bytes) == text.lowercased(), "digits read back") }
  }
}
