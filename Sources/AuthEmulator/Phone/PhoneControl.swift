import AuthCore

/// The control endpoints of our own below `/emulator/v1/projects/{project}/` for text messages, second factors and logins.
/// Each has the settings of a project or a tenant, and what a `PATCH` doesn't name is as at first.
///
/// `PATCH phone` takes `captcha`, `enforcement`, `captchaLifetime`, `testNumbers` (`{"+15555550100": "123456"}`),
/// `codeLifetime`, `attempts`, `messages`, `quota`, `proofLifetime` (`PhoneSettings`). `PATCH factors` takes `pendingLifetime`,
/// `enrollmentLifetime`, `period`, `digits`, `algorithm`, `attempts`, `limit`, `mailsAdditions`, `quietRemovals`
/// (`FactorSettings`). `PATCH recentLogin` takes `seconds`; `POST recentLogin:lapse` makes the logins so far old.
enum PhoneControl {
  static let operations: [Operation] = [
    Operation(
      name: "phone", method: "PATCH", paths: ProjectControl.paths("phone"), access: .anybody, body: .json(phoneFields)
    ) { (call, world) throws(APIError) in
      world[call.scope].phone = try phone(call.body)
      return .json([:])
    },
    Operation(
      name: "factors", method: "PATCH", paths: ProjectControl.paths("factors"), access: .anybody,
      body: .json(factorFields)
    ) { (call, world) throws(APIError) in
      world[call.scope].factorSettings = try factors(call.body)
      return .json([:])
    },
    Operation(
      name: "recentLogin", method: "PATCH", paths: ProjectControl.paths("recentLogin"), access: .anybody,
      body: .json(["seconds": .number])
    ) { (call, world) throws(APIError) in
      world[call.scope].recentLogin = RecentLogin(seconds: try seconds(call.body, "seconds"))
      return .json([:])
    },
    Operation(name: "lapse", paths: ProjectControl.paths("recentLogin:lapse"), access: .anybody) { call, world in
      world[call.scope].lapseLogins()
      return .json([:])
    },
    Operation(
      name: "identitytoolkit.getRecaptchaConfig", method: "GET",
      paths: ["/identitytoolkit.googleapis.com/v2/recaptchaConfig"], handler: recaptchaConfig),
  ]

  private static let phoneFields = Shape.fields(
    truths: ["captcha"],
    others: [
      "enforcement": .word(PhoneSettings.Enforcement.allCases.map(\.rawValue)), "captchaLifetime": .number,
      "testNumbers": .anything, "codeLifetime": .number, "attempts": .number, "messages": .number, "quota": .number,
      "proofLifetime": .number,
    ])

  private static let factorFields = Shape.fields(
    truths: ["mailsAdditions", "quietRemovals"],
    others: [
      "pendingLifetime": .number, "enrollmentLifetime": .number, "period": .number, "digits": .number,
      "attempts": .number, "limit": .number,
      "algorithm": .word(FactorSettings.Algorithm.allCases.map(\.rawValue)),
    ])

  private static func phone(_ body: JSONValue) throws(APIError) -> PhoneSettings {
    var settings = PhoneSettings()
    settings.needsCaptcha = body["captcha"]?.bool ?? false
    settings.enforcement = body["enforcement"]?.string.flatMap(PhoneSettings.Enforcement.init)
    settings.captchaLifetime = try seconds(body, "captchaLifetime") ?? settings.captchaLifetime
    settings.codeLifetime = try seconds(body, "codeLifetime")
    settings.proofLifetime = try seconds(body, "proofLifetime") ?? settings.proofLifetime
    settings.attempts = try count(body, "attempts")
    settings.messages = try count(body, "messages")
    settings.quota = try count(body, "quota")
    for (number, code) in body["testNumbers"]?.object ?? [:] {
      guard let code = code.string, !code.isEmpty else {
        throw .invalidPayload("/testNumbers/\(number) must be string")
      }
      settings.testNumbers[number] = code
    }
    return settings
  }

  private static func factors(_ body: JSONValue) throws(APIError) -> FactorSettings {
    var settings = FactorSettings()
    settings.pendingLifetime = try seconds(body, "pendingLifetime")
    settings.enrollmentLifetime = try seconds(body, "enrollmentLifetime") ?? settings.enrollmentLifetime
    settings.period = try number(body, "period", 1...3600) ?? settings.period
    settings.digits = try number(body, "digits", 6...8).map { Int($0) } ?? settings.digits
    settings.algorithm = body["algorithm"]?.string.flatMap(FactorSettings.Algorithm.init) ?? .sha1
    settings.attempts = try count(body, "attempts")
    settings.limit = try count(body, "limit") ?? settings.limit
    settings.mailsAdditions = body["mailsAdditions"]?.bool ?? false
    settings.hasQuietRemovals = body["quietRemovals"]?.bool ?? false
    return settings
  }

  private static func seconds(_ body: JSONValue, _ name: String) throws(APIError) -> Int64? {
    try number(body, name, 0...1_000_000_000)
  }

  private static func count(_ body: JSONValue, _ name: String) throws(APIError) -> Int? {
    try number(body, name, 0...Int64(Int32.max)).map { Int($0) }
  }

  private static func number(
    _ body: JSONValue, _ name: String, _ range: ClosedRange<Int64>
  ) throws(APIError) -> Int64? {
    guard let value = body[name] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw .invalidPayload("/\(name) must be in \(range)")
    }
    return number
  }

  /// What a project says of reCAPTCHA Enterprise; where it hasn't been told, the recorded service's refusal.
  private static func recaptchaConfig(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    guard let state = world[call.scope].phone.enforcement else {
      throw .notImplemented("identitytoolkit.getRecaptchaConfig is not implemented in the Auth Emulator.")
    }
    return .json([
      "recaptchaKey": "projects/12345/keys/fake-key",
      "recaptchaEnforcementState": [["provider": "PHONE_PROVIDER", "enforcementState": .string(state.rawValue)]],
    ])
  }
}
