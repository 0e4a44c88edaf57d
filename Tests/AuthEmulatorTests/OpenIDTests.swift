import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// The OpenID providers of the emulator: OpenID Connect Core 1.0 and Discovery 1.0, RFC 6749, 7636, 8252 and 9207.
@Suite(.timeLimit(.minutes(1)))
struct OpenIDTests {
  @Test(arguments: ["", "other"])
  func discoveryDescribesTheProvider(_ name: String) throws {
    let probe = try OpenIDProbe(name: name)
    let document = try probe.discovery()
    let issuer = probe.emulator.issuer(name)
    #expect(issuer == "http://127.0.0.1:\(probe.emulator.port)\(probe.path)")
    #expect(document["issuer"] == .string(issuer))
    #expect(document["authorization_endpoint"] == .string("\(issuer)/authorize"))
    #expect(document["token_endpoint"] == .string("\(issuer)/token"))
    #expect(document["jwks_uri"] == .string("\(issuer)/jwks"))
    #expect(document["response_types_supported"] == ["code"])
    #expect(document["code_challenge_methods_supported"] == ["S256"])
    #expect(document["authorization_response_iss_parameter_supported"] == true)
    #expect(document["id_token_signing_alg_values_supported"] == ["RS256", "ES256"])
  }

  @Test(arguments: [("RS256", "RSA"), ("ES256", "EC")])
  func idTokenIsSignedAsOpenSSLSays(_ algorithm: String, _ kind: String) throws {
    let probe = try OpenIDProbe(usesES256: algorithm == "ES256")
    let token = try TokenParts(try probe.idToken())
    #expect(token.header["alg"] == .string(algorithm))
    let key = try #require(try probe.keys().first { $0["kid"] == token.header["kid"] })
    #expect(key["kty"] == .string(kind))
    #expect(try token.isSigned(by: key))
    let other = try OpenIDProbe(usesES256: algorithm == "ES256")
    let foreign = try #require(try other.keys().first)
    #expect(try !token.isSigned(by: foreign))
  }

  @Test func idTokenSaysWhoAndForWhom() throws {
    let probe = try OpenIDProbe()
    probe.emulator.setClock(1_796_008_160_900)
    let answer = try probe.tokens()
    #expect(answer["token_type"] == "Bearer" && answer["expires_in"] == 3600)
    #expect(answer["access_token"]?.string?.isEmpty == false)
    let claims = try TokenParts(try #require(answer["id_token"]?.string)).claims
    #expect(
      claims == [
        "iss": .string(probe.emulator.issuer()), "aud": "app", "sub": "ada", "email": "ada@example.com",
        "email_verified": true, "name": "Ada Lovelace", "nonce": "the nonce", "iat": 1_796_008_160,
        "auth_time": 1_796_008_160, "exp": 1_796_011_760,
      ])
  }

  @Test func scopesSayWhatIsTold() throws {
    let probe = try OpenIDProbe()
    let claims = try TokenParts(try probe.idToken(["scope": "openid", "nonce": nil])).claims
    #expect(claims["email"] == nil && claims["email_verified"] == nil && claims["name"] == nil)
    #expect(claims["nonce"] == nil)
    let answer = try probe.tokens(["scope": "email"])
    #expect(answer["id_token"] == nil && answer["scope"] == "email")
  }

  @Test func redirectKeepsTheQueryAndTellsStateAndIssuer() throws {
    let probe = try OpenIDProbe()
    let (address, told) = try probe.authorize(["redirect_uri": "com.example.app:/back?a=1"])
    #expect(address == "com.example.app:/back")
    #expect(Set(told.keys) == ["a", "code", "state", "iss"])
    #expect(told["a"] == "1" && told["state"] == "state & more" && told["iss"] == probe.emulator.issuer())
  }

  @Test func providerWithoutIssuerPromisesNone() throws {
    let probe = try OpenIDProbe()
    var settings = OpenIDSettings()
    settings.sendsIssuer = false
    probe.emulator.setOpenID(settings)
    #expect(try probe.discovery()["authorization_response_iss_parameter_supported"] == nil)
    #expect(try probe.authorize().told["iss"] == nil)
  }

  /// As Microsoft's: the document has a placeholder where its tokens have the tenant.
  @Test func providerCallsItselfAsSet() throws {
    let probe = try OpenIDProbe()
    var settings = OpenIDSettings()
    settings.usesES256 = true
    settings.issuer = "https://login.example.com/{tenantid}/v2.0"
    settings.extraClaims = ["iss": "https://login.example.com/t1/v2.0", "tid": "t1", "email": .null]
    probe.emulator.setOpenID(settings)
    let document = try probe.discovery()
    #expect(document["issuer"] == "https://login.example.com/{tenantid}/v2.0")
    #expect(document["token_endpoint"] == .string("\(probe.emulator.issuer())/token"), "it's still here")
    #expect(try probe.authorize().told["iss"] == "https://login.example.com/{tenantid}/v2.0")
    let claims = try TokenParts(try probe.idToken()).claims
    #expect(claims["iss"] == "https://login.example.com/t1/v2.0" && claims["tid"] == "t1" && claims["sub"] == "ada")
  }

  @Test func codeServesOnce() throws {
    let probe = try OpenIDProbe()
    let code = try #require(try probe.authorize().told["code"])
    #expect(try probe.exchange(code).status == 200)
    let again = try probe.exchange(code)
    #expect(again.status == 400 && again.json["error"] == "invalid_grant")
    #expect(probe.emulator.requests(to: "/openid/token").count == 2)
    #expect(probe.emulator.requests(to: "/openid/token").first?.body?["code_verifier"]?.string == OpenIDProbe.verifier)
  }

  @Test(arguments: [
    ("code_verifier", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"), ("code_verifier", nil),
    ("redirect_uri", "http://127.0.0.1:8124/callback"), ("redirect_uri", nil), ("client_id", "another"),
  ])
  func wrongExchangeIsRefusedAndSpendsNothing(_ field: String, _ value: String?) throws {
    let probe = try OpenIDProbe()
    let code = try #require(try probe.authorize().told["code"])
    let answer = try probe.exchange(code, [field: value])
    #expect(answer.status == 400 && answer.json["error"] == "invalid_grant")
    #expect(answer.json["id_token"] == nil && answer.json["access_token"] == nil)
    #expect(answer.headers["cache-control"] == "no-store")
    #expect(try probe.exchange(code).status == 200)
  }

  @Test func exchangeAsksForTheRightForm() throws {
    let probe = try OpenIDProbe()
    let code = try #require(try probe.authorize().told["code"])
    let answer = try probe.exchange(code, ["grant_type": "refresh_token"])
    #expect(answer.status == 400 && answer.json["error"] == "unsupported_grant_type")
    let json = try probe.exchange(code, headers: ["Content-Type": "application/json"])
    #expect(json.status == 400 && json.json["error"] == "invalid_request")
    #expect(try probe.exchange("no such code").json["error"] == "invalid_grant")
  }

  @Test func codeEndsAfterTenMinutes() throws {
    let probe = try OpenIDProbe()
    probe.emulator.setClock(1_796_008_160_000)
    let code = try #require(try probe.authorize().told["code"])
    probe.emulator.setClock(1_796_008_760_001)
    #expect(try probe.exchange(code).json["error"] == "invalid_grant")
  }

  @Test(arguments: [
    (["response_type": "token"], "unsupported_response_type"), (["response_type": nil], "unsupported_response_type"),
    (["code_challenge": nil], "invalid_request"), (["code_challenge_method": "plain"], "invalid_request"),
    (["code_challenge_method": nil], "invalid_request"), (["scope": nil], "invalid_scope"),
    (["response_mode": "fragment"], "invalid_request"),
  ])
  func wrongRequestIsRedirectedWithItsError(_ changes: [String: String?], _ error: String) throws {
    let probe = try OpenIDProbe()
    let (address, told) = try probe.authorize(changes)
    #expect(address == OpenIDProbe.redirectURI)
    #expect(told["error"] == error && told["state"] == "state & more" && told["code"] == nil)
    #expect(told["iss"] == probe.emulator.issuer())
  }

  @Test(arguments: [
    ["client_id": nil], ["redirect_uri": nil], ["redirect_uri": "/relative"],
    ["redirect_uri": "http://127.0.0.1:1/#fragment"],
  ])
  func requestWithoutAKnownWayBackIsNotRedirected(_ changes: [String: String?]) throws {
    let probe = try OpenIDProbe()
    let answer = try probe.client.probe.request("GET", probe.target(changes))
    #expect(answer.status == 400 && answer.headers["location"] == nil)
  }

  @Test func registeredClientsAloneAreAdmitted() throws {
    let probe = try OpenIDProbe()
    var settings = OpenIDSettings()
    settings.usesES256 = true
    settings.clients = [OpenIDClient(id: "app", redirectURIs: ["http://127.0.0.1/callback", "com.example.app:/back"])]
    probe.emulator.setOpenID(settings)
    let status = { try probe.client.probe.request("GET", probe.target($0)).status }
    // RFC 8252, section 7.3: any port of the loopback address; all else is compared as it is (section 8.10).
    #expect(try status([:]) == 302)
    #expect(try status(["redirect_uri": "http://127.0.0.1:45321/callback"]) == 302)
    #expect(try status(["redirect_uri": "com.example.app:/back"]) == 302)
    for foreign in [
      "http://127.0.0.1:8123/other", "http://127.0.0.1:8123/callback/", "http://127.0.0.1.example.com/callback",
      "http://[::1]:8123/callback", "com.example.app:/back2", "https://127.0.0.1:8123/callback",
    ] { #expect(try status(["redirect_uri": foreign]) == 400, "\(foreign)") }
    #expect(try status(["client_id": "another"]) == 400)
  }

  @Test func secretIsAskedForWhereOneIsRegistered() throws {
    let probe = try OpenIDProbe()
    var settings = OpenIDSettings()
    settings.usesES256 = true
    settings.clients = [OpenIDClient(id: "app", secret: "s3cr:t", redirectURIs: [OpenIDProbe.redirectURI])]
    probe.emulator.setOpenID(settings)
    let code = try #require(try probe.authorize().told["code"])
    for changes in [["client_secret": "wrong"], ["client_secret": nil], ["client_id": "another"]] {
      let answer = try probe.exchange(code, changes)
      #expect(answer.status == 401 && answer.json["error"] == "invalid_client")
      #expect(answer.headers["www-authenticate"]?.hasPrefix("Basic") == true)
    }
    #expect(try probe.exchange(code, ["client_secret": "s3cr:t"]).status == 200)
    let second = try #require(try probe.authorize().told["code"])
    // `app:s3cr%3At` (RFC 6749, section 2.3.1).
    let basic = ["Authorization": "Basic YXBwOnMzY3IlM0F0"]
    #expect(
      try probe.exchange(second, ["client_secret": "s3cr:t"], headers: basic).json["error"] == "invalid_request")
    #expect(try probe.exchange(second, ["client_id": nil], headers: basic).status == 200)
  }

  @Test func codeOfOneProviderIsNothingAtAnother() throws {
    let probe = try OpenIDProbe()
    let code = try #require(try probe.authorize().told["code"])
    let answer = try probe.client.probe.request(
      "POST", "/emulator/openid/other/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: OpenIDProbe.form([
        "grant_type": "authorization_code", "code": code, "redirect_uri": OpenIDProbe.redirectURI, "client_id": "app",
        "code_verifier": OpenIDProbe.verifier,
      ]))
    #expect(answer.json["error"] == "invalid_grant")
    let kids = try probe.keys().map { $0["kid"] }
    let others = try #require(
      try probe.client.probe.request("GET", "/emulator/openid/other/jwks").json["keys"]?.array)
    #expect(others.count == 1 && others.allSatisfy { !kids.contains($0["kid"]) })
  }

  @Test func keysOfBothKindsAreInOneSet() throws {
    let probe = try OpenIDProbe()
    let first = try TokenParts(try probe.idToken())
    probe.emulator.setOpenID(OpenIDSettings())
    let second = try TokenParts(try probe.idToken())
    #expect(first.header["alg"] == "ES256" && second.header["alg"] == "RS256")
    let keys = try probe.keys()
    #expect(keys.map { $0["kid"] } == [first.header["kid"], second.header["kid"]])
    for (token, key) in zip([first, second], keys) { #expect(try token.isSigned(by: key)) }
  }

  @Test(arguments: [true, false])
  func rotatedKeysSign(_ keepsOld: Bool) throws {
    let probe = try OpenIDProbe()
    let before = try probe.keys()
    let old = try TokenParts(try probe.idToken())
    probe.emulator.rotateKeys(keepsOld: keepsOld)
    let after = try probe.keys()
    let new = try TokenParts(try probe.idToken())
    #expect(new.header["kid"] != old.header["kid"])
    #expect(after.count == (keepsOld ? 2 : 1) && after.contains { $0["kid"] == new.header["kid"] })
    #expect(after.contains { $0["kid"] == old.header["kid"] } == keepsOld)
    #expect(before.allSatisfy { after.contains($0) } == keepsOld)
  }

  @Test func keySetHasNothingPrivate() throws {
    for usesES256 in [true, false] {
      let key = try #require(try OpenIDProbe(usesES256: usesES256).keys().first)
      let expected: Set<String> =
        key["kty"] == "RSA" ? ["kid", "alg", "use", "kty", "n", "e"] : ["kid", "alg", "use", "kty", "crv", "x", "y"]
      #expect(Set((key.object ?? [:]).keys) == expected)
    }
  }
}
