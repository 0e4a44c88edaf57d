import AuthCore
import EventLoop
import Foundation
import Testing

@testable import IdentityToolkit

@Suite("Errors of the server", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct ServerFailureTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let code: String
    let error: AuthError
    var testDescription: String { code }
  }

  static let rows = ServerErrorTable.rows.map { Row(code: $0.key, error: $0.value) }.sorted { $0.code < $1.code }

  private func read(_ status: Int, _ error: String) -> AuthFailure? {
    ServerFailure.read(HTTPResponse(status: status, body: Array("{\"error\":\(error)}".utf8)))
  }

  @Test("every row of the table, through a connection", arguments: rows) @LoopActor
  func row(_ row: Row) async throws {
    let server = try ScriptedServer(
      .json(
        400, #"{"error":{"code":400,"message":"\#(row.code)","errors":[{"message":"\#(row.code)","domain":"global"}]}}"#
      ))
    let project = try server.project()
    let error = try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: HTTPClient()).lookup(idToken: Secret("ID"), project: project)
    }
    #expect(error == AuthFailure(row.error, serverCode: row.code))
  }

  @Test("a detail changes no row, and only what is meant for people is kept", arguments: rows)
  func detail(_ row: Row) {
    let kept: Set<AuthError> = [.weakPassword, .blockingFunction]
    for suffix in [" : Some detail: here", ": Some detail: here", " ((Some detail: here))"] {
      let failure = read(400, "{\"message\":\"\(row.code)\(suffix)\"}")
      #expect(failure?.error == row.error)
      #expect(failure?.serverCode == row.code)
      if suffix.hasPrefix(" ((") { continue }
      #expect(failure?.detail == (kept.contains(row.error) ? "Some detail: here" : nil))
    }
  }

  // Field report B039: three answers, three errors.
  @Test("a used code, an old one and a wrong address are told apart")
  func codes() {
    #expect(read(400, #"{"message":"INVALID_OOB_CODE"}"#)?.error == .invalidActionCode)
    #expect(read(400, #"{"message":"EXPIRED_OOB_CODE"}"#)?.error == .expiredActionCode)
    #expect(read(400, #"{"message":"INVALID_EMAIL : x"}"#)?.error == .invalidEmail)
  }

  @Test(
    "an unknown code is internal, and a text that is no code isn't repeated",
    arguments: [
      ("BRAND_NEW_CODE : x", "BRAND_NEW_CODE"), ("user@example.com is unknown", "UNKNOWN"), ("", "UNKNOWN"),
      ("invalid_oob_code", "UNKNOWN"), (" : x", "UNKNOWN"), (String(repeating: "A", count: 65), "UNKNOWN"),
    ])
  func unknown(_ message: String, _ code: String) {
    #expect(read(400, "{\"message\":\"\(message)\"}") == AuthFailure(.internal, serverCode: code))
  }

  @Test("a blocking function's message is its inner one")
  func blocking() {
    let message =
      #"BLOCKING_FUNCTION_ERROR_RESPONSE : ((HTTP request to http://h:1/x returned HTTP error 400: {\"error\":{\"message\":\"Not today: closed\",\"status\":\"X\"}}))"#
    #expect(read(400, "{\"message\":\"\(message)\"}")?.detail == "Not today: closed")
    let plain = "BLOCKING_FUNCTION_ERROR_RESPONSE : ((function not found))"
    #expect(read(400, "{\"message\":\"\(plain)\"}")?.detail == "((function not found))")
    let braces =
      #"BLOCKING_FUNCTION_ERROR_RESPONSE : ((x {\"error\":{\"message\":\"a } \\\"{ b\"}} and {more}))"#
    #expect(read(400, "{\"message\":\"\(braces)\"}")?.detail == #"a } "{ b"#)
    let cut = "BLOCKING_FUNCTION_ERROR_RESPONSE : ((x {y))"
    #expect(read(400, "{\"message\":\"\(cut)\"}")?.detail == "((x {y))")
    let empty = #"BLOCKING_FUNCTION_ERROR_RESPONSE : (({\"error\":{}}))"#
    let failure = read(400, "{\"message\":\"\(empty)\"}")
    #expect(failure?.error == .blockingFunction)
    #expect(failure?.detail == nil)
  }

  @Test("a sentence for people is cut at 500 characters")
  func longDetail() {
    let detail = String(repeating: "é", count: 600)
    #expect(read(400, "{\"message\":\"WEAK_PASSWORD : \(detail)\"}")?.detail == String(detail.prefix(500)))
  }

  @Test(
    "a wrong key, and a key of something else",
    arguments: [
      (
        #"{"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}"#,
        AuthError.invalidAPIKey
      ),
      (
        #"{"message":"x","details":[{"@type":"t","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}"#,
        .invalidAPIKey
      ),
      (#"{"message":"Bad Request","errors":[{"reason":"keyInvalid"}]}"#, .invalidAPIKey),
      (#"{"message":"The request is missing a valid API key.","status":"PERMISSION_DENIED"}"#, .invalidAPIKey),
      (#"{"message":"MISSING_API_KEY"}"#, .invalidAPIKey),
      (#"{"message":"There is a per-IP restriction","errors":[{"reason":"ipRefererBlocked"}]}"#, .appNotAuthorized),
      (#"{"message":"Requests from this iOS client application <empty> are blocked."}"#, .appNotAuthorized),
      (#"{"message":"x","details":[{"reason":"API_KEY_IOS_APP_BLOCKED"}]}"#, .appNotAuthorized),
      (#"{"message":"x","details":[{"reason":"API_KEY_HTTP_REFERRER_BLOCKED"}]}"#, .appNotAuthorized),
      (#"{"message":"x","details":[{"reason":"API_KEY_SERVICE_BLOCKED"}]}"#, .appNotAuthorized),
      (#"{"message":"x","details":[{"reason":"API_KEY_IP_ADDRESS_BLOCKED"}]}"#, .appNotAuthorized),
      (#"{"message":"Requests from referer <empty> are blocked."}"#, .appNotAuthorized),
      (#"{"message":"Requests to this API x.y.Z are blocked."}"#, .appNotAuthorized),
      (#"{"message":"USER_DISABLED","errors":"text","details":{"a":1},"status":7}"#, .userDisabled),
      (#"{"message":"x","errors":[{"reason":"invalid"},7,"text"]}"#, .internal),
    ])
  func reasons(_ error: String, _ expected: AuthError) {
    #expect(read(400, error)?.error == expected)
    #expect(read(403, error)?.error == expected)
  }

  @Test("an envelope wins over a good status, and not over a server's own fault")
  func status() {
    let envelope = #"{"message":"USER_DISABLED"}"#
    for status in [200, 400, 401, 403, 404] { #expect(read(status, envelope)?.error == .userDisabled) }
    for status in [500, 502, 503, 504] {
      #expect(read(status, envelope) == AuthFailure(.serviceUnavailable, serverCode: "HTTP_\(status)"))
    }
    #expect(ServerFailure.read(HTTPResponse(status: 200, body: Array("{}".utf8))) == nil)
  }
}
