import AuthCore
import FoundationEssentials

/// A number that the server writes as text (`"3600"`, also `"3300.0"`) or as a number (identity-toolkit 1.7).
struct WholeNumber: Decodable {
  /// Nil for whatever isn't one: an odd lifetime is an unknown one, and no reason to lose tokens for which a code was spent.
  let value: Int64?

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let number = (try? container.decode(Double.self)) ?? (try? container.decode(String.self)).flatMap(Double.init)
    value = number.flatMap { Int64(exactly: $0.rounded(.down)) }
  }
}

extension TokenGrant {
  /// What an answer granted.
  ///
  /// - Throws: `serviceUnavailable` unless both tokens are there (identity-toolkit 8.1).
  init(
    _ idToken: String?, _ refreshToken: String?, _ expiresIn: WholeNumber?, isNewUser: Bool = false
  ) throws(AuthFailure) {
    guard let idToken = idToken.filled, let refreshToken = refreshToken.filled else {
      throw AuthFailure(.serviceUnavailable, serverCode: "MISSING_TOKENS")
    }
    self.init(
      idToken: Secret(idToken), refreshToken: Secret(refreshToken), expiresIn: expiresIn?.value, isNewUser: isNewUser)
  }
}

/// The answer of every call that signs in with a first factor (identity-toolkit 2.1, 2.2, 2.3).
struct SignInBody: Decodable {
  let idToken: String?
  let refreshToken: String?
  let expiresIn: WholeNumber?
  let localId: String?
  let isNewUser: Bool?
  let mfaPendingCredential: String?
  let mfaInfo: [FactorInfo]?

  /// - Throws: `serviceUnavailable` for an answer without tokens that asks for no second factor either.
  func answer() throws(AuthFailure) -> SignInAnswer {
    if idToken.filled == nil, let pending = mfaPendingCredential.filled {
      return .secondFactorRequired(pending: Secret(pending), factors: (mfaInfo ?? []).compactMap(\.factor))
    }
    return .grant(
      try TokenGrant(idToken, refreshToken, expiresIn, isNewUser: isNewUser ?? false), uid: localId.filled)
  }
}

extension String? {
  /// The text without zero bytes, which JSON may hold and D-Bus can't carry: one in somebody's name would keep all of the
  /// account from being read. Nil for an empty one.
  var filled: String? {
    guard let text = self, !text.isEmpty else { return nil }
    if !text.utf8.contains(0) { return text }
    let rest = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value != 0 }))
    return rest.isEmpty ? nil : rest
  }
}

/// An element of `mfaInfo`.
struct FactorInfo: Decodable {
  let mfaEnrollmentId: String?
  let phoneInfo: String?
  let totpInfo: Something?
  let displayName: String?
  let enrolledAt: String?

  /// Nil without an id, and for a kind that linkd doesn't know.
  var factor: SecondFactor? {
    guard let id = mfaEnrollmentId.filled, phoneInfo.filled != nil || totpInfo != nil else { return nil }
    var factor = SecondFactor(uid: id, kind: totpInfo == nil ? .phone : .totp)
    factor.displayName = displayName.filled
    // A sign-in's answer has the number masked; the account's may have it whole.
    factor.phoneNumber = phoneInfo.filled.map(PhoneMask.masked)
    factor.enrolledAt = enrolledAt.flatMap(RFC3339.parse)
    return factor
  }
}

/// That something is there, whatever it is.
struct Something: Decodable {
  init(from decoder: any Decoder) {}
}

/// RFC 3339 times, with and without a fraction.
enum RFC3339 {
  static func parse(_ text: String) -> Int64? {
    let plain = Date.ISO8601FormatStyle()
    let fraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    guard let date = (try? plain.parse(text)) ?? (try? fraction.parse(text)) else { return nil }
    return Int64(date.timeIntervalSince1970.rounded(.down))
  }
}
