/// A way in which an OpenID provider is wrong: in its tokens, in the redirect, or in what it says about itself. What any
/// endpoint can do (hang, 500, HTML, redirect, too much) is another `Fault.Answer`.
public enum OpenIDFault: String, Sendable, CaseIterable {
  /// The ID token has a nonce that nobody asked for.
  case wrongNonce = "wrong-nonce"
  /// The ID token has no nonce.
  case missingNonce = "missing-nonce"
  /// The ID token is another issuer's.
  case wrongIssuer = "wrong-iss"
  /// The signature is by a key that isn't in the key set, under the name of one that is.
  case otherKey = "other-key"
  /// The signature is by a key whose name isn't in the key set.
  case unknownKey = "unknown-key"
  /// The ID token isn't signed: `alg` is `none`.
  case algorithmNone = "alg-none"
  /// `alg` is `HS256`, and the secret is what everybody can know of the public key.
  case algorithmHS256 = "alg-hs256"
  /// The ID token ended an hour ago.
  case expired
  /// The ID token is for another client.
  case otherAudience = "wrong-aud"
  /// The ID token is for two clients, and doesn't say which of them asked.
  case audienceList = "aud-list"
  /// The ID token doesn't say when it ends.
  case missingExpiry = "missing-exp"
  /// The account has no e-mail address.
  case noEmail = "no-email"
  /// There is no ID token.
  case noIDToken = "no-id-token"
  /// The redirect names another issuer.
  case redirectWrongIssuer = "redirect-wrong-iss"
  /// The redirect names no issuer, promised or not.
  case redirectMissingIssuer = "redirect-missing-iss"
  /// The redirect has another `state`.
  case redirectWrongState = "redirect-wrong-state"
  /// The redirect goes to the redirect URI with a slash appended to its path.
  case redirectSlash = "redirect-slash"
  /// The page redirects with `error=server_error`.
  case serverError = "server-error"
  /// The discovery document is another issuer's.
  case otherIssuer = "other-issuer"
  /// The discovery document doesn't promise an issuer in the redirect; it's there all the same.
  case issuerNotPromised = "iss-not-promised"

  /// The last part of the paths it's for.
  var endpoint: String {
    switch self {
    case .wrongNonce, .missingNonce, .wrongIssuer, .otherKey, .unknownKey, .algorithmNone, .algorithmHS256, .expired,
      .otherAudience, .audienceList, .missingExpiry, .noEmail, .noIDToken:
      "/token"
    case .redirectWrongIssuer, .redirectMissingIssuer, .redirectWrongState, .redirectSlash, .serverError: "/authorize"
    case .otherIssuer, .issuerNotPromised: "/.well-known/openid-configuration"
    }
  }

  /// Whether a request meets it.
  func hits(_ path: String) -> Bool { path.hasPrefix(OpenID.base) && path.hasSuffix(endpoint) }
}
