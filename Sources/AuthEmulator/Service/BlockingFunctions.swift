import AuthCore

/// A question to a function of the project's own that a sign-in waits for.
struct FunctionCall: Sendable, Equatable {
  enum Event: String, Sendable { case beforeCreate, beforeSignIn }

  let event: Event
  let url: String
  let body: String
}

/// What came of it.
enum FunctionAnswer: Sendable {
  case answered(status: Int, body: String)
  case unreachable
}

extension World {
  /// Lets the project's function have a say about an account that is about to be made or to sign in.
  ///
  /// The first time it throws: a handler doesn't wait. What it has done is forgotten, the function is asked, and the
  /// handler runs anew with the answer (`Service.handle`).
  /// - Returns: claims for the session.
  func ask(
    _ event: FunctionCall.Event, about account: inout Account, provider: String, _ scope: Scope
  ) throws(APIError) -> [String: JSONValue] {
    let trigger = self[Scope(project: scope.project)].blockingFunctions["triggers"]?[event.rawValue]
    guard let url = trigger?["functionUri"]?.string else { return [:] }
    switch functionAnswers[event] {
    case nil:
      var waiting = APIError(500, "waiting", reason: "Error")
      let token = JWT.unsigned(question(event, account, provider: provider, scope, url: url))
      waiting.waitsFor = FunctionCall(
        event: event, url: url, body: (["data": ["jwt": .string(token)]] as JSONValue).text)
      throw waiting
    case .unreachable: throw .ofFunction("Failed to make request to \(url).", reason: "fetch failed")
    case .answered(let status, let body):
      guard (200..<300).contains(status) else {
        throw APIError(
          "BLOCKING_FUNCTION_ERROR_RESPONSE : ((HTTP request to \(url) returned HTTP error \(status): \(body)))")
      }
      let content: JSONValue
      do throws(JSONSyntaxError) { content = try JSONText.parse(body) } catch {
        throw .ofFunction("Response body is not valid JSON.", reason: error.message)
      }
      return try account.take(content, event)
    }
  }

  private func question(
    _ event: FunctionCall.Event, _ account: Account, provider: String, _ scope: Scope, url: String
  ) -> JSONValue {
    .record([
      "iss": .string("https://securetoken.google.com/\(scope.project)"), "aud": .string(url),
      "iat": .integer(now / 1000), "exp": .integer(now / 1000 + 60), "sub": .string(account.localID),
      "event_id": .string(RandomText.letters(28)), "event_type": .string(event.rawValue),
      "sign_in_method": .string(provider), "ip_address": "127.0.0.1", "locale": "en",
      "tenant_id": scope.tenant.json,
      "user_record": .record([
        "uid": .string(account.localID), "email": account.email.json, "email_verified": account.emailVerified.json,
        "display_name": account.displayName.json, "photo_url": account.photoURL.json,
        "phone_number": account.phoneNumber.json, "disabled": .bool(account.disabled ?? false),
        "tenant_id": scope.tenant.json,
      ]),
    ])
  }
}

extension Account {
  /// Takes over what a function says of the account; gives what it says of the session.
  fileprivate mutating func take(
    _ answer: JSONValue, _ event: FunctionCall.Event
  ) throws(APIError) -> [String: JSONValue] {
    guard let record = answer["userRecord"] else { return [:] }
    guard let mask = record["updateMask"]?.string, !mask.isEmpty else {
      throw APIError("BLOCKING_FUNCTION_ERROR_RESPONSE : ((Response UserRecord is missing updateMask.))")
    }
    var claims: [String: JSONValue] = [:]
    for field in mask.split(separator: ",") {
      switch field {
      case "displayName": displayName = record["displayName"]?.string
      case "photoUrl": photoURL = record["photoUrl"]?.string
      case "disabled": disabled = record["disabled"]?.bool ?? false
      case "emailVerified": emailVerified = record["emailVerified"]?.bool ?? false
      case "customClaims":
        let text = (record["customClaims"] ?? [:]).text
        try CustomClaims.check(text)
        customAttributes = text
      case "sessionClaims" where event == .beforeSignIn: claims = record["sessionClaims"]?.object ?? [:]
      default: break
      }
    }
    return claims
  }
}

extension APIError {
  fileprivate static func ofFunction(_ what: String, reason: String) -> APIError {
    APIError(500, "BLOCKING_FUNCTION_ERROR_RESPONSE : ((\(what)))", reason: reason, word: "INTERNAL")
  }
}
