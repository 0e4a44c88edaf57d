import AuthCore
import EventLoop
import Foundation
import Testing

@testable import IdentityToolkit

@Suite("Calls on the wire", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct CallTests {
  static let grant = #"{"idToken":"ID","refreshToken":"RT","expiresIn":"3600","localId":"u1","isNewUser":true}"#

  @Test("what every call has in common") @LoopActor
  func common() async throws {
    let server = try ScriptedServer(.json(200, Self.grant))
    let project = try server.project { app in
      app.languageCode = "tr"
      app.bundleID = "com.example.app"
      app.sendBundleHeader = true
      app.tenantID = "tenant-1"
    }
    _ = try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: project)
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.target == "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=key%261%20%C3%A9")
    #expect(request.headers["content-type"] == "application/json")
    #expect(request.headers["x-firebase-gmpid"] == "1:2:web:3")
    #expect(request.headers["x-firebase-locale"] == "tr")
    #expect(request.headers["x-ios-bundle-identifier"] == "com.example.app")
    #expect(request.headers["x-client-version"]?.isEmpty == false)
    #expect(request.headers["expect"] == nil)
    #expect(request.json["tenantId"] as? String == "tenant-1")
    #expect(request.json["returnSecureToken"] as? Bool == true)
    #expect(request.json["clientType"] as? String == "CLIENT_TYPE_WEB")
  }

  @Test("what isn't known isn't sent") @LoopActor
  func absent() async throws {
    let server = try ScriptedServer(.json(200, Self.grant))
    let project = try server.project { app in
      app.appID = ""
      app.languageCode = ""
      app.tenantID = ""
      app.bundleID = "com.example.app"
    }
    _ = try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: project)
    let request = try #require(server.requests.first)
    for name in ["x-firebase-gmpid", "x-firebase-locale", "x-ios-bundle-identifier"] {
      #expect(request.headers[name] == nil)
    }
    #expect(Set(request.json.keys) == ["returnSecureToken", "clientType"])
  }

  @Test("a header's value can't begin another header") @LoopActor
  func headerInjection() async throws {
    let server = try ScriptedServer(.json(200, Self.grant))
    let project = try server.project { $0.languageCode = "de\r\nX-Evil: 1" }
    _ = try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: project)
    let request = try #require(server.requests.first)
    #expect(request.headers["x-evil"] == nil)
    #expect(request.headers["x-firebase-locale"] == "deX-Evil: 1")
  }

  @Test("production goes to Google's hosts by TLS")
  func production() throws {
    let app = App(id: try #require(AppID("demo")), projectID: "p", apiKey: "AIza_-.~x")
    let project = ProjectContext(app: app, backend: .production)
    #expect(
      project.url(.identityToolkit, "v1/accounts:lookup")
        == "https://identitytoolkit.googleapis.com/v1/accounts:lookup?key=AIza_-.~x")
    #expect(project.url(.secureToken, "v1/token") == "https://securetoken.googleapis.com/v1/token?key=AIza_-.~x")
  }

  // Field report B040: without canHandleCodeInApp no link signs in. B033: a plus stays a plus.
  @Test("sendOobCode") @LoopActor
  func sendSignInLink() async throws {
    let server = try ScriptedServer(.json(200, #"{"kind":"x","email":"user+tag@example.com"}"#))
    let project = try server.project { app in
      app.tenantID = "t"
      app.bundleID = "com.example.app"
      app.sendBundleHeader = true
    }
    try await IdentityToolkit(http: HTTPClient()).sendSignInLink(
      to: "User+tag@Example.com", continueURL: "https://app.example/done?a=b+c&ui_sid=x", project: project)
    let request = try #require(server.requests.first)
    #expect(request.target.hasPrefix("/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key="))
    let json = request.json
    #expect(json["requestType"] as? String == "EMAIL_SIGNIN")
    #expect(json["email"] as? String == "User+tag@Example.com")
    #expect(json["continueUrl"] as? String == "https://app.example/done?a=b+c&ui_sid=x")
    #expect(json["canHandleCodeInApp"] as? Bool == true)
    #expect(json["clientType"] as? String == "CLIENT_TYPE_WEB")
    #expect(json["tenantId"] as? String == "t")
    #expect(json["iOSBundleId"] == nil)
  }

  @Test("signInWithEmailLink") @LoopActor
  func signInWithEmailLink() async throws {
    let server = try ScriptedServer(.json(200, Self.grant))
    let answer = try await IdentityToolkit(http: HTTPClient()).signInWithEmailLink(
      email: "user+tag@example.com", oobCode: Secret("C-_="), idToken: nil, project: try server.project())
    let request = try #require(server.requests.first)
    #expect(request.target.hasPrefix("/identitytoolkit.googleapis.com/v1/accounts:signInWithEmailLink?key="))
    #expect(request.json["email"] as? String == "user+tag@example.com")
    #expect(request.json["oobCode"] as? String == "C-_=")
    #expect(request.json["idToken"] == nil)
    let grant = TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600, isNewUser: true)
    #expect(answer == .grant(grant, uid: "u1"))
  }

  @Test("signInWithEmailLink adds the address to an account") @LoopActor
  func linkEmail() async throws {
    let server = try ScriptedServer(.json(200, #"{"idToken":"ID","refreshToken":"RT"}"#))
    let answer = try await IdentityToolkit(http: HTTPClient()).signInWithEmailLink(
      email: "a@b.c", oobCode: Secret("C"), idToken: Secret("OLD"), project: try server.project())
    #expect(server.requests.first?.json["idToken"] as? String == "OLD")
    #expect(
      answer == .grant(TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: nil), uid: nil))
  }

  @Test("signInWithEmailLink that wants a second factor") @LoopActor
  func secondFactor() async throws {
    let server = try ScriptedServer(
      .json(
        200,
        """
        {"mfaPendingCredential":"P","mfaInfo":[
          {"mfaEnrollmentId":"f1","phoneInfo":"+*****42","displayName":"Mine","enrolledAt":"2024-01-02T03:04:05Z"},
          {"mfaEnrollmentId":"f2","totpInfo":{},"enrolledAt":"2024-01-02T03:04:05.678Z"},
          {"phoneInfo":"no id"}]}
        """))
    let answer = try await IdentityToolkit(http: HTTPClient()).signInWithEmailLink(
      email: "a@b.c", oobCode: Secret("C"), idToken: nil, project: try server.project())
    var first = SecondFactor(uid: "f1", kind: .phone)
    first.phoneNumber = "+*****42"
    first.displayName = "Mine"
    first.enrolledAt = 1_704_164_645
    var second = SecondFactor(uid: "f2", kind: .totp)
    second.enrolledAt = 1_704_164_645
    #expect(answer == .secondFactorRequired(pending: Secret("P"), factors: [first, second]))
  }

  @Test("signUp without a name") @LoopActor
  func signUp() async throws {
    let server = try ScriptedServer(.json(200, #"{"idToken":"ID","refreshToken":"RT","expiresIn":"3600"}"#))
    let grant = try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: try server.project())
    #expect(grant.tokens == TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600))
  }

  @Test("token") @LoopActor
  func refresh() async throws {
    let server = try ScriptedServer(
      .json(200, #"{"access_token":"AT","id_token":"ID","refresh_token":"RT2","expires_in":"3600","user_id":"u"}"#))
    let grant = try await IdentityToolkit(http: HTTPClient()).refresh(
      refreshToken: Secret("RT1"), project: try server.project())
    let request = try #require(server.requests.first)
    #expect(request.target.hasPrefix("/securetoken.googleapis.com/v1/token?key="))
    #expect(request.headers["content-type"] == "application/json")
    #expect(request.json["grantType"] as? String == "refresh_token")
    #expect(request.json["refreshToken"] as? String == "RT1")
    #expect(grant == TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT2"), expiresIn: 3600))
  }

  @Test("token that keeps the refresh token, by its other name") @LoopActor
  func refreshKeeps() async throws {
    let server = try ScriptedServer(.json(200, #"{"access_token":"AT"}"#))
    let grant = try await IdentityToolkit(http: HTTPClient()).refresh(
      refreshToken: Secret("RT1"), project: try server.project())
    #expect(grant == TokenGrant(idToken: Secret("AT"), refreshToken: Secret("RT1"), expiresIn: nil))
  }

  @Test("token that names nothing by one of its names") @LoopActor
  func refreshEmpty() async throws {
    let server = try ScriptedServer(.json(200, #"{"id_token":"","access_token":"AT","refresh_token":""}"#))
    let grant = try await IdentityToolkit(http: HTTPClient()).refresh(
      refreshToken: Secret("RT1"), project: try server.project())
    #expect(grant == TokenGrant(idToken: Secret("AT"), refreshToken: Secret("RT1"), expiresIn: nil))
  }

  @Test(
    "an answer without tokens grants nothing",
    arguments: [
      #"{"idToken":"","refreshToken":"RT"}"#, #"{"idToken":"ID","refreshToken":""}"#,
      #"{"idToken":"","refreshToken":"","mfaPendingCredential":""}"#,
    ]) @LoopActor
  func noTokens(_ body: String) async throws {
    let server = try ScriptedServer(.json(200, body))
    let project = try server.project()
    let toolkit = IdentityToolkit(http: HTTPClient())
    let expected = AuthFailure(.serviceUnavailable, serverCode: "MISSING_TOKENS")
    let signUp = try await failure { () throws(AuthFailure) in try await toolkit.signUpAnonymously(project: project) }
    #expect(signUp == expected)
    let signIn = try await failure { () throws(AuthFailure) in
      try await toolkit.signInWithEmailLink(
        email: "a@b.c", oobCode: Secret("C"), idToken: nil, project: project)
    }
    #expect(signIn == expected)
  }

  static let lifetimes: [(String, Int64?)] = [
    (#""expires_in":"3600","#, 3600), (#""expires_in":"3300.0","#, 3300), (#""expires_in":3600,"#, 3600),
    (#""expires_in":3599.9,"#, 3599), ("", nil), (#""expires_in":null,"#, nil),
    // No reason to lose the tokens: an unknown lifetime means a refresh before use.
    (#""expires_in":"soon","#, nil), (#""expires_in":"","#, nil), (#""expires_in":"1e300","#, nil),
    (#""expires_in":"nan","#, nil), (#""expires_in":1e300,"#, nil), (#""expires_in":true,"#, nil),
    (#""expires_in":{},"#, nil),
  ]

  @Test("shapes of a lifetime", arguments: lifetimes) @LoopActor
  func lifetime(_ member: String, _ seconds: Int64?) async throws {
    let server = try ScriptedServer(.json(200, "{\(member)\"id_token\":\"ID\"}"))
    let grant = try await IdentityToolkit(http: HTTPClient()).refresh(
      refreshToken: Secret("RT"), project: try server.project())
    #expect(grant.expiresIn == seconds)
  }

  // Field report B114: the skew is reckoned from the server's date.
  @Test("the server's date is told, of errors too", arguments: [200, 400]) @LoopActor
  func serverDate(_ status: Int) async throws {
    let body = status == 200 ? Self.grant : #"{"error":{"message":"USER_DISABLED"}}"#
    let server = try ScriptedServer(.answer(status, headers: ["Date": "Tue, 14 Nov 2023 22:13:20 GMT"], body: body))
    let toolkit = IdentityToolkit(http: HTTPClient())
    var told: [(Backend, Int64, Int64)] = []
    toolkit.onServerDate = { told.append(($0, $1, $2)) }
    let project = try server.project()
    _ = try? await toolkit.signUpAnonymously(project: project)
    #expect(told.map(\.0) == [project.backend])
    #expect(told.map(\.1) == [1_700_000_000])
    #expect(told.allSatisfy { abs($0.2 - WallClock.now) < 60 })
  }
}
