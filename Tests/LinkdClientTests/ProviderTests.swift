import AuthCore
import DBus
import EventLoop
import Foundation
import LinkdClient
import TestSupport
import Testing

/// Signing in by providers from Swift (behaviour: OAuth and OpenID Connect, Anonymous upgrade and conflicts).
@Suite("Providers", .timeLimit(.minutes(1)))
struct ProviderTests {
  static let user: [String: DBusValue] = ["user": .dict(["uid": .string("u1"), "email": .string("ada@example.com")])]

  private func error<Value>(_ body: () async throws(LinkdError) -> Value) async -> AuthError? {
    await failure(body)?.authError
  }

  private func conflict(_ kind: ConflictKind) -> [String: DBusValue] {
    ["conflict": .dict(["kind": .string(kind.rawValue), "options": .strings(["switch", "cancel"])])]
  }

  // MARK: linkd's answers

  @Test("what the person does in the browser is waited for, and a guest's conflict that settles itself")
  func waits() async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .waitingForRedirect))
    let watcher = rig.service.flow(try #require(FlowID("f1")))
    var stages = watcher.stages.makeAsyncIterator()
    async let user = rig.app.signIn(withProvider: "google.com")
    #expect(try await stages.next()?.stage == .waitingForRedirect)
    await rig.stub.move(.waitingForRedirect, ["error": .string(AuthError.stateMismatch.dbusName)])
    await rig.stub.move(.exchanging)
    await rig.stub.move(.conflict, conflict(.anonymousUpgrade))
    await rig.stub.move(.succeeded, Self.user)
    #expect(try await user.email == "ada@example.com")
    #expect(await rig.stub.calls.allSatisfy { $0.member != "Cancel" })
  }

  @Test(
    "a conflict that somebody has to settle is its own error, and leaves no flow behind",
    arguments: ConflictKind.allCases.filter { $0 != .anonymousUpgrade })
  func conflicts(_ kind: ConflictKind) async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .conflict, details: conflict(kind)))
    let thrown = await error { () throws(LinkdError) in
      try await rig.app.signIn(withProvider: "google.com", purpose: .link)
    }
    #expect(thrown == kind.error)
    #expect(await rig.stub.calls.last?.member == "Cancel")
  }

  @Test("a page that no browser could open is HandlerMissing, and leaves no flow behind")
  func noBrowser() async throws {
    let details = ["error": DBusValue.string(AuthError.handlerMissing.dbusName)]
    let rig = try await Rig.start(StubLinkd.Stored(stage: .waitingForRedirect, details: details))
    #expect(
      await error { () throws(LinkdError) in try await rig.app.signIn(withProvider: "google.com") } == .handlerMissing)
    #expect(await rig.stub.calls.last?.member == "Cancel")
  }

  @Test("who says no at the provider has cancelled")
  func refused() async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .cancelled))
    #expect(await error { () throws(LinkdError) in try await rig.app.signIn(withProvider: "google.com") } == .cancelled)
  }

  @Test("taking a way of signing in away after a sign-in too long ago is RequiresRecentLogin")
  func unlinking() async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .reauthenticationRequired))
    #expect(await error { () throws(LinkdError) in try await rig.app.unlink("google.com") } == .requiresRecentLogin)
    #expect(await rig.stub.calls.last?.member == "Cancel")
  }

  @Test("a credential's secrets and the page's URL are in no description")
  func secrecy() {
    let text = "\(CallTests.credential) \(CallTests.request)"
    #expect(!text.contains("\"i\"") && text.contains("<redacted>"))
  }

  // MARK: The double

  @Test("the double signs in by providers, links, unlinks and confirms")
  func double() async throws {
    let auth = InMemoryAuthService(accounts: ["ada@example.com": "correct horse"])
    let user = try await auth.signIn(withProvider: "google.com")
    #expect(user.email == "you@example.com" && user.providers.map(\.providerID) == ["google.com"])
    try await auth.signOut()
    #expect(try await auth.signIn(withProvider: "google.com").uid == user.uid)
    #expect(try await auth.signIn(withProvider: "google.com", purpose: .reauthenticate).uid == user.uid)
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(withProvider: "google.com", purpose: .link) }
        == .providerAlreadyLinked)
    #expect(try await auth.signIn(withProvider: "github.com", purpose: .link).providers.count == 2)
    try await auth.unlink("google.com")
    #expect(try await auth.currentUser?.providers.map(\.providerID) == ["github.com"])
    #expect(await error { () throws(LinkdError) in try await auth.unlink("google.com") } == .noSuchProvider)
    try await auth.signOut()
    auth.setPerson("ada@example.com", at: "oidc.example")
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(withProvider: "oidc.example") }
        == .accountExistsWithDifferentCredential)
    auth.setPerson(nil, at: "oidc.example")
    #expect(await error { () throws(LinkdError) in try await auth.signIn(withProvider: "oidc.example") } == .cancelled)
    #expect(try await auth.status().state == .unauthenticated)
  }

  @Test("the double's guest becomes an account; another's credential and another user are refused")
  func doubleGuests() async throws {
    let auth = InMemoryAuthService()
    let owner = try await auth.signIn(withProvider: "google.com")
    let guest = try await auth.signInAnonymously()
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(withProvider: "google.com", purpose: .link) }
        == .credentialAlreadyInUse)
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(withProvider: "google.com", purpose: .reauthenticate)
      }
        == .userMismatch)
    auth.setPerson("eve@example.com", at: "google.com")
    let upgraded = try await auth.signIn(withProvider: "google.com", purpose: .link)
    #expect(upgraded.uid == guest.uid && !upgraded.isAnonymous && upgraded.uid != owner.uid)
  }

  @Test("the double takes credentials and custom tokens")
  func doubleTokens() async throws {
    let auth = InMemoryAuthService()
    #expect(try await auth.signIn(with: CallTests.credential).providers.map(\.providerID) == ["apple.com"])
    let empty = OAuthCredential(providerID: "apple.com")
    #expect(await error { () throws(LinkdError) in try await auth.signIn(with: empty) } == .invalidProviderResponse)
    #expect(try await auth.signIn(withCustomToken: Secret("custom-1")).uid == "custom-1")
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(withCustomToken: Secret("")) }
        == .invalidCredentials)
  }

  // MARK: linkd itself

  private func start() async throws -> (World, LinkdApp) {
    let world = try await World.start(apps: [])
    let provider = try world.home.write(#"{ "id": "google.com", "kind": "handler" }"#, to: "google.json")
    try await world.addApp("demo", scheme: World.scheme, "--provider", provider)
    try await world.setPerson("ada@example.com")
    return (world, try await LinkdService.connect(busAddress: world.bus.address).app("demo"))
  }

  @Test("with linkd: the program opens the page itself, the browser comes back, the flow ends with the user")
  func linkdProvider() async throws {
    let (world, app) = try await start()
    var request = ProviderRequest()
    request.opensBrowser = false
    let flow = try await app.startProvider("google.com", request: request)
    for try await status in flow.stages where status.stage != .starting {
      #expect(status.stage == .waitingForRedirect && status.details.expiresAt != nil)
      break
    }
    let page = try await flow.url().reveal()
    let back = try await world.redirect(from: page)
    #expect(try await world.linkctl("open", "--no-wait", back).status == 0)
    let end = try await flow.end()
    #expect(
      end.details.user?.email == "ada@example.com" && end.details.isNewUser && end.method == .provider("google.com"))
    try await app.signOut()
    #expect(await error { () throws(LinkdError) in try await app.startProvider("nobody.example") } == .noSuchProvider)
  }

  @Test("with linkd: one line signs in, in the browser that the desktop opens")
  func linkdBrowser() async throws {
    let (world, app) = try await start()
    #expect(try await world.linkctl("register").status == 0)
    let portal = try await world.startPortal()
    #expect(try await world.linkctl("register").status == 0)
    #expect(try await app.signIn(withProvider: "google.com").email == "ada@example.com")
    withExtendedLifetime(portal) {}
    try await world.setPerson(nil)
    #expect(await error { () throws(LinkdError) in try await app.signIn(withProvider: "google.com") } == .cancelled)
  }

  @Test("with linkd: a credential is added and signs in, the password is taken away, a custom token signs in")
  func linkdCredential() async throws {
    let (world, app) = try await start()
    var credential = OAuthCredential(providerID: "google.com")
    credential.idToken = Secret(#"{"sub": "g1", "email": "ada@example.com", "email_verified": true}"#)
    _ = try await app.register(email: "ada@example.com", password: Secret("correct horse"))
    let both = try await app.signIn(with: credential, purpose: .link)
    #expect(Set(both.providers.map(\.providerID)) == ["google.com", "password"])
    #expect(
      await error { () throws(LinkdError) in try await app.startProvider("google.com", purpose: .link) }
        == .providerAlreadyLinked)
    try await app.unlink("password")
    #expect(try await app.currentUser?.providers.map(\.providerID) == ["google.com"])
    #expect(await error { () throws(LinkdError) in try await app.unlink("password") } == .noSuchProvider)
    try await app.signOut()
    #expect(try await app.signIn(with: credential).uid == both.uid)
    #expect(try await app.signIn(withCustomToken: Secret(#"{"uid": "custom-1"}"#)).uid == "custom-1")
    #expect(try await world.whoami()["uid"] as? String == "custom-1")
  }
}
