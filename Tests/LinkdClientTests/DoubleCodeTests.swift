import AuthCore
import EventLoop
import LinkdClient
import Testing

/// Phone numbers and second factors of the double, which behaves as docs/dbus-api.md says of linkd.
@Suite("The double's codes and factors", .timeLimit(.minutes(1)))
struct DoubleCodeTests {
  static let number = "+447700900123"
  static let password = Secret("correct horse")
  static let wrong = Secret("000000")

  /// A clock that a test turns.
  final class Clock: Sendable {
    private let time = Lock(1_000_000 as Int64)
    var now: Int64 { time.withLock { $0 } }
    func turn(by seconds: Int64) { time.withLock { $0 += seconds } }
  }

  private let clock = Clock()
  private let auth: InMemoryAuthService

  init() {
    let clock = clock
    auth = InMemoryAuthService(accounts: ["ada@example.com": "correct horse"], now: { clock.now })
  }

  private func error<Value>(_ body: () async throws(LinkdError) -> Value) async -> AuthError? {
    await failure(body)?.authError
  }

  private func now(_ flow: any FlowServicing) async throws -> FlowStatus {
    for try await status in flow.stages { return status }
    throw LinkdError.cancelled
  }

  private func newestCode() throws -> Secret<String> { try #require(auth.messages.last).code }

  private func signIn() async throws -> any FlowServicing {
    try await auth.start(.password(email: "ada@example.com", Self.password))
  }

  // MARK: A phone

  @Test("the code of the message signs in, and the same number is the same account")
  func phone() async throws {
    var uids: Set<String> = []
    for isNew in [true, false] {
      let flow = try await auth.sendCode(to: "+44 (7700) 900-123")
      let details = try await now(flow).details
      #expect(details.codeKind == .phone && details.phoneNumber == Self.number && details.codeLength == 6)
      #expect(details.attemptsLeft == 5 && details.canResendAt == clock.now + 60)
      let code = try newestCode().reveal()
      let end = try await flow.submit(code: Secret("\(code.prefix(3)) \(code.suffix(3))"))
      #expect(end.stage == .succeeded && end.details.isNewUser == isNew)
      let user = try #require(try await auth.currentUser)
      #expect(user.phoneNumber == Self.number && user.providers.map(\.providerID) == ["phone"])
      uids.insert(user.uid)
      try await auth.signOut()
    }
    #expect(uids.count == 1 && auth.messages.map(\.number) == [Self.number, Self.number])
    #expect(await error { () throws(LinkdError) in try await auth.sendCode(to: "07700 900123") } == .invalidPhoneNumber)
  }

  @Test("a wrong code keeps the message and counts down; after the fifth it begins anew with another message")
  func attempts() async throws {
    let flow = try await auth.sendCode(to: Self.number)
    for left in [4, 3, 2, 1] {
      #expect(
        await error { () throws(LinkdError) in try await flow.submit(code: Self.wrong) } == .invalidVerificationCode)
      #expect(try await now(flow).details.attemptsLeft == left)
    }
    #expect(
      await error { () throws(LinkdError) in try await flow.provideCode(Secret("12345")) } == .invalidVerificationCode)
    #expect(try await now(flow).details.attemptsLeft == 1)
    #expect(
      await error { () throws(LinkdError) in try await flow.submit(code: Self.wrong) } == .invalidVerificationCode)
    let status = try await now(flow)
    #expect(status.stage == .failed && status.details.canRetry)
    #expect(await error { () throws(LinkdError) in try await flow.resend() } == .rateLimited)
    clock.turn(by: 60)
    try await flow.resend()
    #expect(try await now(flow).details.attemptsLeft == 5 && auth.messages.count == 2)
    #expect(try await flow.submit(code: try newestCode()).stage == .succeeded)
  }

  @Test("a new message waits for its time, and the code before it counts no more")
  func resending() async throws {
    let flow = try await auth.sendCode(to: Self.number)
    let first = try newestCode()
    clock.turn(by: 59)
    #expect(await error { () throws(LinkdError) in try await flow.resend() } == .rateLimited)
    clock.turn(by: 1)
    try await flow.resend()
    #expect(try newestCode() != first && auth.messages.count == 2)
    #expect(await error { () throws(LinkdError) in try await flow.submit(code: first) } == .invalidVerificationCode)
    #expect(try await flow.submit(code: try newestCode()).stage == .succeeded)
  }

  @Test("a code that is too old is SessionExpired, and can be sent again; nobody's code in ten minutes is the end")
  func tooOld() async throws {
    let flow = try await auth.sendCode(to: Self.number)
    let code = try newestCode()
    auth.expireCodes()
    #expect(await error { () throws(LinkdError) in try await flow.submit(code: code) } == .sessionExpired)
    let status = try await now(flow)
    #expect(status.stage == .failed && status.details.canRetry)
    clock.turn(by: 60)
    try await flow.resend()
    clock.turn(by: 600)
    #expect(await error { () throws(LinkdError) in try await flow.provideCode(Self.wrong) } == .noSuchFlow)
    #expect(try await now(flow).stage == .expired)
  }

  @Test("a captcha page comes before the message where it's asked for: solved, refused, given up")
  func captcha() async throws {
    auth.showCaptchas(true)
    for (answer, expected) in [
      (InMemoryAuthService.CaptchaAnswer.solved, nil), (.refused, AuthError.captchaFailed), (.givenUp, .cancelled),
    ] {
      let flow = try await auth.start(.phone(Self.number))
      #expect(try await now(flow).stage == .waitingForCaptcha && auth.messages.isEmpty)
      #expect(try await flow.url().reveal().hasPrefix("https://"))
      #expect(auth.answerCaptcha(answer))
      #expect(await error { () throws(LinkdError) in try await flow.nextStep() } == expected)
      if answer == .solved {
        #expect(try await flow.submit(code: try newestCode()).stage == .succeeded)
        return
      }
    }
  }

  @Test("a number that is another account's is a conflict when linked, and refused as a new number")
  func conflict() async throws {
    let owner = try await auth.sendCode(to: Self.number).submit(code: try newestCode()).details.user
    _ = try await auth.signIn(email: "ada@example.com", password: Self.password)
    let change = try await auth.start(.changePhoneNumber(Self.number))
    let code = try newestCode()
    #expect(
      await error { () throws(LinkdError) in try await change.submit(code: code) } == .credentialAlreadyInUse)
    let link = try await auth.sendCode(to: Self.number, purpose: .link)
    let step = try await link.submit(code: try newestCode())
    let conflict = try #require(step.details.conflict)
    #expect(step.stage == .conflict && conflict.kind == .credentialAlreadyInUse && conflict.phoneNumber == Self.number)
    #expect(conflict.options == [.switch, .keep, .cancel])
    let count = auth.messages.count
    try await link.resolveConflict(.switch)
    #expect(try await link.end().details.user?.uid == owner?.uid && auth.messages.count == count)
  }

  @Test("a number is linked, and changed, and a guest with a number is no guest any more")
  func linking() async throws {
    let guest = try await auth.signInAnonymously()
    let linked = try await auth.sendCode(to: Self.number, purpose: .link).submit(code: try newestCode()).details.user
    #expect(linked?.uid == guest.uid && linked?.isAnonymous == false && linked?.phoneNumber == Self.number)
    #expect(
      await error { () throws(LinkdError) in try await auth.sendCode(to: Self.number, purpose: .link) }
        == .providerAlreadyLinked)
  }

  // MARK: Second factors

  @Test("one-line sign-ins stop at a second factor, and change nothing")
  func stopped() async throws {
    auth.addSecondFactor(phone: Self.number, to: "ada@example.com")
    #expect(
      await error { () throws(LinkdError) in
        try await auth.signIn(email: "ada@example.com", password: Self.password)
      } == .secondFactorRequired)
    #expect(try await auth.status().state == .unauthenticated)
    _ = try await auth.sendSignInLink(to: "ada@example.com")
    #expect(auth.openSignInLink(of: "ada@example.com"))
    #expect(try await auth.currentUserID == nil)
  }

  @Test("a phone and an authenticator app to choose from: another choice, a wrong code, the right one")
  func choosing() async throws {
    let key = Secret("INMEMORYKEY")
    let phone = try #require(auth.addSecondFactor(phone: Self.number, displayName: "Mine", to: "ada@example.com"))
    let app = try #require(auth.addSecondFactor(authenticator: key, displayName: "App", to: "ada@example.com"))
    let flow = try await signIn()
    let first = try await flow.nextStep()
    #expect(first.stage == .secondFactorRequired && first.details.hints == [phone, app])
    #expect(first.details.hints[0].phoneNumber == "+********0123")
    #expect(await error { () throws(LinkdError) in try await flow.provideCode(Self.wrong) } == .noSuchFlow)
    #expect(await error { () throws(LinkdError) in try await flow.chooseFactor("nobody") } == .factorNotFound)
    try await flow.chooseFactor(phone.uid)
    let waiting = try await flow.nextStep().details
    #expect(waiting.codeKind == .phone && waiting.displayName == "Mine" && waiting.phoneNumber == phone.phoneNumber)
    #expect(auth.messages.map(\.number) == [Self.number])
    #expect(
      await error { () throws(LinkdError) in try await flow.submit(code: Self.wrong) } == .invalidVerificationCode)
    try await flow.chooseFactor(app.uid)
    #expect(try await flow.nextStep().details.codeKind == .totp)
    #expect(
      await error { () throws(LinkdError) in try await flow.submit(code: Self.wrong) } == .invalidVerificationCode)
    // Away and back there is nothing new.
    #expect(await error { () throws(LinkdError) in try await flow.chooseFactor(phone.uid) } == .rateLimited)
    clock.turn(by: 60)
    try await flow.chooseFactor(phone.uid)
    try await flow.chooseFactor(app.uid)
    #expect(try await flow.nextStep().details.attemptsLeft == 4 && auth.messages.count == 2)
    #expect(await error { () throws(LinkdError) in try await flow.chooseFactor(phone.uid) } == .rateLimited)
    let end = try await flow.submit(code: InMemoryAuthService.authenticatorCode(for: key))
    #expect(end.details.user?.secondFactors == [phone, app])
    #expect(try await auth.status().state == .authenticated)
  }

  @Test("an authenticator app alone needs no choice; five wrong codes of it are the end")
  func onlyAuthenticator() async throws {
    let key = Secret("INMEMORYKEY")
    auth.addSecondFactor(authenticator: key, to: "ada@example.com")
    let flow = try await signIn()
    for _ in 0..<5 {
      #expect(
        await error { () throws(LinkdError) in try await flow.submit(code: Self.wrong) } == .invalidVerificationCode)
    }
    let status = try await now(flow)
    #expect(status.stage == .failed && !status.details.canRetry)
    let code = InMemoryAuthService.authenticatorCode(for: key)
    #expect(try await signIn().submit(code: code).stage == .succeeded)
  }

  @Test("a phone's last wrong code, or one too old, goes back to the choice: the first factor isn't asked for again")
  func backToChoice() async throws {
    let phone = try #require(auth.addSecondFactor(phone: Self.number, to: "ada@example.com"))
    let flow = try await signIn()
    try await flow.chooseFactor(phone.uid)
    for _ in 0..<5 { _ = await error { () throws(LinkdError) in try await flow.submit(code: Self.wrong) } }
    var status = try await now(flow)
    #expect(status.stage == .secondFactorRequired && status.details.error?.authError == .invalidVerificationCode)
    #expect(await error { () throws(LinkdError) in try await flow.chooseFactor(phone.uid) } == .rateLimited)
    #expect(status.details.canResendAt == clock.now + 60)
    clock.turn(by: 60)
    try await flow.chooseFactor(phone.uid)
    auth.expireCodes()
    #expect(
      await error { () throws(LinkdError) in try await flow.submit(code: Self.wrong) } == .sessionExpired)
    status = try await now(flow)
    #expect(status.stage == .secondFactorRequired && status.details.hints == [phone])
    auth.showCaptchas(true)
    for (answer, expected) in [
      (InMemoryAuthService.CaptchaAnswer.refused, AuthError.captchaFailed as AuthError?), (.givenUp, nil),
    ] {
      clock.turn(by: 60)
      try await flow.chooseFactor(phone.uid)
      #expect(try await now(flow).stage == .waitingForCaptcha && auth.answerCaptcha(answer))
      status = try await now(flow)
      #expect(status.stage == .secondFactorRequired && status.details.error?.authError == expected)
    }
    auth.showCaptchas(false)
    clock.turn(by: 60)
    try await flow.chooseFactor(phone.uid)
    #expect(try await flow.submit(code: try newestCode()).stage == .succeeded)
  }

  @Test("a phone and an app are enrolled by their codes, listed, asked for, and removed")
  func enrolling() async throws {
    _ = try await auth.signIn(email: "ada@example.com", password: Self.password)
    let unproved = try await now(try await auth.start(.enrollTOTPFactor()))
    #expect(unproved.stage == .failed && unproved.details.error?.authError == .unverifiedEmail)
    #expect(auth.openVerificationLink(of: "ada@example.com"))
    let totp = try await auth.start(.enrollTOTPFactor(displayName: "App"))
    #expect(try await totp.nextStep().details.codeKind == .totp)
    let secret = try await totp.secret()
    #expect(secret.uri.reveal().hasPrefix("otpauth://totp/") && secret.uri.reveal().contains(secret.key.reveal()))
    #expect(
      await error { () throws(LinkdError) in try await totp.submit(code: Self.wrong) } == .invalidVerificationCode)
    try await totp.submit(code: InMemoryAuthService.authenticatorCode(for: secret.key))
    let phone = try await auth.start(.enrollPhoneFactor(Self.number, displayName: "Mine"))
    #expect(try await phone.nextStep().details.phoneNumber == Self.number)
    try await phone.submit(code: try newestCode())
    let factors = try #require(try await auth.currentUser?.secondFactors)
    #expect(factors.map(\.kind) == [.totp, .phone] && factors.map(\.displayName) == ["App", "Mine"])
    let again = try await now(try await auth.start(.enrollPhoneFactor(Self.number)))
    #expect(again.stage == .failed && again.details.error?.authError == .secondFactorExists)
    for factor in factors { try await auth.unenrollFactor(factor.uid) }
    #expect(try await auth.currentUser?.secondFactors == [])
    #expect(await error { () throws(LinkdError) in try await auth.unenrollFactor("factor1") } == .factorNotFound)
  }
}
