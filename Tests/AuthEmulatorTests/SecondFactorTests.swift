import AuthCore
import Foundation
import TestSupport
import Testing

@testable import AuthEmulator

/// Authenticator apps, which the recorded service doesn't have; SMS factors are in the transcripts.
@Suite(.timeLimit(.minutes(1)))
struct SecondFactorTests {
  /// RFC 6238, appendix B, SHA-1: the last six of eight digits.
  @Test(
    arguments: [
      (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
      (2_000_000_000, "279037"), (20_000_000_000, "353130"),
    ] as [(Int64, String)])
  func codesAreThoseOfTheRFC(_ time: Int64, _ code: String) {
    #expect(TOTP.code(Array("12345678901234567890".utf8), step: time / 30) == code)
  }

  /// FIPS 180-4's examples; RFC 2202, cases 1 and 6.
  @Test func hashIsSHA1() {
    func hexadecimal(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
    #expect(hexadecimal(SHA1.hash(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(hexadecimal(SHA1.hash([])) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    let key = [UInt8](repeating: 0x0b, count: 20)
    #expect(hexadecimal(SHA1.hmac(Array("Hi There".utf8), key: key)) == "b617318655057264e28bc0b6fb378c8ef146be00")
    let long = SHA1.hmac(
      Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8), key: Array(repeating: 0xaa, count: 80))
    #expect(hexadecimal(long) == "aa4ae5e15272d00e95705637ce8a3b55ed402112")
  }

  static func client(hasTOTP: Bool = true) throws -> (EmulatorClient, JSONValue) {
    let client = try EmulatorClient()
    client.emulator.setClock(1_796_008_160_000)
    let owner = EmulatorClient.json.merging(["Authorization": "Bearer owner"]) { $1 }
    if hasTOTP {
      let body: JSONValue = ["mfa": ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]]]]
      _ = try client.probe.request(
        "PATCH", "/identitytoolkit.googleapis.com/v2/projects/demo-linkd/config?updateMask=mfa", headers: owner,
        body: body.text)
    }
    let account: JSONValue = [
      "localId": "u", "email": "a@example.com", "password": "correct horse", "emailVerified": true,
    ]
    _ = try client.probe.request(
      "POST", EmulatorClient.target("accounts:signUp"), headers: owner, body: account.text)
    return (client, try signIn(client)["idToken"] ?? .null)
  }

  static func signIn(_ client: EmulatorClient) throws -> JSONValue {
    try client.post("accounts:signInWithPassword", ["email": "a@example.com", "password": "correct horse"]).json
  }

  static func post(_ client: EmulatorClient, _ operation: String, _ body: JSONValue) throws -> HTTPAnswer {
    try client.probe.request(
      "POST", "/identitytoolkit.googleapis.com/v2/accounts/\(operation)?key=k", headers: EmulatorClient.json,
      body: body.text)
  }

  static func code(_ secret: JSONValue?, at time: Int64 = 1_796_008_160) throws -> JSONValue {
    .string(TOTP.code(try #require(Base32.decode(secret?.string ?? "")), step: time / 30))
  }

  @Test func appIsEnrolledAndAskedFor() throws {
    let (client, token) = try Self.client()
    let begun = try Self.post(client, "mfaEnrollment:start", ["idToken": token, "totpEnrollmentInfo": [:]]).json
    let info = try #require(begun["totpSessionInfo"])
    #expect(info["verificationCodeLength"] == 6 && info["periodSec"] == 30 && info["hashingAlgorithm"] == "SHA1")
    let session = info["sessionInfo"] ?? .null
    let secret = info["sharedSecretKey"]
    func finalize(_ code: JSONValue) throws -> HTTPAnswer {
      try Self.post(
        client, "mfaEnrollment:finalize",
        [
          "idToken": token, "displayName": "App",
          "totpVerificationInfo": ["sessionInfo": session, "verificationCode": code],
        ])
    }
    #expect(try finalize("").errorMessage == "MISSING_CODE")
    #expect(try finalize("000000").errorMessage == "INVALID_CODE")
    let enrolled = try finalize(try Self.code(secret))
    #expect(enrolled.status == 200)
    let claims = Token(jwt: enrolled.json["idToken"]?.string ?? "")?.content["firebase"]
    #expect(claims?["sign_in_second_factor"] == "totp")
    #expect(try finalize(try Self.code(secret)).errorMessage == "INVALID_SESSION_INFO")
    // From now on the first factor alone gives no token.
    let pending = try Self.signIn(client)
    #expect(pending["idToken"] == nil && pending["mfaInfo"]?[pointer: "/0/totpInfo"] == [:])
    func second(_ code: JSONValue) throws -> HTTPAnswer {
      try Self.post(
        client, "mfaSignIn:finalize",
        [
          "mfaPendingCredential": pending["mfaPendingCredential"] ?? .null,
          "mfaEnrollmentId": pending["mfaInfo"]?[pointer: "/0/mfaEnrollmentId"] ?? .null,
          "totpVerificationInfo": ["verificationCode": code],
        ])
    }
    #expect(try second("000000").errorMessage == "INVALID_CODE")
    #expect(try second(try Self.code(secret, at: 1_796_008_160 + 30 * 6)).errorMessage == "INVALID_CODE")
    let signedIn = try second(try Self.code(secret, at: 1_796_008_160 - 30))
    #expect(Token(jwt: signedIn.json["idToken"]?.string ?? "")?.content["user_id"] == "u")
  }

  @Test func enrollmentEndsAfterFiveMinutes() throws {
    let (client, token) = try Self.client()
    let info = try Self.post(client, "mfaEnrollment:start", ["idToken": token, "totpEnrollmentInfo": [:]])
      .json["totpSessionInfo"]
    #expect(info?["finalizeEnrollmentTime"] == "2026-11-30T03:14:20.000Z")
    client.emulator.setClock(1_796_008_160_000 + 300_001)
    let late = try Self.post(
      client, "mfaEnrollment:finalize",
      [
        "idToken": token,
        "totpVerificationInfo": [
          "sessionInfo": info?["sessionInfo"] ?? .null,
          "verificationCode": try Self.code(info?["sharedSecretKey"], at: 1_796_008_460),
        ],
      ])
    #expect(late.errorMessage == "SESSION_EXPIRED")
  }

  @Test func appsAreOffAtFirst() throws {
    let (client, token) = try Self.client(hasTOTP: false)
    let answer = try Self.post(client, "mfaEnrollment:start", ["idToken": token, "totpEnrollmentInfo": [:]])
    #expect(answer.errorMessage == "INVALID_ARGUMENT : ((Missing phoneEnrollmentInfo.))")
  }
}

/// Second factors that get old, and what production does and the recorded service doesn't.
@Suite(.timeLimit(.minutes(1)))
struct FactorSettingsTests {
  private static let start: Int64 = 1_796_008_160

  private func enroll(_ client: EmulatorClient, _ token: JSONValue) throws -> JSONValue {
    try #require(
      try SecondFactorTests.post(client, "mfaEnrollment:start", ["idToken": token, "totpEnrollmentInfo": [:]])
        .json["totpSessionInfo"])
  }

  private func finish(
    _ client: EmulatorClient, _ token: JSONValue, _ info: JSONValue, _ code: String
  ) throws -> HTTPAnswer {
    try SecondFactorTests.post(
      client, "mfaEnrollment:finalize",
      [
        "idToken": token,
        "totpVerificationInfo": ["sessionInfo": info["sessionInfo"] ?? .null, "verificationCode": .string(code)],
      ])
  }

  /// Against a program that isn't ours.
  @Test(
    arguments: [
      ["digits": 6], ["digits": 8, "period": 60], ["algorithm": "SHA256", "digits": 7, "period": 15],
    ] as [JSONValue])
  func codesAreThoseOfOathtool(_ settings: JSONValue) async throws {
    let (client, token) = try SecondFactorTests.client()
    _ = try client.control("PATCH", "factors", settings)
    let info = try enroll(client, token)
    #expect(info["verificationCodeLength"] == settings["digits"])
    #expect(info["periodSec"] == settings["period"] ?? 30)
    #expect(info["hashingAlgorithm"] == settings["algorithm"] ?? "SHA1")
    let arguments = [
      "--totp=\(info["hashingAlgorithm"]?.string ?? "")", "--base32",
      "--digits=\(info["verificationCodeLength"]?.integer ?? 0)",
      "--time-step-size=\(info["periodSec"]?.integer ?? 0)s",
      "--now=@\(Self.start)", info["sharedSecretKey"]?.string ?? "",
    ]
    let result = try await Subprocess.run(["/usr/bin/oathtool"] + arguments)
    let code = String(result.stdout.prefix { $0 != "\n" })
    #expect(result.status == 0 && Int64(code.count) == info["verificationCodeLength"]?.integer)
    // Settings count for what begins with them.
    _ = try client.control("PATCH", "factors", [:])
    #expect(try finish(client, token, info, code).status == 200)
  }

  @Test func firstFactorGetsOld() throws {
    let (client, token) = try SecondFactorTests.client()
    _ = try client.control("PATCH", "factors", ["pendingLifetime": 60])
    let info = try enroll(client, token)
    let secret = info["sharedSecretKey"]
    #expect(
      try finish(client, token, info, try SecondFactorTests.code(secret, at: Self.start).string ?? "").status == 200)
    let pending = try SecondFactorTests.signIn(client)
    func second(at time: Int64) throws -> HTTPAnswer {
      try SecondFactorTests.post(
        client, "mfaSignIn:finalize",
        [
          "mfaPendingCredential": pending["mfaPendingCredential"] ?? .null,
          "mfaEnrollmentId": pending["mfaInfo"]?[pointer: "/0/mfaEnrollmentId"] ?? .null,
          "totpVerificationInfo": ["verificationCode": try SecondFactorTests.code(secret, at: time)],
        ])
    }
    client.emulator.setClock((Self.start + 60) * 1000)
    #expect(try second(at: Self.start + 60).errorMessage == "INVALID_MFA_PENDING_CREDENTIAL")
    client.emulator.setClock((Self.start + 59) * 1000)
    #expect(try second(at: Self.start + 59).status == 200)
  }

  @Test func enrollmentEndsWhenItIsTold() throws {
    let (client, token) = try SecondFactorTests.client()
    var settings = FactorSettings()
    settings.enrollmentLifetime = 10
    client.emulator.setFactors(settings)
    let info = try enroll(client, token)
    #expect(info["finalizeEnrollmentTime"] == "2026-11-30T03:09:30.000Z")
    client.emulator.setClock((Self.start + 10) * 1000 + 1)
    #expect(try finish(client, token, info, "000000").errorMessage == "SESSION_EXPIRED")
  }

  @Test func phoneAsFactorTakesAToken() throws {
    let (client, token) = try SecondFactorTests.client()
    _ = try client.control("PATCH", "phone", ["captcha": true, "testNumbers": ["+15555550111": "123456"]])
    func start(_ number: String) throws -> HTTPAnswer {
      try SecondFactorTests.post(
        client, "mfaEnrollment:start",
        ["idToken": token, "phoneEnrollmentInfo": ["phoneNumber": .string(number), "recaptchaToken": "made up"]])
    }
    #expect(try start("+15555550100").errorMessage == "INVALID_RECAPTCHA_TOKEN")
    let session = try start("+15555550111").json["phoneSessionInfo"]?["sessionInfo"] ?? .null
    let enrolled = try SecondFactorTests.post(
      client, "mfaEnrollment:finalize",
      ["idToken": token, "phoneVerificationInfo": ["sessionInfo": session, "code": "123456"]])
    #expect(enrolled.status == 200)
    _ = try client.control("PATCH", "phone", ["captcha": true])
    let pending = try SecondFactorTests.signIn(client)
    let refused = try SecondFactorTests.post(
      client, "mfaSignIn:start",
      [
        "mfaPendingCredential": pending["mfaPendingCredential"] ?? .null,
        "mfaEnrollmentId": pending["mfaInfo"]?[pointer: "/0/mfaEnrollmentId"] ?? .null, "phoneSignInInfo": [:],
      ])
    #expect(refused.errorMessage == "MISSING_CLIENT_IDENTIFIER")
  }

  @Test func additionIsTakenBackByMail() throws {
    let (client, token) = try SecondFactorTests.client()
    _ = try client.control("PATCH", "factors", ["mailsAdditions": true])
    let info = try enroll(client, token)
    let code = try SecondFactorTests.code(info["sharedSecretKey"], at: Self.start).string ?? ""
    #expect(try finish(client, token, info, code).status == 200)
    #expect(try SecondFactorTests.signIn(client)["idToken"] == nil)
    let mail = try #require(client.emulator.oobCodes.last)
    #expect(mail.requestType == "REVERT_SECOND_FACTOR_ADDITION" && mail.email == "a@example.com")
    #expect(mail.link.contains("mode=revertSecondFactorAddition&"))
    let asked = try client.post("accounts:resetPassword", ["oobCode": .string(mail.code)]).json
    #expect(asked["requestType"] == "REVERT_SECOND_FACTOR_ADDITION" && asked["email"] == "a@example.com")
    #expect(try client.post("accounts:update", ["oobCode": .string(mail.code)]).json["localId"] == "u")
    #expect(try SecondFactorTests.signIn(client)["idToken"] != nil)
    #expect(try client.post("accounts:update", ["oobCode": .string(mail.code)]).errorMessage == "INVALID_OOB_CODE")
  }
}
