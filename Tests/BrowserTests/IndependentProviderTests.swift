import Foundation
import TestSupport
import Testing

extension BrowserTests {
  /// The provider that other tests trust: it must refuse what it should.
  @Suite("The independent OpenID provider", .timeLimit(.minutes(3)))
  struct IndependentProviderTests {
    /// RFC 7636, appendix B.
    private let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    /// Not the registered port: a native app's is chosen each time. Nobody listens there.
    private let redirect = "http://127.0.0.1:9/callback"

    @Test(
      "its discovery document names itself, its key set holds the key it signs with, and a new one after a rotation")
    func discovery() async throws {
      let provider = try await IndependentProvider.start(redirects: [redirect])
      let document = try await json([], "\(provider.issuer)/.well-known/openid-configuration")
      #expect(document["issuer"] as? String == provider.issuer)
      let keySet = try #require(document["jwks_uri"] as? String)
      let first = try #require(try await json([], keySet)["keys"] as? [[String: String]])
      #expect(first.count == 1 && first[0]["alg"] == "RS256" && first[0]["kty"] == "RSA")
      try provider.rotateKey()
      let second = try #require(try await json([], keySet)["keys"] as? [[String: String]])
      #expect(second.count == 2 && second[1] == first[0] && second[0]["kid"] != first[0]["kid"])
      #expect(provider.requests.filter { $0 == "GET /o/.well-known/jwks.json" }.count == 2)
    }

    @Test("a browser brings a code back to any loopback port; only the right verifier makes tokens of it, and once")
    func code() async throws {
      let world = try await World.start(apps: [])
      let user = IndependentProvider.User(email: "mia@example.com")
      let provider = try await IndependentProvider.start(redirects: ["http://127.0.0.1/callback"], users: [user])
      let back = try await Browser.run(in: world) { browser in
        try await browser.open(authorization(provider))
        try await browser.picture("provider-sign-in")
        try await browser.signIn(as: user)
        try await browser.eventually("the question") { try await browser.shows("#authorizationForm") }
        try await browser.picture("provider-consent")
        try await browser.consent()
        return try await browser.redirected(to: redirect)
      }
      #expect(back["state"] == "a-state")
      let code = try #require(back["code"])
      let wrong = ["code_verifier": String(verifier.reversed())]
      #expect(try await token(provider, code, wrong)["error"] as? String == "invalid_grant")
      #expect(try await token(provider, code, [:])["error"] as? String == "invalid_request")
      let answer = try await token(provider, code, ["code_verifier": verifier])
      let idToken = try #require(answer["id_token"] as? String, "\(answer)")
      let claims = try await verified(idToken, by: provider)
      #expect(claims["iss"] as? String == provider.issuer)
      #expect(claims["aud"] as? String == IndependentProvider.client)
      #expect(claims["nonce"] as? String == "a-nonce")
      #expect(claims["sub"] as? String == "1")
      #expect(claims["email"] as? String == user.email)
      #expect(claims["email_verified"] as? Bool == true)
      #expect(try await token(provider, code, ["code_verifier": verifier])["error"] as? String == "invalid_grant")
    }

    @Test("a refused consent comes back as access_denied, and a request without PKCE as an error")
    func refused() async throws {
      let world = try await World.start(apps: [])
      let provider = try await IndependentProvider.start(redirects: ["http://127.0.0.1/callback"])
      try await Browser.run(in: world) { browser in
        try await browser.open(authorization(provider))
        try await browser.signIn(as: provider.users[0])
        try await browser.consent(false)
        let back = try await browser.redirected(to: redirect)
        #expect(back["error"] == "access_denied" && back["state"] == "a-state" && back["code"] == nil)

        try? await browser.open(authorization(provider).replacing("&code_challenge=\(challenge)", with: ""))
        #expect(try await browser.redirected(to: redirect)["error"] == "invalid_request")
      }
    }

    @Test("by the app's scheme the code goes through xdg-open to linkctl")
    func scheme() async throws {
      let world = try await World.start()
      #expect(try await world.linkctl("register").status == 0)
      let target = "\(World.scheme):/oauth"
      let provider = try await IndependentProvider.start(redirects: [target])
      try await Browser.run(in: world) { browser in
        try await browser.open(authorization(provider, to: target))
        try await browser.signIn(as: provider.users[0])
        try await browser.consent()
        // Nobody has asked for it, and linkd says so.
        try await world.eventually("the link") { world.log.contains("link not handled") }
      }
    }

    // MARK: A client of our own

    private func authorization(_ provider: IndependentProvider, to redirect: String? = nil) -> String {
      var url = URLComponents(string: "\(provider.issuer)/authorize/")
      url?.queryItems = [
        "client_id": IndependentProvider.client, "response_type": "code", "redirect_uri": redirect ?? self.redirect,
        "scope": "openid email", "state": "a-state", "nonce": "a-nonce", "code_challenge_method": "S256",
        "code_challenge": challenge,
      ].sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
      return url?.string ?? ""
    }

    private func token(
      _ provider: IndependentProvider, _ code: String, _ more: [String: String]
    ) async throws -> [String: Any] {
      let fields = [
        "grant_type": "authorization_code", "code": code, "redirect_uri": redirect,
        "client_id": IndependentProvider.client,
      ].merging(more) { $1 }
      return try await json(
        fields.flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] }, "\(provider.issuer)/token/")
    }

    private func json(_ options: [String], _ url: String) async throws -> [String: Any] {
      let result = try await Subprocess.run(["curl", "-sS"] + options + [url])
      return try #require(
        try JSONSerialization.jsonObject(with: Data(result.stdout.utf8)) as? [String: Any], "\(result)")
    }

    /// The claims, once node has checked the signature with the key set.
    private func verified(_ token: String, by provider: IndependentProvider) async throws -> [String: Any] {
      let keys = try await Subprocess.run(["curl", "-sS", "\(provider.issuer)/.well-known/jwks.json"]).stdout
      let script = """
        const { createPublicKey, verify } = require("crypto");
        const [keys, token] = require("fs").readFileSync(0, "utf8").split("\\0");
        const [header, claims, signature] = token.split(".");
        const { kid, alg } = JSON.parse(Buffer.from(header, "base64url"));
        const key = createPublicKey({ key: JSON.parse(keys).keys.find((key) => key.kid === kid), format: "jwk" });
        if (alg !== "RS256" || !verify("sha256", `${header}.${claims}`, key, Buffer.from(signature, "base64url"))) throw alg;
        console.log(Buffer.from(claims, "base64url").toString());
        """
      let result = try await Subprocess.run(["node", "-e", script], stdin: "\(keys)\0\(token)")
      return try #require(
        try JSONSerialization.jsonObject(with: Data(result.stdout.utf8)) as? [String: Any], "\(result)")
    }
  }
}

extension Browser {
  /// The query of the address that a provider has sent it back to, whether or not anybody listens there.
  func redirected(to redirect: String) async throws -> [String: String] {
    try await eventually("a redirect to \(redirect)") { try await url.hasPrefix("\(redirect)?") }
    let items = URLComponents(string: try await url)?.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
  }
}
