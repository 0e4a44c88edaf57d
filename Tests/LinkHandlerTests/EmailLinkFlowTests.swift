import AuthCore
import LinkHandler
import Testing

@Suite("Email-link flow", .timeLimit(.minutes(1)))
struct EmailLinkFlowTests {
  static let lifetime = EmailLinkFlow.lifetime
  static let address = "Jane+x@example.com"
  static let grant = TokenGrant(
    idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600, isNewUser: true)
  static let a = Secret("code-a"), b = Secret("code-b"), c = Secret("code-c")

  /// A row that somebody asked for.
  func known(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    try FlowRig(.emailLink) { flow in
      flow.expiresAt = 1000 + Self.lifetime
      flow.email = Self.address
      flow.linkTokenHash = Array(repeating: 7, count: 32)
      change(&flow)
    }
  }

  /// A row that a link made.
  func unsolicited() throws -> FlowRig {
    var run = try known { flow in
      flow.email = nil
      flow.linkTokenHash = nil
    }
    #expect(run(.linkOpened(code: Self.a)) == [.save])
    return run
  }

  func waiting(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try known(change)
    _ = run(.started)
    _ = run(.mailSent)
    return run
  }

  func exchanging(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try waiting(change)
    _ = run(.linkOpened(code: Self.a))
    return run
  }

  func answered(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try exchanging(change)
    _ = run(.exchanged(Self.grant, uid: "u1"))
    return run
  }

  func user(_ uid: String = "u1") -> User { User(uid: uid) }

  func expectForgotten(_ flow: Flow, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(flow.code == nil, sourceLocation: sourceLocation)
    #expect(flow.queuedCode == nil, sourceLocation: sourceLocation)
    #expect(flow.answer == nil, sourceLocation: sourceLocation)
    #expect(!flow.mailPending, sourceLocation: sourceLocation)
  }

  // MARK: The good way

  @Test("mail, link, exchange, look-up")
  func happyPath() throws {
    var run = try known()
    #expect(run(.started) == [.save, .sendMail(to: Self.address)])
    #expect(run.stage == .starting)
    #expect(run.flow.mailPending)
    #expect(run.flow.sequence == 1)

    #expect(run(.mailSent) == [.save])
    #expect(run.stage == .waitingForLink)
    #expect(run.flow.canResendAt == 1060)
    #expect(!run.flow.mailPending)
    #expect(run.flow.sequence == 2)

    run.now = 2000
    #expect(run(.linkOpened(code: Self.a)) == [.save, .exchange(email: Self.address, code: Self.a)])
    #expect(run.stage == .exchanging)
    #expect(run.flow.code == Self.a)
    #expect(run.flow.attempts == 1)
    #expect(run.flow.sequence == 3)

    #expect(run(.exchanged(Self.grant, uid: "u1")) == [.save, .lookUp(Self.grant, delay: 0)])
    #expect(run.stage == .exchanging)
    #expect(run.flow.answer == Self.grant)
    #expect(run.flow.sequence == 3)

    run.now = 2001
    #expect(run(.lookedUp(user())) == [.adopt(user(), Self.grant)])
    #expect(run.stage == .succeeded)
    #expect(run.flow.resultUID == "u1")
    #expect(run.flow.isNewUser)
    #expect(run.flow.endedAt == 2001)
    #expect(run.flow.error == nil)
    #expect(run.flow.sequence == 4)
    expectForgotten(run.flow)
  }

  @Test("a link that nobody asked for waits for an address, and spends nothing before")
  func unsolicitedPath() throws {
    var run = try unsolicited()
    #expect(run.stage == .waitingForEmail)
    #expect(run.flow.sequence == 2)
    #expect(run(.linkOpened(code: Self.a)) == [])
    #expect(run.flow.sequence == 2)
    #expect(run(.emailProvided("a@b.c")) == [.save, .exchange(email: "a@b.c", code: Self.a)])
    #expect(run.stage == .exchanging)
    #expect(run.flow.sequence == 3)
    _ = run(.exchanged(Self.grant, uid: nil))
    #expect(run(.lookedUp(user())) == [.adopt(user(), Self.grant)])
    #expect(run.stage == .succeeded)
  }

  @Test("a link that is opened before the mail is known to be sent")
  func linkBeforeAnswer() throws {
    var run = try known()
    _ = run(.started)
    #expect(run(.linkOpened(code: Self.a)) == [.save, .exchange(email: Self.address, code: Self.a)])
    #expect(run(.mailSent) == [.save])
    #expect(run.stage == .exchanging)
    #expect(run.flow.canResendAt == 1060)
    #expect(!run.flow.mailPending)
  }

  @Test("an answer to a mail that can't be the one under way is ignored")
  func strayMailAnswer() throws {
    var run = try waiting()
    let before = run.flow
    #expect(run(.mailSent) == [])
    #expect(run(.mailFailed(AuthFailure(.quotaExceeded))) == [])
    #expect(run.flow == before)
  }

  // MARK: The mail fails

  @Test("a mail refused for good ends the flow")
  func mailRefused() throws {
    var run = try known()
    _ = run(.started)
    #expect(run(.mailFailed(AuthFailure(.operationNotAllowed))) == [.save])
    #expect(run.stage == .failed)
    #expect(run.flow.error == .operationNotAllowed)
    #expect(!run.flow.canRetry)
    #expect(run(.resendRequested) == [.refuse(.noSuchFlow)])
    expectForgotten(run.flow)
  }

  @Test(
    "a mail that met trouble can be sent again after the server's delay",
    arguments: [(nil as Int64?, 1000 as Int64), (30, 1030)])
  func mailTrouble(_ retryAfter: Int64?, _ moment: Int64) throws {
    var run = try known()
    _ = run(.started)
    #expect(run(.mailFailed(AuthFailure(.tooManyRequests, retryAfter: retryAfter))) == [.save])
    #expect(run.stage == .waitingForLink)
    #expect(run.flow.error == .tooManyRequests)
    #expect(run.flow.canResendAt == moment)
    run.now = moment
    #expect(run(.resendRequested) == [.save, .sendMail(to: Self.address)])
    #expect(run.flow.error == nil)
    _ = run(.mailSent)
    #expect(run.stage == .waitingForLink)
  }

  @Test("a mail that fails while its predecessor's link is exchanged disturbs nothing")
  func mailFailsLate() throws {
    var run = try known()
    _ = run(.started)
    _ = run(.linkOpened(code: Self.a))
    #expect(run(.mailFailed(AuthFailure(.operationNotAllowed))) == [.save])
    #expect(run.stage == .exchanging)
    #expect(run.flow.error == nil)
  }

  // MARK: Again

  @Test("resend: too early, in time, after a failure")
  func resend() throws {
    var run = try waiting()
    run.now = 1059
    let before = run.flow
    #expect(run(.resendRequested) == [.refuse(.rateLimited)])
    #expect(run.flow == before)
    run.now = 1060
    #expect(run(.resendRequested) == [.save, .sendMail(to: Self.address)])
    #expect(run.stage == .starting)
    #expect(run.flow.sequence == 3)
    #expect(run(.resendRequested) == [.refuse(.rateLimited)])
    _ = run(.mailSent)
    #expect(run.flow.canResendAt == 1120)

    _ = run(.linkOpened(code: Self.a))
    #expect(run(.resendRequested) == [.refuse(.rateLimited)])
    _ = run(.exchangeFailed(AuthFailure(.expiredActionCode)))
    run.now = 2000
    #expect(run(.resendRequested) == [.save, .sendMail(to: Self.address)])
    #expect(run.stage == .starting)
    #expect(run.flow.error == nil)
    #expect(run.flow.endedAt == nil)
    #expect(run.flow.code == nil)
    _ = run(.mailSent)
    #expect(run(.linkOpened(code: Self.b)) == [.save, .exchange(email: Self.address, code: Self.b)])
    _ = run(.exchanged(Self.grant, uid: nil))
    #expect(run(.lookedUp(user())) == [.adopt(user(), Self.grant)])
  }

  @Test("no resend where there is no address, no time, or no need")
  func noResend() throws {
    var unsolicited = try unsolicited()
    #expect(unsolicited(.resendRequested) == [.refuse(.noSuchFlow)])
    var late = try waiting()
    late.now = 1000 + Self.lifetime
    #expect(late(.resendRequested) == [.refuse(.noSuchFlow)])
    for end in [FlowEvent.cancelRequested, .overdue] {
      var run = try waiting()
      _ = run(end)
      #expect(run(.resendRequested) == [.refuse(.noSuchFlow)])
    }
  }

  @Test("a second click spends nothing")
  func secondClick() throws {
    var run = try exchanging()
    let before = run.flow
    #expect(run(.linkOpened(code: Self.a)) == [])
    #expect(run.flow == before)
    _ = run(.exchanged(Self.grant, uid: nil))
    #expect(run(.linkOpened(code: Self.a)) == [])
    _ = run(.lookedUp(user()))
    let end = run.flow
    #expect(run(.linkOpened(code: Self.a)) == [])
    #expect(run.flow == end)
  }

  // Field report B030: an older mail's link may be the one that works, or the newer's.
  @Test("another code waits until the first has its answer")
  func queued() throws {
    var run = try exchanging()
    #expect(run(.linkOpened(code: Self.b)) == [.save])
    #expect(run.flow.queuedCode == Self.b)
    #expect(run.flow.sequence == 3)
    #expect(run(.linkOpened(code: Self.b)) == [])
    #expect(
      run(.exchangeFailed(AuthFailure(.invalidActionCode))) == [.save, .exchange(email: Self.address, code: Self.b)])
    #expect(run.stage == .exchanging)
    #expect(run.flow.attempts == 1)
    #expect(run.flow.queuedCode == nil)
    #expect(run(.exchangeFailed(AuthFailure(.invalidActionCode))) == [.save])
    #expect(run.stage == .failed)
    #expect(run.flow.canRetry)
  }

  @Test("a code that waited is dropped when the first one does")
  func queuedDropped() throws {
    var run = try exchanging()
    _ = run(.linkOpened(code: Self.b))
    _ = run(.exchanged(Self.grant, uid: nil))
    #expect(run(.linkOpened(code: Self.c)) == [])
    _ = run(.lookedUp(user()))
    #expect(run.stage == .succeeded)
    expectForgotten(run.flow)
  }
}
