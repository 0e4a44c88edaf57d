import AuthCore

/// What an ID token says about its session.
struct Session: Sendable {
  var provider: String
  /// Claims of the session, given at its start.
  var extraClaims: [String: JSONValue] = [:]
  /// Attributes of a SAML assertion.
  var attributes: JSONValue?
  /// The second factor it was started with.
  var factor: Factor?

  struct Factor: Sendable, Equatable {
    let id: String
    /// `phone` or `totp`.
    let kind: String
  }
}

extension Project {
  /// Issues an ID token and a refresh token for an account, and notes when.
  mutating func issueTokens(for localID: String, _ session: Session, now: Int64) throws(APIError) -> JSONValue {
    guard var account = account(localID) else { throw APIError("USER_NOT_FOUND") }
    account.lastRefreshAt = Dates.iso(now)
    store(account)
    return [
      "idToken": .string(try idToken(account, session, now: now)),
      "refreshToken": .string(refreshToken(account, session)), "expiresIn": "3600",
    ]
  }

  /// An unsigned JWT (RFC 7519, section 6).
  private func idToken(_ account: Account, _ session: Session, now: Int64) throws(APIError) -> String {
    guard let login = account.lastLoginAt.flatMap({ Int64($0) }) else {
      throw .unhandled("Internal assertion error: invalid user.lastLoginAt = \(account.lastLoginAt ?? "undefined")")
    }
    let custom = account.customAttributes.flatMap { try? JSONText.parse($0).object } ?? [:]
    let claims: JSONValue = .record([
      "name": account.displayName.json, "picture": account.photoURL.json, "email": account.email.json,
      "email_verified": account.emailVerified.json, "phone_number": account.phoneNumber.json,
      "provider_id": session.provider == "anonymous" ? "anonymous" : nil, "auth_time": .integer(login / 1000),
      "user_id": .string(account.localID),
      "firebase": .record([
        "identities": identities(account), "sign_in_provider": .string(session.provider),
        "sign_in_attributes": session.attributes, "second_factor_identifier": (session.factor?.id).json,
        "sign_in_second_factor": (session.factor?.kind).json, "tenant": (tenant?.id).json,
      ]),
      "iat": .integer(now / 1000), "exp": .integer(now / 1000 + 3600), "aud": .string(id),
      "iss": .string("https://securetoken.google.com/\(id)"), "sub": .string(account.localID),
    ])
    let payload = JSONValue.object(custom.merging(session.extraClaims) { $1 }).adding(claims)
    return JWT.unsigned(payload)
  }

  private func identities(_ account: Account) -> JSONValue {
    var identities: [String: JSONValue] = [:]
    if let email = account.email { identities["email"] = [.string(email)] }
    if let phone = account.phoneNumber { identities["phone"] = [.string(phone)] }
    for provider in account.providers ?? [] where !["password", "phone"].contains(provider.providerID) {
      identities[provider.providerID] = [.string(provider.rawID ?? "")]
    }
    return .object(identities)
  }

  private func refreshToken(_ account: Account, _ session: Session) -> String {
    let content: JSONValue = .record([
      RefreshToken.mark: "DO NOT MODIFY", "localId": .string(account.localID),
      "provider": .string(session.provider), "extraClaims": .object(session.extraClaims), "projectId": .string(id),
      "tenantId": (tenant?.id).json,
      "secondFactor": session.factor.map { ["identifier": .string($0.id), "provider": .string($0.kind)] },
    ])
    return Base64.encode(content.text)
  }

  /// The account and the session that a refresh token stands for.
  func redeem(refreshToken: String) throws(APIError) -> (account: Account, session: Session) {
    guard let content = RefreshToken.content(refreshToken), content["projectId"]?.string == id,
      let localID = content["localId"]?.string, let provider = content["provider"]?.string,
      let account = account(localID)
    else { throw APIError("INVALID_REFRESH_TOKEN") }
    if account.disabled == true { throw APIError("USER_DISABLED") }
    var session = Session(provider: provider, extraClaims: content["extraClaims"]?.object ?? [:])
    if let factor = content["secondFactor"], let id = factor["identifier"]?.string {
      session.factor = Session.Factor(id: id, kind: factor["provider"]?.string ?? "phone")
    }
    return (account, session)
  }

  /// The account and the session of an ID token. The signature isn't looked at, nor is the end of its life: what ends a
  /// token is the account's `validSince`.
  func redeem(idToken: String) throws(APIError) -> (account: Account, session: Session) {
    guard let claims = JWT.claims(idToken) else { throw APIError("INVALID_ID_TOKEN") }
    let firebase = try JWT.firebase(claims)
    guard let account = claims["user_id"]?.string.flatMap(account(_:)) else { throw APIError("USER_NOT_FOUND") }
    let issued = claims["iat"]?.integer ?? 0
    if let validSince = account.validSince.flatMap({ Int64($0) }), issued < validSince {
      throw APIError("TOKEN_EXPIRED")
    }
    if account.disabled == true { throw APIError("USER_DISABLED") }
    return (account, Session(provider: firebase["sign_in_provider"]?.string ?? ""))
  }
}

/// JSON Web Tokens as far as the emulator reads them: nothing is verified.
enum JWT {
  static func unsigned(_ payload: JSONValue) -> String {
    Base64.encodeURL(#"{"alg":"none","typ":"JWT"}"#) + "." + Base64.encodeURL(payload.text) + "."
  }

  static func claims(_ token: String) -> JSONValue? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64.decode(parts[0]), let payload = Base64.decode(parts[1]),
      (try? JSONText.parse(header))?.object != nil, let claims = try? JSONText.parse(payload), claims.object != nil
    else { return nil }
    return claims
  }

  /// The claim that Firebase's tokens have; the recorded service fails without it.
  static func firebase(_ claims: JSONValue) throws(APIError) -> JSONValue {
    guard let firebase = claims["firebase"] else {
      throw .unhandled("Cannot read properties of undefined (reading 'tenant')", reason: "TypeError")
    }
    return firebase
  }
}

/// Refresh tokens: base64 of JSON.
enum RefreshToken {
  static let mark = "_AuthEmulatorRefreshToken"

  /// Nil for anything else.
  static func content(_ token: String) -> JSONValue? {
    guard let bytes = Base64.decode(token), let content = try? JSONText.parse(bytes), content[mark] != nil else {
      return nil
    }
    return content
  }
}
