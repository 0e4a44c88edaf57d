import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// `accounts:signInWithIdp` with what a provider really signed, where the recorded service has no say.
@Suite(.timeLimit(.minutes(1)))
struct ProviderSignInTests {
  /// SHA-256 of `ABCDEFGHIJ` (identity-toolkit 4.5).
  static let nonce = ("ABCDEFGHIJ", "261305762671a58cae5b74990bcfc236c2336fb04a0fbac626166d9491d2884c")

  private func signIn(
    _ probe: OpenIDProbe, _ fields: [String: String], provider: String = "oidc.test",
    linkingTo idToken: JSONValue? = nil,
    returnsCredential: Bool = true
  ) throws -> HTTPAnswer {
    let form = OpenIDProbe.form(["providerId": provider].merging(fields) { $1 })
    var body: [String: JSONValue] = [
      "requestUri": "http://localhost", "postBody": .string(form), "returnIdpCredential": .bool(returnsCredential),
    ]
    body["idToken"] = idToken
    return try probe.client.post("accounts:signInWithIdp", .object(body))
  }

  @Test func nonceIsTheHashOfTheRawOne() throws {
    let probe = try OpenIDProbe()
    let token = try probe.idToken(["nonce": Self.nonce.1])
    for raw in [nil, "", "ABCDEFGHIK", Self.nonce.1] {
      let answer = try signIn(probe, ["id_token": token].merging(raw.map { ["nonce": $0] } ?? [:]) { $1 })
      #expect(answer.status == 400 && answer.errorMessage?.hasPrefix("MISSING_OR_INVALID_NONCE : ") == true)
    }
    #expect(probe.emulator.accountIDs.isEmpty)
    let answer = try signIn(probe, ["id_token": token, "nonce": Self.nonce.0])
    #expect(answer.status == 200 && answer.json["email"] == "ada@example.com")
    // A raw nonce in the token isn't production's way.
    let bare = try probe.idToken(["nonce": Self.nonce.0])
    #expect(try signIn(probe, ["id_token": bare, "nonce": Self.nonce.0]).status == 400)
  }

  @Test func tokenWithoutANonceNeedsNone() throws {
    let probe = try OpenIDProbe()
    #expect(try signIn(probe, ["id_token": try probe.idToken(["nonce": nil])]).status == 200)
  }

  /// As OAuth providers without ID tokens have it, GitHub among them.
  @Test func accessTokenOfAnOwnProviderSaysWho() throws {
    let probe = try OpenIDProbe()
    let token = try #require(try probe.tokens(["scope": "email profile"])["access_token"]?.string)
    let answer = try signIn(probe, ["access_token": token], provider: "github.com")
    #expect(answer.status == 200, "\(answer.text)")
    #expect(answer.json["email"] == "ada@example.com" && answer.json["oauthAccessToken"] == .string(token))
    #expect(answer.json["oauthIdToken"] == nil)
    #expect(try signIn(probe, ["access_token": "another"], provider: "github.com").status == 501)
  }

  // MARK: The conflicts

  private func account(_ probe: OpenIDProbe, _ email: String?) throws -> JSONValue {
    let body: JSONValue = email.map { ["email": .string($0), "password": "correct horse"] } ?? [:]
    return try #require(try probe.client.post("accounts:signUp", body).json["idToken"])
  }

  @Test func unverifiedAddressOfAnotherNeedsConfirmation() throws {
    let probe = try OpenIDProbe()
    _ = try account(probe, "ada@example.com")
    probe.emulator.add(ProviderAccount(subject: "ada", email: "ada@example.com", isEmailVerified: false))
    let token = try probe.idToken(["nonce": Self.nonce.1])
    let answer = try signIn(probe, ["id_token": token, "nonce": Self.nonce.0])
    #expect(answer.status == 200 && answer.json["needConfirmation"] == true && answer.json["idToken"] == nil)
    #expect(answer.json["email"] == "ada@example.com" && answer.json["verifiedProvider"] == [])
    #expect(answer.json["oauthIdToken"] == .string(token))
    // Signed in the old way, the same credential is linked.
    let signedIn = try probe.client.post(
      "accounts:signInWithPassword", ["email": "ada@example.com", "password": "correct horse"])
    let linked = try signIn(
      probe, ["id_token": token, "nonce": Self.nonce.0], linkingTo: signedIn.json["idToken"])
    #expect(linked.status == 200 && linked.json["localId"] == signedIn.json["localId"])
  }

  @Test(arguments: [
    ("FEDERATED_USER_ID_ALREADY_LINKED", true), ("FEDERATED_USER_ID_ALREADY_LINKED", false), ("EMAIL_EXISTS", true),
    ("EMAIL_EXISTS", false),
  ])
  func linkingWhatIsAnothersIsAConflict(_ conflict: String, _ returnsCredential: Bool) throws {
    let probe = try OpenIDProbe()
    let token = try probe.idToken(["nonce": Self.nonce.1])
    let fields = ["id_token": token, "nonce": Self.nonce.0]
    if conflict == "EMAIL_EXISTS" { _ = try account(probe, "ada@example.com") } else { _ = try signIn(probe, fields) }
    let guest = try account(probe, nil)
    let answer = try signIn(probe, fields, linkingTo: guest, returnsCredential: returnsCredential)
    guard returnsCredential else {
      #expect(answer.status == 400 && answer.errorMessage == conflict)
      return
    }
    #expect(answer.status == 200 && answer.json["errorMessage"] == .string(conflict))
    #expect(answer.json["idToken"] == nil && answer.json["refreshToken"] == nil)
    #expect(answer.json["oauthIdToken"] == .string(token) && answer.json["providerId"] == "oidc.test")
    // With the credential of the answer, the other account signs in where the provider vouches for the address.
    let other = try signIn(probe, fields)
    #expect(other.status == 200 && other.json["idToken"]?.string?.isEmpty == false)
  }

  // MARK: Production's rules

  @Test func pendingTokenStandsForTheCredentialInConflict() throws {
    let probe = try OpenIDProbe()
    #expect(try probe.client.control("PATCH", "productionRules", ["on": true]) == ["on": true])
    _ = try account(probe, "ada@example.com")
    probe.emulator.add(ProviderAccount(subject: "ada", email: "ada@example.com", isEmailVerified: false))
    let token = try probe.idToken(["nonce": Self.nonce.1])
    let answer = try signIn(probe, ["id_token": token, "nonce": Self.nonce.0]).json
    #expect(answer["needConfirmation"] == true)
    let pending = try #require(answer["pendingToken"])
    let session = try probe.client.post(
      "accounts:signInWithPassword", ["email": "ada@example.com", "password": "correct horse"]
    ).json
    var body: JSONValue = [
      "requestUri": "http://localhost", "postBody": "providerId=oidc.test", "pendingToken": pending,
      "idToken": session["idToken"] ?? .null,
    ]
    let linked = try probe.client.post("accounts:signInWithIdp", body)
    #expect(linked.status == 200 && linked.json["localId"] == session["localId"])
    #expect(linked.json["federatedId"] == "ada")
    body = ["requestUri": "http://localhost", "postBody": "providerId=oidc.test", "pendingToken": "another"]
    #expect(try probe.client.post("accounts:signInWithIdp", body).errorMessage == "INVALID_PENDING_TOKEN")
  }

  @Test func conflictOfALinkHasAPendingTokenToo() throws {
    let probe = try OpenIDProbe()
    let token = try probe.idToken(["nonce": nil])
    _ = try signIn(probe, ["id_token": token])
    let guest = try account(probe, nil)
    #expect(try signIn(probe, ["id_token": token], linkingTo: guest).json["pendingToken"] == nil, "as recorded")
    probe.emulator.setProductionRules(true)
    let answer = try signIn(probe, ["id_token": token], linkingTo: guest).json
    #expect(answer["errorMessage"] == "FEDERATED_USER_ID_ALREADY_LINKED")
    #expect(answer["pendingToken"]?.string?.isEmpty == false)
  }

  @Test func nobodyIsMadeWhereThatIsNotWanted() throws {
    let probe = try OpenIDProbe()
    probe.emulator.setProductionRules(true)
    let form = OpenIDProbe.form(["providerId": "oidc.test", "id_token": try probe.idToken(["nonce": nil])])
    let body: JSONValue = ["requestUri": "http://localhost", "postBody": .string(form), "autoCreate": false]
    #expect(try probe.client.post("accounts:signInWithIdp", body).errorMessage == "USER_NOT_FOUND")
    #expect(probe.emulator.accountIDs.isEmpty)
    #expect(try probe.client.post("accounts:signInWithIdp", body.setting(true, at: ["autoCreate"])).status == 200)
    #expect(try probe.client.post("accounts:signInWithIdp", body).status == 200, "who is there signs in")
  }
}
