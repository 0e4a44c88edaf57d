import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// What an OpenID provider does wrong on request.
@Suite(.timeLimit(.minutes(1)))
struct OpenIDFaultTests {
  private func claims(with fault: OpenIDFault) throws -> (issuer: String, claims: JSONValue) {
    let probe = try OpenIDProbe(faults: [Fault(.openID(fault))])
    return (probe.emulator.issuer(), try TokenParts(try probe.idToken()).claims)
  }

  @Test func nonceIsAnothersOrMissing() throws {
    let nonce = try claims(with: .wrongNonce).claims["nonce"]?.string
    #expect(nonce != nil && nonce != "the nonce")
    #expect(try claims(with: .missingNonce).claims["nonce"] == nil)
  }

  @Test func tokenIsAnotherIssuersOrForAnotherClient() throws {
    let (issuer, claims) = try claims(with: .wrongIssuer)
    #expect(claims["iss"]?.string?.hasPrefix("https://") == true && claims["iss"] != .string(issuer))
    #expect(try self.claims(with: .otherAudience).claims["aud"] == "another-client")
    let list = try self.claims(with: .audienceList).claims
    #expect(list["aud"] == ["app", "another-client"] && list["azp"] == nil)
  }

  @Test func tokenHasEndedOrNeverEnds() throws {
    let now = Int64(Date().timeIntervalSince1970)
    let end = try #require(try claims(with: .expired).claims["exp"]?.integer)
    #expect(end < now - 3000)
    #expect(try claims(with: .missingExpiry).claims["exp"] == nil)
  }

  @Test func accountHasNoAddress() throws {
    let claims = try claims(with: .noEmail).claims
    #expect(claims["sub"] == "ada" && claims["email"] == nil && claims["email_verified"] == nil)
    let probe = try OpenIDProbe(faults: [Fault(.openID(.noIDToken))])
    #expect(try probe.tokens()["id_token"] == nil)
  }

  @Test(arguments: [OpenIDFault.otherKey, .unknownKey])
  func signatureIsByAKeyOutsideTheSet(_ fault: OpenIDFault) throws {
    let probe = try OpenIDProbe(faults: [Fault(.openID(fault), times: 1)])
    let token = try TokenParts(try probe.idToken())
    let keys = try probe.keys()
    #expect(keys.contains { $0["kid"] == token.header["kid"] } == (fault == .otherKey))
    for key in keys { #expect(try !token.isSigned(by: key)) }
    let good = try TokenParts(try probe.idToken())
    #expect(try good.isSigned(by: try #require(keys.first)), "only once")
  }

  @Test func tokenIsNotSignedByTheKey() throws {
    var probe = try OpenIDProbe(faults: [Fault(.openID(.algorithmNone))])
    let bare = try TokenParts(try probe.idToken())
    #expect(bare.header["alg"] == "none" && bare.signature.isEmpty && bare.claims["sub"] == "ada")
    probe = try OpenIDProbe(faults: [Fault(.openID(.algorithmHS256))])
    let forged = try TokenParts(try probe.idToken())
    #expect(forged.header["alg"] == "HS256" && forged.signature.count == 32)
    #expect(try probe.keys().contains { $0["kid"] == forged.header["kid"] })
  }

  @Test func redirectIsWrong() throws {
    let told = { (fault: OpenIDFault) in
      let probe = try OpenIDProbe(faults: [Fault(.openID(fault))])
      return (probe.emulator.issuer(), try probe.authorize())
    }
    let wrong = try told(.redirectWrongIssuer)
    #expect(wrong.1.told["iss"] != nil && wrong.1.told["iss"] != wrong.0 && wrong.1.told["code"] != nil)
    #expect(try told(.redirectMissingIssuer).1.told["iss"] == nil)
    let state = try told(.redirectWrongState).1.told["state"]
    #expect(state != nil && state != "state & more")
    #expect(try told(.redirectSlash).1.address == OpenIDProbe.redirectURI + "/")
    let error = try told(.serverError).1.told
    #expect(error["error"] == "server_error" && error["code"] == nil && error["state"] == "state & more")
  }

  @Test func discoveryIsWrong() throws {
    var probe = try OpenIDProbe(faults: [Fault(.openID(.otherIssuer))])
    #expect(try probe.discovery()["issuer"] != .string(probe.emulator.issuer()))
    probe = try OpenIDProbe(faults: [Fault(.openID(.issuerNotPromised))])
    #expect(try probe.discovery()["authorization_response_iss_parameter_supported"] == nil)
    #expect(try probe.authorize().told["iss"] == probe.emulator.issuer(), "there all the same")
  }

  @Test func faultIsThatOfOneProvider() throws {
    let probe = try OpenIDProbe(name: "other", faults: [try Fault(spec: "path=/emulator/openid/token,openid=no-email")])
    #expect(try TokenParts(try probe.idToken()).claims["email"] == "ada@example.com")
    probe.emulator.setFault(try Fault(spec: "path=/openid/other/,openid=no-email,times=1"))
    #expect(try probe.discovery()["issuer"] != nil, "uses nothing up")
    #expect(try TokenParts(try probe.idToken()).claims["email"] == nil)
  }

  @Test(arguments: OpenIDFault.allCases)
  func everyFaultHasAName(_ fault: OpenIDFault) throws {
    #expect(try Fault(spec: "openid=\(fault.rawValue)").answer == .openID(fault))
  }

  @Test func lifetimeOfFirebasesTokensLeavesSignedOnesAlone() throws {
    let probe = try OpenIDProbe(faults: [Fault(tokenLifetime: 2)])
    let answer = try probe.tokens()
    let token = try TokenParts(try #require(answer["id_token"]?.string))
    let key = try #require(try probe.keys().first { $0["kid"] == token.header["kid"] })
    #expect(try token.isSigned(by: key) && answer["expires_in"] == 3600)
  }

  @Test func unknownFaultIsRefused() {
    #expect(throws: EmulatorError.invalidFault("openid=nonsense")) { try Fault(spec: "openid=nonsense") }
  }

  /// What any endpoint can do wrong, these can too; and what then arrives elsewhere is on record.
  @Test func endpointsMeetTheOtherFaults() throws {
    let elsewhere = try EmulatorClient()
    let probe = try OpenIDProbe()
    let code = try #require(try probe.authorize().told["code"])
    probe.emulator.setFault(
      Fault(path: "/openid/token", .redirect(to: "http://\(elsewhere.emulator.address)/elsewhere"), times: 1))
    let moved = try probe.exchange(code)
    #expect(moved.status == 302 && moved.headers["location"]?.hasSuffix("/elsewhere") == true)
    #expect(elsewhere.emulator.requests.isEmpty)
    _ = try elsewhere.probe.request("POST", "/elsewhere?a=1", body: "code=x")
    #expect(elsewhere.emulator.requests(to: "/elsewhere").first?.query == ["a": "1"])
    probe.emulator.setFault(Fault(path: "/openid/token", .html, times: 1, status: 500))
    #expect(try probe.exchange(code).status == 500)
    probe.emulator.setFault(Fault(path: "/openid/token", .huge(bytes: 1 << 20), times: 1))
    #expect(try probe.exchange(code).body.count == 1 << 20)
    probe.emulator.setFault(Fault(path: "/.well-known", times: 1, status: 404))
    #expect(try probe.client.probe.request("GET", "\(probe.path)/.well-known/openid-configuration").status == 404)
    probe.emulator.setFault(Fault(path: "/jwks", .reset, times: 1))
    #expect(try probe.client.probe.request("GET", "\(probe.path)/jwks").wasReset)
  }
}
