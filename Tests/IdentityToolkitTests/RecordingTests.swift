import AuthCore
import EventLoop
import Foundation
import Testing

@testable import IdentityToolkit

/// The calls against recorded answers (`Tests/Transcripts`).
@Suite("Recorded answers", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct RecordingTests {
  static let exchanges =
    [
      "02", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "17", "18", "20", "21", "22", "23",
      "24", "25", "26", "28", "35",
    ].flatMap(RecordedCall.inTranscript) + RecordedCall.ofOthers

  @Test("every call is among them, done and refused")
  func coverage() {
    let all: Set = [
      "signUp", "signInWithPassword", "sendOobCode", "signInWithEmailLink", "lookup", "token", "resetPassword",
      "update", "delete", "createAuthUri", "signInWithIdp", "signInWithCustomToken", "sendVerificationCode",
      "signInWithPhoneNumber", "mfaEnrollment:start", "mfaEnrollment:finalize", "mfaEnrollment:withdraw",
      "mfaSignIn:start", "mfaSignIn:finalize",
    ]
    #expect(Set(Self.exchanges.filter { $0.status == 200 }.map(\.call.name)) == all)
    #expect(Set(Self.exchanges.filter { $0.status == 400 }.map(\.call.name)) == all)
    #expect(Self.exchanges.count > 300)
    func count(_ call: (RecordedCall) -> Bool) -> Int { Self.exchanges.filter(call).count }
    #expect(count { $0.call.name == "signInWithIdp" } > 60)
    #expect(count { $0.call.name == "signInWithCustomToken" } > 15)
    #expect(count { $0.request["deleteProvider"] != nil } == 5)
    #expect(count { $0.call.name == "update" && $0.request["password"] != nil } == 4)
    #expect(count { $0.request["requestType"] == "VERIFY_AND_CHANGE_EMAIL" } == 4)
    #expect(count { $0.call.name == "sendVerificationCode" } > 20)
    #expect(count { $0.call.name == "signInWithPhoneNumber" } > 20)
    #expect(count { $0.call.name.hasPrefix("mfa") } > 30)
  }

  @Test("asked as recorded, understood as recorded", arguments: exchanges) @LoopActor
  func recorded(_ exchange: RecordedCall) async throws {
    let server = try ScriptedServer(
      .answer(exchange.status, headers: ["Content-Type": "application/json"], body: exchange.body.text))
    let project = try server.project { $0.tenantID = exchange.request["tenantId"]?.string }
    let toolkit = IdentityToolkit(http: HTTPClient())
    let outcome: RecordedCall.Outcome
    do {
      outcome = try await exchange.call.run(toolkit, project)
    } catch let error as AuthFailure {
      outcome = .failure(error)
    }
    try exchange.check(try #require(server.requests.first))
    try exchange.check(outcome)
  }
}

/// A recorded exchange that one of the calls can have.
struct RecordedCall: Sendable, CustomTestStringConvertible {
  struct Call: Sendable {
    let name: String
    let run: @LoopActor @Sendable (IdentityToolkit, ProjectContext) async throws -> Outcome

    init(
      _ name: String,
      _ run: @escaping @LoopActor @Sendable (IdentityToolkit, ProjectContext) async throws -> Outcome
    ) {
      self.name = name
      self.run = run
    }
  }

  enum Outcome {
    case sent
    case signIn(SignInAnswer)
    case provider(ProviderAnswer, sent: OAuthCredential)
    case tokens(TokenGrant?)
    case user(User)
    case code(ActionCodeInfo)
    case methods([String])
    case session(Secret<String>)
    case phone(PhoneAnswer)
    case failure(AuthFailure)
  }

  let testDescription: String
  /// Without the query.
  let path: String
  let call: Call
  let request: [String: JSONValue]
  let status: Int
  let body: JSONValue

  static func inTranscript(_ number: String) -> [RecordedCall] {
    exchanges(number).compactMap { RecordedCall($0, number) }
  }

  static func exchanges(_ number: String) -> [JSONValue] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Transcripts")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    guard let name = names.first(where: { $0.hasPrefix("\(number)-") }),
      let data = try? Data(contentsOf: folder.appending(path: name)),
      let transcript = try? JSONDecoder().decode(JSONValue.self, from: data)
    else { return [] }
    return transcript["exchanges"]?.array ?? []
  }

  /// Nil for what linkd doesn't ask: other calls, other fields, what administrators ask.
  private init?(_ exchange: JSONValue, _ number: String) {
    guard let name = exchange["name"]?.string, let sent = exchange["request"], let path = sent["path"]?.string,
      path.contains("?key="), sent["headers"]?["Authorization"] == nil,
      let status = exchange["response"]?["status"]?.integer, let body = exchange["response"]?["body"],
      let request = sent["body"]?.object ?? sent["body"]?.string.map(Self.form)
    else { return nil }
    self.path = String(path.prefix { $0 != "?" })
    guard let call = Self.call(self.path, request) else { return nil }
    self.call = call
    self.request = request
    self.status = Int(status)
    self.body = body
    testDescription = "\(number) \(name)"
  }

  private static func call(_ path: String, _ body: [String: JSONValue]) -> Call? {
    if let call = phone(path, body) { return call }
    let name = path.split(separator: ":").last.map(String.init) ?? ""
    func text(_ name: String) -> String? { body[name]?.string }
    func secret(_ name: String) -> Secret<String>? { text(name).map { Secret($0) } }
    func has(_ names: String...) -> Bool {
      Set(body.keys).isSubset(of: names + ["returnSecureToken", "clientType"])
    }
    switch name {
    case "signUp" where has():
      return Call(name) { .signIn(try await $0.signUpAnonymously(project: $1)) }
    case "signUp" where has("email", "password", "displayName", "idToken"):
      guard let email = text("email"), let password = secret("password") else { return nil }
      let (display, token) = (text("displayName"), secret("idToken"))
      return Call(name) {
        .signIn(
          try await $0.signUp(email: email, password: password, displayName: display, idToken: token, project: $1))
      }
    case "signInWithPassword" where has("email", "password"):
      guard let email = text("email"), let password = secret("password") else { return nil }
      return Call(name) { .signIn(try await $0.signInWithPassword(email: email, password: password, project: $1)) }
    case "sendOobCode":
      let email = text("email") ?? text("newEmail")
      return mail(name, text("requestType"), email, secret("idToken"), text("continueUrl"))
    case "signInWithEmailLink":
      guard let email = text("email"), let code = secret("oobCode") else { return nil }
      let token = secret("idToken")
      return Call(name) {
        .signIn(try await $0.signInWithEmailLink(email: email, oobCode: code, idToken: token, project: $1))
      }
    case "lookup":
      guard let token = secret("idToken") else { return nil }
      return Call(name) { .user(try await $0.lookup(idToken: token, project: $1)) }
    case "/securetoken.googleapis.com/v1/token" where text("grantType") == "refresh_token":
      guard let token = secret("refreshToken") else { return nil }
      return Call("token") { .tokens(try await $0.refresh(refreshToken: token, project: $1)) }
    case "signInWithIdp", "signInWithCustomToken": return provider(name, body)
    case "update" where body["deleteProvider"] != nil: return unlink(name, body)
    case "resetPassword", "update", "delete", "createAuthUri": return account(name, has, text, secret)
    default: return nil
    }
  }

  private static func mail(
    _ name: String, _ type: String?, _ email: String?, _ token: Secret<String>?, _ continueURL: String?
  ) -> Call? {
    switch (type, email, token) {
    case ("EMAIL_SIGNIN", let email?, _):
      guard let continueURL else { return nil }
      return Call(name) {
        try await $0.sendSignInLink(to: email, continueURL: continueURL, project: $1)
        return .sent
      }
    case ("PASSWORD_RESET", let email?, _):
      return Call(name) {
        try await $0.sendPasswordReset(to: email, continueURL: continueURL, project: $1)
        return .sent
      }
    case ("VERIFY_EMAIL", nil, let token?):
      return Call(name) {
        try await $0.sendEmailVerification(idToken: token, continueURL: continueURL, project: $1)
        return .sent
      }
    case ("VERIFY_AND_CHANGE_EMAIL", let email?, let token?):
      return Call(name) {
        try await $0.sendEmailChange(to: email, idToken: token, continueURL: continueURL, project: $1)
        return .sent
      }
    default: return nil
    }
  }

  private static func account(
    _ name: String, _ has: (String...) -> Bool, _ text: (String) -> String?, _ secret: (String) -> Secret<String>?
  ) -> Call? {
    switch name {
    case "resetPassword" where has("oobCode", "newPassword"):
      guard let code = secret("oobCode") else { return nil }
      guard let password = secret("newPassword") else {
        return Call(name) { .code(try await $0.checkActionCode(code, project: $1)) }
      }
      return Call(name) {
        try await $0.confirmPasswordReset(code, newPassword: password, project: $1)
        return .sent
      }
    case "update" where has("oobCode"):
      guard let code = secret("oobCode") else { return nil }
      return Call(name) {
        try await $0.applyActionCode(code, project: $1)
        return .sent
      }
    case "update" where has("idToken", "displayName", "photoUrl"):
      guard let token = secret("idToken"), text("displayName") != "", text("photoUrl") != "" else { return nil }
      let (display, photo) = (text("displayName"), text("photoUrl"))
      return Call(name) {
        .tokens(
          try await $0.updateProfile(displayName: display, photoURL: photo, idToken: token, project: $1))
      }
    case "update" where has("idToken", "password"):
      guard let token = secret("idToken"), let password = secret("password") else { return nil }
      return Call(name) { .tokens(try await $0.updatePassword(password, idToken: token, project: $1)) }
    case "delete":
      guard let token = secret("idToken") else { return nil }
      let uid = text("localId") ?? ""
      return Call(name) {
        try await $0.deleteUser(uid: uid, idToken: token, project: $1)
        return .sent
      }
    case "createAuthUri" where has("identifier", "continueUri"):
      guard let email = text("identifier"), text("continueUri") != nil else { return nil }
      return Call(name) { .methods(try await $0.fetchSignInMethods(email: email, project: $1)) }
    default: return nil
    }
  }

  /// The fields of a form by the names that they have in JSON: the service takes either.
  static func form(_ text: String) -> [String: JSONValue] {
    let names = ["grant_type": "grantType", "refresh_token": "refreshToken"]
    let fields = text.split(separator: "&").map { field -> (String, JSONValue) in
      let halves = field.split(separator: "=", maxSplits: 1).map { $0.removingPercentEncoding ?? "" }
      return (names[halves[0]] ?? halves[0], .string(halves.count > 1 ? halves[1] : ""))
    }
    return Dictionary(fields, uniquingKeysWith: { $1 })
  }

  /// Fields in which the recorded client is another one.
  private static let others: Set<String> = [
    "clientType", "iOSBundleId", "androidPackageName", "androidMinimumVersion", "androidInstallApp", "linkDomain",
    "continueUri", "canHandleCodeInApp", "returnSecureToken", "returnIdpCredential", "iosReceipt", "iosSecret",
  ]

  func check(_ actual: ReceivedRequest) throws {
    #expect(actual.method == "POST")
    #expect(actual.target.prefix { $0 != "?" } == path)
    let json = try #require(try JSONDecoder().decode(JSONValue.self, from: Data(actual.body)).object)
    for (name, value) in request where !Self.others.contains(name) {
      // Forms may be encoded in several ways.
      if name == "postBody", let sent = json[name]?.string, let recorded = value.string {
        #expect(Self.form(sent) == Self.form(recorded))
      } else if let members = value.object {
        for (member, value) in members where !Self.others.contains(member) {
          #expect(json[name]?[member] == value, "\(name).\(member)")
        }
      } else {
        #expect(json[name] == value, "\(name)")
      }
    }
  }

  func check(_ outcome: Outcome) throws {
    switch outcome {
    case .failure(let failure): try check(failure)
    case .sent: #expect(status == 200)
    case .signIn(.grant(let grant, let uid)):
      if let uid { #expect(uid == body["localId"]?.string) }
      if call.name == "signInWithEmailLink" { #expect(uid != nil && grant.isNewUser == body["isNewUser"]?.bool) }
      try check(grant)
    case .signIn(.secondFactorRequired): #expect(body["mfaPendingCredential"] != nil)
    case .provider(let answer, let sent): try check(answer, sent)
    case .tokens(let grant):
      #expect(status == 200 && (grant == nil) == ((body["refreshToken"] ?? body["refresh_token"]) == nil))
      if let grant { try check(grant) }
    case .code(let info):
      #expect(status == 200)
      #expect([info.email, info.previousEmail].contains(body["email"]?.string))
      #expect(info.kind != nil)
      if let new = body["newEmail"]?.string { #expect([info.email, info.previousEmail].contains(new)) }
    case .methods(let methods):
      #expect(status == 200)
      #expect(methods == (body["signinMethods"]?.array ?? []).compactMap(\.string))
    case .session(let session):
      let answer = body["phoneSessionInfo"] ?? body["phoneResponseInfo"] ?? body
      #expect(status == 200 && session.reveal() == answer["sessionInfo"]?.string)
    case .phone(let answer): try check(answer)
    case .user(let user):
      #expect(status == 200)
      let account = try #require(body["users"]?.array?.first)
      #expect(user.uid == account["localId"]?.string)
      #expect(user.email == account["email"]?.string)
      #expect(user.emailVerified == (account["emailVerified"]?.bool ?? false))
      #expect(user.phoneNumber == account["phoneNumber"]?.string)
      #expect(user.displayName == account["displayName"]?.string)
      #expect(user.createdAt == account["createdAt"]?.string.flatMap { Int64($0) }.map { $0 / 1000 })
      #expect(user.lastSignInAt == account["lastLoginAt"]?.string.flatMap { Int64($0) }.map { $0 / 1000 })
      #expect(
        user.providers.map(\.providerID) == (account["providerUserInfo"]?.array ?? []).map { $0["providerId"]?.string })
      let ways = ["providerUserInfo", "email", "customAuth"]
      #expect(user.isAnonymous == ways.allSatisfy { account[$0] == nil })
    }
  }

  func check(_ grant: TokenGrant) throws {
    #expect(status == 200)
    #expect(grant.idToken.reveal() == (body["idToken"] ?? body["access_token"])?.string)
    #expect(grant.refreshToken.reveal() == (body["refreshToken"] ?? body["refresh_token"])?.string)
    // The calls for second factors mostly don't say.
    let says = body["expiresIn"] != nil || body["expires_in"] != nil
    #expect(grant.expiresIn == (says ? 3600 : nil) && (says || call.name.hasPrefix("mfa")))
    let token = try IDToken(grant.idToken.reveal())
    if call.name != "signInWithCustomToken", !call.name.hasPrefix("mfa") {
      #expect(token.subject == (body["localId"] ?? body["user_id"])?.string)
    }
    #expect(token.expiresAt == token.issuedAt.map { $0 + 3600 })
    #expect(token.signInProvider != nil)
  }

  private func check(_ failure: AuthFailure) throws {
    let message = try #require(body["error"]?["message"]?.string)
    switch status {
    case 500...:
      #expect(failure == AuthFailure(.serviceUnavailable, serverCode: "HTTP_\(status)"))
    case 403:
      #expect(message == "The request is missing a valid API key.")
      #expect(failure.error == .invalidAPIKey)
    case _ where message.hasPrefix("(("): #expect(failure == AuthFailure(.sessionExpired, serverCode: "REASON"))
    case _ where message.hasPrefix("INVALID_ARGUMENT"): #expect(failure.error == .operationNotAllowed)
    default:
      let code = String(message.prefix { $0 != " " && $0 != ":" })
      #expect(failure.serverCode == code)
      #expect(failure.error == ServerErrorTable.rows[code])
      #expect(failure.error != .internal)
    }
  }
}
