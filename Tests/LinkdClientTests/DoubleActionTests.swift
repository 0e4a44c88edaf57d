import AuthCore
import EventLoop
import LinkdClient
import Testing

/// What the double does with the account, and after a sign-in too long ago (docs: D-Bus API, Signing in again).
@Suite("The double's account, and signing in again", .timeLimit(.minutes(1)))
struct DoubleActionTests {
  private let clock = DoubleCodeTests.Clock()
  private let auth: InMemoryAuthService
  private let password = Secret("correct horse")

  init() {
    let clock = clock
    auth = InMemoryAuthService(
      accounts: ["ada@example.com": "correct horse", "eve@example.com": "battery staple"], now: { clock.now })
  }

  private func error<Value>(_ body: () async throws(LinkdError) -> Value) async -> AuthError? {
    await failure(body)?.authError
  }

  private func signIn() async throws { _ = try await auth.signIn(email: "ada@example.com", password: password) }

  @Test("another password counts from now on; a weak one is asked for again")
  func passwords() async throws {
    try await signIn()
    #expect(await error { () throws(LinkdError) in try await auth.updatePassword(Secret("short")) } == .weakPassword)
    let flow = try await auth.start(.updatePassword(Secret("short")))
    let status = try await flow.nextStep()
    #expect(status.stage == .waitingForPassword && status.details.isNewPassword)
    try await flow.providePassword(Secret("long enough"))
    try await flow.end()
    try await auth.signOut()
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(email: "ada@example.com", password: password) }
        == .invalidCredentials)
    #expect(try await auth.signIn(email: "ada@example.com", password: Secret("long enough")).email == "ada@example.com")
  }

  @Test("another address counts once its mail was opened; somebody else's is refused")
  func addresses() async throws {
    try await signIn()
    #expect(
      await error { () throws(LinkdError) in try await auth.changeEmail(to: "eve@example.com") } == .emailAlreadyInUse)
    try await auth.changeEmail(to: "lovelace@example.com")
    #expect(try await auth.currentUser?.email == "ada@example.com" && auth.mails.last?.kind == .emailChange)
    #expect(auth.openEmailChangeLink(of: "lovelace@example.com"))
    #expect(try await auth.currentUser?.email == "lovelace@example.com")
    #expect(!auth.openEmailChangeLink(of: "lovelace@example.com"))
  }

  @Test("an old sign-in parks the deletion until the user has signed in again; then it goes on by itself")
  func parked() async throws {
    try await signIn()
    clock.turn(by: 300)
    #expect(await error { () throws(LinkdError) in try await auth.deleteAccount() } == .requiresRecentLogin)
    let deletion = try await auth.start(.deleteUser)
    let waiting = try await deletion.nextStep()
    let way = try #require(waiting.details.reauthentication)
    #expect(waiting.stage == .reauthenticationRequired && way.kind == .password && way.email == "ada@example.com")
    let again = try await auth.start(.reauthenticate)
    #expect(try await again.nextStep().stage == .waitingForPassword)
    try await again.providePassword(Secret("wrong one"))
    #expect(try await again.nextStep().details.error?.authError == .invalidCredentials)
    #expect(try await deletion.nextStep().stage == .reauthenticationRequired)
    try await again.providePassword(password)
    try await again.end()
    #expect(try await deletion.end().stage == .succeeded)
    #expect(try await auth.currentUserID == nil)
  }

  @Test("a password given with the deletion confirms it")
  func deletion() async throws {
    try await signIn()
    clock.turn(by: 300)
    #expect(
      await error { () throws(LinkdError) in try await auth.deleteAccount(password: Secret("wrong one")) }
        == .invalidCredentials)
    #expect(try await auth.currentUserID != nil)
    try await auth.deleteAccount(password: password)
    #expect(try await auth.currentUserID == nil)
  }

  @Test("each way of signing in is the way to confirm it, with a second factor inside")
  func ways() async throws {
    let number = DoubleCodeTests.number
    let kinds: [FlowReauthentication.Kind] = [.phone, .emailLink, .oauth]
    for kind in kinds {
      switch kind {
      case .phone: try await auth.sendCode(to: number).submit(code: try #require(auth.messages.last).code)
      case .emailLink:
        _ = try await auth.sendSignInLink(to: "ada@example.com")
        #expect(auth.openSignInLink(of: "ada@example.com"))
      case .oauth, .password: _ = try await auth.signIn(withProvider: "google.com")
      }
      clock.turn(by: 300)
      let parked = try await auth.start(.changeEmail("\(kind.rawValue)@example.com"))
      #expect(try await parked.nextStep().details.reauthentication?.kind == kind)
      let again = try await auth.start(.reauthenticate)
      switch kind {
      case .phone: try await again.submit(code: try #require(auth.messages.last).code)
      case .emailLink: #expect(auth.openSignInLink(of: "ada@example.com"))
      case .oauth, .password: break
      }
      try await again.end()
      #expect(try await parked.end().stage == .succeeded)
    }
    let key = Secret("INMEMORYKEY")
    auth.addSecondFactor(authenticator: key, to: "you@example.com")
    clock.turn(by: 300)
    let parked = try await auth.start(.deleteUser)
    let again = try await auth.start(.reauthenticate)
    #expect(try await again.nextStep().stage == .secondFactorRequired)
    #expect(try await parked.nextStep().stage == .reauthenticationRequired)
    try await again.submit(code: InMemoryAuthService.authenticatorCode(for: key))
    #expect(try await parked.end().stage == .succeeded)
  }

  @Test("somebody else's proof is UserMismatch, and changes nothing; their sign-in ends what was parked")
  func somebodyElse() async throws {
    try await signIn()
    let uid = try await auth.currentUserID
    clock.turn(by: 300)
    let parked = try await auth.start(.deleteUser)
    let eve = Secret("battery staple")
    #expect(
      await error { () throws(LinkdError) in
        try await auth.start(.password(email: "eve@example.com", eve), purpose: .reauthenticate).end()
      } == .userMismatch)
    #expect(try await auth.currentUserID == uid)
    #expect(try await parked.nextStep().stage == .reauthenticationRequired)
    // The same person's plain sign-in isn't meant for it, either.
    try await signIn()
    #expect(try await parked.nextStep().stage == .reauthenticationRequired)
    _ = try await auth.signIn(email: "eve@example.com", password: eve)
    #expect(await error { () throws(LinkdError) in try await parked.end() } == .cancelled)
    try await signIn()
    #expect(try await auth.currentUserID == uid)
  }

  @Test("a password needs an address to belong to, and isn't empty; both are said at once")
  func passwordRefused() async throws {
    try await auth.sendCode(to: DoubleCodeTests.number).submit(code: try #require(auth.messages.last).code)
    #expect(
      await error { () throws(LinkdError) in try await auth.start(.updatePassword(Secret("long enough"))) }
        == .operationNotAllowed)
    try await signIn()
    #expect(await error { () throws(LinkdError) in try await auth.start(.updatePassword(Secret(""))) } == .weakPassword)
  }

  @Test("what is parked is given up by cancelling, and after ten minutes")
  func givenUp() async throws {
    try await signIn()
    clock.turn(by: 300)
    let (first, second) = (try await auth.start(.deleteUser), try await auth.start(.deleteUser))
    try await first.cancel()
    clock.turn(by: 600)
    _ = try await auth.signIn(email: "ada@example.com", password: password)
    #expect(await error { () throws(LinkdError) in try await first.end() } == .cancelled)
    #expect(await error { () throws(LinkdError) in try await second.end() } == .expiredActionCode)
    #expect(try await auth.currentUser?.email == "ada@example.com")
  }
}
