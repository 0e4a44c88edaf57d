import AuthCore
import EventLoop
import Testing

@testable import IdentityToolkit

@Suite("mfaEnrollment, mfaSignIn, and changes of the account", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct SecondFactorCallTests {
  private static let tokens = #"{"idToken":"ID","refreshToken":"RT"}"#
  /// The answers don't say how long their tokens live: unknown is what makes them be refreshed before use.
  private let grant = TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: nil)
  let token = Secret("T")

  /// What a call sends, and what it makes of `reply`.
  @LoopActor
  func ask<Value>(
    _ reply: String, status: Int = 200,
    _ call: @LoopActor (IdentityToolkit, ProjectContext) async throws(AuthFailure) -> Value
  ) async throws -> (Value, ReceivedRequest) {
    let server = try ScriptedServer(.json(status, reply))
    let value = try await call(IdentityToolkit(http: HTTPClient()), try server.project { $0.tenantID = "t" })
    return (value, try #require(server.requests.first))
  }

  @LoopActor
  func refusal<Value>(
    _ reply: String, status: Int = 200,
    _ call: @LoopActor (IdentityToolkit, ProjectContext) async throws(AuthFailure) -> Value
  ) async throws -> AuthFailure {
    let server = try ScriptedServer(.json(status, reply))
    let project = try server.project()
    let toolkit = IdentityToolkit(http: HTTPClient())
    return try await failure { () throws(AuthFailure) in try await call(toolkit, project) }
  }

  func body(_ request: ReceivedRequest) throws -> JSONValue { try #require(JSONValue(json: request.body)) }

  // MARK: Enrollment

  @Test("a phone's enrollment starts with its number and the page's token") @LoopActor func startPhone() async throws {
    let (session, request) = try await ask(#"{"phoneSessionInfo":{"sessionInfo":"S"}}"#) {
      toolkit, project throws(AuthFailure) in
      try await toolkit.startPhoneEnrollment(
        phoneNumber: "+15555550100", recaptchaToken: Secret("RT"), enforcement: .off, idToken: token, project: project)
    }
    #expect(session == Secret("S"))
    #expect(request.target.hasPrefix("/identitytoolkit.googleapis.com/v2/accounts/mfaEnrollment:start?key="))
    #expect(
      try body(request)
        == [
          "idToken": "T", "tenantId": "t",
          "phoneEnrollmentInfo": ["phoneNumber": "+15555550100", "recaptchaToken": "RT"],
        ])
  }

  @Test("where reCAPTCHA Enterprise listens, the phone's object says so") @LoopActor func audit() async throws {
    let (_, request) = try await ask(#"{"phoneSessionInfo":{"sessionInfo":"S"}}"#) {
      toolkit, project throws(AuthFailure) in
      try await toolkit.startPhoneEnrollment(
        phoneNumber: "+1", recaptchaToken: nil, enforcement: .audit, idToken: token, project: project)
    }
    #expect(
      try body(request)["phoneEnrollmentInfo"]
        == [
          "phoneNumber": "+1", "captchaResponse": "NO_RECAPTCHA", "recaptchaVersion": "RECAPTCHA_ENTERPRISE",
          "clientType": "CLIENT_TYPE_WEB",
        ])
  }

  static let session = #""sharedSecretKey":"GEZDGNBVGY3TQOJQ","sessionInfo":"S""#

  @Test("an app's enrollment has the server's secret, digits, period and algorithm") @LoopActor
  func startTOTP() async throws {
    let (enrollment, request) = try await ask(
      #"""
      {"totpSessionInfo":{\#(Self.session),"verificationCodeLength":8,"hashingAlgorithm":"SHA256","periodSec":60,
        "finalizeEnrollmentTime":"2026-11-30T03:14:20Z"}}
      """#
    ) { toolkit, project throws(AuthFailure) in try await toolkit.startTOTPEnrollment(idToken: token, project: project)
    }
    #expect(
      enrollment
        == TOTPEnrollment(
          secret: Secret("GEZDGNBVGY3TQOJQ"), digits: 8, period: 60, algorithm: "SHA256", sessionInfo: Secret("S"),
          endsAt: 1_796_008_460))
    #expect(try body(request) == ["idToken": "T", "tenantId": "t", "totpEnrollmentInfo": [:]])
    #expect(!String(reflecting: enrollment).contains("GEZD"))
  }

  static let numbers: [(String, Int, Int, String)] = [
    ("", 6, 30, "SHA1"),
    (#","verificationCodeLength":"6","periodSec":"30","hashingAlgorithm":"HMAC_SHA512""#, 6, 30, "SHA512"),
    (#","verificationCodeLength":10,"periodSec":15.9,"hashingAlgorithm":"sha-1""#, 10, 15, "SHA1"),
    (#","hashingAlgorithm":"","finalizeEnrollmentTime":"soon""#, 6, 30, "SHA1"),
  ]

  @Test("what an enrollment doesn't say is as apps take it", arguments: numbers) @LoopActor
  func shapes(_ members: String, _ digits: Int, _ period: Int, _ algorithm: String) async throws {
    let (enrollment, _) = try await ask(#"{"totpSessionInfo":{\#(Self.session)\#(members)}}"#) {
      toolkit, project throws(AuthFailure) in try await toolkit.startTOTPEnrollment(idToken: token, project: project)
    }
    #expect(enrollment.digits == digits && enrollment.period == period && enrollment.algorithm == algorithm)
    #expect(enrollment.endsAt == nil)
  }

  static let hostile: [(String, String)] =
    [
      "{}", #"{"phoneSessionInfo":{"sessionInfo":"S"}}"#, #"{"totpSessionInfo":{}}"#,
      #"{"totpSessionInfo":{"sharedSecretKey":"","sessionInfo":"S"}}"#,
      #"{"totpSessionInfo":{"sharedSecretKey":"AA","sessionInfo":""}}"#,
      #"{"totpSessionInfo":{"sharedSecretKey":"A&issuer=x","sessionInfo":"S"}}"#,
    ].map { ($0, "NO_SESSION") }
    + [
      #""verificationCodeLength":0"#, #""verificationCodeLength":-6"#, #""verificationCodeLength":1e300"#,
      #""verificationCodeLength":"six""#, #""periodSec":0"#, #""periodSec":-30"#, #""periodSec":9223372036854775807"#,
      #""hashingAlgorithm":"MD5""#, #""hashingAlgorithm":"SHA1&x=y""#,
    ].map { (#"{"totpSessionInfo":{\#(session),\#($0)}}"#, "UNEXPECTED_TOTP") }
    + ["[]", #"{"totpSessionInfo":"S"}"#, #"{"totpSessionInfo":{"sharedSecretKey":[]}}"#].map {
      ($0, "UNEXPECTED_ANSWER")
    }

  @Test("an enrollment that no app could do is none", arguments: hostile) @LoopActor
  func impossible(_ reply: String, _ code: String) async throws {
    let error = try await refusal(reply) { toolkit, project throws(AuthFailure) in
      try await toolkit.startTOTPEnrollment(idToken: token, project: project)
    }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: code))
  }

  @Test(
    "a phone's start without its session is none",
    arguments: ["{}", #"{"totpSessionInfo":{}}"#, #"{"phoneSessionInfo":{}}"#])
  @LoopActor
  func noPhoneSession(_ reply: String) async throws {
    let error = try await refusal(reply) { toolkit, project throws(AuthFailure) in
      try await toolkit.startPhoneEnrollment(
        phoneNumber: "+1", recaptchaToken: nil, idToken: token, project: project)
    }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "NO_SESSION"))
  }

  @Test("enrollment ends with the code where each kind has it") @LoopActor func finish() async throws {
    let (phone, first) = try await ask(#"{"idToken":"ID","refreshToken":"RT","phoneSessionInfo":{"phoneNumber":"+1"}}"#)
    {
      toolkit, project throws(AuthFailure) in
      try await toolkit.finishPhoneEnrollment(
        code: Secret("123456"), sessionInfo: Secret("S"), displayName: "Mine", idToken: token, project: project)
    }
    #expect(phone == grant)
    #expect(first.target.contains("/v2/accounts/mfaEnrollment:finalize?key="))
    #expect(
      try body(first)
        == [
          "idToken": "T", "tenantId": "t", "displayName": "Mine",
          "phoneVerificationInfo": ["sessionInfo": "S", "code": "123456"],
        ])
    let (app, second) = try await ask(Self.tokens) { toolkit, project throws(AuthFailure) in
      try await toolkit.finishTOTPEnrollment(
        code: Secret("123456"), sessionInfo: Secret("S"), displayName: "", idToken: token, project: project)
    }
    #expect(app == grant)
    #expect(
      try body(second)
        == [
          "idToken": "T", "tenantId": "t", "totpVerificationInfo": ["sessionInfo": "S", "verificationCode": "123456"],
        ])
  }

  @Test("taking a factor away gives tokens, or says that it gives none") @LoopActor func withdraw() async throws {
    let (tokens, request) = try await ask(Self.tokens) { toolkit, project throws(AuthFailure) in
      try await toolkit.withdrawSecondFactor("f", idToken: token, project: project)
    }
    #expect(tokens == grant)
    #expect(request.target.contains("/v2/accounts/mfaEnrollment:withdraw?key="))
    #expect(try body(request) == ["idToken": "T", "tenantId": "t", "mfaEnrollmentId": "f"])
    for reply in ["{}", #"{"idToken":"ID"}"#] {
      let (none, _) = try await ask(reply) { toolkit, project throws(AuthFailure) in
        try await toolkit.withdrawSecondFactor("f", idToken: token, project: project)
      }
      #expect(none == nil)
    }
  }

  // MARK: Sign-in

  @Test("the masked number isn't sent, but its object is") @LoopActor func start() async throws {
    let (session, request) = try await ask(#"{"phoneResponseInfo":{"sessionInfo":"S"}}"#) {
      toolkit, project throws(AuthFailure) in
      try await toolkit.startSecondFactor(
        pending: Secret("P"), factorUID: "f", recaptchaToken: nil, project: project)
    }
    #expect(session == Secret("S"))
    #expect(request.target.contains("/v2/accounts/mfaSignIn:start?key="))
    #expect(
      try body(request)
        == ["mfaPendingCredential": "P", "mfaEnrollmentId": "f", "phoneSignInInfo": [:], "tenantId": "t"])
    let (_, verified) = try await ask(#"{"phoneResponseInfo":{"sessionInfo":"S"}}"#) {
      toolkit, project throws(AuthFailure) in
      try await toolkit.startSecondFactor(
        pending: Secret("P"), factorUID: "f", recaptchaToken: Secret("RT"), project: project)
    }
    #expect(try body(verified)["phoneSignInInfo"] == ["recaptchaToken": "RT"])
    let error = try await refusal(#"{"phoneSessionInfo":{"sessionInfo":"S"}}"#) {
      toolkit, project throws(AuthFailure) in
      try await toolkit.startSecondFactor(pending: Secret("P"), factorUID: "f", recaptchaToken: nil, project: project)
    }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "NO_SESSION"))
  }

  @Test("a sign-in ends with the code where each kind has it") @LoopActor func second() async throws {
    let (phone, first) = try await ask(Self.tokens) { toolkit, project throws(AuthFailure) in
      try await toolkit.finishSecondFactor(
        pending: Secret("P"), code: Secret("123456"), sessionInfo: Secret("S"), project: project)
    }
    #expect(phone == grant)
    #expect(first.target.contains("/v2/accounts/mfaSignIn:finalize?key="))
    #expect(
      try body(first)
        == [
          "mfaPendingCredential": "P", "tenantId": "t",
          "phoneVerificationInfo": ["sessionInfo": "S", "code": "123456"],
        ])
    let (app, second) = try await ask(Self.tokens) { toolkit, project throws(AuthFailure) in
      try await toolkit.finishSecondFactor(
        pending: Secret("P"), totpCode: Secret("123456"), factorUID: "f", project: project)
    }
    #expect(app == grant)
    #expect(
      try body(second)
        == [
          "mfaPendingCredential": "P", "tenantId": "t", "mfaEnrollmentId": "f",
          "totpVerificationInfo": ["verificationCode": "123456"],
        ])
  }

  /// Field report B101.
  static let refusals: [(String, AuthError)] = [
    ("INVALID_CODE", .invalidVerificationCode), ("SESSION_EXPIRED : x", .sessionExpired),
    ("INVALID_MFA_PENDING_CREDENTIAL", .sessionExpired), ("MFA_ENROLLMENT_NOT_FOUND", .factorNotFound),
    ("INVALID_ARGUMENT : MFA provider not supported!", .operationNotAllowed),
    ("((User in pendingCredentialPayload does not exist.))", .sessionExpired),
    ("OPERATION_NOT_ALLOWED : TOTP based MFA not enabled.", .operationNotAllowed),
  ]

  @Test("a wrong code and an old sign-in are told apart", arguments: refusals) @LoopActor
  func refused(_ message: String, _ expected: AuthError) async throws {
    let reply = #"{"error":{"code":400,"message":"\#(message)"}}"#
    let error = try await refusal(reply, status: 400) { toolkit, project throws(AuthFailure) in
      try await toolkit.finishSecondFactor(
        pending: Secret("P"), totpCode: Secret("1"), factorUID: "f", project: project)
    }
    #expect(error.error == expected)
  }

  @Test(
    "an answer without tokens ends nothing", arguments: ["{}", #"{"idToken":"ID"}"#, #"{"refreshToken":"RT"}"#, "[]"])
  @LoopActor
  func noTokens(_ reply: String) async throws {
    let error = try await refusal(reply) { toolkit, project throws(AuthFailure) in
      try await toolkit.finishSecondFactor(
        pending: Secret("P"), code: Secret("1"), sessionInfo: Secret("S"), project: project)
    }
    #expect(error.error == .serviceUnavailable)
  }
}
