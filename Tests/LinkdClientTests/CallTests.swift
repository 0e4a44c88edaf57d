import AuthCore
import DBus
import LinkdClient
import TestSupport
import Testing

@Suite("Calls", .timeLimit(.minutes(1)))
struct CallTests {
  /// A call of the client's, and what the contract has for it. The stub's tables refuse other types.
  struct Case: CustomTestStringConvertible, Sendable {
    let member: String
    let arguments: [DBusValue]
    var options: [String: DBusValue] = [:]
    let body: @Sendable (Rig) async throws -> Void
    var testDescription: String { member }
  }

  static let password = Secret("pass word")
  static let url = Secret("https://example.com/?oobCode=c")
  static let flow = FlowID("f1")

  static var request: ProviderRequest {
    var request = ProviderRequest()
    request.scopes = ["openid", "email"]
    request.customParameters = ["hd": "x"]
    request.loginHint = "a@b"
    request.redirect = .scheme
    request.opensBrowser = false
    (request.parentWindow, request.activationToken) = ("x11:1", "t")
    return request
  }

  static var phone: PhoneRequest {
    var request = PhoneRequest(region: "GB")
    request.opensBrowser = false
    (request.parentWindow, request.activationToken) = ("x11:1", "t")
    return request
  }

  static var credential: OAuthCredential {
    var credential = OAuthCredential(providerID: "apple.com")
    (credential.idToken, credential.accessToken) = (Secret("i"), Secret("a"))
    (credential.accessTokenSecret, credential.rawNonce) = (Secret("s"), Secret("n"))
    credential.fullName = .init(given: "Ada", family: nil)
    // linkd's own: not the caller's to give.
    credential.pendingToken = Secret("p")
    return credential
  }

  static let cases: [Case] = [
    Case(member: "GetApp", arguments: [.string("demo")]) { _ = try await $0.service.app("demo") },
    Case(
      member: "GetApp", arguments: [.string("demo")], options: ["emulator": .string("127.0.0.1:9099")]
    ) { _ = try await $0.service.app("demo", emulator: EmulatorAddress("127.0.0.1:9099")) },
    Case(member: "CanHandle", arguments: [.string("https://x")]) { rig async throws in
      #expect(try await rig.service.canHandle("https://x"))
    },
    Case(member: "Open", arguments: [.string(url.reveal())]) { rig async throws in
      #expect(try await rig.service.open(url)?.id == flow)
    },
    Case(member: "ReloadApps", arguments: []) { try await $0.service.reloadApps() },
    Case(
      member: "SendSignInLink", arguments: [.string("a@b")],
      options: [
        "purpose": .string("link"), "continue-url": .string("https://c"), "force-same-device": .boolean(true),
        "link-provider": .string("google.com"),
      ]
    ) {
      _ = try await $0.app.startEmailLink(
        "a@b", purpose: .link, continueURL: "https://c", forceSameDevice: true, linkProvider: "google.com")
    },
    Case(
      member: "SignInWithPassword", arguments: [.string("a@b"), .string("pass word")],
      options: ["purpose": .string("reauthenticate")]
    ) { _ = try await $0.app.startPassword("a@b", password, purpose: .reauthenticate) },
    Case(
      member: "CreateUser", arguments: [.string("a@b"), .string("pass word")],
      options: ["display-name": .string("Ada")]
    ) { _ = try await $0.app.startCreateUser("a@b", password, displayName: "Ada") },
    Case(member: "SignInAnonymously", arguments: []) { rig async throws in
      #expect(try await rig.app.startAnonymous().id == flow)
    },
    Case(member: "SignInWithProvider", arguments: [.string("google.com")]) {
      _ = try await $0.app.startProvider("google.com")
    },
    Case(
      member: "SignInWithProvider", arguments: [.string("oidc.x")],
      options: [
        "purpose": .string("link"), "scopes": .strings(["openid", "email"]), "login-hint": .string("a@b"),
        "custom-parameters": .dictionary(key: "s", value: "s", [.init(.string("hd"), .string("x"))]),
        "redirect": .string("scheme"), "open-browser": .boolean(false), "parent-window": .string("x11:1"),
        "activation-token": .string("t"),
      ]
    ) { _ = try await $0.app.startProvider("oidc.x", purpose: .link, request: request) },
    Case(
      member: "SignInWithCredential",
      arguments: [
        .dict([
          "provider-id": .string("apple.com"), "id-token": .string("i"), "access-token": .string("a"),
          "access-token-secret": .string("s"), "raw-nonce": .string("n"), "given-name": .string("Ada"),
        ])
      ], options: ["purpose": .string("reauthenticate")]
    ) { _ = try await $0.app.startCredential(credential, purpose: .reauthenticate) },
    Case(member: "SignInWithCustomToken", arguments: [.string("pass word")]) {
      _ = try await $0.app.startCustomToken(password)
    },
    Case(member: "Unlink", arguments: [.string("google.com")]) { _ = try await $0.app.startUnlink("google.com") },
    Case(member: "ResolveConflict", arguments: [.string("sign-in-and-link")]) {
      try await $0.flow.resolveConflict(.signInAndLink)
    },
    Case(
      member: "SignInWithPhoneNumber", arguments: [.string("07700 900123")],
      options: [
        "purpose": .string("link"), "region": .string("GB"), "open-browser": .boolean(false),
        "parent-window": .string("x11:1"), "activation-token": .string("t"),
      ]
    ) { _ = try await $0.app.startPhone("07700 900123", purpose: .link, request: phone) },
    Case(member: "UpdatePassword", arguments: [.string("pass word")]) {
      _ = try await $0.app.startUpdatePassword(password)
    },
    Case(
      member: "ChangeEmail", arguments: [.string("a@b")], options: ["continue-url": .string("https://c")]
    ) { _ = try await $0.app.startChangeEmail("a@b", continueURL: "https://c") },
    Case(member: "ChangePhoneNumber", arguments: [.string("+1")], options: ["region": .string("GB")]) {
      _ = try await $0.app.startChangePhoneNumber("+1", request: PhoneRequest(region: "GB"))
    },
    Case(
      member: "EnrollPhoneFactor", arguments: [.string("+1"), .string("Mine")], options: ["region": .string("GB")]
    ) {
      _ = try await $0.app.startEnrollPhoneFactor("+1", displayName: "Mine", request: PhoneRequest(region: "GB"))
    },
    Case(member: "EnrollTotpFactor", arguments: [.string("App")]) {
      _ = try await $0.app.startEnrollTOTPFactor(displayName: "App")
    },
    Case(member: "UnenrollFactor", arguments: [.string("f")]) { _ = try await $0.app.startUnenrollFactor("f") },
    Case(member: "ChooseFactor", arguments: [.string("f")]) { try await $0.flow.chooseFactor("f") },
    Case(member: "GetSecret", arguments: []) { rig async throws in
      let secret = try await rig.flow.secret()
      #expect(secret == AuthenticatorSecret(key: Secret("KEY"), uri: Secret("otpauth://x"), expiresAt: 1_000))
      #expect(!"\(secret)".contains("KEY") && !"\(secret)".contains("otpauth"))
    },
    Case(member: "GetUrl", arguments: []) { rig async throws in
      #expect(try await rig.flow.url() == Secret("https://page"))
    },
    Case(member: "FetchSignInMethods", arguments: [.string("a@b")]) { rig async throws in
      #expect(try await rig.app.fetchSignInMethods("a@b") == ["password", "emailLink"])
    },
    Case(member: "SendPasswordReset", arguments: [.string("a@b")]) {
      try await $0.app.sendPasswordReset(to: "a@b")
    },
    Case(member: "CheckActionCode", arguments: [.string(url.reveal())]) { rig async throws in
      #expect(try await rig.app.checkActionCode(url) == ["kind": "verifyEmail"])
    },
    Case(member: "ApplyActionCode", arguments: [.string(url.reveal())]) { try await $0.app.applyActionCode(url) },
    Case(member: "ConfirmPasswordReset", arguments: [.string(url.reveal()), .string("pass word")]) {
      try await $0.app.confirmPasswordReset(url, newPassword: password)
    },
    Case(
      member: "UpdateProfile", arguments: [.dict(["display-name": .string("Ada"), "photo-url": .string("")])]
    ) { try await $0.app.updateProfile(displayName: "Ada", photoURL: "") },
    Case(member: "SendEmailVerification", arguments: []) { try await $0.app.sendEmailVerification() },
    Case(member: "DeleteUser", arguments: []) { _ = try await $0.app.startDeleteUser() },
    Case(member: "Reauthenticate", arguments: []) { _ = try await $0.app.startReauthenticate() },
    Case(
      member: "Reauthenticate", arguments: [],
      options: [
        "open-browser": .boolean(false), "parent-window": .string("x11:1"), "activation-token": .string("t"),
      ]
    ) {
      _ = try await $0.app.startReauthenticate(opensBrowser: false, parentWindow: "x11:1", activationToken: "t")
    },
    Case(
      member: "GetIdToken", arguments: [],
      options: ["min-validity": .uint32(60), "force-refresh": .boolean(true), "uid": .string("u1")]
    ) {
      let token = try await $0.app.idToken(minValidity: 60, forceRefresh: true, uid: "u1")
      #expect(token.token.reveal() == "h.p.s" && token.expiresAt == 1_000 && token.claims == ["sub": "u1", "n": 7])
    },
    Case(member: "SignOut", arguments: []) { try await $0.app.signOut() },
    Case(member: "ReloadUser", arguments: []) { try await $0.app.reloadUser() },
    Case(member: "ProvideEmail", arguments: [.string("a@b")]) { try await $0.flow.provideEmail("a@b") },
    Case(member: "ProvidePassword", arguments: [.string("pass word")]) { try await $0.flow.providePassword(password) },
    Case(member: "ProvideCode", arguments: [.string("123456")]) { try await $0.flow.provideCode(Secret("123456")) },
    Case(member: "Confirm", arguments: []) { try await $0.flow.confirm() },
    Case(member: "Resend", arguments: []) { try await $0.flow.resend() },
    Case(member: "Cancel", arguments: []) { try await $0.flow.cancel() },
  ]

  @Test("each call is the contract's, with the language last", arguments: cases)
  func contract(_ each: Case) async throws {
    let rig = try await Rig.start()
    try await each.body(rig)
    let call = try #require(await rig.stub.calls.last)
    #expect(call.member == each.member)
    var options = each.options
    options["locale"] = .string("en")
    #expect(call.arguments == each.arguments + [.dict(options)])
  }

  @Test("what linkd says about itself, an app and a session is typed")
  func reports() async throws {
    let rig = try await Rig.start()
    await rig.stub.change(.unauthenticated, told: false)
    let service = try await rig.service.report()
    #expect(service.version == "9.9" && service.apps.map(\.value) == ["demo"] && service.keyStore == "file")
    #expect(service.defaultApp?.value == "demo" && service.activeFlows.map(\.value) == ["f1"])
    let app = try await rig.app.description()
    #expect(app.projectID == "demo-linkd" && app.displayName == "Demo" && app.emulator == nil)
    #expect(app.schemes == ["com.example"] && app.providers.first?["kind"] == "password")
    #expect(app.options == ["mfa-enabled": .bool(true)] && app.authDomain == "demo.example")
    let session = try await rig.app.report()
    #expect(session.health == .attentionNeeded && session.healthReason == .tokenRevoked && session.clockSkew == -3)
    #expect(session.signInMethod == .password && session.status.user == nil)
    #expect(
      session.lastUser
        == LastUser(uid: "u0", email: "o@example.com", signInMethod: "password", reason: "TokenRevoked"))
  }

  @Test("every error of the contract arrives as itself, with its message")
  func everyError() async throws {
    let rig = try await Rig.start()
    for error in AuthError.allCases {
      await rig.stub.fail("GetIdToken", DBusError(name: error.dbusName, message: "Say \(error.rawValue)."))
      let thrown = await failure { () throws(LinkdError) in try await rig.app.idToken() }
      #expect(thrown == .auth(error, message: "Say \(error.rawValue)."))
      #expect(thrown?.name == error.dbusName && thrown?.message == "Say \(error.rawValue).")
    }
  }

  @Test("errors of the bus, and of a later linkd, stay what they are")
  func busErrors() async throws {
    let rig = try await Rig.start()
    for name in ["org.freedesktop.DBus.Error.InvalidArgs", "org.linkd.Auth1.Error.FromTheFuture"] {
      await rig.stub.fail("SignOut", DBusError(name: name, message: "m"))
      #expect(
        await failure { () throws(LinkdError) in try await rig.app.signOut() } == .bus(name: name, message: "m"))
    }
  }

  @Test("an answer that isn't the contract's is an error, not a crash")
  func malformed() async throws {
    let rig = try await Rig.start()
    await rig.stub.give("GetApp", [.objectPath("/somewhere/else")])
    await rig.stub.give("SignInAnonymously", [.objectPath("/somewhere/else")])
    for error in [
      await failure { () throws(LinkdError) in _ = try await rig.service.app("demo") },
      await failure { () throws(LinkdError) in _ = try await rig.app.startAnonymous() },
    ] {
      guard case .bus(DBusError.Name.failed, _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test("no bus, no linkd, and a linkd that can't be started are unavailable, in words")
  func absent() async throws {
    let none = await failure { () throws(LinkdError) in
      try await LinkdService.connect(busAddress: "unix:path=/nowhere/at/all")
    }
    let empty = try PrivateBus.start()
    let lonely = await failure { () throws(LinkdError) in
      try await LinkdService.connect(busAddress: empty.address).app("demo")
    }
    let folder = try Scratch()
    try folder.write("[D-BUS Service]\nName=org.linkd.Auth1\nExec=/bin/false\n", to: "org.linkd.Auth1.service")
    let broken = try PrivateBus.start(serviceDirectories: [folder.path])
    let failing = await failure { () throws(LinkdError) in
      try await LinkdService.connect(busAddress: broken.address).app("demo")
    }
    for error in [none, lonely, failing] {
      guard case .unavailable(_, let message) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(message.contains("linkd can't be reached"))
    }
  }

  @Test("after close() everything says that the connection is closed")
  func closed() async throws {
    let rig = try await Rig.start()
    var states = rig.app.states.makeAsyncIterator()
    #expect(try await states.next() != nil)
    await rig.service.close()
    for error in [
      await failure { () throws(LinkdError) in _ = try await states.next() },
      await failure { () throws(LinkdError) in _ = try await rig.app.idToken() },
      await failure { () throws(LinkdError) in for try await _ in rig.app.states {} },
    ] { #expect(error?.name == DBusError.Name.disconnected) }
  }
}

extension Rig {
  var flow: LinkdFlow {
    get async throws { service.flow(try #require(FlowID("f1"))) }
  }
}

extension StubLinkd {
  func fail(_ member: String, _ error: DBusError) { failures[member] = error }
  func give(_ member: String, _ values: [DBusValue]) { answers[member] = { _ in values } }
}
