import AuthCore

/// `{}`.
struct EmptyObject: Encodable {}

/// The code of a text message.
struct PhoneCode: Encodable {
  let sessionInfo: String
  let code: String
}

/// What an authenticator app shows.
struct TOTPCode: Encodable {
  /// Of the enrollment; nil when signing in.
  var sessionInfo: String?
  let verificationCode: String
}

/// The tokens of the calls for second factors.
struct FactorGrant: Decodable {
  let idToken: String?
  let refreshToken: String?
  let expiresIn: WholeNumber?

  /// - Throws: `serviceUnavailable` unless both tokens are there.
  func grant() throws(AuthFailure) -> TokenGrant { try TokenGrant(idToken, refreshToken, expiresIn) }
}

/// What an authenticator app has to know.
struct TOTPSession: Decodable {
  let sharedSecretKey: String?
  let verificationCodeLength: WholeNumber?
  let hashingAlgorithm: String?
  let periodSec: WholeNumber?
  let sessionInfo: String?
  let finalizeEnrollmentTime: String?

  /// What isn't named is as apps take it: six digits, thirty seconds, SHA-1.
  ///
  /// - Throws: `serviceUnavailable` without secret or session, and for what no app could do.
  func enrollment() throws(AuthFailure) -> TOTPEnrollment {
    guard let secret = sharedSecretKey.filled?.uppercased(), let session = sessionInfo.filled, Self.isBase32(secret)
    else {
      throw AuthFailure(.serviceUnavailable, serverCode: "NO_SESSION")
    }
    let algorithm = hashingAlgorithm.filled.map(Self.algorithm) ?? "SHA1"
    guard let digits = Self.number(verificationCodeLength, 6, in: 4...10), let algorithm,
      let period = Self.number(periodSec, 30, in: 1...3600)
    else { throw AuthFailure(.serviceUnavailable, serverCode: "UNEXPECTED_TOTP") }
    return TOTPEnrollment(
      secret: Secret(secret), digits: digits, period: period, algorithm: algorithm, sessionInfo: Secret(session),
      endsAt: finalizeEnrollmentTime.flatMap(RFC3339.parse))
  }

  /// Nil for one out of bounds.
  private static func number(_ given: WholeNumber?, _ fallback: Int, in range: ClosedRange<Int>) -> Int? {
    guard let given else { return fallback }
    return given.value.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
  }

  /// `SHA1`, `sha-256`, `HMAC_SHA512`, … in the words of `otpauth`; nil for another.
  private static func algorithm(_ word: String) -> String? {
    let letters = String(word.uppercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
    return ["SHA1", "SHA256", "SHA512"].first { letters == $0 || letters == "HMAC" + $0 }
  }

  private static func isBase32(_ text: String) -> Bool {
    text.utf8.count <= 1024
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "2")...UInt8(ascii: "7"), UInt8(ascii: "="): true
        default: false
        }
      }
  }
}
