import AuthCore

/// `accounts:createAuthUri`: how an address signs in (identity-toolkit 2.10).
enum CreateAuthURI {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:createAuthUri", legacy: "createAuthUri",
      fields: Shape.fields(texts: ["identifier", "continueUri", "sessionId", "providerId"]), firstField: "sessionId",
      handler: handle)
  ]

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    if call["providerId"] != nil { throw .notImplemented("Sign-in with IDP is not yet supported.") }
    guard let email = call.filled("identifier")?.lowercased() else { throw APIError("MISSING_IDENTIFIER") }
    guard let url = call.filled("continueUri") else { throw APIError("MISSING_CONTINUE_URI") }
    guard email.count(where: { $0 == "@" }) == 1 else { throw APIError("INVALID_IDENTIFIER") }
    guard URLText.isAbsolute(url) else { throw APIError("INVALID_CONTINUE_URI") }
    let project = world[call.scope]
    let answer: JSONValue = [
      "kind": "identitytoolkit#CreateAuthUriResponse",
      "sessionId": .string(call["sessionId"] ?? RandomText.letters(27)),
    ]
    guard !project.improvedEmailPrivacy else { return .json(answer) }
    let accounts = project.accounts(knowing: email)
    var (providers, methods): ([String], [String]) = ([], [])
    for account in accounts {
      for provider in account.providers ?? [] where provider.providerID != "phone" {
        providers.append(provider.providerID)
        guard provider.providerID == "password" else {
          methods.append(provider.providerID)
          continue
        }
        if account.passwordHash != nil { methods.append("password") }
        if account.emailLinkSignin == true { methods.append("emailLink") }
      }
    }
    let found: JSONValue = [
      "registered": .bool(!accounts.isEmpty), "allProviders": .array(providers.map(JSONValue.string)),
      "signinMethods": .array(methods.map(JSONValue.string)),
    ]
    return .json(answer.adding(found))
  }
}
