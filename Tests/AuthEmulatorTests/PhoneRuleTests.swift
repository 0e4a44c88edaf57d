import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// Text messages by production's rules, which the recorded service doesn't have (identity-toolkit 2.12, 2.13).
@Suite(.timeLimit(.minutes(1)))
struct PhoneRuleTests {
  private static let start: Int64 = 1_796_008_160_000
  private static let number = "+15555550100"

  private func client(strict: Bool = true) throws -> EmulatorClient {
    let client = try EmulatorClient()
    client.emulator.setClock(Self.start)
    client.emulator.setProductionRules(strict)
    return client
  }

  private func send(_ client: EmulatorClient, _ number: String = number) throws -> HTTPAnswer {
    try client.post("accounts:sendVerificationCode", ["phoneNumber": .string(number)])
  }

  /// A message, and its answer with the right code.
  private func signIn(
    _ client: EmulatorClient, _ number: String = number, _ fields: [String: JSONValue] = [:]
  ) throws -> HTTPAnswer {
    let session = try #require(try send(client, number).json["sessionInfo"])
    let code = try #require(client.emulator.smsCodes.last?.code)
    let body: [String: JSONValue] = ["sessionInfo": session, "code": .string(code)]
    return try client.post("accounts:signInWithPhoneNumber", .object(body.merging(fields) { $1 }))
  }

  @Test("a number has so many messages an hour", arguments: [true, false])
  func rate(_ strict: Bool) throws {
    let client = try client(strict: strict)
    _ = try client.control("PATCH", "phone", ["messages": 2, "testNumbers": ["+15555550199": "123456"]])
    for _ in 0..<2 { #expect(try send(client).status == 200) }
    #expect(try send(client).errorMessage == "TOO_MANY_ATTEMPTS_TRY_LATER")
    #expect(try send(client, "+15555550101").status == 200)
    for _ in 0..<4 { #expect(try send(client, "+15555550199").status == 200) }
    client.emulator.setClock(Self.start + 3_600_000)
    #expect(try send(client).status == 200)
  }

  @Test func aProjectHasSoManyMessages() throws {
    let client = try client()
    _ = try client.control("PATCH", "phone", ["quota": 1])
    #expect(try send(client).status == 200)
    #expect(try send(client, "+15555550101").errorMessage?.hasPrefix("QUOTA_EXCEEDED : ") == true)
  }

  @Test(
    arguments: [
      ("15555550100", "Invalid format."), ("+1555555010x", "Invalid format."), ("+٤٤٧٧٠٠٩٠٠١٢٣", "Invalid format."),
      ("+0155555501", "Invalid format."), ("+1 555 555 0100", "Invalid format."), ("+12345", "TOO_SHORT"),
      ("+1234567890123456", "TOO_LONG"),
    ])
  func whatIsntE164IsRefused(_ number: String, _ why: String) throws {
    #expect(try send(try client(), number).errorMessage == "INVALID_PHONE_NUMBER : \(why)")
  }

  /// Field report B096: the second of two says expired, though the first has signed in.
  @Test(arguments: [(true, "SESSION_EXPIRED"), (false, "INVALID_SESSION_INFO")])
  func aCodeCountsOnce(_ strict: Bool, _ message: String) throws {
    let client = try client(strict: strict)
    let session = try #require(try send(client).json["sessionInfo"])
    let body: JSONValue = ["sessionInfo": session, "code": .string(try #require(client.emulator.smsCodes.last?.code))]
    #expect(try client.post("accounts:signInWithPhoneNumber", body).status == 200)
    #expect(try client.post("accounts:signInWithPhoneNumber", body).errorMessage == message)
  }

  /// A proof for the number of another account.
  private func proof(_ client: EmulatorClient) throws -> JSONValue {
    _ = try signIn(client)
    let guest = try #require(try client.post("accounts:signUp", [:]).json["idToken"])
    let conflict = try signIn(client, Self.number, ["idToken": guest, "operation": "LINK"])
    #expect(conflict.status == 200 && conflict.json["idToken"] == nil)
    return conflict.json
  }

  private func redeem(_ client: EmulatorClient, _ proof: JSONValue) throws -> HTTPAnswer {
    try client.post(
      "accounts:signInWithPhoneNumber",
      ["phoneNumber": .string(Self.number), "temporaryProof": proof["temporaryProof"] ?? .null])
  }

  @Test("a temporary proof counts as long as it says", arguments: [true, false])
  func proofsGetOld(_ strict: Bool) throws {
    let client = try client(strict: strict)
    let proof = try proof(client)
    #expect(proof["temporaryProofExpiresIn"] == "3600")
    client.emulator.setClock(Self.start + 3_600_000)
    #expect(try redeem(client, proof).errorMessage == "INVALID_TEMPORARY_PROOF")
    client.emulator.setClock(Self.start + 3_599_999)
    #expect(try redeem(client, proof).json["isNewUser"] == false)
    _ = try client.control("PATCH", "phone", ["proofLifetime": 10])
    let short = try self.proof(client)
    #expect(short["temporaryProofExpiresIn"] == "10")
    client.emulator.setClock(Self.start + 3_599_999 + 10_000)
    #expect(try redeem(client, short).errorMessage == "INVALID_TEMPORARY_PROOF")
  }

  @Test("a temporary proof signs in once by production's rules", arguments: [true, false])
  func proofsCountOnce(_ strict: Bool) throws {
    let client = try client(strict: strict)
    let proof = try proof(client)
    #expect(try redeem(client, proof).status == 200)
    #expect(try redeem(client, proof).errorMessage == (strict ? "INVALID_TEMPORARY_PROOF" : nil))
  }

  @Test(arguments: [true, false])
  func aSecondFactorsNumberIsNoFirstFactor(_ strict: Bool) throws {
    let client = try client(strict: strict)
    let owner = EmulatorClient.json.merging(["Authorization": "Bearer owner"]) { $1 }
    let account: JSONValue = ["email": "a@example.com", "mfaInfo": [["phoneInfo": .string(Self.number)]]]
    _ = try client.probe.request(
      "POST", EmulatorClient.target("accounts:signUp"), headers: owner, body: account.text)
    let message = "UNSUPPORTED_FIRST_FACTOR : A phone number cannot be set as a first factor on an SMS based MFA user."
    #expect(try send(client).errorMessage == (strict ? message : nil))
  }

  // MARK: Tokens given up

  private func revoke(_ client: EmulatorClient, _ fields: [String: JSONValue]) throws -> HTTPAnswer {
    let body: [String: JSONValue] = ["providerId": "apple.com", "tokenType": "3", "token": "c0de"]
    return try client.probe.request(
      "POST", "/identitytoolkit.googleapis.com/v2/accounts:revokeToken?key=k", headers: EmulatorClient.json,
      body: JSONValue.object(body.merging(fields) { $1 }).text)
  }

  /// Identity-toolkit 2.19.
  @Test func applesTokensAreGivenUp() throws {
    let client = try client(strict: false)
    let user = try client.post("accounts:signUp", [:]).json
    let token = try #require(user["idToken"])
    #expect(try revoke(client, ["idToken": token]).json == [:])
    #expect(try revoke(client, ["idToken": token, "tokenType": "2", "token": "access"]).status == 200)
    let given = client.emulator.revokedTokens
    #expect(given.map(\.kind) == [.authorizationCode, .accessToken] && given.map(\.token) == ["c0de", "access"])
    #expect(given.allSatisfy { $0.localID == user["localId"]?.string })
    let listed = try client.control("GET", "revokedTokens")["revokedTokens"]
    #expect(listed?[pointer: "/0/tokenType"] == "CODE" && listed?[pointer: "/1/token"] == "access")
    #expect(try revoke(client, [:]).errorMessage == "MISSING_ID_TOKEN")
    #expect(try revoke(client, ["idToken": "nonsense"]).errorMessage == "INVALID_ID_TOKEN")
    #expect(try revoke(client, ["idToken": token, "token": ""]).status == 400)
    #expect(try revoke(client, ["idToken": token, "providerId": "google.com"]).status == 501)
    #expect(try revoke(client, ["idToken": token, "tokenType": "1"]).status == 501)
    #expect(client.emulator.revokedTokens.count == 2)
  }
}
