import AuthCore
import EventLoop
import Foundation
import Testing

@testable import IdentityToolkit

@Suite("Calls on the wire", .loopRunning, .timeLimit(.minutes(1)))
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
  }

  @Test("what isn't known isn't sent") @LoopActor
  func absent() async throws {
    let server = try ScriptedServer(.json(200, Self.grant))
    let project = try server.project { app in
      app.appID = ""
      app.bundleID = "com.example.app"
    }
    _ = try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: project)
    let request = try #require(server.requests.first)
    for name in ["x-firebase-gmpid", "x-firebase-locale", "x-ios-bundle-identifier"] {
      #expect(request.headers[name] == nil)
    }
    #expect(Set(request.json.keys) == ["returnSecureToken"])
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
    let project = try server.project { $0.tenantID = "t" }
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
    #expect(grant == TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600, isNewUser: true))
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

  static let lifetimes: [(String, Int64?)] = [
    (#""expires_in":"3600","#, 3600), (#""expires_in":"3300.0","#, 3300), (#""expires_in":3600,"#, 3600),
    (#""expires_in":3599.9,"#, 3599), ("", nil), (#""expires_in":null,"#, nil),
  ]

  @Test("shapes of a lifetime", arguments: lifetimes) @LoopActor
  func lifetime(_ member: String, _ seconds: Int64?) async throws {
    let server = try ScriptedServer(.json(200, "{\(member)\"id_token\":\"ID\"}"))
    let grant = try await IdentityToolkit(http: HTTPClient()).refresh(
      refreshToken: Secret("RT"), project: try server.project())
    #expect(grant.expiresIn == seconds)
  }

  @Test("a lifetime that is none", arguments: [#""soon""#, #""""#, #""1e300""#, #""nan""#, "true", "{}"]) @LoopActor
  func noLifetime(_ value: String) async throws {
    let server = try ScriptedServer(.json(200, "{\"expires_in\":\(value),\"id_token\":\"ID\"}"))
    let project = try server.project()
    let error = try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: HTTPClient()).refresh(refreshToken: Secret("RT"), project: project)
    }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "UNEXPECTED_ANSWER"))
  }

  @Test("lookup") @LoopActor
  func lookup() async throws {
    let server = try ScriptedServer(
      .json(
        200,
        """
        {"users":[{"localId":"u1","email":"a@b.c","emailVerified":true,"displayName":"","photoUrl":"p",
          "phoneNumber":"+1","createdAt":"1700000000123","lastLoginAt":1700000001999,"tenantId":"t",
          "providerUserInfo":[{"providerId":"google.com","federatedId":"f","rawId":"r","email":"g@b.c"},
            {"providerId":"password","rawId":"r2"},{"federatedId":"nameless"}],
          "mfaInfo":[{"mfaEnrollmentId":"f1","phoneInfo":"+*"}]}]}
        """))
    let user = try await IdentityToolkit(http: HTTPClient()).lookup(
      idToken: Secret("ID"), project: try server.project())
    #expect(server.requests.first?.json["idToken"] as? String == "ID")
    #expect(server.requests.first?.target.contains("/v1/accounts:lookup?") == true)
    #expect(user.uid == "u1")
    #expect(user.email == "a@b.c")
    #expect(user.emailVerified)
    #expect(user.displayName == nil)
    #expect(user.photoURL == "p")
    #expect(user.phoneNumber == "+1")
    #expect(user.createdAt == 1_700_000_000)
    #expect(user.lastSignInAt == 1_700_000_001)
    #expect(user.tenantID == "t")
    #expect(!user.isAnonymous)
    #expect(user.providers.map(\.providerID) == ["google.com", "password"])
    #expect(user.providers.map(\.uid) == ["f", "r2"])
    #expect(user.secondFactors.map(\.uid) == ["f1"])
  }

  @Test(
    "who is a guest",
    arguments: [
      (#"{"localId":"u"}"#, true), (#"{"localId":"u","email":"","providerUserInfo":[]}"#, true),
      (#"{"localId":"u","email":"a@b.c"}"#, false), (#"{"localId":"u","phoneNumber":"+1"}"#, false),
      (#"{"localId":"u","customAuth":true}"#, false),
      (#"{"localId":"u","providerUserInfo":[{"providerId":"x.y"}]}"#, false),
    ]) @LoopActor
  func guest(_ account: String, _ isAnonymous: Bool) async throws {
    let server = try ScriptedServer(.json(200, "{\"users\":[\(account)]}"))
    let user = try await IdentityToolkit(http: HTTPClient()).lookup(
      idToken: Secret("ID"), project: try server.project())
    #expect(user.isAnonymous == isAnonymous)
  }

  @Test(
    "a lookup of none, of two, of nobody",
    arguments: [#"[]"#, #"[{"localId":"a"},{"localId":"b"}]"#, #"[{"localId":""}]"#])
  @LoopActor
  func notOneUser(_ users: String) async throws {
    let server = try ScriptedServer(.json(200, "{\"users\":\(users)}"))
    let project = try server.project()
    let error = try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: HTTPClient()).lookup(idToken: Secret("ID"), project: project)
    }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "NOT_ONE_USER"))
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
