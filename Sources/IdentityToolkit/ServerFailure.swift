import AuthCore
import FoundationEssentials

/// Reads an error out of an answer (identity-toolkit 3). An error envelope wins over the status.
enum ServerFailure {
  private struct Envelope: Decodable {
    struct Body: Decodable {
      var message: String?
      var errors: [JSONValue]?
      var details: [JSONValue]?
      var status: String?
    }
    var error: Body
  }

  /// Nil for a good answer.
  static func read(_ response: HTTPResponse) -> AuthFailure? {
    let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(response.body))
    let retryAfter = response.retryAfter
    if let body = envelope?.error, response.status >= 300 || response.status == 200, response.status < 500,
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

  private static func failure(_ body: Envelope.Body) -> AuthFailure? {
    guard let message = body.message else { return nil }
    let (code, detail) = ServerErrorTable.split(message)
    if let error = ServerErrorTable.error(for: code) {
      return AuthFailure(error, serverCode: code, detail: readable(error, detail))
    }
    if let error = byReason(body, message) { return AuthFailure(error, serverCode: "REASON") }
    return AuthFailure(.internal, serverCode: isCode(code) ? code : "UNKNOWN")
  }

  /// Answers that name no code: a wrong key, a key of another kind of app, another site's key.
  private static func byReason(_ body: Envelope.Body, _ message: String) -> AuthError? {
    let reasons = (body.errors ?? []) + (body.details ?? [])
    for reason in reasons.compactMap({ $0["reason"]?.string }) {
      if reason.hasPrefix("keyInvalid") || reason == "API_KEY_INVALID" { return .invalidAPIKey }
      if reason == "ipRefererBlocked" || reason.hasSuffix("_APP_BLOCKED") || reason == "API_KEY_HTTP_REFERRER_BLOCKED"
        || reason == "API_KEY_SERVICE_BLOCKED"
      {
        return .appNotAuthorized
      }
    }
    if message.hasPrefix("API key not valid") || message.hasPrefix("The request is missing a valid API key") {
      return .invalidAPIKey
    }
    if message.hasPrefix("Requests from this"), message.contains("blocked") { return .appNotAuthorized }
    return nil
  }

  /// The part of the detail that is a sentence for people.
  private static func readable(_ error: AuthError, _ detail: String?) -> String? {
    guard let detail else { return nil }
    switch error {
    case .weakPassword: return detail
    case .blockingFunction: return blockingMessage(detail)
    default: return nil
    }
  }

  /// `error.message` of the JSON object inside a blocking function's detail (identity-toolkit 3.5).
  private static func blockingMessage(_ detail: String) -> String? {
    guard let start = detail.firstIndex(of: "{"), let end = detail.lastIndex(of: "}"), start < end else {
      return detail
    }
    struct Inner: Decodable { struct Body: Decodable { var message: String? }; var error: Body? }
    let inner = try? JSONDecoder().decode(Inner.self, from: Data(detail[start...end].utf8))
    return inner == nil ? detail : inner?.error?.message
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
