import AuthCore
import EventLoop
import Foundation
import Testing

@testable import IdentityToolkit

@Suite("signInWithIdp, custom tokens, unlinking", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct ProviderCallTests {
  private static let tokens = #""idToken":"ID","refreshToken":"RT","expiresIn":"3600""#

  private func credential(_ change: (inout OAuthCredential) -> Void = { _ in }) -> OAuthCredential {
    var credential = OAuthCredential(providerID: "oidc.test")
    credential.idToken = Secret("a.b-c_d")
    credential.rawNonce = Secret("raw")
    change(&credential)
    return credential
  }

  @LoopActor
  private func ask(
    _ reply: Reply, _ credential: OAuthCredential, idToken: String? = nil, createsAccount: Bool = true
  ) async throws(AuthFailure) -> ProviderAnswer {
    guard let server = try? ScriptedServer(reply), let project = try? server.project() else {
      throw AuthFailure(.internal)
    }
    return try await IdentityToolkit(http: HTTPClient()).signInWithIdp(
      credential, idToken: idToken.map { Secret($0) }, createsAccount: createsAccount, project: project)
  }

  @LoopActor
  private func sent(_ credential: OAuthCredential, idToken: String? = nil, createsAccount: Bool = true) async throws
    -> [String: any Sendable]
  {
    let server = try ScriptedServer(.json(200, "{\(Self.tokens)}"))
    let project = try server.project { $0.tenantID = "t-1" }
    _ = try await IdentityToolkit(http: HTTPClient()).signInWithIdp(
      credential, idToken: idToken.map { Secret($0) }, createsAccount: createsAccount, project: project)
    let request = try #require(server.requests.first)
    #expect(request.target.hasPrefix("/identitytoolkit.googleapis.com/v1/accounts:signInWithIdp?key="))
    return request.json
  }

  /// The reference joins the decoded values: a `+` or `&` in a token corrupts its form (identity-toolkit 2.11).
  @Test("the form has the reference's order, each value encoded") @LoopActor func form() async throws {
    let json = try await sent(
      credential {
        $0.accessToken = Secret("ya29.a+b&c=d%20 é")
        $0.accessTokenSecret = Secret("s/t")
        $0.pendingToken = Secret("PT")
        $0.fullName = .init(given: "Ada \"A\"", family: "Lovelace")
      }, idToken: "MINE")
    #expect(
      json["postBody"] as? String
        == "providerId=oidc.test&id_token=a.b-c_d&nonce=raw&access_token=ya29.a%2Bb%26c%3Dd%2520%20%C3%A9"
        + "&oauth_token_secret=s%2Ft"
        + "&user=%7B%22name%22%3A%7B%22firstName%22%3A%22Ada%20%5C%22A%5C%22%22%2C%22lastName%22%3A%22Lovelace%22%7D%7D"
    )
    #expect(json["requestUri"] as? String == "http://localhost")
    #expect(json["pendingToken"] as? String == "PT")
    #expect(json["idToken"] as? String == "MINE")
    #expect(json["tenantId"] as? String == "t-1")
    for flag in ["returnSecureToken", "returnIdpCredential", "autoCreate"] { #expect(json[flag] as? Bool == true) }
    #expect(json["sessionId"] == nil)
  }

  @Test("Firebase's page: the whole answer and the raw session id, nothing but the provider in the form") @LoopActor
  func handler() async throws {
    let json = try await sent(
      credential {
        ($0.idToken, $0.rawNonce) = (nil, nil)
        $0.requestURI = Secret("https://p.firebaseapp.com/__/auth/handler?state=a&code=4/0A#x")
        $0.sessionID = Secret("ABC")
        $0.fullName = .init(given: "", family: nil)
      }, createsAccount: false)
    #expect(json["postBody"] as? String == "providerId=oidc.test")
    #expect(json["requestUri"] as? String == "https://p.firebaseapp.com/__/auth/handler?state=a&code=4/0A#x")
    #expect(json["sessionId"] as? String == "ABC")
    #expect(json["autoCreate"] as? Bool == false)
    #expect(json["idToken"] == nil && json["pendingToken"] == nil)
  }

  @Test("one part of a name is enough") @LoopActor func halfName() async throws {
    let json = try await sent(credential { $0.fullName = .init(given: nil, family: "L") })
    #expect((json["postBody"] as? String)?.hasSuffix("&user=%7B%22name%22%3A%7B%22lastName%22%3A%22L%22%7D%7D") == true)
  }

  // MARK: Answers

  @Test("the credential comes back with its lifetime, written in either way", arguments: ["3599", "\"3599\""])
  @LoopActor func granted(_ lifetime: String) async throws {
    let answer = try await ask(
      .json(
        200,
        #"{\#(Self.tokens),"localId":"u1","isNewUser":true,"providerId":"oidc.test","oauthIdToken":"a.b-c_d","oauthAccessToken":"AT","oauthTokenSecret":"TS","pendingToken":"PT","oauthExpireIn":\#(lifetime),"verifiedProvider":"[\"google.com\"]","rawUserInfo":{"x":1}}"#
      ), credential())
    let expected = credential {
      $0.accessToken = Secret("AT")
      $0.accessTokenSecret = Secret("TS")
      $0.pendingToken = Secret("PT")
      $0.expiresIn = 3599
    }
    let grant = TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600, isNewUser: true)
    #expect(answer == .grant(grant, uid: "u1", credential: expected))
  }

  @Test("no credential comes back where none is named") @LoopActor func nothingReturned() async throws {
    let answer = try await ask(
      .json(200, #"{\#(Self.tokens),"providerId":"oidc.test","oauthIdToken":""}"#), credential())
    guard case .grant(_, nil, nil) = answer else {
      Issue.record("\(answer)")
      return
    }
  }

  @Test(
    "the account that exists comes before tokens in the same answer", arguments: ["[\"google.com\"]", "\"[]\"", "null"])
  @LoopActor func needConfirmation(_ verified: String) async throws {
    let body =
      #"{\#(Self.tokens),"needConfirmation":true,"email":"a@example.com","verifiedProvider":\#(verified),"providerId":"github.com","oauthAccessToken":"AT","pendingToken":"PT"}"#
    var returned = OAuthCredential(providerID: "github.com")
    (returned.accessToken, returned.pendingToken) = (Secret("AT"), Secret("PT"))
    #expect(
      try await ask(.json(200, body), credential())
        == .conflict(
          AccountConflict(
            kind: .accountExistsWithDifferentCredential, email: "a@example.com", credential: returned)))
  }

  @Test("a conflict without a credential has the one that was sent") @LoopActor func originalCredential() async throws {
    #expect(
      try await ask(.json(200, #"{"needConfirmation":true,"email":""}"#), credential())
        == .conflict(AccountConflict(kind: .accountExistsWithDifferentCredential, credential: credential())))
  }

  @Test(
    "accounts that collide are an answer, with either status",
    arguments: [
      ("FEDERATED_USER_ID_ALREADY_LINKED", .credentialAlreadyInUse), ("EMAIL_EXISTS", .emailAlreadyInUse),
      ("EMAIL_EXISTS : a detail", .emailAlreadyInUse),
    ] as [(String, ConflictKind)])
  @LoopActor func conflicts(_ word: String, _ kind: ConflictKind) async throws {
    let refused = try await ask(.json(400, #"{"error":{"message":"\#(word)"}}"#), credential(), idToken: "MINE")
    #expect(refused == .conflict(AccountConflict(kind: kind, credential: credential())))
    let told = try await ask(
      .json(
        200, #"{\#(Self.tokens),"errorMessage":"\#(word)","email":"a@example.com","oauthIdToken":"a.b-c_d"}"#),
      credential(), idToken: "MINE")
    #expect(told == .conflict(AccountConflict(kind: kind, email: "a@example.com", credential: credential())))
  }

  @Test("the nonce goes with its ID token alone") @LoopActor func nonce() async throws {
    for (token, nonce) in [("a.b-c_d", "raw"), ("another", nil)] as [(String, String?)] {
      let answer = try await ask(
        .json(200, #"{"errorMessage":"EMAIL_EXISTS","oauthIdToken":"\#(token)"}"#),
        credential { $0.fullName = .init(given: "Ada", family: nil) })
      guard case .conflict(let conflict) = answer else { throw AuthFailure(.internal) }
      #expect(conflict.credential?.rawNonce?.reveal() == nonce)
      #expect(conflict.credential?.idToken?.reveal() == token)
      #expect(conflict.credential?.fullName?.given == "Ada")
    }
  }

  @Test(
    "other words with status 200 are the errors they are",
    arguments: [
      ("USER_DISABLED", .userDisabled), ("INVALID_IDP_RESPONSE : x", .invalidProviderResponse),
      ("MISSING_OR_INVALID_NONCE", .nonceMismatch), ("OPERATION_NOT_ALLOWED", .operationNotAllowed),
    ] as [(String, AuthError)])
  @LoopActor func otherWords(_ word: String, _ error: AuthError) async throws {
    let failure = try await failure { () throws(AuthFailure) in
      try await ask(.json(200, #"{\#(Self.tokens),"errorMessage":"\#(word)"}"#), credential())
    }
    #expect(failure.error == error)
  }

  /// Identity-toolkit 1.8, step 7.
  @Test("a word that nobody knows is no reason to lose tokens") @LoopActor func unknownWord() async throws {
    let answer = try await ask(.json(200, #"{\#(Self.tokens),"errorMessage":"SOMETHING_NEW"}"#), credential())
    guard case .grant = answer else {
      Issue.record("\(answer)")
      return
    }
  }

  @Test("a second factor is asked for") @LoopActor func secondFactor() async throws {
    let answer = try await ask(
      .json(
        200,
        #"{"mfaPendingCredential":"MP","mfaInfo":[{"mfaEnrollmentId":"f1","phoneInfo":"+1***44"}],"#
          + #""oauthAccessToken":"AT"}"#), credential())
    guard case .secondFactorRequired(let pending, let factors, let given) = answer else { throw AuthFailure(.internal) }
    #expect(pending.reveal() == "MP" && factors.map(\.uid) == ["f1"])
    #expect(given?.accessToken == Secret("AT"))
  }

  @Test("who signs in anew must be there", arguments: ["USER_NOT_FOUND", "EMAIL_NOT_FOUND"]) @LoopActor
  func userMismatch(_ word: String) async throws {
    for creates in [true, false] {
      let failure = try await failure { () throws(AuthFailure) in
        try await ask(.json(400, #"{"error":{"message":"\#(word)"}}"#), credential(), createsAccount: creates)
      }
      #expect((failure.error == .userMismatch) == !creates)
      #expect(failure.serverCode == word)
    }
  }

  @Test("an answer of another shape is temporary", arguments: ["{}", #"{"providerId":"x"}"#, "[]", "<html>"])
  @LoopActor func shapes(_ body: String) async throws {
    let failure = try await failure { () throws(AuthFailure) in try await ask(.json(200, body), credential()) }
    #expect(failure.error == .serviceUnavailable)
  }

  // MARK: The other two

  @Test("unlinking names the provider, and says which account it was") @LoopActor func unlink() async throws {
    let server = try ScriptedServer(.json(200, #"{"localId":"u1",\#(Self.tokens)}"#))
    let project = try server.project { $0.tenantID = "t-1" }
    let grant = try await IdentityToolkit(http: HTTPClient()).unlink(
      providerID: "google.com", idToken: Secret("MINE"), project: project)
    #expect(grant?.idToken.reveal() == "ID")
    let json = try #require(server.requests.first).json
    #expect(json["deleteProvider"] as? [String] == ["google.com"])
    #expect(json["idToken"] as? String == "MINE" && json["tenantId"] as? String == "t-1")
    #expect(Set(json.keys) == ["deleteProvider", "idToken", "tenantId", "returnSecureToken"])
    let portal = try ScriptedServer(.json(200, "{}"))
    let other = try portal.project()
    let failure = try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: HTTPClient()).unlink(
        providerID: "google.com", idToken: Secret("MINE"), project: other)
    }
    #expect(failure == AuthFailure(.serviceUnavailable, serverCode: "NO_ACCOUNT"))
  }

  @Test("a custom token is handed on as it is") @LoopActor func customToken() async throws {
    let server = try ScriptedServer(.json(200, #"{\#(Self.tokens),"isNewUser":true}"#))
    let project = try server.project { $0.tenantID = "t-1" }
    let answer = try await IdentityToolkit(http: HTTPClient()).signInWithCustomToken(
      Secret("a.b+c/="), project: project)
    #expect(answer.tokens?.isNewUser == true)
    let json = try #require(server.requests.first).json
    #expect(json["token"] as? String == "a.b+c/=")
    #expect(Set(json.keys) == ["token", "tenantId", "returnSecureToken"])
  }
}
