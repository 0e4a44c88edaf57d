import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// The pages of the providers as a person meets them, without a browser: what a link or a button leads to.
@Suite(.timeLimit(.minutes(1)))
struct ProviderPageTests {
  /// SHA-256 of `ABCDEFGHIJ` (identity-toolkit 4.5).
  static let sessionHash = "261305762671a58cae5b74990bcfc236c2336fb04a0fbac626166d9491d2884c"

  static func handler(_ changes: [String: String?] = [:]) -> String {
    var parameters: [String: String?] = [
      "apiKey": "k", "authType": "signInWithRedirect", "ibi": "com.example.app", "sessionId": sessionHash, "v": "linkd",
      "eventId": "QWERTYUIOP", "providerId": "github.com", "clientId": "123456.apps.googleusercontent.com",
      "scopes": "read:user", "customParameters": "{\"login_hint\":\"a\"}", "hl": "en",
    ]
    parameters.merge(changes) { $1 }
    return "/emulator/auth/handler?" + OpenIDProbe.form(parameters.compactMapValues(\.self))
  }

  private static let formType = ["Content-Type": "application/x-www-form-urlencoded"]

  /// The address a link of a page has.
  private func link(_ id: String, in page: HTTPAnswer) throws -> String {
    let tag = try #require(page.text.firstMatch(of: try Regex("<a [^>]*id=\"\(id)\"[^>]*href=\"([^\"]*)\"")))
    return String(try #require(tag.output[1].substring)).replacing("&amp;", with: "&").replacing("&quot;", with: "\"")
      .replacing("&#39;", with: "'")
  }

  /// The parameters of the callback in a link to an app's scheme.
  private func callback(_ link: String) throws -> [String: String] {
    let outer = try #require(URLComponents(string: link)?.queryItems)
    #expect(outer.map(\.name) == ["deep_link_id"])
    let inner = try #require(outer.first?.value.flatMap { URLComponents(string: $0) })
    #expect(inner.path == "/__/auth/callback")
    return Dictionary(uniqueKeysWithValues: (inner.queryItems ?? []).map { ($0.name, $0.value ?? "") })
  }

  private func signIn(
    _ client: EmulatorClient, _ link: String, session: String?, provider: String = "github.com"
  ) throws -> HTTPAnswer {
    var body: [String: JSONValue] = [
      "requestUri": .string(link), "postBody": .string("providerId=\(provider)"), "returnIdpCredential": true,
      "autoCreate": true,
    ]
    body["sessionId"] = session.map(JSONValue.string)
    return try client.post("accounts:signInWithIdp", .object(body))
  }

  // MARK: The handler

  @Test func handlerLeadsBackWithThePickedAccount() throws {
    let client = try EmulatorClient()
    client.emulator.add(ProviderAccount(subject: "ada", email: "ada@example.com", displayName: "Ada <Lovelace>"))
    client.emulator.add(ProviderAccount(subject: "bob", provider: "google.com"))
    let page = try client.probe.request("GET", Self.handler())
    #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
    #expect(page.text.contains("Ada &lt;Lovelace&gt;") && !page.text.contains("bob"))
    let confirmation = try client.probe.request("GET", try link("account-ada", in: page))
    let back = try link("continue", in: confirmation)
    #expect(back.hasPrefix("com.googleusercontent.apps.123456://firebaseauth/link?deep_link_id=http%3A%2F%2F127.0.0.1"))
    let told = try callback(back)
    #expect(told["authType"] == "signInWithRedirect" && told["eventId"] == "QWERTYUIOP")
    #expect(told["firebaseError"] == nil)
    let answer = try signIn(client, try #require(told["link"]), session: "ABCDEFGHIJ")
    #expect(answer.status == 200, "\(answer.text)")
    #expect(answer.json["email"] == "ada@example.com" && answer.json["providerId"] == "github.com")
    #expect(answer.json["federatedId"] == "ada" && answer.json["displayName"] == "Ada <Lovelace>")
  }

  @Test func handlerNeedsTheSessionItWasOpenedBy() throws {
    let client = try EmulatorClient()
    client.emulator.add(ProviderAccount(subject: "ada", email: "ada@example.com"))
    client.emulator.setConsent(.account(subject: "ada"))
    let location = try #require(try client.probe.request("GET", Self.handler()).headers["location"])
    let link = try #require(try callback(location)["link"])
    for session in [nil, "", "ABCDEFGHIK", Self.sessionHash] {
      let refused = try signIn(client, link, session: session)
      #expect(refused.status == 400 && refused.errorMessage?.hasPrefix("INVALID_IDP_RESPONSE") == true)
    }
    #expect(try signIn(client, link, session: "ABCDEFGHIJ", provider: "google.com").status == 400)
    #expect(client.emulator.accountIDs.isEmpty)
    #expect(try signIn(client, link, session: "ABCDEFGHIJ").status == 200, "refusals spend nothing")
    #expect(try signIn(client, link, session: "ABCDEFGHIJ").status == 400, "once")
  }

  @Test func handlerLeadsBackWithARefusal() throws {
    let client = try EmulatorClient()
    let page = try client.probe.request("GET", Self.handler())
    let byLink = try link("cancel", in: page)
    client.emulator.setConsent(.refuse)
    let answer = try client.probe.request("GET", Self.handler())
    #expect(answer.status == 302 && answer.headers["location"] == byLink)
    let told = try callback(byLink)
    let error = try JSONDecoder().decode(JSONValue.self, from: Data((told["firebaseError"] ?? "").utf8))
    #expect(error["code"] == "auth/user-cancelled" && error["message"]?.string?.isEmpty == false)
    #expect(told["authType"] == "signInWithRedirect" && told["eventId"] == "QWERTYUIOP" && told["link"] == nil)
  }

  @Test func handlerAddsAnAccount() throws {
    let client = try EmulatorClient()
    let page = try client.probe.request("GET", Self.handler())
    #expect(page.text.contains("<form id=\"add\" method=\"post\""))
    let form = ["sub": "7", "email": "new@example.com", "name": "New & Only"]
    let added = try client.probe.request(
      "POST", Self.handler(), headers: Self.formType, body: OpenIDProbe.form(form))
    #expect(added.status == 303)
    let confirmation = try client.probe.request("GET", try #require(added.headers["location"]))
    let told = try callback(try link("continue", in: confirmation))
    let answer = try signIn(client, try #require(told["link"]), session: "ABCDEFGHIJ").json
    #expect(answer["email"] == "new@example.com" && answer["emailVerified"] == false)
    #expect(client.emulator.providerAccounts.map(\.displayName) == ["New & Only"])
    let second = try client.probe.request("GET", Self.handler())
    #expect(second.text.contains("id=\"account-7\""))
  }

  @Test func handlerShowsWhoHasSignedInBefore() throws {
    let client = try EmulatorClient()
    _ = try client.post(
      "accounts:signInWithIdp",
      [
        "requestUri": "http://localhost",
        "postBody": .string("providerId=github.com&id_token={\"sub\":\"old\",\"email\":\"o@example.com\"}"),
      ])
    #expect(try client.probe.request("GET", Self.handler()).text.contains("id=\"account-old\""))
    #expect(try !client.probe.request("GET", Self.handler(["providerId": "a.com"])).text.contains("account-old"))
  }

  @Test func handlerTakesTheSchemeOfTheAppID() throws {
    let client = try EmulatorClient()
    let page = try client.probe.request(
      "GET", Self.handler(["clientId": nil, "appId": "1:123456789:ios:123abc456def"]))
    #expect(try link("cancel", in: page).hasPrefix("app-1-123456789-ios-123abc456def://firebaseauth/link?"))
    // With neither, as the recorded widget (identity-toolkit 4.9).
    let bare = try client.probe.request("GET", Self.handler(["clientId": nil]))
    #expect(try link("cancel", in: bare).hasPrefix("com.example.app://google/link?"))
  }

  @Test(arguments: ["apiKey", "providerId", "ibi", "authType", "eventId"])
  func handlerRefusesWhatIsIncomplete(_ name: String) throws {
    let client = try EmulatorClient()
    let answer = try client.probe.request("GET", Self.handler([name: nil]))
    #expect(answer.status == 400)
    let isJSON = ["apiKey", "providerId"].contains(name)
    #expect(
      (answer.json["authEmulator"]?["error"] == "missing apiKey or providerId query parameters") == isJSON)
    #expect(try client.probe.request("GET", Self.handler(["clientId": "a b\"><script>"])).status == 400)
  }

  // MARK: The OpenID provider

  @Test func openIDPageOffersChoiceAndRefusal() throws {
    let probe = try OpenIDProbe()
    probe.emulator.setConsent(.ask)
    let page = try probe.client.probe.request("GET", probe.target())
    #expect(page.status == 200 && page.text.contains("id=\"account-ada\"") && page.text.contains("id=\"cancel\""))
    #expect(!page.text.contains("<script") && !page.text.contains("src="))
    let answer = { (form: [String: String]) in
      try OpenIDProbe.redirect(
        try probe.client.probe.request(
          "POST", probe.target(), headers: Self.formType, body: OpenIDProbe.form(form)))
    }
    let picked = try answer(["account": "ada"])
    #expect(picked.address == OpenIDProbe.redirectURI)
    #expect(try probe.exchange(try #require(picked.told["code"])).status == 200)
    let refused = try answer(["refuse": "1"]).told
    #expect(refused["error"] == "access_denied" && refused["code"] == nil && refused["state"] == "state & more")
    let added = try answer(["sub": "bob", "email": "bob@example.com", "emailVerified": "true", "name": "Bob"]).told
    let code = try #require(added["code"])
    let token = try #require(try probe.exchange(code).json["id_token"]?.string)
    let claims = try TokenParts(token).claims
    #expect(claims["sub"] == "bob" && claims["email_verified"] == true && claims["name"] == "Bob")
    #expect(try probe.client.probe.request("GET", probe.target()).text.contains("id=\"account-bob\""))
    #expect(probe.emulator.providerAccounts.count == 2)
  }

  @Test func openIDPageRefusesByItself() throws {
    let probe = try OpenIDProbe()
    probe.emulator.setConsent(.refuse)
    #expect(try probe.authorize().told["error"] == "access_denied")
    probe.emulator.setConsent(.account(subject: "nobody"))
    #expect(try probe.client.probe.request("GET", probe.target()).status == 200, "a person is asked")
  }

  @Test func accountOfAnotherProviderIsNotOffered() throws {
    let probe = try OpenIDProbe(name: "other")
    probe.emulator.add(ProviderAccount(subject: "mine", provider: "other"))
    probe.emulator.add(ProviderAccount(subject: "foreign", provider: "third"))
    probe.emulator.setConsent(.ask)
    let page = try probe.client.probe.request("GET", probe.target()).text
    #expect(page.contains("account-mine") && page.contains("account-ada") && !page.contains("account-foreign"))
  }

  // MARK: Control over HTTP

  @Test func controlOverHTTPSaysTheSame() throws {
    let client = try EmulatorClient()
    let account: JSONValue = ["sub": "ada", "email": "ada@example.com", "emailVerified": true, "name": "Ada"]
    #expect(try client.control("POST", "providerAccounts", account) == account)
    #expect(try client.control("GET", "providerAccounts") == ["accounts": [account]])
    #expect(try client.control("PATCH", "consent", ["account": "ada"]) == ["account": "ada"])
    #expect(try client.control("PATCH", "consent", ["refuse": true]) == ["refuse": true])
    #expect(try client.control("PATCH", "consent", [:]) == [:])
    let settings: JSONValue = [
      "algorithm": "ES256", "sendsIssuer": false, "extraClaims": ["iss": "https://a.example.com"],
      "clients": [["id": "app", "secret": "s", "redirectUris": ["http://127.0.0.1/callback"]]],
    ]
    #expect(
      try client.control("PATCH", "openid/other", settings)
        == ["issuer": .string("http://\(client.emulator.address)/emulator/openid/other")])
    let document = try client.probe.request("GET", "/emulator/openid/other/.well-known/openid-configuration").json
    #expect(document["authorization_response_iss_parameter_supported"] == nil)
    let keys = try client.probe.request("GET", "/emulator/openid/other/jwks").json["keys"]
    #expect(try client.control("POST", "openid/other:rotate", ["keepsOld": true])["keys"]?.array?.count == 2)
    let rotated = try client.control("POST", "openid/other:rotate", [:])["keys"]
    #expect(rotated?.array?.count == 1 && rotated != keys)
    #expect(try client.control("DELETE", "providerAccounts") == [:])
    #expect(client.emulator.providerAccounts.isEmpty)
    client.emulator.add(ProviderAccount(subject: "x"))
    client.emulator.reset()
    #expect(client.emulator.providerAccounts.isEmpty)
    #expect(try client.control("POST", "providerAccounts", ["email": "a@example.com"])["error"] != nil)
  }
}
