import AuthCore

/// `GET /emulator/action`: what the link of a mail leads to.
enum ActionPage {
  static let operations: [Operation] = [
    Operation(name: "action", method: "GET", paths: ["/emulator/action"], access: .anybody) {
      (call, world) throws(APIError) in
      let tenant = call.request.parameter("tenantId").flatMap { $0.isEmpty ? nil : $0 }
      return try handle(call.within(tenant: tenant), &world)
    }
  ]

  private static let placeholder = "NEW_PASSWORD_HERE"

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard call.request.parameter("apiKey")?.isEmpty == false else {
      return refusal(
        "missing apiKey query parameter", "Please modify the URL to specify an apiKey, such as ...&apiKey=YOUR_API_KEY")
    }
    guard let code = call.request.parameter("oobCode"), !code.isEmpty else {
      return refusal(
        "missing oobCode query parameter",
        "Please modify the URL to specify an oobCode, such as ...&oobCode=YOUR_OOB_CODE")
    }
    let record = world[call.scope].oobCode(code)
    switch call.request.parameter("mode") {
    case "signIn": return signIn(call)
    case "resetPassword": return try resetPassword(call, record, &world)
    case "verifyEmail":
      return try change(
        call, record, &world, type: "VERIFY_EMAIL", action: "verify your email", advice: "verifying your email",
        success: "The email has been successfully verified.")
    case "verifyAndChangeEmail":
      return try change(
        call, record, &world, type: "VERIFY_AND_CHANGE_EMAIL", action: "change your email",
        advice: "changing your email", success: "The email has been successfully changed.")
    case "recoverEmail": return try recoverEmail(call, record, &world)
    default: return refusal("Invalid mode", nil)
    }
  }

  /// Hands the code on to the continue page; it's not looked at here, so that opening the link spends nothing.
  private static func signIn(_ call: Call) -> Reply {
    guard let url = call.request.parameter("continueUrl"), !url.isEmpty else {
      return refusal(
        "Missing continueUrl query parameter", "To sign in, append &continueUrl=YOUR_APP_URL to the link.")
    }
    let others = call.request.query.filter { $0.name != "continueUrl" }
    return .seeOther(URLText.adding(others, to: URLText.normalized(url)))
  }

  private static func resetPassword(
    _ call: Call, _ record: OobRecord?, _ world: inout World
  ) throws(APIError) -> Reply {
    guard let record, record.requestType == "PASSWORD_RESET" else {
      return used("reset your password", "resetting your password")
    }
    let password = call.request.parameter("newPassword") ?? ""
    let others = call.request.query.filter { $0.name != "newPassword" } + [("newPassword", placeholder)]
    let template = JSONValue.string(world.origin + URLText.adding(others, to: "/emulator/action"))
    if password.isEmpty {
      return refusal(
        "missing newPassword query parameter",
        "To reset the password for \(record.email), send an HTTP GET request to the following URL.",
        more: [
          "instructions2": "You may use a web browser or any HTTP client, such as curl.", "urlTemplate": template,
        ])
    }
    if password == placeholder {
      return refusal(
        "newPassword must be something other than '\(placeholder)'",
        "The string '\(placeholder)' is just a placeholder.",
        more: ["instructions2": "Please change the URL to specify a new password instead.", "urlTemplate": template])
    }
    try ResetPassword.apply(record, password, &world[call.scope], now: world.now)
    return done(call, ["success": "The password has been successfully updated.", "email": .string(record.email)])
  }

  private static func change(
    _ call: Call, _ record: OobRecord?, _ world: inout World, type: String, action: String, advice: String,
    success: String
  ) throws(APIError) -> Reply {
    guard let record, record.requestType == type else { return used(action, advice) }
    let address: JSONValue
    do throws(APIError) {
      _ = try ActionCode.apply(record, &world[call.scope])
      address = record.newEmail.map { ["newEmail": .string($0)] } ?? ["email": .string(record.email)]
    } catch  where error.message == "INVALID_OOB_CODE" {
      return used(action, advice)
    }
    let answer: JSONValue = ["success": .string(success)]
    return done(call, answer.adding(address))
  }

  private static func recoverEmail(
    _ call: Call, _ record: OobRecord?, _ world: inout World
  ) throws(APIError) -> Reply {
    guard let record, record.requestType == "RECOVER_EMAIL" else {
      return refusal(
        "Requested mode does not match the OOB code provided.",
        "If you're trying to test the reverting email flow, try changing the email again to generate a new link.")
    }
    _ = try ActionCode.apply(record, &world[call.scope])
    return done(call, ["success": "The email has been successfully reset.", "email": .string(record.email)])
  }

  private static func used(_ action: String, _ advice: String) -> Reply {
    refusal(
      "Your request to \(action) has expired or the link has already been used.", "Try \(advice) again.")
  }

  private static func done(_ call: Call, _ answer: JSONValue) -> Reply {
    if let url = call.request.parameter("continueUrl"), !url.isEmpty { return .seeOther(url) }
    return .prettyJSON(["authEmulator": answer])
  }

  private static func refusal(_ error: String, _ instructions: String?, more: JSONValue = [:]) -> Reply {
    let answer: JSONValue = .record(["error": .string(error), "instructions": instructions.json])
    return .prettyJSON(["authEmulator": answer.adding(more)], status: 400)
  }
}
