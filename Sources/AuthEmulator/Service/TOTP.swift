import AuthCore

/// Authenticator apps as second factors. The recorded service knows none; fields and errors are those of the protocol
/// (identity-toolkit 2.18), and they're off until `v2/projects/{project}/config` switches them on.
enum TOTP {
  /// An enrollment under way.
  struct Enrollment: Sendable {
    let sessionInfo: String
    /// Base32.
    let secret: String
    /// Unix milliseconds.
    let endsAt: Int64
    let settings: FactorSettings
    /// Wrong codes that it has been tried with.
    var attempts = 0
  }

  /// How many periods a clock may be off, either way.
  private static let tolerance: Int64 = 5

  static func begin(_ project: inout Project, now: Int64) -> JSONValue {
    let settings = project.factorSettings
    let enrollment = Enrollment(
      sessionInfo: RandomText.urlLetters(226), secret: RandomText.base32(32),
      endsAt: now + settings.enrollmentLifetime * 1000, settings: settings)
    project.enrollments.append(enrollment)
    return [
      "totpSessionInfo": [
        "sharedSecretKey": .string(enrollment.secret), "verificationCodeLength": .integer(Int64(settings.digits)),
        "hashingAlgorithm": .string(settings.algorithm.rawValue), "periodSec": .integer(settings.period),
        "sessionInfo": .string(enrollment.sessionInfo),
        "finalizeEnrollmentTime": .string(Dates.iso(enrollment.endsAt)),
      ]
    ]
  }

  static func finish(
    _ info: JSONValue, displayName: String?, _ project: inout Project, now: Int64
  ) throws(APIError) -> SecondFactor {
    guard let session = info["sessionInfo"]?.string, !session.isEmpty else { throw APIError("MISSING_SESSION_INFO") }
    guard let index = project.enrollments.firstIndex(where: { $0.sessionInfo == session }) else {
      throw APIError("INVALID_SESSION_INFO")
    }
    let enrollment = project.enrollments[index]
    guard now <= enrollment.endsAt else { throw APIError("SESSION_EXPIRED") }
    if let limit = project.factorSettings.attempts, enrollment.attempts >= limit {
      throw APIError("TOO_MANY_ATTEMPTS_TRY_LATER")
    }
    var factor = SecondFactor(phoneNumber: nil, displayName: displayName, enrolledAt: Dates.iso(now))
    (factor.totpSecret, factor.totp) = (enrollment.secret, enrollment.settings)
    guard try accepts(info["verificationCode"]?.string, of: &factor, now: now) else {
      project.enrollments[index].attempts += 1
      throw APIError("INVALID_CODE")
    }
    project.enrollments.remove(at: index)
    return factor
  }

  /// Whether a code is one of the factor's that hasn't been taken before.
  static func accepts(_ code: String?, of factor: inout SecondFactor, now: Int64) throws(APIError) -> Bool {
    guard let code, !code.isEmpty else { throw APIError("MISSING_CODE") }
    guard let secret = factor.totpSecret.flatMap(Base32.decode) else { return false }
    let (now, settings, used) = (now / 1000 / factor.totp.period, factor.totp, factor.usedSteps)
    let window = now - tolerance...now + tolerance
    let step = window.first { !used.contains($0) && Self.code(secret, step: $0, settings) == code }
    guard let step else { return false }
    factor.usedSteps = used.filter(window.contains).union([step])
    return true
  }

  /// The code of a period (RFC 6238 and 4226).
  static func code(_ secret: [UInt8], step: Int64, _ settings: FactorSettings = FactorSettings()) -> String {
    let counter = (0..<8).map { UInt8(truncatingIfNeeded: step >> (56 - 8 * $0)) }
    let mac =
      switch settings.algorithm {
      case .sha1: SHA1.hmac(counter, key: secret)
      case .sha256: Digest.hmac(counter, key: secret)
      }
    guard let last = mac.last else { return "" }
    let offset = Int(last & 15)
    let number = mac[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
    let text = String(number)
    return (String(repeating: "0", count: 10) + text).suffix(settings.digits).description
  }
}

/// SHA-1 (FIPS 180-4), for authenticator apps; the emulator's own, so that linkd's isn't tested against itself.
enum SHA1 {
  static func hash(_ message: [UInt8]) -> [UInt8] {
    var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    let bits = UInt64(message.count) * 8
    padded += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
    for start in stride(from: 0, to: padded.count, by: 64) { mix(&state, padded[start..<start + 64]) }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
  }

  private static func mix(_ state: inout [UInt32], _ block: ArraySlice<UInt8>) {
    func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
    var words = (0..<16).map { word in
      block[(block.startIndex + 4 * word)..<(block.startIndex + 4 * word + 4)].reduce(UInt32(0)) {
        $0 << 8 | UInt32($1)
      }
    }
    for index in 16..<80 {
      words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
    }
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for (index, word) in words.enumerated() {
      let (mixed, constant): (UInt32, UInt32) =
        switch index {
        case 0..<20: (b & c | ~b & d, 0x5a82_7999)
        case 20..<40: (b ^ c ^ d, 0x6ed9_eba1)
        case 40..<60: (b & c | b & d | c & d, 0x8f1b_bcdc)
        default: (b ^ c ^ d, 0xca62_c1d6)
        }
      (a, b, c, d, e) = (rotated(a, 5) &+ mixed &+ e &+ constant &+ word, a, rotated(b, 30), c, d)
    }
    for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
  }

  /// HMAC (RFC 2104).
  static func hmac(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    let short = key.count > 64 ? hash(key) : key
    let block = short + Array(repeating: 0, count: 64 - short.count)
    return hash(block.map { $0 ^ 0x5c } + hash(block.map { $0 ^ 0x36 } + message))
  }
}

/// Base32 (RFC 4648), as secrets of authenticator apps are written.
enum Base32 {
  static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

  static func decode(_ text: String) -> [UInt8]? {
    var (out, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
    for letter in text where letter != "=" {
      guard let value = letters.firstIndex(of: letter) else { return nil }
      (bits, count) = (bits << 5 | UInt32(value), count + 5)
      if count >= 8 {
        count -= 8
        out.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return out
  }
}
