import AuthCore
import EventLoop
import LinkdClient
import TestSupport
import Testing

/// What a login screen relies on with phone numbers, second factors and old sign-ins, tried on the double and on linkd.
@Suite("AuthServicing in steps", .timeLimit(.minutes(1)))
struct CodeServicingTests {
  /// What happens outside of the program.
  struct Outside {
    /// The code of the newest message to a number.
    let code: (String) async throws -> Secret<String>
    /// What an authenticator app shows.
    let authenticator: (Secret<String>) async throws -> Secret<String>
    /// The mail that proves an address is opened.
    let verify: (String) async throws -> Void
    /// Sign-ins so far are too old for what is dangerous.
    let lapse: () async throws -> Void
  }

  private let number = "+447700900123"
  private let address = "ada@example.com"
  private let password = Secret("correct horse")

  private func error<Value>(_ body: () async throws(LinkdError) -> Value) async -> AuthError? {
    await failure(body)?.authError
  }

  private func wrong(_ code: Secret<String>) -> Secret<String> {
    Secret(code.reveal() == "000000" ? "000001" : "000000")
  }

  private func current(_ flow: any FlowServicing) async throws -> FlowStatus {
    for try await status in flow.stages { return status }
    throw LinkdError.cancelled
  }

  private func phone(_ auth: any AuthServicing, _ outside: Outside) async throws {
    #expect(await error { () throws(LinkdError) in try await auth.sendCode(to: "+44 7700") } == .invalidPhoneNumber)
    let flow = try await auth.sendCode(to: "+44 (7700) 900-123")
    var details = try await current(flow).details
    #expect(details.codeKind == .phone && details.phoneNumber == number && details.codeLength == 6)
    #expect(details.attemptsLeft == 5 && details.canResendAt != nil && details.expiresAt != nil)
    #expect(await error { () throws(LinkdError) in try await flow.resend() } == .rateLimited)
    #expect(
      await error { () throws(LinkdError) in try await flow.submit(code: Secret("1")) } == .invalidVerificationCode)
    let code = try await outside.code(number)
    let bad = wrong(code)
    #expect(await error { () throws(LinkdError) in try await flow.submit(code: bad) } == .invalidVerificationCode)
    details = try await current(flow).details
    #expect(details.attemptsLeft == 4 && details.error?.authError == .invalidVerificationCode)
    let end = try await flow.submit(code: code)
    #expect(end.stage == .succeeded && end.method == .phone && end.details.isNewUser)
    let user = try #require(try await auth.currentUser)
    #expect(user.phoneNumber == number && user.providers.map(\.providerID) == ["phone"] && !user.isAnonymous)
    #expect(
      await error { () throws(LinkdError) in try await auth.sendCode(to: number, purpose: .link) }
        == .providerAlreadyLinked)
    try await auth.signOut()
    _ = try await auth.register(email: address, password: password)
    let link = try await auth.sendCode(to: number, purpose: .link)
    let conflict = try await link.submit(code: try await outside.code(number))
    #expect(conflict.stage == .conflict && conflict.details.conflict?.kind == .credentialAlreadyInUse)
    #expect(conflict.details.conflict?.phoneNumber == number)
    #expect(conflict.details.conflict?.options == [.switch, .keep, .cancel])
    try await link.resolveConflict(.switch)
    #expect(try await link.end().details.user?.uid == user.uid)
    #expect(try await auth.currentUserID == user.uid)
  }

  private func factors(_ auth: any AuthServicing, _ outside: Outside) async throws {
    _ = try await auth.register(email: address, password: password)
    try await auth.sendEmailVerification()
    try await outside.verify(address)
    let totp = try await auth.start(.enrollTOTPFactor(displayName: "App"))
    let first = try await totp.nextStep()
    #expect(first.stage == .waitingForCode && first.method == .totp && first.purpose == .enrollFactor)
    #expect(first.details.codeKind == .totp && first.details.canResendAt == nil && first.details.codeLength == 6)
    let key = try await totp.secret().key
    #expect(try await totp.secret().uri.reveal().contains("secret=\(key.reveal())"))
    #expect(try await totp.submit(code: try await outside.authenticator(key)).stage == .succeeded)
    let phone = try await auth.start(.enrollPhoneFactor(number, displayName: "Mine"))
    #expect(try await phone.nextStep().details.phoneNumber == number)
    #expect(try await phone.submit(code: try await outside.code(number)).stage == .succeeded)
    let factors = try #require(try await auth.currentUser?.secondFactors)
    #expect(factors.map(\.kind) == [.totp, .phone] && factors.map(\.displayName) == ["App", "Mine"])
    try await auth.signOut()
    #expect(
      await error { () throws(LinkdError) in try await auth.signIn(email: address, password: password) }
        == .secondFactorRequired)
    #expect(try await auth.currentUserID == nil)
    let flow = try await auth.start(.password(email: address, password))
    let step = try await flow.nextStep()
    #expect(step.stage == .secondFactorRequired && step.details.hints.map(\.uid) == factors.map(\.uid))
    #expect(step.details.hints.allSatisfy { $0.phoneNumber?.contains("7700900") != true })
    #expect(await error { () throws(LinkdError) in try await flow.chooseFactor("nobody") } == .factorNotFound)
    try await flow.chooseFactor(factors[1].uid)
    let waiting = try await flow.nextStep().details
    #expect(waiting.codeKind == .phone && waiting.displayName == "Mine" && waiting.phoneNumber != number)
    try await flow.chooseFactor(factors[0].uid)
    #expect(try await flow.nextStep().details.codeKind == .totp)
    #expect(try await flow.submit(code: try await outside.authenticator(key)).stage == .succeeded)
    #expect(try await auth.status().state == .authenticated)
    for factor in factors { try await auth.unenrollFactor(factor.uid) }
    #expect(try await auth.currentUser?.secondFactors == [])
  }

  private func parked(_ auth: any AuthServicing, _ outside: Outside) async throws {
    _ = try await auth.register(email: address, password: password)
    try await outside.lapse()
    #expect(await error { () throws(LinkdError) in try await auth.deleteAccount() } == .requiresRecentLogin)
    let deletion = try await auth.start(.deleteUser)
    let waiting = try await deletion.nextStep()
    #expect(waiting.stage == .reauthenticationRequired && waiting.details.reauthentication?.kind == .password)
    #expect(waiting.details.reauthentication?.email == address)
    let again = try await auth.start(.reauthenticate)
    #expect(try await again.nextStep().stage == .waitingForPassword)
    try await again.providePassword(password)
    #expect(try await again.end().purpose == .reauthenticate)
    #expect(try await deletion.end().stage == .succeeded)
    #expect(try await auth.currentUserID == nil)
  }

  private func account(_ auth: any AuthServicing) async throws {
    _ = try await auth.register(email: address, password: password)
    #expect(await error { () throws(LinkdError) in try await auth.updatePassword(Secret("short")) } == .weakPassword)
    let flow = try await auth.start(.updatePassword(Secret("short")))
    let step = try await flow.nextStep()
    #expect(step.stage == .waitingForPassword && step.details.isNewPassword)
    try await flow.providePassword(Secret("battery staple"))
    try await flow.end()
    try await auth.signOut()
    _ = try await auth.signIn(email: address, password: Secret("battery staple"))
    #expect(await error { () throws(LinkdError) in try await auth.changeEmail(to: "nobody") } == .invalidEmail)
    let mail = try await auth.start(.changeEmail("lovelace@example.com")).end()
    #expect(mail.details.email == "lovelace@example.com" && mail.purpose == .changeEmail)
    #expect(try await auth.currentUser?.email == address)
  }

  // MARK: The double

  private func double() -> (InMemoryAuthService, Outside) {
    let clock = DoubleCodeTests.Clock()
    let auth = InMemoryAuthService(now: { clock.now })
    let outside = Outside(
      code: { number in try #require(auth.messages.last { $0.number == number }).code },
      authenticator: { InMemoryAuthService.authenticatorCode(for: $0) },
      verify: { #expect(auth.openVerificationLink(of: $0)) }, lapse: { clock.turn(by: 300) })
    return (auth, outside)
  }

  @Test("the double signs in by phone, and tells accounts that collide apart")
  func doublePhone() async throws {
    let (auth, outside) = double()
    try await phone(auth, outside)
  }

  @Test("the double has second factors")
  func doubleFactors() async throws {
    let (auth, outside) = double()
    try await factors(auth, outside)
  }

  @Test("the double parks what is dangerous until the user has signed in again")
  func doubleParked() async throws {
    let (auth, outside) = double()
    try await parked(auth, outside)
  }

  @Test("the double changes password and address")
  func doubleAccount() async throws { try await account(double().0) }

  // MARK: linkd

  private func linkd() async throws -> (World, LinkdApp, Outside) {
    let world = try await World.start()
    let outside = Outside(
      code: { number in Secret(try #require(try await world.messages(number).last)) },
      authenticator: { key in Secret(try await world.totp(key.reveal())) },
      verify: { address in
        let app = try await LinkdService.connect(busAddress: world.bus.address).app("demo")
        try await app.applyActionCode(Secret(try await world.mail(address)))
      },
      lapse: { try await world.lapseLogins() })
    return (world, try await LinkdService.connect(busAddress: world.bus.address).app("demo"), outside)
  }

  @Test("linkd signs in by phone, and tells accounts that collide apart")
  func linkdPhone() async throws {
    let (world, app, outside) = try await linkd()
    try await phone(app, outside)
    withExtendedLifetime(world) {}
  }

  @Test("linkd has second factors")
  func linkdFactors() async throws {
    let (world, app, outside) = try await linkd()
    try await world.offerFactors()
    try await factors(app, outside)
  }

  @Test("linkd parks what is dangerous until the user has signed in again")
  func linkdParked() async throws {
    let (world, app, outside) = try await linkd()
    try await parked(app, outside)
    withExtendedLifetime(world) {}
  }

  @Test("linkd changes password and address")
  func linkdAccount() async throws {
    let (world, app, _) = try await linkd()
    try await account(app)
    withExtendedLifetime(world) {}
  }
}
