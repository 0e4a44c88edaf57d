import AuthCore
import DBus
import LinkdClient
import TestSupport
import Testing

/// What a login screen relies on, tried on the double and on linkd.
@Suite("AuthServicing", .timeLimit(.minutes(1)))
struct ServicingTests {
  private func error<Value>(_ body: () async throws(LinkdError) -> Value) async -> AuthError? {
    await failure(body)?.authError
  }

  private func passwords(_ auth: any AuthServicing) async throws {
    let (address, password) = ("Ada@Example.com", Secret("correct horse"))
    #expect(
      await error { () throws(LinkdError) in try await auth.register(email: "ada", password: password) }
        == .invalidEmail)
    #expect(
      await error { () throws(LinkdError) in try await auth.register(email: address, password: Secret("12345")) }
        == .weakPassword)
    #expect(try await auth.currentUserID == nil)
    let user = try await auth.register(email: address, password: password, displayName: "Ada")
    #expect(user.email == "ada@example.com" && !user.isAnonymous && !user.uid.isEmpty)
    let status = try await auth.status()
    #expect(status.state == .authenticated && status.user?.uid == user.uid)
    #expect(!(try await auth.idToken().token.reveal()).isEmpty)
    try await auth.signOut()
    #expect(try await auth.currentUserID == nil)
    #expect(
      await error { () throws(LinkdError) in try await auth.register(email: "ada@example.com", password: password) }
        == .emailAlreadyInUse)
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(email: address, password: Secret("wrong one")) }
        == .invalidCredentials)
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(email: "no@example.com", password: password) }
        == .emailNotFound)
    #expect(try await auth.status().state == .unauthenticated)
    #expect(try await auth.signIn(email: address, password: password).uid == user.uid)
    try await auth.deleteAccount()
    #expect(try await auth.currentUserID == nil)
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(email: address, password: password) }
        == .emailNotFound)
  }

  private func guests(_ auth: any AuthServicing) async throws {
    var states = auth.states.makeIterator()
    #expect(try await states.next() == .unauthenticated)
    let guest = try await auth.signInAnonymously()
    #expect(guest.isAnonymous && guest.email == nil)
    #expect(try await auth.signInAnonymously().uid == guest.uid)
    #expect(try await auth.status().state == .unauthenticated)
    #expect(try await auth.currentUserID == guest.uid)
    try await auth.signOut()
    try await auth.signOut()
    #expect(await error { () throws(LinkdError) in try await auth.idToken() } == .noCurrentUser)
    #expect(await error { () throws(LinkdError) in try await auth.reloadUser() } == .noCurrentUser)
    // Signing in, the guest while it ends, the guest, signed out: as linkd tells it.
    for (state, uid) in [
      (SessionState.authenticating, nil), (.authenticating, guest.uid), (.unauthenticated, guest.uid),
      (.unauthenticated, nil),
    ] {
      #expect(try await states.next() == state)
      #expect(states.last?.user?.uid == uid)
    }
  }

  private func links(_ auth: any AuthServicing, open: (String) async throws -> Void) async throws {
    #expect(await error { () throws(LinkdError) in try await auth.sendSignInLink(to: "nobody") } == .invalidEmail)
    let flow = try await auth.sendSignInLink(to: "you@example.com")
    var stages = flow.stages.makeAsyncIterator()
    let first = try #require(try await stages.next())
    #expect(first.stage == .waitingForLink && first.details.email == "you@example.com")
    try await open("you@example.com")
    let end = try await flow.end()
    #expect(end.details.user?.email == "you@example.com" && end.details.isNewUser)
    #expect(try await auth.status().state == .authenticated)
    try await auth.signOut()
    let second = try await auth.sendSignInLink(to: "you@example.com")
    try await second.cancel()
    #expect(await error { () throws(LinkdError) in try await second.end() } == .cancelled)
  }

  // MARK: The double

  @Test("the double registers, signs in, refuses and deletes")
  func doublePasswords() async throws { try await passwords(InMemoryAuthService()) }

  @Test("the double has guests, who stay the same")
  func doubleGuests() async throws { try await guests(InMemoryAuthService()) }

  @Test("the double mails links, which a test opens")
  func doubleLinks() async throws {
    let auth = InMemoryAuthService()
    try await links(auth) { #expect(auth.openSignInLink(of: $0)) }
    #expect(auth.mails.map(\.kind) == [.signIn, .signIn])
    #expect(!auth.openSignInLink(of: "you@example.com"))
  }

  @Test("the double knows an address in any spelling, as the server does")
  func doubleSpelling() async throws {
    let auth = InMemoryAuthService(accounts: ["Ada@Example.com": "correct horse"])
    for email in ["Ada@Example.com", " ada@example.com"] {
      #expect(try await auth.signIn(email: email, password: Secret("correct horse")).email == "ada@example.com")
    }
    _ = try await auth.sendSignInLink(to: "You@Example.com")
    #expect(auth.openSignInLink(of: "You@Example.com"))
  }

  @Test("the double fails once as told, and changes nothing")
  func doubleFails() async throws {
    let auth = InMemoryAuthService(accounts: ["you@example.com": "correct horse"])
    auth.failNext(.auth(.networkUnavailable, message: "Offline."))
    let password = Secret("correct horse")
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(email: "you@example.com", password: password) }
        == .networkUnavailable)
    #expect(try await auth.currentUserID == nil)
    #expect(try await auth.signIn(email: "you@example.com", password: password).email == "you@example.com")
    try await auth.updateProfile(displayName: "Ada", photoURL: nil)
    #expect(try await auth.currentUser?.displayName == "Ada")
    try await auth.sendEmailVerification()
    try await auth.sendPasswordReset(to: "you@example.com")
    #expect(auth.mails.map(\.kind) == [.verification, .passwordReset])
  }

  // MARK: linkd

  private func connect(_ world: World) async throws -> LinkdApp {
    try await LinkdService.connect(busAddress: world.bus.address).app("demo")
  }

  @Test(
    "linkd registers, signs in, refuses and deletes")
  func linkdPasswords() async throws {
    let world = try await World.start()
    try await passwords(try await connect(world))
  }

  @Test(
    "with linkd, a password confirms the deletion after a sign-in too long ago; a wrong one doesn't")
  func linkdDeletion() async throws {
    let world = try await World.start()
    let app = try await connect(world)
    let password = Secret("correct horse")
    let user = try await app.register(email: "ada@example.com", password: password)
    for (given, expected) in [(nil, AuthError.requiresRecentLogin), (Secret("wrong one"), .invalidCredentials)] {
      try await world.fault(["path": "accounts:delete", "error": "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "times": 1])
      #expect(await error { () throws(LinkdError) in try await app.deleteAccount(password: given) } == expected)
      #expect(try await app.currentUserID == user.uid)
      #expect(try await world.json("flows").isEmpty)
    }
    try await world.fault(["path": "accounts:delete", "error": "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "times": 1])
    try await app.deleteAccount(password: password)
    #expect(try await app.currentUserID == nil)
  }

  @Test(
    "with linkd: methods of an address, reset and verification mails, profile")
  func linkdAccount() async throws {
    let world = try await World.start()
    let app = try await connect(world)
    let old = Secret("correct horse")
    _ = try await app.register(email: "ada@example.com", password: old)
    #expect(try await app.fetchSignInMethods("ada@example.com") == ["password"])
    try await app.updateProfile(displayName: "Ada", photoURL: nil)
    #expect(try await app.currentUser?.displayName == "Ada")
    try await app.sendEmailVerification()
    let verification = Secret(try await world.mail("ada@example.com"))
    #expect(try await app.checkActionCode(verification)["email"] == "ada@example.com")
    try await app.applyActionCode(verification)
    try await app.reloadUser()
    #expect(try await app.currentUser?.emailVerified == true)
    try await app.signOut()
    try await app.sendPasswordReset(to: "ada@example.com")
    try await app.confirmPasswordReset(
      Secret(try await world.mail("ada@example.com")), newPassword: Secret("battery staple"))
    #expect(
      await error { () throws(LinkdError) in try await app.signIn(email: "ada@example.com", password: old) }
        == .invalidCredentials)
    #expect(try await app.signIn(email: "ada@example.com", password: Secret("battery staple")).displayName == "Ada")
  }

  @Test("linkd has guests, who stay the same")
  func linkdGuests() async throws {
    let world = try await World.start()
    try await guests(try await connect(world))
  }

  @Test("linkd mails links, and the flow ends when one is opened")
  func linkdLinks() async throws {
    let world = try await World.start()
    let app = try await connect(world)
    try await links(app) { address in
      let link = try await world.button(try await world.mail(address))
      #expect(try await world.linkctl("open", link).status == 0)
    }
    let service = try await LinkdService.connect(busAddress: world.bus.address)
    #expect(await error { () throws(LinkdError) in try await service.app("nobody") } == .noSuchApp)
  }

  @Test("kill -9 of linkd with a sign-in in the dark and its next start: each state once")
  func killed() async throws {
    let world = try await World.start()
    let app = try await connect(world)
    var states = app.states.makeIterator()
    #expect(try await states.next() == .unauthenticated)
    try await world.signIn("a@example.com")
    #expect(try await states.next() == .authenticating)
    #expect(try await states.next() == .authenticated)
    #expect(states.last?.user?.email == "a@example.com")
    for _ in 0..<2 {
      try await world.killDaemon()
      // Whoever asks next starts it again. It announces its state; that is no news.
      #expect(try await app.status().user?.email == "a@example.com")
    }
    try await app.signOut()
    #expect(try await states.next() == .unauthenticated)
    #expect(states.last?.user == nil)
  }

  @Test("linkd killed after the commit and before the signal: the new state comes, once")
  func killedBeforeSignal() async throws {
    let world = try await World.start()
    let app = try await connect(world)
    _ = try await world.sendLink("a@example.com")
    let link = try await world.button(try await world.mail("a@example.com"))
    try await world.killDaemon()
    try world.setDaemon(["LINKD_PAUSE_AT": "session-committed"])
    var states = app.states.makeIterator()
    #expect(try await states.next() == .unauthenticated)
    async let opened = world.linkctl("open", "--no-wait", "--timeout", "5", link)
    #expect(try await states.next() == .authenticating)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try await opened
    // The sequence itself has asked for the next linkd: somebody was signing in.
    #expect(try await states.next() == .authenticated)
    #expect(states.last?.user?.email == "a@example.com")
    try await app.signOut()
    #expect(try await states.next() == .unauthenticated)
  }
}

/// States by name, with the last status at hand.
struct StateIterator {
  private var base: Updates<SessionStatus>.Iterator
  private(set) var last: SessionStatus?

  fileprivate init(_ base: Updates<SessionStatus>.Iterator) { self.base = base }

  mutating func next() async throws -> SessionState? {
    last = try await base.next()
    return last?.state
  }
}

extension Updates<SessionStatus> {
  func makeIterator() -> StateIterator { StateIterator(makeAsyncIterator()) }
}
