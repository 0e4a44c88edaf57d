import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// Each code that the protocol lists for phones and second factors comes about here: as recorded (`TranscriptTests`), or by
/// circumstances of its own below, or else by a fault.
@Suite(.timeLimit(.minutes(1)))
struct EveryCodeTests {
  /// Identity-toolkit 2.12, 2.13, 2.18, and of 3.3 what belongs to them.
  static let listed: Set<String> = [
    "INVALID_PHONE_NUMBER", "QUOTA_EXCEEDED", "APP_NOT_VERIFIED", "CAPTCHA_CHECK_FAILED", "INVALID_APP_CREDENTIAL",
    "MISSING_APP_CREDENTIAL", "TOO_MANY_ATTEMPTS_TRY_LATER", "MISSING_CLIENT_IDENTIFIER", "INVALID_RECAPTCHA_TOKEN",
    "UNSUPPORTED_TENANT_OPERATION", "UNSUPPORTED_FIRST_FACTOR", "INVALID_CODE", "INVALID_SESSION_INFO",
    "SESSION_EXPIRED",
    "USER_DISABLED", "USER_NOT_FOUND", "MISSING_CODE", "MISSING_SESSION_INFO", "INVALID_TEMPORARY_PROOF",
    "PHONE_NUMBER_EXISTS", "MISSING_PHONE_NUMBER", "INVALID_MFA_PENDING_CREDENTIAL", "MISSING_MFA_PENDING_CREDENTIAL",
    "MISSING_MFA_ENROLLMENT_ID", "MFA_ENROLLMENT_NOT_FOUND", "SECOND_FACTOR_EXISTS", "SECOND_FACTOR_LIMIT_EXCEEDED",
    "UNVERIFIED_EMAIL", "EMAIL_CHANGE_NEEDS_VERIFICATION", "MISSING_CREDENTIAL", "CREDENTIAL_TOO_OLD_LOGIN_AGAIN",
    "MISSING_IOS_APP_TOKEN", "OPERATION_NOT_ALLOWED", "BILLING_NOT_ENABLED",
  ]
  /// What only a service with apps, bills and Apple's messages could mean.
  static let byFault: Set = [
    "APP_NOT_VERIFIED", "MISSING_APP_CREDENTIAL", "MISSING_IOS_APP_TOKEN", "BILLING_NOT_ENABLED",
  ]

  static func code(_ body: JSONValue?) -> String? {
    (body?["error"]?["message"]?.string?.prefix { $0 != " " && $0 != ":" }).map(String.init)
  }

  /// What the recorded service answered to calls about phones and factors.
  static func recorded() throws -> Set<String> {
    let calls = ["sendVerificationCode", "signInWithPhoneNumber", "mfaEnrollment", "mfaSignIn"]
    let exchanges = try Transcript.all().flatMap(\.exchanges).filter { exchange in
      calls.contains { exchange.request.path.contains($0) }
    }
    return Set(exchanges.compactMap { code($0.response.body) })
  }

  private static let number: JSONValue = "+15555550100"

  private func send(_ client: EmulatorClient, _ fields: [String: JSONValue] = [:]) throws -> HTTPAnswer {
    try client.post("accounts:sendVerificationCode", .object(["phoneNumber": Self.number].merging(fields) { $1 }))
  }

  private func signIn(
    _ client: EmulatorClient, _ session: JSONValue?, _ code: String, _ fields: [String: JSONValue] = [:]
  ) throws -> HTTPAnswer {
    let body: [String: JSONValue] = ["sessionInfo": session ?? .null, "code": .string(code)]
    return try client.post("accounts:signInWithPhoneNumber", .object(body.merging(fields) { $1 }))
  }

  /// Those that the settings of a project bring about, each with a message of its own.
  private func messages() throws -> [HTTPAnswer] {
    let client = try EmulatorClient()
    var answers: [HTTPAnswer] = []
    func phone(_ settings: JSONValue) throws { _ = try client.control("PATCH", "phone", settings) }
    try phone(["captcha": true])
    answers += [try send(client), try send(client, ["recaptchaToken": "made up"])]
    client.emulator.setConsent(.account(subject: "ada"))
    let page = try client.probe.request("GET", PhoneTests.handler())
    let link = page.headers["location"]?.removingPercentEncoding?.removingPercentEncoding ?? ""
    let token = link.firstMatch(of: #/recaptchaToken=([^&]+)/#).map { JSONValue.string(String($0.1)) }
    for _ in 0..<2 { answers.append(try send(client, ["recaptchaToken": try #require(token)])) }
    try phone(["enforcement": "ENFORCE"])
    answers.append(try send(client))
    try phone(["quota": 0])
    answers.append(try send(client))
    try phone(["messages": 0])
    answers.append(try send(client))
    try phone(["codeLifetime": 0])
    answers.append(try signIn(client, try send(client).json["sessionInfo"], "000000"))
    try phone([:])
    client.emulator.setProductionRules(true)
    let session = try send(client).json["sessionInfo"]
    let code = try #require(client.emulator.smsCodes.last?.code)
    answers.append(try signIn(client, session, code, ["operation": "REAUTH"]))
    return answers
  }

  private func factors() throws -> [HTTPAnswer] {
    let (client, token) = try SecondFactorTests.client()
    client.emulator.setProductionRules(true)
    func start() throws -> HTTPAnswer {
      try SecondFactorTests.post(
        client, "mfaEnrollment:start", ["idToken": token, "phoneEnrollmentInfo": ["phoneNumber": Self.number]])
    }
    let session = try start().json["phoneSessionInfo"]?["sessionInfo"] ?? .null
    let code = try #require(client.emulator.smsCodes.last?.code)
    let enrolled = try SecondFactorTests.post(
      client, "mfaEnrollment:finalize",
      ["idToken": token, "phoneVerificationInfo": ["sessionInfo": session, "code": .string(code)]])
    #expect(enrolled.status == 200)
    var answers = [
      try client.post("accounts:update", ["idToken": token, "email": "new@example.com"]),
      try SecondFactorTests.post(
        client, "mfaSignIn:start", ["mfaPendingCredential": "made up", "mfaEnrollmentId": "f", "phoneSignInInfo": [:]]),
    ]
    _ = try client.control("PATCH", "factors", ["limit": 1])
    answers.append(try start())
    client.emulator.lapseLogins()
    answers.append(try start())
    return answers
  }

  @Test func theListIsWhole() throws {
    let made = Set(try (messages() + factors()).compactMap { Self.code($0.json) })
    let recorded = try Self.recorded()
    #expect(Self.listed.subtracting(recorded).subtracting(made) == Self.byFault)
  }

  @Test(arguments: listed)
  func aFaultGivesIt(_ code: String) throws {
    let client = try EmulatorClient()
    _ = try client.control("POST", "faults", ["path": "accounts:sendVerificationCode", "error": .string(code)])
    let answer = try send(client)
    #expect(answer.status == 400 && answer.errorMessage == code)
  }
}
