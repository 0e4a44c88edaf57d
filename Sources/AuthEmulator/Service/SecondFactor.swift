import AuthCore

/// Something besides the first way of signing in that an account asks for: a phone, or an authenticator app.
struct SecondFactor: Sendable, Equatable {
  let id: String
  /// Nil for an authenticator app.
  var phoneNumber: String?
  /// The secret of an authenticator app, in Base32.
  var totpSecret: String?
  /// What its codes are like.
  var totp = FactorSettings()
  var displayName: String?
  /// ISO 8601; nil where an administrator didn't say.
  var enrolledAt: String?

  /// `phone` or `totp`, as tokens say it.
  var kind: String { phoneNumber == nil ? "totp" : "phone" }

  init(id: String = RandomText.letters(28), phoneNumber: String?, displayName: String?, enrolledAt: String?) {
    (self.id, self.phoneNumber, self.displayName, self.enrolledAt) = (id, phoneNumber, displayName, enrolledAt)
  }

  /// As `accounts:lookup` shows it: with the number in clear.
  var json: JSONValue {
    .record([
      "mfaEnrollmentId": .string(id), "displayName": displayName.json, "enrolledAt": enrolledAt.json,
      "phoneInfo": phoneNumber.json, "unobfuscatedPhoneInfo": phoneNumber.json,
      "totpInfo": phoneNumber == nil ? [:] : nil,
    ])
  }

  /// As somebody sees it who has shown the first factor alone.
  var hint: JSONValue {
    .record([
      "mfaEnrollmentId": .string(id), "displayName": displayName.json, "enrolledAt": enrolledAt.json,
      "phoneInfo": maskedNumber.json, "totpInfo": phoneNumber == nil ? [:] : nil,
    ])
  }

  /// `+*******0100`.
  var maskedNumber: String? {
    phoneNumber.map { number in
      let digits = number.dropFirst()
      return "+" + String(repeating: "*", count: max(0, digits.count - 4)) + digits.suffix(4)
    }
  }
}

/// What the first factor alone gives: base64 of JSON, good any number of times.
enum PendingCredential {
  private static let mark = "_AuthEmulatorMfaPendingCredential"

  /// The part of a sign-in's answer that stands in place of tokens.
  static func answer(_ account: Account, provider: String, _ project: Project) -> JSONValue {
    var content: [(key: String, value: JSONValue)] = [
      (mark, "DO NOT MODIFY"), ("localId", .string(account.localID)), ("signInProvider", .string(provider)),
      ("projectId", .string(project.id)),
    ]
    if let tenant = project.tenant { content.append(("tenantId", .string(tenant.id))) }
    return [
      "mfaPendingCredential": .string(Base64.encode(JSONValue.object(text: content))),
      "mfaInfo": .array((account.factors ?? []).map(\.hint)),
    ]
  }

  /// The account and the first factor's provider.
  static func redeem(
    _ text: String, _ project: Project, now: Int64
  ) throws(APIError) -> (account: Account, provider: String) {
    guard let bytes = Base64.decode(text), let content = try? JSONText.parse(bytes), content[mark] != nil,
      let localID = content["localId"]?.string, let provider = content["signInProvider"]?.string
    else { throw APIError("((Invalid phoneVerificationInfo.mfaPendingCredential.))") }
    guard content["projectId"]?.string == project.id else {
      throw APIError("INVALID_PROJECT_ID : Project ID does not match MFA pending credential.")
    }
    if let lifetime = project.factorSettings.pendingLifetime, let since = project.pendingSince[text],
      now >= since + lifetime * 1000
    {
      throw APIError("INVALID_MFA_PENDING_CREDENTIAL")
    }
    guard let account = project.account(localID) else {
      throw APIError("((User in pendingCredentialPayload does not exist.))")
    }
    return (account, provider)
  }
}

extension World {
  /// What a sign-in ends with: tokens, or a pending credential where the account has second factors.
  mutating func finishSignIn(_ account: Account, _ session: Session, _ scope: Scope) throws(APIError) -> JSONValue {
    if self[scope].hasFactors, account.factors?.isEmpty == false {
      let answer = PendingCredential.answer(account, provider: session.provider, self[scope])
      if let pending = answer["mfaPendingCredential"]?.string { self[scope].pendingSince[pending] = now }
      return answer
    }
    return try admit(account, session, scope)
  }

  /// Tokens for an account that has shown every factor, unless a function of the project's objects.
  mutating func admit(_ account: Account, _ session: Session, _ scope: Scope) throws(APIError) -> JSONValue {
    var (account, session) = (account, session)
    let claims = try ask(.beforeSignIn, about: &account, provider: session.provider, scope)
    session.extraClaims.merge(claims) { $1 }
    self[scope].store(account)
    if account.disabled == true { throw APIError("USER_DISABLED") }
    return try self[scope].issueTokens(for: account.localID, session, now: now)
  }
}
