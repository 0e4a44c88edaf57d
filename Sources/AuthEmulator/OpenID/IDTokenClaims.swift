import AuthCore

/// The ID tokens of the OpenID providers, right and wrong.
enum IDTokenClaims {
  private static let lifetime: Int64 = 3600

  /// What the scopes let a provider tell about an account (OpenID Connect Core 1.0, section 5.4).
  static func about(_ account: ProviderAccount, _ scopes: Set<String>, _ fault: OpenIDFault?) -> JSONValue {
    var claims = account.claims.object ?? [:]
    if !scopes.contains("email") || fault == .noEmail { (claims["email"], claims["email_verified"]) = (nil, nil) }
    if !scopes.contains("profile") { claims["name"] = nil }
    return .object(claims)
  }

  /// The signed token; nil where the library fails.
  static func token(
    _ about: JSONValue, _ grant: OpenIDProvider.Grant, _ provider: String, _ world: World
  ) -> String? {
    let fault = world.openIDFault
    let claims = about.adding(claims(grant, provider, world)).adding(
      .object(world[openID: provider].settings.extraClaims))
    guard let key = world[openID: provider].signingKey else { return nil }
    switch fault {
    case .algorithmNone: return JWT.unsigned(claims)
    case .algorithmHS256:
      let content = content(claims, "HS256", key.id)
      return content + "." + Base64.encodeURL(Digest.hmac(Array(content.utf8), key: Array(key.publicText.utf8)))
    case .otherKey, .unknownKey:
      guard let other = SigningKey(key.algorithm) else { return nil }
      return signed(claims, by: other, name: fault == .otherKey ? key.id : other.id)
    default: return signed(claims, by: key, name: key.id)
    }
  }

  private static func claims(_ grant: OpenIDProvider.Grant, _ provider: String, _ world: World) -> JSONValue {
    let (now, fault) = (world.now / 1000, world.openIDFault)
    let end = now + (fault == .expired ? -lifetime : lifetime)
    let audience: JSONValue =
      switch fault {
      case .otherAudience: .string("another-client")
      case .audienceList: [.string(grant.clientID), "another-client"]
      default: .string(grant.clientID)
      }
    let nonce = fault == .wrongNonce ? RandomText.letters(43) : fault == .missingNonce ? nil : grant.nonce
    return .record([
      "iss": .string(fault == .wrongIssuer ? "https://issuer.example.com" : world.statedIssuer(provider)),
      "aud": audience, "iat": .integer(end - lifetime), "auth_time": .integer(end - lifetime),
      "exp": fault == .missingExpiry ? nil : .integer(end), "nonce": nonce.json,
    ])
  }

  private static func content(_ claims: JSONValue, _ algorithm: String, _ key: String) -> String {
    let header: JSONValue = ["alg": .string(algorithm), "kid": .string(key), "typ": "JWT"]
    return Base64.encodeURL(header.text) + "." + Base64.encodeURL(claims.text)
  }

  private static func signed(_ claims: JSONValue, by key: SigningKey, name: String) -> String? {
    let content = content(claims, key.algorithm.rawValue, name)
    return key.signature(of: content).map { content + "." + Base64.encodeURL($0) }
  }
}
