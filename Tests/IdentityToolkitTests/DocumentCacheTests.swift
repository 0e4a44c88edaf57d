import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import IdentityToolkit

@Suite("Providers' documents", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct DocumentCacheTests {
  private static let path = FakeProvider.discoveryPath

  @LoopActor
  private func ask(_ client: OpenIDClient, _ provider: FakeProvider) async throws(AuthFailure) {
    _ = try await client.metadata(of: provider.client, providerID: "oidc.test")
  }

  @Test(
    "a document is kept as long as it says, within bounds",
    arguments: [
      (nil, 3600), ("max-age=600", 600), ("public, max-age=600, must-revalidate", 600), ("max-age=1", 300),
      ("no-store", 300), ("no-cache, max-age=9999", 300), ("max-age=999999", 86400), ("MAX-AGE=\"700\"", 700),
      ("max-age=-5", 300), ("max-age=99999999999999999999", 3600), ("private", 3600), ("s-maxage=900", 3600),
    ] as [(String?, Int64)])
  @LoopActor func age(_ header: String?, _ seconds: Int64) async throws {
    let provider = try FakeProvider()
    provider.change { $0.headers["Cache-Control"] = header }
    let clock = TestClock()
    let client = OpenIDClient(http: HTTPClient(), clock: { clock.seconds })
    try await ask(client, provider)
    clock.seconds += seconds - 1
    try await ask(client, provider)
    #expect(provider.count(Self.path) == 1)
    clock.seconds += 1
    try await ask(client, provider)
    #expect(provider.count(Self.path) == 2)
  }

  @Test(
    "while no newer one is to be had, the old one serves for a day",
    arguments: [Reply.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .json(503, ""), .json(404, "")])
  @LoopActor func stale(_ reply: Reply) async throws {
    let provider = try FakeProvider()
    let clock = TestClock()
    let client = OpenIDClient(http: HTTPClient(), clock: { clock.seconds })
    try await ask(client, provider)
    provider.change { $0.replies[Self.path] = reply }
    clock.seconds += 3600
    try await ask(client, provider)
    #expect(provider.count(Self.path) == 2)
    // A dead provider isn't asked at every click.
    clock.seconds += 59
    try await ask(client, provider)
    #expect(provider.count(Self.path) == 2)
    clock.seconds += 86400 - 60
    try await ask(client, provider)
    #expect(provider.count(Self.path) == 3)
    clock.seconds += 60
    _ = try await failure { () throws(AuthFailure) in try await ask(client, provider) }
    provider.change { $0.replies = [:] }
    try await ask(client, provider)
    #expect(provider.count(Self.path) == 5)
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let reply: Reply
    let error: AuthError
    let code: String
    var testDescription: String { code }

    init(_ reply: Reply, _ error: AuthError, _ code: String) {
      (self.reply, self.error, self.code) = (reply, error, code)
    }
  }

  static let faults = [
    Fault(.close, .networkUnavailable, "UNREACHABLE"), Fault(.json(500, "{}"), .serviceUnavailable, "HTTP_500"),
    Fault(.json(503, "{}"), .serviceUnavailable, "HTTP_503"), Fault(.json(429, "{}"), .tooManyRequests, "HTTP_429"),
    Fault(.json(404, "{}"), .invalidProviderResponse, "HTTP_404"),
    Fault(.json(403, "{}"), .invalidProviderResponse, "HTTP_403"),
    Fault(.json(204, ""), .serviceUnavailable, "HTTP_204"),
    Fault(.json(200, "<!DOCTYPE html>"), .serviceUnavailable, "UNEXPECTED_ANSWER"),
    Fault(.json(200, "[]"), .serviceUnavailable, "UNEXPECTED_ANSWER"),
    Fault(.json(200, ""), .serviceUnavailable, "UNEXPECTED_ANSWER"),
    Fault(.json(200, "{\"issuer\":"), .serviceUnavailable, "UNEXPECTED_ANSWER"),
    Fault(.json(200, "{\"a\":\"" + String(repeating: "x", count: 1 << 20) + "\"}"), .serviceUnavailable, "TOO_LARGE"),
    Fault(
      .json(200, String(repeating: "[", count: 1 << 19)), .serviceUnavailable, "UNEXPECTED_ANSWER"),
  ]

  @Test("no document is a fault of its own kind", arguments: faults) @LoopActor func fault(_ fault: Fault) async throws
  {
    let provider = try FakeProvider()
    provider.change { $0.replies[Self.path] = fault.reply }
    let client = OpenIDClient(http: HTTPClient())
    let error = try await failure { () throws(AuthFailure) in try await ask(client, provider) }
    #expect(error == AuthFailure(fault.error, serverCode: fault.code))
    #expect(!client.isBusy)
    // A failure isn't kept.
    provider.change { $0.replies = [:] }
    try await ask(client, provider)
  }

  @Test("a document that can't be used isn't kept") @LoopActor func mended() async throws {
    let provider = try FakeProvider()
    let client = OpenIDClient(http: HTTPClient())
    provider.change { $0.discovery["issuer"] = "https://typo.example" }
    let error = try await failure { () throws(AuthFailure) in try await ask(client, provider) }
    #expect(error.error == .issuerMismatch)
    provider.change { $0.discovery = [:] }
    try await ask(client, provider)
  }

  @Test("a redirect isn't followed", arguments: [301, 302, 303, 307, 308]) @LoopActor
  func redirect(_ status: Int) async throws {
    let other = try FakeProvider()
    let provider = try FakeProvider()
    provider.change {
      $0.replies[Self.path] = .answer(status, headers: ["Location": other.issuer + Self.path], body: "")
    }
    let client = OpenIDClient(http: HTTPClient())
    let error = try await failure { () throws(AuthFailure) in try await ask(client, provider) }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "REDIRECT"))
    #expect(other.server.requests.isEmpty)
  }

  @Test("an answer that drips ends") @LoopActor func drip() async throws {
    let provider = try FakeProvider()
    provider.change {
      $0.replies[Self.path] = .drip(
        "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + String(repeating: " ", count: 999))
    }
    let client = OpenIDClient(http: HTTPClient(connectTimeout: 1, totalTimeout: 1))
    let error = try await failure { () throws(AuthFailure) in try await ask(client, provider) }
    #expect(error == AuthFailure(.networkUnavailable, serverCode: "UNREACHABLE"))
  }

  @Test("who asks at the same time waits for the same request") @LoopActor func singleFlight() async throws {
    let gate = DispatchSemaphore(value: 0)
    let provider = try FakeProvider()
    let body = FakeProvider.document(provider.issuer, [:]).text
    provider.change { $0.replies[Self.path] = .after(gate, .json(200, body)) }
    let client = OpenIDClient(http: HTTPClient())
    let tasks = (0..<5).map { _ in Task.onLoop { try await ask(client, provider) } }
    var arrivals = provider.server.arrivals.makeAsyncIterator()
    _ = await arrivals.next()
    // Who gives up takes nobody along.
    tasks[0].cancel()
    gate.signal()
    let gaveUp = try await failure { () throws(AuthFailure) in
      do { try await tasks[0].value } catch let error as AuthFailure { throw error } catch {}
    }
    #expect(gaveUp.error == .cancelled)
    for task in tasks.dropFirst() { try await task.value }
    #expect(provider.count(Self.path) == 1)
  }
}
