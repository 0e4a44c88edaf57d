import AuthCore
import EventLoop
import Foundation
import Testing

@testable import IdentityToolkit

/// The calls against recorded answers (`Tests/Transcripts`).
@Suite("Recorded answers", .loopRunning, .timeLimit(.minutes(1)))
struct RecordingTests {
  static let exchanges = ["02", "06", "07", "20", "21", "35"].flatMap(RecordedCall.inTranscript)

  @Test("every call is among them, done and refused")
  func coverage() {
    let done = Self.exchanges.filter { $0.status == 200 }.map(\.call.name)
    let refused = Self.exchanges.filter { $0.status == 400 }.map(\.call.name)
    #expect(Set(done) == ["signUp", "sendOobCode", "signInWithEmailLink", "lookup", "token"])
    #expect(Set(refused) == ["sendOobCode", "signInWithEmailLink", "lookup", "token"])
    #expect(Self.exchanges.count == 55)
  }

  @Test("asked as recorded, understood as recorded", arguments: exchanges) @LoopActor
  func recorded(_ exchange: RecordedCall) async throws {
    let server = try ScriptedServer(
      .answer(exchange.status, headers: ["Content-Type": "application/json"], body: exchange.body.text))
    let project = try server.project()
    let toolkit = IdentityToolkit(http: HTTPClient())
    var outcome = RecordedCall.Outcome.sent
    do throws(AuthFailure) {
      switch exchange.call {
      case .signUp:
        outcome = .grant(try await toolkit.signUpAnonymously(project: project), uid: nil)
      case .sendOobCode(let email, let continueURL):
        try await toolkit.sendSignInLink(to: email, continueURL: continueURL, project: project)
      case .signInWithEmailLink(let email, let code, let idToken):
        let answer = try await toolkit.signInWithEmailLink(
          email: email, oobCode: Secret(code), idToken: idToken.map(Secret.init), project: project)
        guard case .grant(let grant, let uid) = answer else {
          Issue.record("a second factor is wanted")
          return
        }
        outcome = .grant(grant, uid: uid)
      case .lookup(let idToken):
        outcome = .user(try await toolkit.lookup(idToken: Secret(idToken), project: project))
      case .token(let refreshToken):
        outcome = .grant(try await toolkit.refresh(refreshToken: Secret(refreshToken), project: project), uid: nil)
      }
    } catch {
      outcome = .failure(error)
    }
    try exchange.check(try #require(server.requests.first))
    try exchange.check(outcome)
  }
}

/// A recorded exchange that one of the calls can have.
struct RecordedCall: Sendable, CustomTestStringConvertible {
  enum Call: Sendable {
    case signUp
    case sendOobCode(email: String, continueURL: String)
    case signInWithEmailLink(email: String, code: String, idToken: String?)
    case lookup(idToken: String)
    case token(refreshToken: String)

    var name: String {
      switch self {
      case .signUp: "signUp"
      case .sendOobCode: "sendOobCode"
      case .signInWithEmailLink: "signInWithEmailLink"
      case .lookup: "lookup"
      case .token: "token"
      }
    }
  }

  enum Outcome {
    case sent
    case grant(TokenGrant, uid: String?)
    case user(User)
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
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Transcripts")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    guard let name = names.first(where: { $0.hasPrefix("\(number)-") }),
      let data = try? Data(contentsOf: folder.appending(path: name)),
      let transcript = try? JSONDecoder().decode(JSONValue.self, from: data)
    else { return [] }
    return (transcript["exchanges"]?.array ?? []).compactMap { RecordedCall($0, number) }
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
    func text(_ name: String) -> String? { body[name]?.string }
    switch path.split(separator: ":").last.map(String.init) {
    case "signUp" where Set(body.keys).isSubset(of: ["returnSecureToken", "clientType"]): return .signUp
    case "sendOobCode" where text("requestType") == "EMAIL_SIGNIN":
      guard let email = text("email"), let continueURL = text("continueUrl") else { return nil }
      return .sendOobCode(email: email, continueURL: continueURL)
    case "signInWithEmailLink":
      guard let email = text("email"), let code = text("oobCode") else { return nil }
      return .signInWithEmailLink(email: email, code: code, idToken: text("idToken"))
    case "lookup": return text("idToken").map { .lookup(idToken: $0) }
    case "/securetoken.googleapis.com/v1/token" where text("grantType") == "refresh_token":
      return text("refreshToken").map { .token(refreshToken: $0) }
    default: return nil
    }
  }

  /// The fields of a form by the names that they have in JSON: the service takes either.
  private static func form(_ text: String) -> [String: JSONValue] {
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
  ]

  func check(_ actual: ReceivedRequest) throws {
    #expect(actual.method == "POST")
    #expect(actual.target.prefix { $0 != "?" } == path)
    let json = try #require(try JSONDecoder().decode(JSONValue.self, from: Data(actual.body)).object)
    for (name, value) in request where !Self.others.contains(name) { #expect(json[name] == value, "\(name)") }
  }

  func check(_ outcome: Outcome) throws {
    switch outcome {
    case .failure(let failure): try check(failure)
    case .sent: #expect(status == 200)
    case .grant(let grant, let uid):
      #expect(status == 200)
      #expect(grant.idToken.reveal() == (body["idToken"] ?? body["access_token"])?.string)
      #expect(grant.refreshToken.reveal() == (body["refreshToken"] ?? body["refresh_token"])?.string)
      #expect(grant.expiresIn == 3600)
      if let uid { #expect(uid == body["localId"]?.string) }
      if case .signInWithEmailLink = call { #expect(uid != nil && grant.isNewUser == body["isNewUser"]?.bool) }
      let token = try IDToken(grant.idToken.reveal())
      #expect(token.subject == (body["localId"] ?? body["user_id"])?.string)
      #expect(token.expiresAt == token.issuedAt.map { $0 + 3600 })
      #expect(token.signInProvider != nil)
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
      #expect(user.isAnonymous == (account["providerUserInfo"] == nil && account["email"] == nil))
    }
  }

  private func check(_ failure: AuthFailure) throws {
    let message = try #require(body["error"]?["message"]?.string)
    switch status {
    case 500...:
      #expect(failure == AuthFailure(.serviceUnavailable, serverCode: "HTTP_\(status)"))
    case 403:
      #expect(message == "The request is missing a valid API key.")
      #expect(failure.error == .invalidAPIKey)
    default:
      let code = String(message.prefix { $0 != " " && $0 != ":" })
      #expect(failure.serverCode == code)
      #expect(failure.error == ServerErrorTable.rows[code])
      #expect(failure.error != .internal)
    }
  }
}
