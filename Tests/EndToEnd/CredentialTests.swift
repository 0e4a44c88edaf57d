import Foundation
import TestSupport
import Testing

/// Sign-in by what the app has got by itself, and reauthentication by a provider (identity-toolkit 2.4, 2.11, 8.5).
@Suite("Credentials and custom tokens", .timeLimit(.minutes(3)))
struct CredentialTests {
  static let error = "org.linkd.Auth1.Error."
  static let app = "/org/linkd/Auth1/app/demo"
  static let again = "{'purpose': <'reauthenticate'>}"
  static let ada = World.Claims("g-ada", "ada@example.com")

  /// Ada, signed in by Google.
  private func signedIn(_ world: World) async throws -> String {
    try await world.flow(try await world.throughPage("google.com", Self.ada), at: "succeeded")
    return try await world.uid() ?? ""
  }

  // MARK: Reauthentication

  @Test("the same account at the provider confirms who is signed in, by page and by credential")
  func sameAccount() async throws {
    let world = try await World.start()
    let uid = try await signedIn(world)
    let monitor = try await BusMonitor(world)
    try await world.flow(
      try await world.throughPage("google.com", Self.ada, app: "demo", "--reauthenticate"), at: "succeeded")
    try await world.flow(try await world.withCredential("google.com", Self.ada, options: Self.again), at: "succeeded")
    #expect(try await world.uid() == uid)
    #expect(try await world.signInMethod() == "google.com")
    #expect(monitor.count("StateChanged", "\"unauthenticated\"") == 0)
  }

  @Test(
    "another account at the provider is UserMismatch: nothing changes, and its tokens are dropped",
    arguments: [(page: true, known: true), (true, false), (false, true), (false, false)])
  func otherAccount(page: Bool, known: Bool) async throws {
    let world = try await World.start()
    // Whoever isn't there isn't made: `autoCreate` is false (identity-toolkit 8.5).
    try await world.followProduction()
    let uid = try await signedIn(world)
    let token = try await world.linkctl("token").stdout
    let eve = World.Claims("g-eve", "eve@example.com")
    if known { _ = try await world.madeElsewhere(by: "google.com", eve) }
    let before = try await world.emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/accounts")["users"]
    let flow =
      page
      ? try await world.throughPage("google.com", eve, app: "demo", "--reauthenticate")
      : try await world.withCredential("google.com", eve, options: Self.again)
    let end = try await world.flow(flow, at: "failed")
    #expect(end["error"] as? String == Self.error + "UserMismatch", "\(end)")
    #expect(try await world.uid() == uid)
    #expect(try await world.signInMethod() == "google.com")
    #expect(try await world.linkctl("token").stdout == token)
    let after = try await world.emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/accounts")["users"]
    #expect((after as? [Any])?.count == (before as? [Any])?.count)
  }

  @Test("reauthentication by a custom token: the own account alone")
  func customTokenAgain() async throws {
    let world = try await World.start()
    let first = try await world.begin("SignIn.SignInWithCustomToken", "{\"uid\":\"u-1\"}")
    try await world.flow(first, at: "succeeded")
    let own = try await world.begin("SignIn.SignInWithCustomToken", "{\"uid\":\"u-1\"}", options: Self.again)
    try await world.flow(own, at: "succeeded")
    let foreign = try await world.begin("SignIn.SignInWithCustomToken", "{\"uid\":\"u-2\"}", options: Self.again)
    #expect(try await world.flow(foreign, at: "failed")["error"] as? String == Self.error + "UserMismatch")
    #expect(try await world.uid() == "u-1")
  }

  // MARK: SignInWithCredential

  @Test("what is no credential is InvalidArgs naming what's wrong; a provider that isn't one is NoSuchProvider")
  func badCredential() async throws {
    let world = try await World.start()
    let method = "org.linkd.Auth1.SignIn.SignInWithCredential"
    for (credential, words) in [
      ("{'id-token': <'x'>}", ["InvalidArgs", "provider-id"]),
      ("{'provider-id': <'google.com'>}", ["InvalidArgs", "id-token"]),
      ("{'provider-id': <7>, 'id-token': <'x'>}", ["InvalidArgs", "provider-id"]),
      ("{'provider-id': <'google.com'>, 'id-token': <7>}", ["InvalidArgs", "id-token"]),
      ("{'provider-id': <'google.com'>, 'id-token': <''>}", ["InvalidArgs", "id-token"]),
      ("{'provider-id': <'google.com'>, 'id-token': <'x'>, 'raw-nonce': <true>}", ["InvalidArgs", "raw-nonce"]),
      ("{'provider-id': <'google.com'>, 'access-token': <@as []>}", ["InvalidArgs", "access-token"]),
      ("{'provider-id': <'google.com'>, 'raw-nonce': <'x'>}", ["InvalidArgs", "id-token"]),
      ("{'provider-id': <'password'>, 'id-token': <'x'>}", ["NoSuchProvider"]),
      ("{'provider-id': <'unheard.of'>, 'id-token': <'x'>}", ["NoSuchProvider"]),
    ] {
      let result = try await world.gdbus(Self.app, method, credential, "{}")
      #expect(result.status != 0 && words.allSatisfy(result.stderr.contains), "\(credential): \(result)")
    }
    #expect(try await world.requests("accounts:signInWithIdp") == 0)
    // An unknown key is nothing.
    let ok = try await world.gdbus(
      Self.app, method, "{'provider-id': <'google.com'>, 'id-token': <'{\"sub\":\"g\"}'>, 'unknown': <1>}", "{}")
    #expect(ok.status == 0, "\(ok)")
  }

  @Test("a token that the provider didn't make is InvalidProviderResponse, and shown nowhere")
  func refusedToken() async throws {
    let world = try await World.start()
    let flow = try await world.begin(
      "SignIn.SignInWithCredential", "{'provider-id': <'google.com'>, 'id-token': <'SECRET-7f3a'>}")
    let end = try await world.flow(flow, at: "failed")
    #expect(end["error"] as? String == Self.error + "InvalidProviderResponse")
    #expect(!"\(end)".contains("SECRET-7f3a") && !world.log.contains("SECRET-7f3a"))
    #expect(try await world.uid() == nil)
  }

  /// An ID token of the emulator's own OpenID provider, whose nonce is the SHA-256 of `raw`.
  private func signedToken(_ world: World, raw: String) async throws -> String {
    try await world.pagesChoose(World.Claims("o-ada", "ada@example.com"))
    let hash = try await world.run(["sh", "-c", "printf %s '\(raw)' | sha256sum | cut -d' ' -f1"]).stdout
    let verifier = String(repeating: "v", count: 43)
    let digest = "printf %s \(verifier) | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '=\\n'"
    let challenge = try await world.run(["sh", "-c", digest]).stdout
    let base = "http://\(world.emulatorAddress)/emulator/openid"
    let discovery = try await world.emulatorJSON("GET", "/emulator/openid/.well-known/openid-configuration")
    let authorize = discovery["authorization_endpoint"] as? String ?? base
    let token = discovery["token_endpoint"] as? String ?? base
    let back = "http://127.0.0.1:1/callback"
    let query =
      "response_type=code&client_id=c1&redirect_uri=\(back)&scope=openid%20email&state=s&code_challenge_method=S256"
      + "&code_challenge=\(challenge)&nonce=\(hash.trimmingCharacters(in: .whitespacesAndNewlines))"
    let redirect = try await world.run([
      "curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", "\(authorize)?\(query)",
    ])
    let code = URLComponents(string: redirect.stdout)?.queryItems?.first { $0.name == "code" }?.value ?? ""
    let answer = try await world.run([
      "curl", "-fsS", "-d",
      "grant_type=authorization_code&client_id=c1&code=\(code)&code_verifier=\(verifier)&redirect_uri=\(back)", token,
    ])
    let tokens = try JSONSerialization.jsonObject(with: Data(answer.stdout.utf8)) as? [String: Any]
    return try #require(tokens?["id_token"] as? String, "\(redirect) \(answer)")
  }

  @Test("an ID token with a nonce goes with the raw nonce; without it, or with another, it's NonceMismatch")
  func nonce() async throws {
    let world = try await World.start()
    let token = try await signedToken(world, raw: "raw-1")
    for (nonce, stage) in [("", "failed"), ("raw-2", "failed"), ("raw-1", "succeeded")] {
      let member = nonce.isEmpty ? "" : ", 'raw-nonce': <'\(nonce)'>"
      let flow = try await world.begin(
        "SignIn.SignInWithCredential", "{'provider-id': <'oidc.example'>, 'id-token': <'\(token)'>\(member)}")
      let end = try await world.flow(flow, at: stage)
      if stage == "failed" {
        #expect(end["error"] as? String == Self.error + "NonceMismatch", "\(nonce): \(end)")
        #expect(try await world.uid() == nil)
      }
    }
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.signInMethod() == "oidc.example")
    #expect(!world.log.contains(token) && !world.log.contains("raw-1"))
  }

  @Test("killed while a credential is exchanged: it's exchanged after the restart")
  func killed() async throws {
    let world = try await World.start()
    try await world.fault(["path": "accounts:signInWithIdp", "hang": true, "times": 1])
    let flow = try await world.withCredential("google.com", Self.ada)
    try await world.eventually("the request") { try await world.requests("accounts:signInWithIdp") == 1 }
    try await world.killDaemon()
    try await world.clearFaults()
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.email() == "ada@example.com")
  }

  // MARK: SignInWithCustomToken

  @Test("a custom token signs in; a broken one, and one to link, are refused, and shown nowhere")
  func customToken() async throws {
    let world = try await World.start()
    let good = try await world.linkctl("sign-in", "custom-token", "--token-stdin", stdin: "{\"uid\":\"u-1\"}")
    #expect(good.status == 0, "\(good)")
    #expect(try await world.uid() == "u-1")
    for token in ["SECRET-7f3a", "{\"uid\":", "{\"claims\":{}}", "{\"uid\":\"u\",\"claims\":{\"sub\":1}}"] {
      let lines = try await world.json("sign-in", "custom-token", "--token-stdin", stdin: token)
      #expect(lines.last?["exit"] as? Int == 1, "\(token): \(lines)")
      #expect(["InvalidCredentials", "InvalidEmail"].contains { lines.last?["error"] as? String == Self.error + $0 })
    }
    #expect(!world.log.contains("SECRET-7f3a"))
    #expect(try await world.uid() == "u-1")
    let method = "org.linkd.Auth1.SignIn.SignInWithCustomToken"
    #expect(try await world.gdbus(Self.app, method, "", "{}").stderr.contains("InvalidArgs"))
    let linked = try await world.gdbus(Self.app, method, "{\"uid\":\"u-2\"}", "{'purpose': <'link'>}")
    #expect(linked.stderr.contains("InvalidArgs") && linked.stderr.contains("purpose"))
  }

  @Test("a custom token of another tenant than the app's is TenantMismatch, and signs nobody in")
  func tenant() async throws {
    let world = try await World.start()
    let set = try await world.gdbus(
      Self.app, "org.freedesktop.DBus.Properties.Set", "org.linkd.Auth1.App", "TenantId", "<'tenant-a'>")
    #expect(set.status == 0, "\(set)")
    // Another reading of the files doesn't change what was set.
    #expect(try await world.gdbus("/org/linkd/Auth1", "org.linkd.Auth1.Manager.ReloadApps", "{}").status == 0)
    let lines = try await world.json("sign-in", "custom-token", "--token-stdin", stdin: Self.customToken("tenant-b"))
    #expect(lines.last?["error"] as? String == Self.error + "TenantMismatch", "\(lines)")
    #expect(try await world.uid() == nil)
    let own = try await world.json("sign-in", "custom-token", "--token-stdin", stdin: Self.customToken("tenant-a"))
    #expect(own.last?["stage"] as? String == "succeeded", "\(own)")
    #expect(try await world.whoami()["tenant-id"] as? String == "tenant-a")
  }

  /// A JWT as an app's own server makes it; nobody signed it.
  private static func customToken(_ tenant: String) -> String {
    func part(_ text: String) -> String {
      Data(text.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
        .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    }
    let audience =
      "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
    return part("{\"alg\":\"none\",\"typ\":\"JWT\"}") + "."
      + part("{\"uid\":\"u-1\",\"aud\":\"\(audience)\",\"tenant_id\":\"\(tenant)\"}") + "."
  }

  @Test("killed while a custom token is exchanged: it's exchanged after the restart")
  func customTokenKilled() async throws {
    let world = try await World.start()
    try await world.fault(["path": "accounts:signInWithCustomToken", "hang": true, "times": 1])
    let flow = try await world.begin("SignIn.SignInWithCustomToken", "{\"uid\":\"u-1\"}")
    try await world.eventually("the request") { try await world.requests("accounts:signInWithCustomToken") == 1 }
    try await world.killDaemon()
    try await world.clearFaults()
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == "u-1")
  }
}
