import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import IdentityToolkit

@Suite("HTTP", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct TransportTests {
  static let whole = #"{"idToken":"ID","refreshToken":"RT"}"#
  static let html = "<!DOCTYPE html><title>Sign in to the network</title>"

  @LoopActor
  private func signUp(_ server: ScriptedServer, _ client: HTTPClient = HTTPClient()) async throws -> AuthFailure {
    let project = try server.project()
    return try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: client).signUpAnonymously(project: project)
    }
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let reply: Reply
    let code: String
    var error = AuthError.serviceUnavailable
    var testDescription: String { name }
  }

  // Field reports B112, B115, B117: none of these says anything about the account.
  static let faults = [
    Fault(name: "closed without an answer", reply: .close, code: "UNREACHABLE", error: .networkUnavailable),
    Fault(name: "reset", reply: .reset, code: "UNREACHABLE", error: .networkUnavailable),
    Fault(name: "no HTTP", reply: .raw("SSH-2.0-x\r\n"), code: "UNREACHABLE", error: .networkUnavailable),
    Fault(
      name: "cut body", reply: .raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"idToken\":"), code: "UNREACHABLE",
      error: .networkUnavailable),
    Fault(
      name: "cut chunks", reply: .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{\"id"),
      code: "UNREACHABLE", error: .networkUnavailable),
    Fault(name: "429", reply: .json(429, "{}"), code: "HTTP_429", error: .tooManyRequests),
    Fault(name: "500", reply: .json(500, ""), code: "HTTP_500"),
    Fault(name: "503", reply: .json(503, #"{"error":{"message":"USER_DISABLED"}}"#), code: "HTTP_503"),
    Fault(
      name: "HTML 200", reply: .answer(200, headers: ["Content-Type": "text/html"], body: html),
      code: "UNEXPECTED_ANSWER"),
    Fault(name: "HTML 403", reply: .answer(403, headers: ["Content-Type": "text/html"], body: html), code: "HTTP_403"),
    Fault(name: "HTML 404", reply: .answer(404, headers: [:], body: html), code: "HTTP_404"),
    Fault(name: "cut JSON", reply: .json(200, #"{"idToken":"ID","refr"#), code: "UNEXPECTED_ANSWER"),
    Fault(name: "cut JSON error", reply: .json(400, #"{"error":{"message":"USER_DIS"#), code: "HTTP_400"),
    Fault(name: "another shape", reply: .json(200, #"{"kind":"x"}"#), code: "MISSING_TOKENS"),
    Fault(name: "an array", reply: .json(200, "[1]"), code: "UNEXPECTED_ANSWER"),
    Fault(
      name: "a number for a token", reply: .json(200, #"{"idToken":1,"refreshToken":"R"}"#), code: "UNEXPECTED_ANSWER"),
    Fault(name: "empty body", reply: .json(200, ""), code: "UNEXPECTED_ANSWER"),
    Fault(name: "an error without message", reply: .json(400, #"{"error":{}}"#), code: "HTTP_400"),
    Fault(name: "an error that is a text", reply: .json(400, #"{"error":"no"}"#), code: "HTTP_400"),
    Fault(
      name: "over a MiB", reply: .json(200, whole + String(repeating: " ", count: 1 << 20)), code: "TOO_LARGE"),
  ]

  @Test("a fault is temporary and names its kind", arguments: faults) @LoopActor
  func fault(_ fault: Fault) async throws {
    let server = try ScriptedServer(fault.reply)
    let client = HTTPClient()
    let error = try await signUp(server, client)
    #expect(error == AuthFailure(fault.error, serverCode: fault.code))
    #expect(error.isTransient)
    #expect(!client.isBusy)
  }

  @Test("a MiB is read") @LoopActor
  func mebibyte() async throws {
    let body = Self.whole + String(repeating: " ", count: (1 << 20) - Self.whole.utf8.count)
    let server = try ScriptedServer(.json(200, body))
    let grant = try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: try server.project())
    #expect(grant.tokens?.idToken.reveal() == "ID")
  }

  @Test("nobody listens") @LoopActor
  func refused() async throws {
    let app = App(id: try #require(AppID("demo")), projectID: "p", apiKey: "k")
    let port = try DeafPort()
    defer { withExtendedLifetime(port) {} }
    let address = try #require(EmulatorAddress("127.0.0.1:\(port.number)"))
    let project = ProjectContext(app: app, backend: .emulator(address))
    let error = try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: project)
    }
    #expect(error == AuthFailure(.networkUnavailable, serverCode: "UNREACHABLE"))
  }

  @Test("a redirect isn't followed", arguments: [301, 302, 307, 308]) @LoopActor
  func redirect(_ status: Int) async throws {
    let other = try ScriptedServer(.json(200, Self.whole))
    let server = try ScriptedServer(
      .answer(status, headers: ["Location": "http://127.0.0.1:\(other.port)/login"], body: ""))
    #expect(try await signUp(server) == AuthFailure(.serviceUnavailable, serverCode: "HTTP_\(status)"))
    #expect(other.requests.isEmpty)
  }

  @Test(
    "Retry-After",
    arguments: [
      (429, "30", 30 as Int64?), (503, "7", 7), (429, "-5", 0), (429, "99999", 3600), (429, "soon", nil),
      (429, "", nil),
      (500, "2", 2),
    ]) @LoopActor
  func retryAfter(_ status: Int, _ value: String, _ seconds: Int64?) async throws {
    let server = try ScriptedServer(.answer(status, headers: ["Retry-After": value], body: Self.html))
    let error = try await signUp(server)
    #expect(error.retryAfter == seconds)
    #expect(error.error == (status == 429 ? .tooManyRequests : .serviceUnavailable))
  }

  @Test(
    "Retry-After as a date",
    arguments: [(90 as Int64, 60...90 as ClosedRange<Int64>), (-90, 0...0), (9999, 3600...3600)])
  @LoopActor
  func retryAfterDate(_ offset: Int64, _ range: ClosedRange<Int64>) async throws {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let date = format.string(from: Date(timeIntervalSince1970: Double(WallClock.now + offset)))
    let server = try ScriptedServer(.answer(429, headers: ["retry-after": date], body: ""))
    #expect(range.contains(try #require(try await signUp(server).retryAfter)))
  }

  @Test("429 speaks of haste, whatever its envelope says") @LoopActor
  func hasty() async throws {
    for message in ["USER_DISABLED", "TOKEN_EXPIRED", "QUOTA_EXCEEDED : Exceeded quota.", "RESOURCE_EXHAUSTED"] {
      let server = try ScriptedServer(
        .answer(429, headers: ["Retry-After": "4"], body: "{\"error\":{\"message\":\"\(message)\"}}"))
      let error = try await signUp(server)
      #expect(error.isTransient, "\(message)")
      #expect(error.retryAfter == 4, "\(message)")
    }
  }

  @Test("time-out of a server that says nothing") @LoopActor
  func timeOut() async throws {
    let gate = DispatchSemaphore(value: 0)
    defer { gate.signal() }
    let server = try ScriptedServer(.after(gate, .json(200, Self.whole)))
    let error = try await signUp(server, HTTPClient(connectTimeout: 1, totalTimeout: 1))
    #expect(error == AuthFailure(.networkUnavailable, serverCode: "UNREACHABLE"))
  }

  @Test("time-out of an answer that drips") @LoopActor
  func drip() async throws {
    let server = try ScriptedServer(
      .drip("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + String(repeating: " ", count: 999)))
    let start = BootClock.nanoseconds
    let error = try await signUp(server, HTTPClient(connectTimeout: 1, totalTimeout: 1))
    #expect(error == AuthFailure(.networkUnavailable, serverCode: "UNREACHABLE"))
    #expect(BootClock.nanoseconds - start < 10_000_000_000)
  }

  @Test("an answer without end is cut at a MiB") @LoopActor
  func endless() async throws {
    let server = try ScriptedServer(
      .endless(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        again: "1000\r\n" + String(repeating: " ", count: 4096) + "\r\n"))
    #expect(try await signUp(server) == AuthFailure(.serviceUnavailable, serverCode: "TOO_LARGE"))
  }

  @Test("an interim answer's headers don't count") @LoopActor
  func interim() async throws {
    let server = try ScriptedServer(
      .raw(
        "HTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n\r\n"
          + "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n"))
    let toolkit = IdentityToolkit(http: HTTPClient())
    var dates = 0
    toolkit.onServerDate = { _, _, _ in dates += 1 }
    let project = try server.project()
    let error = try await failure { () throws(AuthFailure) in try await toolkit.signUpAnonymously(project: project) }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "HTTP_503"))
    #expect(dates == 0)
  }

  @Test("production never speaks plain HTTP") @LoopActor
  func plainHTTP() async throws {
    let server = try ScriptedServer(.json(200, "{}"))
    let request = HTTPRequest(url: "http://127.0.0.1:\(server.port)/", body: Array("{}".utf8))
    let error = try await transportError { () throws(TransportError) in try await HTTPClient().send(request) }
    #expect(error == .unreachable)
    #expect(server.requests.isEmpty)
  }

  @Test("an emulator's address leads to nothing but HTTP", arguments: ["https://127.0.0.1:1/", "file:///etc/passwd"])
  @LoopActor
  func emulatorScheme(_ url: String) async throws {
    let request = HTTPRequest(url: url, backend: .emulator(try #require(EmulatorAddress("127.0.0.1:1"))))
    let error = try await transportError { () throws(TransportError) in try await HTTPClient().send(request) }
    #expect(error == .unreachable)
  }
}
