import AuthCore
import FoundationEssentials

/// A number that the server writes as text (`"3600"`, also `"3300.0"`) or as a number (identity-toolkit 1.7).
struct Seconds: Decodable {
  let value: Int64

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      guard let number = Double(text), let whole = Int64(exactly: number.rounded(.down)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
      }
      value = whole
    } else {
      let number = try container.decode(Double.self)
      guard let whole = Int64(exactly: number.rounded(.down)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "out of range")
      }
      value = whole
    }
  }
}

/// An element of `mfaInfo`.
struct FactorInfo: Decodable {
  let mfaEnrollmentId: String?
  let phoneInfo: String?
  let totpInfo: JSONValue?
  let displayName: String?
  let enrolledAt: String?

  /// Nil without an id.
  var factor: SecondFactor? {
    guard let id = mfaEnrollmentId.filled else { return nil }
    var factor = SecondFactor(uid: id, kind: totpInfo == nil ? .phone : .totp)
    factor.displayName = displayName.filled
    factor.phoneNumber = phoneInfo.filled
    factor.enrolledAt = enrolledAt.flatMap(RFC3339.parse)
    return factor
  }
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
