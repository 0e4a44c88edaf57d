import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import IdentityToolkit

@Suite("Keys of providers", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct OpenIDKeysTests {
  private func key(_ kind: SigningKey.Kind = .p256) throws -> SigningKey { try FakeProvider.key(kind) }

  @Test("keys that the provider changed are fetched anew, at most once a minute") @LoopActor func rotation()
    async throws
  {
    let provider = try FakeProvider(keys: [try key()])
    let clock = TestClock()
    let client = OpenIDClient(http: HTTPClient(), clock: { clock.seconds })
    _ = try await provider.verify(try key().token(provider.claims()), client)
    let next = try SigningKey(.p256, id: "ec-2")
    let sameName = try SigningKey(.p256, id: "ec-1")
    provider.change { $0.keys = [next.jwk] }
    clock.seconds += 59
    let early = try next.token(provider.claims())
    let refusal = try await failure { () throws(AuthFailure) in try await provider.verify(early, client) }
    #expect(refusal == AuthFailure(.invalidProviderResponse, serverCode: "UNKNOWN_KEY"))
    #expect(provider.count("/keys") == 1)
    clock.seconds += 1
    _ = try await provider.verify(try next.token(provider.claims()), client)
    #expect(provider.count("/keys") == 2)
    // Another key of the same name: the signature tells.
    provider.change { $0.keys = [sameName.jwk, next.jwk] }
    clock.seconds += 60
    _ = try await provider.verify(try sameName.token(provider.claims()), client)
    #expect(provider.count("/keys") == 3)
    _ = try await provider.verify(try next.token(provider.claims()), client)
    #expect(provider.count("/keys") == 3)
  }

  @Test("whether an unknown key is a new one isn't known while the keys aren't to be had") @LoopActor
  func transient() async throws {
    let provider = try FakeProvider(keys: [try key()])
    let clock = TestClock()
    let client = OpenIDClient(http: HTTPClient(), clock: { clock.seconds })
    let known = try key().token(provider.claims())
    let other = try SigningKey(.p256, id: "ec-2")
    let unknown = try other.token(provider.claims())
    provider.change { $0.replies["/keys"] = .json(503, "") }
    let cold = try await failure { () throws(AuthFailure) in try await provider.verify(known, client) }
    #expect(cold == AuthFailure(.serviceUnavailable, serverCode: "HTTP_503") && cold.isTransient)
    provider.change { $0.replies = [:] }
    _ = try await provider.verify(known, client)
    provider.change { $0.replies["/keys"] = .close }
    clock.seconds += 60
    let error = try await failure { () throws(AuthFailure) in try await provider.verify(unknown, client) }
    #expect(error == AuthFailure(.networkUnavailable, serverCode: "UNREACHABLE") && error.isTransient)
    // The code is spent: whoever tries again in a moment finds the keys as soon as they're there.
    provider.change {
      $0.replies = [:]
      $0.keys.append(other.jwk)
    }
    _ = try await provider.verify(unknown, client)
    provider.change { $0.replies["/keys"] = .close }
    // The kept keys serve on.
    clock.seconds += 3600
    _ = try await provider.verify(known, client)
  }

  @Test(
    "what is no key set is refused",
    arguments: [
      ("{}", "JWKS"), (#"{"keys":{}}"#, "JWKS"), (#"{"keys":[]}"#, "UNKNOWN_KEY"), (#"{"keys":[1,{}]}"#, "UNKNOWN_KEY"),
      (#"{"keys":["# + Array(repeating: "{}", count: 101).joined(separator: ",") + "]}", "JWKS"),
    ])
  @LoopActor func sets(_ body: String, _ code: String) async throws {
    let provider = try FakeProvider()
    provider.change { $0.replies["/keys"] = .json(200, body) }
    let token = try key().token(provider.claims())
    let error = try await failure { () throws(AuthFailure) in try await provider.verify(token) }
    #expect(error == AuthFailure(.invalidProviderResponse, serverCode: code))
  }

  @Test("one request brings the keys to all who wait") @LoopActor func singleFlight() async throws {
    let gate = DispatchSemaphore(value: 0)
    let provider = try FakeProvider()
    let key = try key()
    provider.change { $0.replies["/keys"] = .after(gate, .json(200, "{\"keys\":[\(key.jwk)]}")) }
    let client = OpenIDClient(http: HTTPClient())
    let token = try key.token(provider.claims())
    let tasks = (0..<4).map { _ in Task.onLoop { try await provider.verify(token, client) } }
    var arrivals = provider.server.arrivals.makeAsyncIterator()
    _ = await arrivals.next()
    gate.signal()
    for task in tasks { #expect(try await task.value.subject == "alice") }
    #expect(provider.count("/keys") == 1)
  }

  // MARK: Microsoft

  static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"

  @Test(
    "Microsoft's issuer is the template filled with the tenant",
    arguments: [
      (.string(tenant), tenant, nil), (.string(tenant), "9188040d-6c67-4c5b-b112-36a304b66dad", "ID_TOKEN"),
      (.string(tenant), "{tenantid}", "ID_TOKEN"), (nil, tenant, "TENANT"), ("", "", "TENANT"),
      ("common", "common", "TENANT"), ("{tenantid}", "{tenantid}", "TENANT"), (1, tenant, "TENANT"),
      (.string(tenant + "/x"), tenant + "/x", "TENANT"),
      ("72f988bf-86f1-41af-91ab-2d7cd011db4g", "72f988bf-86f1-41af-91ab-2d7cd011db4g", "TENANT"),
    ] as [(JSONValue, String, String?)])
  @LoopActor func microsoft(_ tid: JSONValue, _ issuer: String, _ code: String?) async throws {
    let provider = try FakeProvider(keys: [try key()])
    let template: @LoopActor (inout ProviderMetadata) -> Void = { $0.issuer = provider.issuer + "/{tenantid}/v2.0" }
    let token = try key().token(
      provider.claims(["iss": .string("\(provider.issuer)/\(issuer)/v2.0"), "tid": tid]))
    guard let code else {
      #expect(try await provider.verify(token, change: template).issuer == "\(provider.issuer)/\(issuer)/v2.0")
      return
    }
    let error = try await failure { () throws(AuthFailure) in try await provider.verify(token, change: template) }
    #expect(error == AuthFailure(.issuerMismatch, serverCode: code))
  }
}
