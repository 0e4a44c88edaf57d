import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// Second factors by the RFC's and production's rules (identity-toolkit 2.18).
@Suite(.timeLimit(.minutes(1)))
struct FactorRuleTests {
  private static let start: Int64 = 1_796_008_160

  /// A user with an authenticator app, and what he signs in with.
  private struct User {
    let client: EmulatorClient
    let idToken: JSONValue
    let secret: JSONValue
    let factor: JSONValue

    /// Of the period of a second counted from the start.
    func code(_ seconds: Int64) throws -> JSONValue {
      try SecondFactorTests.code(secret, at: FactorRuleTests.start + seconds)
    }

    func signIn() throws -> JSONValue {
      try #require(try SecondFactorTests.signIn(client)["mfaPendingCredential"])
    }

    func show(_ code: JSONValue, _ pending: JSONValue) throws -> HTTPAnswer {
      try SecondFactorTests.post(
        client, "mfaSignIn:finalize",
        [
          "mfaPendingCredential": pending, "mfaEnrollmentId": factor,
          "totpVerificationInfo": ["verificationCode": code],
        ])
    }
  }

  private func begin(_ client: EmulatorClient, _ token: JSONValue) throws -> HTTPAnswer {
    try SecondFactorTests.post(client, "mfaEnrollment:start", ["idToken": token, "totpEnrollmentInfo": [:]])
  }

  private func finish(
    _ client: EmulatorClient, _ token: JSONValue, _ info: JSONValue, _ code: JSONValue
  ) throws -> HTTPAnswer {
    try SecondFactorTests.post(
      client, "mfaEnrollment:finalize",
      [
        "idToken": token,
        "totpVerificationInfo": ["sessionInfo": info["sessionInfo"] ?? .null, "verificationCode": code],
      ])
  }

  /// Enrolled with the code of the first period.
  private func user(strict: Bool = false) throws -> User {
    let (client, token) = try SecondFactorTests.client()
    client.emulator.setProductionRules(strict)
    let info = try #require(try begin(client, token).json["totpSessionInfo"])
    let secret = info["sharedSecretKey"] ?? .null
    let enrolled = try finish(client, token, info, try SecondFactorTests.code(secret)).json
    let idToken = try #require(enrolled["idToken"])
    let user = try client.post("accounts:lookup", ["idToken": idToken]).json
    let factor = try #require(user[pointer: "/users/0/mfaInfo/0/mfaEnrollmentId"])
    return User(client: client, idToken: idToken, secret: secret, factor: factor)
  }

  @Test("RFC 6238, 5.2: a code is taken once, also the one of the enrollment", arguments: [true, false])
  func codesCountOnce(_ strict: Bool) throws {
    let user = try user(strict: strict)
    #expect(try user.show(try user.code(0), try user.signIn()).errorMessage == "INVALID_CODE")
    user.client.emulator.setClock((Self.start + 30) * 1000)
    #expect(try user.show(try user.code(0), try user.signIn()).errorMessage == "INVALID_CODE")
    #expect(try user.show(try user.code(30), try user.signIn()).status == 200)
    #expect(try user.show(try user.code(30), try user.signIn()).errorMessage == "INVALID_CODE")
    user.client.emulator.setClock((Self.start + 60) * 1000)
    #expect(try user.show(try user.code(60), try user.signIn()).status == 200)
    #expect(try user.show(try user.code(0), try user.signIn()).errorMessage == "INVALID_CODE")
  }

  @Test func aCodeIsTakenFromOneOfTwoSignIns() throws {
    let user = try user(strict: true)
    let (first, second) = (try user.signIn(), try user.signIn())
    #expect(first != second)
    #expect(try user.show(try user.code(30), first).status == 200)
    #expect(try user.show(try user.code(30), second).errorMessage == "INVALID_CODE")
    #expect(try user.show(try user.code(60), second).status == 200)
  }

  @Test("the first factor is spent by success, by production's rules", arguments: [true, false])
  func pendingCredentialsCountOnce(_ strict: Bool) throws {
    let user = try user(strict: strict)
    let pending = try user.signIn()
    #expect(try user.show("000000", pending).errorMessage == "INVALID_CODE")
    #expect(try user.show(try user.code(30), pending).status == 200)
    let again = try user.show(try user.code(60), pending)
    #expect(again.errorMessage == (strict ? "INVALID_MFA_PENDING_CREDENTIAL" : nil))
    let made = try user.show(try user.code(90), "made up").errorMessage
    #expect(
      made == (strict ? "INVALID_MFA_PENDING_CREDENTIAL" : "((Invalid phoneVerificationInfo.mfaPendingCredential.))"))
  }

  @Test func aSignInBearsSoManyWrongCodes() throws {
    let user = try user(strict: true)
    _ = try user.client.control("PATCH", "factors", ["attempts": 2])
    let (spoilt, fresh) = (try user.signIn(), try user.signIn())
    for _ in 0..<2 { #expect(try user.show("000000", spoilt).errorMessage == "INVALID_CODE") }
    #expect(try user.show(try user.code(30), spoilt).errorMessage == "TOO_MANY_ATTEMPTS_TRY_LATER")
    #expect(try user.show(try user.code(30), fresh).status == 200)
  }

  @Test func anEnrollmentBearsSoManyWrongCodes() throws {
    let (client, token) = try SecondFactorTests.client()
    _ = try client.control("PATCH", "factors", ["attempts": 1])
    let info = try #require(try begin(client, token).json["totpSessionInfo"])
    let code = try SecondFactorTests.code(info["sharedSecretKey"])
    #expect(try finish(client, token, info, "000000").errorMessage == "INVALID_CODE")
    #expect(try finish(client, token, info, code).errorMessage == "TOO_MANY_ATTEMPTS_TRY_LATER")
  }

  @Test func thereAreFiveFactorsAtMost() throws {
    let user = try user()
    for _ in 0..<4 {
      let info = try #require(try begin(user.client, user.idToken).json["totpSessionInfo"])
      let code = try SecondFactorTests.code(info["sharedSecretKey"])
      #expect(try finish(user.client, user.idToken, info, code).status == 200)
    }
    #expect(try begin(user.client, user.idToken).errorMessage?.hasPrefix("SECOND_FACTOR_LIMIT_EXCEEDED : ") == true)
    let phone: JSONValue = ["idToken": user.idToken, "phoneEnrollmentInfo": ["phoneNumber": "+15555550100"]]
    let refused = try SecondFactorTests.post(user.client, "mfaEnrollment:start", phone)
    #expect(refused.errorMessage?.hasPrefix("SECOND_FACTOR_LIMIT_EXCEEDED : ") == true)
  }

  @Test func theLastPlaceIsTakenOnce() throws {
    let (client, token) = try SecondFactorTests.client()
    _ = try client.control("PATCH", "factors", ["limit": 1])
    let infos = [try begin(client, token).json["totpSessionInfo"], try begin(client, token).json["totpSessionInfo"]]
    for (info, message) in zip(infos, [nil, "SECOND_FACTOR_LIMIT_EXCEEDED"]) {
      let info = try #require(info)
      let answer = try finish(client, token, info, try SecondFactorTests.code(info["sharedSecretKey"]))
      #expect(answer.errorMessage?.prefix { $0 != " " } == message.map { $0[...] })
    }
  }

  @Test(arguments: [true, false])
  func whoHasFactorsChangesHisAddressByMail(_ strict: Bool) throws {
    let user = try user(strict: strict)
    let changed = try user.client.post("accounts:update", ["idToken": user.idToken, "email": "new@example.com"])
    let message = "EMAIL_CHANGE_NEEDS_VERIFICATION : Multi-factor users must always have a verified email."
    #expect(changed.errorMessage == (strict ? message : nil))
    if strict {
      let mailed: JSONValue = [
        "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": user.idToken, "newEmail": "new@example.com",
      ]
      #expect(try user.client.post("accounts:sendOobCode", mailed).status == 200)
    }
  }

  @Test(arguments: [["attempts": -1], ["limit": -1], ["limit": .number(0.5)]] as [JSONValue])
  func nonsenseIsRefused(_ body: JSONValue) throws {
    let client = try EmulatorClient()
    #expect(try client.control("PATCH", "factors", body)["error"]?["status"] == "INVALID_ARGUMENT")
  }
}
