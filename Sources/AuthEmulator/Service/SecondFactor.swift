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
  /// The periods whose code has been taken: each is once (RFC 6238, 5.2).
  var usedSteps: Set<Int64> = []
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

extension World {
  /// What a sign-in ends with: tokens, or a pending credential where the account has second factors.
  mutating func finishSignIn(_ account: Account, _ session: Session, _ scope: Scope) throws(APIError) -> JSONValue {
    if self[scope].hasFactors, account.factors?.isEmpty == false {
      let (now, isStrict) = (now, hasProductionRules)
      return PendingCredential.answer(account, provider: session.provider, &self[scope], now: now, isStrict: isStrict)
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
