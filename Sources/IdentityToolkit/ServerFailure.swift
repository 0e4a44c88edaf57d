import AuthCore

/// Reads an error out of an answer (identity-toolkit 3). An error envelope wins over the status.
enum ServerFailure {
  /// Nil for a good answer.
  static func read(_ response: HTTPResponse) -> AuthFailure? {
    let envelope = JSONValue(json: response.body)
    let retryAfter = response.retryAfter
    if let body = envelope?["error"], response.status >= 300 || response.status == 200, response.status < 500,
      var failure = failure(body)
    {
      if response.status == 429 || failure.isTransient { failure.retryAfter = retryAfter }
      if response.status == 429, !failure.isTransient { return AuthFailure(.tooManyRequests, retryAfter: retryAfter) }
      return failure
    }
    switch response.status {
    case 200..<300: return nil
    case 429: return AuthFailure(.tooManyRequests, serverCode: "HTTP_429", retryAfter: retryAfter)
    // A captive portal, a proxy, an overloaded front end: temporary, whatever the status says (field report B117).
    default: return AuthFailure(.serviceUnavailable, serverCode: "HTTP_\(response.status)", retryAfter: retryAfter)
    }
  }

  /// The row of a message's short code; nil for a code without one.
  static func known(_ message: String) -> AuthFailure? {
    let (code, detail) = ServerErrorTable.split(message)
    return ServerErrorTable.error(for: code).map {
      AuthFailure($0, serverCode: code, detail: readable($0, detail))
    }
  }

  private static func failure(_ body: JSONValue) -> AuthFailure? {
    guard let message = body["message"]?.string else { return nil }
    if let failure = known(message) { return failure }
    let (code, _) = ServerErrorTable.split(message)
    if let error = byReason(body, message) { return AuthFailure(error, serverCode: "REASON") }
    return AuthFailure(.internal, serverCode: isCode(code) ? code : "UNKNOWN")
  }

  /// Answers that name no code: a wrong key, a key of another kind of app, another site's key.
  private static func byReason(_ body: JSONValue, _ message: String) -> AuthError? {
    // Lists of objects. Whatever else they are, the message counts.
    let reasons = (body["errors"]?.array ?? []) + (body["details"]?.array ?? [])
    for reason in reasons.compactMap({ $0["reason"]?.string }) {
      if reason.hasPrefix("keyInvalid") || reason == "API_KEY_INVALID" { return .invalidAPIKey }
      if reason == "ipRefererBlocked" || (reason.hasPrefix("API_KEY_") && reason.hasSuffix("_BLOCKED")) {
        return .appNotAuthorized
      }
    }
    if message.hasPrefix("API key not valid") || message.hasPrefix("The request is missing a valid API key") {
      return .invalidAPIKey
    }
    // Firebase's emulator has no code for a first factor of before its last start.
    if message.hasPrefix("(("), message.contains("endingCredential") { return .sessionExpired }
    // "from this iOS client application …", "from referer …", "to this API …".
    if message.hasPrefix("Requests "), message.hasSuffix("are blocked.") { return .appNotAuthorized }
    return nil
  }

  /// Characters of a sentence for people; the server's may be a MiB.
  private static let detailLimit = 500

  /// The part of the detail that is a sentence for people.
  private static func readable(_ error: AuthError, _ detail: String?) -> String? {
    guard let detail else { return nil }
    let sentence: String? =
      switch error {
      case .weakPassword: detail
      case .blockingFunction: blockingMessage(detail)
      default: nil
      }
    return sentence.map { String($0.prefix(detailLimit)) }
  }

  /// `error.message` of the JSON object inside a blocking function's detail (identity-toolkit 3.5).
  private static func blockingMessage(_ detail: String) -> String? {
    guard let object = firstObject(detail.utf8), let inner = JSONValue(json: object) else { return detail }
    return inner["error"]?["message"]?.string
  }

  /// From the first `{` to the `}` that closes it; braces in strings don't count.
  private static func firstObject(_ text: String.UTF8View) -> Substring.UTF8View? {
    guard let start = text.firstIndex(of: UInt8(ascii: "{")) else { return nil }
    var depth = 0
    var isText = false
    var isEscaped = false
    for index in text[start...].indices {
      switch text[index] {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = isText
      case UInt8(ascii: "\""): isText.toggle()
      case UInt8(ascii: "{") where !isText: depth += 1
      case UInt8(ascii: "}") where !isText: depth -= 1
      default: break
      }
      if depth == 0 { return text[start...index] }
    }
    return nil
  }

  private static func isCode(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
      }
  }
}
