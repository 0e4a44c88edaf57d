import Foundation
import TestSupport
import Testing

/// ID tokens that aren't to be believed (OpenID Connect Core 3.1.3.7; RFC 8725): each is refused for its own reason, nothing of
/// it reaches the accounts' server, and the flow that goes on waiting ends well.
@Suite("Forged and spoilt ID tokens", .timeLimit(.minutes(2)))
struct ForgedTokenTests {
  /// A fault of the token endpoint's, the error that clients see, and what the log says besides.
  struct Case: Sendable, CustomTestStringConvertible {
    let fault: String
    let error: String
    let code: String
    init(_ fault: String, _ error: String, _ code: String) {
      (self.fault, self.error, self.code) = (fault, error, code)
    }
    var testDescription: String { fault }
  }

  static let cases = [
    Case("wrong-nonce", "NonceMismatch", "ID_TOKEN"), Case("missing-nonce", "NonceMismatch", "ID_TOKEN"),
    Case("wrong-iss", "IssuerMismatch", "ID_TOKEN"), Case("wrong-aud", "InvalidProviderResponse", "AUDIENCE"),
    Case("aud-list", "InvalidProviderResponse", "AUTHORIZED_PARTY"),
    Case("expired", "InvalidProviderResponse", "EXPIRED"), Case("missing-exp", "InvalidProviderResponse", "EXPIRED"),
    Case("alg-none", "InvalidProviderResponse", "ALG"), Case("alg-hs256", "InvalidProviderResponse", "ALG"),
    Case("other-key", "InvalidProviderResponse", "SIGNATURE"),
    Case("unknown-key", "InvalidProviderResponse", "UNKNOWN_KEY"),
    Case("no-id-token", "InvalidProviderResponse", "MISSING_TOKENS"),
  ]

  @Test("refused for its own reason; the code is spent, and the next one signs in", arguments: cases)
  func refused(_ one: Case) async throws {
    let world = try await World.start { [$0.openID()] }
    let flow = try await world.goTo()
    try await world.fault(["openid": one.fault, "times": 1])
    #expect(try await world.browse(try await world.follow(flow)).status == 200)
    try await world.wait(for: flow, "waiting-for-redirect", one.error)
    #expect(world.log.contains("error=\(one.error) code=\(one.code)\n"))
    #expect(try await world.requests("signInWithIdp") == 0)
    #expect(try await world.email() == nil)
    try await world.finish(flow)
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.records("/openid/token").count == 2)
  }

  @Test("azp of another client is refused, though aud is ours")
  func authorizedParty() async throws {
    let world = try await World.start { [$0.openID()] }
    try await world.control("PATCH", "openid", ["extraClaims": ["azp": "another-client"]])
    let flow = try await world.goTo()
    try await world.browse(try await world.follow(flow))
    try await world.wait(for: flow, "waiting-for-redirect", "InvalidProviderResponse")
    #expect(world.log.contains("code=AUTHORIZED_PARTY\n"))
    #expect(try await world.requests("signInWithIdp") == 0)
    try await world.control("PATCH", "openid", ["extraClaims": ["azp": "client-oidc.test"]])
    try await world.finish(flow)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test(
    "a provider that signs with another key at the next sign-in is believed",
    .enabled(if: access("/usr/bin/cc", X_OK) == 0, "needs cc"), arguments: ["RS256", "ES256"])
  func rotation(algorithm: String) async throws {
    let world = try await World.start { [$0.openID()] }
    try await world.control("PATCH", "openid", ["algorithm": algorithm])
    try await world.killDaemon()
    let variables = try await world.clocks()
    try world.setDaemon(variables)
    try await world.finish(try await world.goTo())
    #expect(try await world.linkctl("sign-out").status == 0)
    try await world.control("POST", "openid:rotate")
    // Keys are asked for at most once a minute.
    _ = try world.home.write("60\n", to: "boot-clock")
    try await world.finish(try await world.goTo())
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.records("/openid/jwks").count == 2)
  }

  @Test("a discovery document of another issuer's ends the flow before a browser opens")
  func otherIssuer() async throws {
    let world = try await World.start { [$0.openID()] }
    try await world.fault(["openid": "other-issuer", "times": 1])
    let lines = try await world.json("sign-in", "oidc.test", "--no-browser")
    #expect(lines.last?["error"] as? String == "org.linkd.Auth1.Error.IssuerMismatch")
    #expect(lines.contains { $0["stage"] as? String == "failed" } && lines.allSatisfy { $0["url"] == nil })
    // It isn't kept.
    try await world.finish(try await world.goTo())
  }
}
