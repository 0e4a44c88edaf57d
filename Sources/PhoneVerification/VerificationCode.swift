public import AuthCore

/// Why a text is no verification code: `InvalidVerificationCode` on the bus.
public enum VerificationCodeError: Error, Sendable, Hashable {
  case empty
  /// Something other than digits and fillers stands in it.
  case foreignCharacter
  /// So many digits instead of the expected ones.
  case wrongLength(Int)
}

/// The code of an SMS or of an authenticator app, as the server takes it: ASCII digits (behaviour: Phone).
public struct VerificationCode: Sendable, Hashable {
  /// Digits of an SMS code; a TOTP code's come from the server.
  public static let smsLength = 6

  /// The digits, `length` of them.
  public let digits: Secret<String>

  /// Reads what a person typed: any Unicode decimal digits; spaces, dashes and bidi marks are dropped.
  ///
  /// - Throws: what is wrong with it; never the text itself.
  public init(_ text: String, length: Int = smsLength) throws(VerificationCodeError) {
    var digits = ""
    var count = 0
    for scalar in text.unicodeScalars {
      if let digit = DecimalDigits.ascii(scalar) {
        count += 1
        // Longer ones are only counted: nothing pasted by mistake is kept.
        if count <= length { digits.unicodeScalars.append(Unicode.Scalar(digit)) }
      } else if !DecimalDigits.isFiller(scalar) {
        throw .foreignCharacter
      }
    }
    guard count > 0 else { throw .empty }
    guard count == length else { throw .wrongLength(count) }
    self.digits = Secret(digits)
  }
}
