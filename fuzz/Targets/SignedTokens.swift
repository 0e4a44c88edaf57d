import AuthCore
import Crypto

/// Signed tokens, key sets, or both: a line of JSON with the keys, then the token.
enum SignedTokens {
  /// RFC 7515 A.3's key, which has a name here and none there.
  private static let known =
    #"{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#
  private static let header = "eyJhbGciOiJFUzI1NiJ9"
  private static let payload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

  static func check(_ input: [UInt8]) throws(Fault) {
    let halves = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let hasKeys = halves.count == 2 && input.first == UInt8(ascii: "{")
    let set = JSONValue(json: hasKeys ? Array(halves[0]) : Array(known.utf8)).flatMap(JSONWebKey.set) ?? []
    try require(set.count <= JSONWebKey.setLimit, "a set has a limit")
    let token = String(decoding: hasKeys ? halves[1] : input[...], as: UTF8.self)
    try require((try? JWS.verify(token, keys: [])) == nil, "without a key nothing is believed")
    guard let bytes = try? JWS.verify(token, keys: set) else { return }
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    try require(parts.count == 3 && parts[1] == Base64URL.encode(bytes), "the payload is the second part")
    // Nobody has this key but RFC 7515.
    if !hasKeys { try require(parts[0] == header && parts[1] == payload, "only what was signed is believed") }
  }
}
