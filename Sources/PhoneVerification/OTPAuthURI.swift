public import AuthCore

/// What an authenticator app reads from a QR code: `otpauth://totp/ISSUER:ACCOUNT?secret=…` (the Key URI format; field report
/// B103). The values are those of `mfaEnrollment:start`.
public struct OTPAuthURI: Sendable, Hashable {
  /// The hash of the one-time codes, as the format names it.
  public enum Algorithm: String, Sendable, Hashable, CaseIterable {
    case sha1 = "SHA1"
    case sha256 = "SHA256"
    case sha512 = "SHA512"

    /// Reads a server's name for it in any usual writing, `SHA1`, `sha-256` or `HMAC_SHA512`. Nil for another.
    public init?(server name: String) {
      var letters = name.uppercased().filter { $0 != "-" && $0 != "_" }
      if letters.hasPrefix("HMAC") { letters.removeFirst(4) }
      self.init(rawValue: letters)
    }
  }

  /// The whole URI. It holds the factor's secret.
  public let text: Secret<String>

  /// Makes the URI. Nil if the secret isn't Base32 (RFC 4648), or a number isn't positive.
  /// - Parameters:
  ///   - issuer: who asks for codes, as people know it; may be empty.
  ///   - account: whose they are, as an address; may be empty.
  ///   - secret: the shared secret in Base32, in either letter case; spaces, dashes and padding are dropped.
  ///   - algorithm: the hash.
  ///   - digits: of a code.
  ///   - period: seconds that a code is good for.
  public init?(
    issuer: String, account: String, secret: Secret<String>, algorithm: Algorithm, digits: Int,
    period: Int
  ) {
    guard digits > 0, period > 0, let key = Self.base32(secret.reveal()) else { return nil }
    let issuer = Self.label(issuer)
    let account = Self.label(account)
    // The colon between them isn't encoded: some apps look for it before they decode.
    let label = [issuer, account].filter { !$0.isEmpty }.joined(separator: ":")
    var text = "otpauth://totp/\(label)?secret=\(key)"
    if !issuer.isEmpty { text += "&issuer=\(issuer)" }
    text += "&algorithm=\(algorithm.rawValue)&digits=\(digits)&period=\(period)"
    self.text = Secret(text)
  }

  private static func base32(_ secret: String) -> String? {
    let key = secret.uppercased().filter { $0 != " " && $0 != "-" && $0 != "=" }
    return !key.isEmpty && key.utf8.allSatisfy { (0x41...0x5a).contains($0) || (0x32...0x37).contains($0) } ? key : nil
  }

  /// Without colons, of which the label has one, without what nobody sees, and without spaces at its ends; percent-encoded, a
  /// space as `%20`: a plus would be shown as one.
  private static func label(_ name: String) -> String {
    let visible = name.unicodeScalars.filter {
      $0 != ":" && $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
    }
    let words = String(String.UnicodeScalarView(visible)).split { $0.isWhitespace }
    return words.joined(separator: " ").utf8.map(encoded).joined()
  }

  /// Unreserved characters stay (RFC 3986).
  private static func encoded(_ byte: UInt8) -> String {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      return String(Unicode.Scalar(byte))
    default:
      let hex = String(byte, radix: 16, uppercase: true)
      return "%" + (hex.utf8.count == 1 ? "0" : "") + hex
    }
  }
}
