import AuthCore
import Crypto

/// What an ID token must say (OpenID Connect Core 3.1.3.7), after its signature.
struct IDTokenCheck {
  let authorization: PendingAuthorization.Client
  /// `iss` as the discovery document says it, perhaps with Microsoft's template.
  let issuer: String
  /// Unix seconds.
  let now: Int64

  /// Seconds by which clocks may differ.
  private static let skew: Int64 = 60
  /// Seconds that a token may come from the future.
  private static let issuedAhead: Int64 = 600
  private static let template: Substring = "{tenantid}"

  /// - Throws: as `OpenIDClient.verify`.
  func claims(_ payload: [UInt8]) throws(AuthFailure) -> IDTokenClaims {
    guard let json = JSONValue(json: payload, repeatedNames: false), let claims = json.object else {
      throw refusal("MALFORMED")
    }
    let issuer = try issuer(json)
    try audience(json)
    try times(json)
    try nonce(json)
    guard let subject = json["sub"]?.string, (1...255).contains(subject.utf8.count) else { throw refusal("SUBJECT") }
    return IDTokenClaims(issuer: issuer, subject: subject, claims: claims)
  }

  private func refusal(_ code: String) -> AuthFailure { AuthFailure(.invalidProviderResponse, serverCode: code) }

  private func issuer(_ json: JSONValue) throws(AuthFailure) -> String {
    var parts = issuer.split(separator: "/", omittingEmptySubsequences: false)
    if let place = parts.firstIndex(of: Self.template) {
      guard let tenant = json["tid"]?.string, Self.isGUID(tenant) else {
        throw AuthFailure(.issuerMismatch, serverCode: "TENANT")
      }
      parts[place] = tenant[...]
    }
    let expected = parts.joined(separator: "/")
    guard let name = json["iss"]?.string, name.utf8.elementsEqual(expected.utf8) else {
      throw AuthFailure(.issuerMismatch, serverCode: "ID_TOKEN")
    }
    return name
  }

  /// 8-4-4-4-12 hexadecimal digits.
  private static func isGUID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
      && parts.allSatisfy { $0.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit } }
  }

  private func audience(_ json: JSONValue) throws(AuthFailure) {
    let client = JSONValue.string(authorization.clientID)
    let audiences = json["aud"]?.array ?? (json["aud"]?.string).map { [.string($0)] } ?? []
    guard audiences.contains(client) else { throw refusal("AUDIENCE") }
    let party = json["azp"]
    guard party == client || (party == nil && audiences.count == 1) else { throw refusal("AUTHORIZED_PARTY") }
  }

  private func times(_ json: JSONValue) throws(AuthFailure) {
    guard let end = Self.seconds(json["exp"]), end > now - Self.skew else { throw refusal("EXPIRED") }
    guard let start = Self.seconds(json["iat"]), start <= now + Self.issuedAhead else { throw refusal("ISSUED_AT") }
    guard json["nbf"] == nil || Self.seconds(json["nbf"]).map({ $0 <= now + Self.skew }) == true else {
      throw refusal("NOT_BEFORE")
    }
  }

  /// Whole seconds of a date, which may have a fraction (RFC 7519 2).
  private static func seconds(_ value: JSONValue?) -> Int64? {
    if case .number(let seconds) = value { return Int64(exactly: seconds.rounded(.down)) }
    return value?.integer
  }

  /// The request carried the hash, lower case; so does the token (behaviour: OAuth and OpenID Connect).
  private func nonce(_ json: JSONValue) throws(AuthFailure) {
    let expected = Hex.encode(SHA256.hash(authorization.rawNonce.reveal()))
    guard let nonce = json["nonce"]?.string, equalInConstantTime(Array(nonce.utf8), Array(expected.utf8)) else {
      throw AuthFailure(.nonceMismatch, serverCode: "ID_TOKEN")
    }
  }
}
