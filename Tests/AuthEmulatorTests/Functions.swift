import AuthCore
import Foundation

@testable import AuthEmulator

/// The blocking functions of transcript 32, which the recorder served itself on port 19100. Their answers aren't recorded;
/// these are the ones that the exchanges' answers follow from.
final class Functions: Sendable {
  static let recordedOrigin = "http://127.0.0.1:19100"

  private struct State {
    var exchange = ""
    var questions: [(path: String, claims: JSONValue)] = []
  }

  private let state: Mutable<State>
  private let server: LoopbackServer
  let origin: String

  init() throws {
    let state = Mutable(State())
    self.state = state
    server = try LoopbackServer(port: 0) { request, _ in
      let jwt = (try? JSONText.parse(request.body))?["data"]?["jwt"]?.string ?? ""
      return state.change { state in
        state.questions.append((request.path, JWT.claims(jwt) ?? .null))
        return Self.answer(to: String(request.target.prefix { $0 != "?" }), during: state.exchange)
      }
    }
    origin = "http://127.0.0.1:\(server.port)"
  }

  /// What they were asked: path and the claims of the question.
  var questions: [(path: String, claims: JSONValue)] { state.change { $0.questions } }

  func begin(_ exchange: String) { state.change { $0.exchange = exchange } }
  func stop() { server.stop() }

  private static func answer(to path: String, during exchange: String) -> Reply {
    switch (exchange, path) {
    case ("sign up, fields set by the functions", "/create"):
      return record([
        "updateMask": "displayName,photoUrl,emailVerified,customClaims", "displayName": "Set by hook",
        "photoUrl": "https://example.com/hook.png", "emailVerified": true, "customClaims": ["plan": "free"],
      ])
    case ("sign up, fields set by the functions", "/signin"),
      ("password sign-in, session claims in the token", "/signin"):
      return record(["updateMask": "sessionClaims", "sessionClaims": ["session": "yes"]])
    case ("beforeSignIn disables the user", "/signin"): return record(["updateMask": "disabled", "disabled": true])
    case ("beforeCreate refuses", "/create"):
      let error = #"{"error":{"status":"PERMISSION_DENIED","message":"Unauthorized email"}}"#
      return Reply(status: 403, type: "application/json", body: error)
    case ("answer is not JSON", "/create"): return Reply(status: 200, type: "text/plain", body: "not json")
    case ("answer without updateMask", "/create"): return record(["displayName": "x"])
    case ("answer with a reserved claim", "/create"):
      return record(["updateMask": "customClaims", "customClaims": ["sub": "x"]])
    default: return .json([:])
    }
  }

  private static func record(_ record: JSONValue) -> Reply { .json(["userRecord": record]) }
}

/// A value behind a lock.
final class Mutable<Value>: @unchecked Sendable {
  // @unchecked: the lock guards the value.
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func change<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&value)
  }
}
