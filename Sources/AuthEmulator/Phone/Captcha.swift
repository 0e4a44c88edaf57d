import AuthCore

/// A token of the captcha page.
struct CaptchaToken: Sendable {
  /// Unix milliseconds.
  let madeAt: Int64
  var isUsed = false
}

extension World {
  /// Sends a code to a number, if the wish for it has what the project asks for.
  /// - Parameter wish: the request, or the object of it that is about the phone.
  mutating func sendSMS(to number: String, _ wish: JSONValue?, _ scope: Scope) throws(APIError) -> String {
    let settings = self[scope].phone
    if settings.testNumbers[number] == nil { try checkCaptcha(wish, settings) }
    return try self[scope].sendSMS(to: number, now: now)
  }

  /// As production refuses (identity-toolkit 2.12, 6.5); a token is used by being looked at.
  private mutating func checkCaptcha(_ wish: JSONValue?, _ settings: PhoneSettings) throws(APIError) {
    if settings.enforcement == .enforce { throw APIError("INVALID_APP_CREDENTIAL") }
    guard settings.needsCaptcha else { return }
    guard let token = wish?["recaptchaToken"]?.string, !token.isEmpty else {
      // Who says that it has no token of reCAPTCHA Enterprise is sent to the page in other words.
      let isHeard = settings.enforcement == .audit && wish?["captchaResponse"] != nil
      throw APIError(isHeard ? "INVALID_APP_CREDENTIAL" : "MISSING_CLIENT_IDENTIFIER")
    }
    guard let known = captchas[token] else { throw APIError("INVALID_RECAPTCHA_TOKEN") }
    captchas[token]?.isUsed = true
    if known.isUsed { throw APIError("CAPTCHA_CHECK_FAILED : Recaptcha verification failed - DUPE") }
    guard now < known.madeAt + settings.captchaLifetime * 1000 else {
      throw APIError("CAPTCHA_CHECK_FAILED : Recaptcha verification failed - EXPIRED")
    }
  }
}
