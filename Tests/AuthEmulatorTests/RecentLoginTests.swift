import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// What is dangerous takes a login that isn't long ago, where that's asked for.
@Suite(.timeLimit(.minutes(1)))
struct RecentLoginTests {
  /// A dangerous call.
  struct Danger: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let version: String
    let operation: String
    let fields: JSONValue

    init(_ name: String, _ operation: String, _ fields: JSONValue, version: String = "v1") {
      (testDescription, self.operation, self.fields, self.version) = (name, operation, fields, version)
    }
  }

  static let dangers = [
    Danger("delete", "accounts:delete", [:]),
    Danger("password", "accounts:update", ["password": "brand new password"]),
    Danger("address", "accounts:update", ["email": "new@example.com"]),
    Danger(
      "address by mail", "accounts:sendOobCode",
      ["requestType": "VERIFY_AND_CHANGE_EMAIL", "newEmail": "new@example.com"]),
    Danger(
      "factor", "accounts/mfaEnrollment:start", ["phoneEnrollmentInfo": ["phoneNumber": "+15555550100"]], version: "v2"),
    Danger("factor away", "accounts/mfaEnrollment:withdraw", ["mfaEnrollmentId": "f"], version: "v2"),
  ]

  private static let start: Int64 = 1_796_008_160_000

  private func client() throws -> EmulatorClient {
    let client = try EmulatorClient()
    client.emulator.setClock(Self.start)
    let owner = EmulatorClient.json.merging(["Authorization": "Bearer owner"]) { $1 }
    let account: JSONValue = [
      "localId": "u", "email": "a@example.com", "password": "correct horse", "emailVerified": true,
    ]
    let factor: JSONValue = [
      "localId": "u",
      "mfa": ["enrollments": [["mfaEnrollmentId": "f", "phoneInfo": "+15555550111"]]],
    ]
    for (operation, body) in [("accounts:signUp", account), ("accounts:update", factor)] {
      let target = EmulatorClient.target(operation)
      #expect(try client.probe.request("POST", target, headers: owner, body: body.text).status == 200)
    }
    return client
  }

  /// An ID token of a login by both factors.
  private func login(_ client: EmulatorClient) throws -> JSONValue {
    let pending = try client.post(
      "accounts:signInWithPassword", ["email": "a@example.com", "password": "correct horse"]
    ).json["mfaPendingCredential"]
    func call(_ operation: String, _ fields: JSONValue) throws -> JSONValue {
      let body: JSONValue = ["mfaPendingCredential": pending ?? .null, "mfaEnrollmentId": "f"]
      let all = (body.object ?? [:]).merging(fields.object ?? [:]) { $1 }
      return try client.probe.request(
        "POST", "/identitytoolkit.googleapis.com/v2/accounts/mfaSignIn:\(operation)?key=k",
        headers: EmulatorClient.json, body: JSONValue.object(all).text
      ).json
    }
    let session = try call("start", [:])["phoneResponseInfo"]?["sessionInfo"] ?? .null
    let code = try #require(client.emulator.smsCodes.last?.code)
    let tokens = try call("finalize", ["phoneVerificationInfo": ["sessionInfo": session, "code": .string(code)]])
    return try #require(tokens["idToken"])
  }

  private func ask(_ client: EmulatorClient, _ danger: Danger, _ token: JSONValue) throws -> HTTPAnswer {
    let body = (danger.fields.object ?? [:]).merging(["idToken": token]) { $1 }
    return try client.probe.request(
      "POST", "/identitytoolkit.googleapis.com/\(danger.version)/\(danger.operation)?key=k",
      headers: EmulatorClient.json, body: JSONValue.object(body).text)
  }

  @Test(arguments: dangers)
  func loginGetsOld(_ danger: Danger) throws {
    let client = try client()
    _ = try client.control("PATCH", "recentLogin", ["seconds": 300])
    let token = try login(client)
    client.emulator.setClock(Self.start + 301_000)
    #expect(try ask(client, danger, token).errorMessage == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    #expect(try ask(client, danger, try login(client)).status == 200)
  }

  @Test(arguments: dangers)
  func recentLoginIsEnough(_ danger: Danger) throws {
    let client = try client()
    _ = try client.control("PATCH", "recentLogin", ["seconds": 300])
    let token = try login(client)
    client.emulator.setClock(Self.start + 300_000)
    #expect(try ask(client, danger, token).status == 200)
  }

  @Test(arguments: dangers)
  func loginsLapseAtOnce(_ danger: Danger) throws {
    let client = try client()
    let token = try login(client)
    _ = try client.control("POST", "recentLogin:lapse")
    #expect(try ask(client, danger, token).errorMessage == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    client.emulator.setClock(Self.start + 1)
    #expect(try ask(client, danger, try login(client)).status == 200)
  }

  @Test func theOldTokenStaysOldAfterANewLogin() throws {
    let client = try client()
    let old = try login(client)
    client.emulator.lapseLogins()
    client.emulator.setClock(Self.start + 1_000)
    let new = try login(client)
    #expect(try ask(client, Self.dangers[0], old).errorMessage == "CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
    #expect(try ask(client, Self.dangers[0], new).status == 200)
  }

  @Test func everythingElseTakesAnyLogin() throws {
    let client = try client()
    let token = try login(client)
    client.emulator.lapseLogins()
    for harmless in [
      Danger("name", "accounts:update", ["displayName": "Ada"]), Danger("lookup", "accounts:lookup", [:]),
      Danger("verification", "accounts:sendOobCode", ["requestType": "VERIFY_EMAIL"]),
    ] { #expect(try ask(client, harmless, token).status == 200) }
    client.emulator.setRecentLogin(seconds: nil)
    #expect(try ask(client, Self.dangers[0], token).status == 200)
  }
}
