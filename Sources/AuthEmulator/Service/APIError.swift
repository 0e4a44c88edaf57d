import AuthCore

/// An error in the shape of Google's APIs (identity-toolkit 3.1).
struct APIError: Error {
  var status = 400
  /// `CODE`, or `CODE : detail`.
  var message: String
  /// The message of the one element of `errors`, where it differs.
  var innerMessage: String?
  var reason = "invalid"
  var domain: String? = "global"
  /// The word beside the code. Errors of the application have none.
  var word: String?
  var location: String?
  /// No error yet: the handler can't go on before a function has been asked.
  var waitsFor: FunctionCall?

  init(_ message: String) { self.message = message }

  init(_ status: Int, _ message: String, reason: String, domain: String? = nil, word: String? = nil) {
    (self.status, self.message, self.reason, self.domain, self.word) = (status, message, reason, domain, word)
  }

  static func notImplemented(_ message: String) -> APIError {
    APIError(501, message, reason: "unimplemented", word: "NOT_IMPLEMENTED")
  }

  /// What an exception that nobody caught looks like; `reason` is its JavaScript class.
  static func unhandled(_ message: String, reason: String = "Error") -> APIError {
    APIError(500, message, reason: reason, word: "UNKNOWN")
  }

  static func invalidPayload(_ detail: String, reason: String = "invalid") -> APIError {
    APIError(
      400, "Invalid JSON payload received. \(detail)", reason: reason, domain: "global", word: "INVALID_ARGUMENT")
  }

  static let notFound = APIError(404, "Not Found", reason: "notFound", word: "NOT_FOUND")

  static let missingKey = APIError(
    403, "The request is missing a valid API key.", reason: "forbidden", domain: "global", word: "PERMISSION_DENIED")

  static let invalidBearer: APIError = {
    var error = APIError(
      401,
      "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid"
        + " authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
      reason: "authError", domain: "global", word: "UNAUTHENTICATED")
    error.innerMessage = "Invalid Credentials"
    error.location = "Authorization"
    return error
  }()

  /// The error as its answer's body.
  var json: JSONValue {
    let inner: JSONValue = .record([
      "message": .string(innerMessage ?? message), "reason": .string(reason), "domain": domain.json,
      "location": location.json, "locationType": location.map { _ in "header" },
    ])
    return [
      "error": .record([
        "code": .integer(Int64(status)), "message": .string(message), "errors": [inner], "status": word.json,
      ])
    ]
  }

  var reply: Reply {
    var reply = Reply.prettyJSON(json, status: status)
    reply.waitsFor = waitsFor
    return reply
  }
}

extension JSONValue {
  /// An object without the members that have no value.
  static func record(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(Dictionary(members.compactMap { key, value in value.map { (key, $0) } }, uniquingKeysWith: { $1 }))
  }

  /// The object with the members of another added.
  func adding(_ other: JSONValue) -> JSONValue {
    .object((object ?? [:]).merging(other.object ?? [:]) { $1 })
  }
}

extension Optional<String> {
  var json: JSONValue? { map(JSONValue.string) }
}

extension Optional<Bool> {
  var json: JSONValue? { map(JSONValue.bool) }
}
