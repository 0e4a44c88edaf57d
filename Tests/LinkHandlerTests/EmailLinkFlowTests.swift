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
  private func known(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    try FlowRig(.emailLink) { flow in
      flow.expiresAt = 1000 + Self.lifetime
      flow.email = Self.address
      flow.linkTokenHash = Array(repeating: 7, count: 32)
      change(&flow)
    }
  }

  /// A row that a link made.
  private func unsolicited() throws -> FlowRig {
    var run = try known { flow in
      flow.email = nil
      flow.linkTokenHash = nil
    }
    #expect(run(.linkOpened(code: Self.a)) == [.save])
    return run
  }

  private func waiting(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try known(change)
    _ = run(.started)
    _ = run(.mailSent)
    return run
  }

  private func exchanging(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try waiting(change)
    _ = run(.linkOpened(code: Self.a))
    return run
  }

  private func answered(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try exchanging(change)
    _ = run(.exchanged(Self.grant, uid: "u1"))
    return run
  }

  private func user(_ uid: String = "u1") -> User { User(uid: uid) }

  private func expectForgotten(_ flow: Flow, sourceLocation: SourceLocation = #_sourceLocation) {
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

  // MARK: The exchange fails

  // Field report B112: what may pass keeps row and code.
  @Test(
    "trouble keeps a known row",
    arguments: [AuthError.networkUnavailable, .serviceUnavailable, .tooManyRequests, .quotaExceeded])
  func transientKnown(_ error: AuthError) throws {
    var run = try exchanging()
    #expect(run(.exchangeFailed(AuthFailure(error))) == [.save])
    #expect(run.stage == .waitingForLink)
    #expect(run.flow.error == error)
    #expect(run.flow.email == Self.address)
    #expect(run.flow.code == Self.a)
    #expect(run.flow.sequence == 4)
    #expect(run(.linkOpened(code: Self.a)) == [.save, .exchange(email: Self.address, code: Self.a)])
    #expect(run.flow.attempts == 1)
    #expect(run.flow.error == nil)
  }

  @Test("trouble keeps an unsolicited row with its address")
  func transientUnsolicited() throws {
    var run = try unsolicited()
    _ = run(.emailProvided("a@b.c"))
    #expect(run(.exchangeFailed(AuthFailure(.networkUnavailable))) == [.save])
    #expect(run.stage == .waitingForEmail)
    #expect(run.flow.email == "a@b.c")
    #expect(run.flow.code == Self.a)
    #expect(run(.linkOpened(code: Self.a)) == [.save, .exchange(email: "a@b.c", code: Self.a)])
  }

  // Field report B039: a wrong address isn't a bad code.
  @Test("a wrong address", arguments: [AuthError.invalidEmail, .emailMismatch])
  func wrongAddress(_ error: AuthError) throws {
    var known = try exchanging()
    #expect(known(.exchangeFailed(AuthFailure(error))) == [.save])
    #expect(known.stage == .waitingForLink)
    #expect(known.flow.error == .emailMismatch)
    #expect(known.flow.email == Self.address)

    var unsolicited = try unsolicited()
    _ = unsolicited(.emailProvided("wrong@b.c"))
    #expect(unsolicited(.exchangeFailed(AuthFailure(error))) == [.save])
    #expect(unsolicited.stage == .waitingForEmail)
    #expect(unsolicited.flow.error == .emailMismatch)
    #expect(unsolicited.flow.email == nil)
    #expect(
      unsolicited(.emailProvided("right@b.c")) == [.save, .exchange(email: "right@b.c", code: Self.a)])
    #expect(unsolicited.flow.error == nil)
  }

  // Field report B001: a scanner has spent the code; the row stays for one step.
  @Test("a used or an old code", arguments: [AuthError.invalidActionCode, .expiredActionCode])
  func refusedCode(_ error: AuthError) throws {
    var run = try exchanging()
    run.now = 1010
    #expect(run(.exchangeFailed(AuthFailure(error))) == [.save])
    #expect(run.stage == .failed)
    #expect(run.flow.error == error)
    #expect(run.flow.canRetry)
    #expect(run.flow.email == Self.address)
    #expect(run.flow.endedAt == 1010)
    // The refused code isn't tried again.
    let before = run.flow
    #expect(run(.linkOpened(code: Self.a)) == [])
    #expect(run.flow == before)
    // A newer mail's is.
    #expect(run(.linkOpened(code: Self.b)) == [.save, .exchange(email: Self.address, code: Self.b)])
    #expect(run.stage == .exchanging)
    #expect(run.flow.endedAt == nil)
    #expect(run.flow.error == nil)
    #expect(!run.flow.canRetry)
  }

  @Test("an unsolicited row with a dead code offers a mail to the address that was given")
  func refusedCodeUnsolicited() throws {
    var run = try unsolicited()
    _ = run(.emailProvided("a@b.c"))
    _ = run(.exchangeFailed(AuthFailure(.expiredActionCode)))
    #expect(run.flow.canRetry)
    #expect(run(.resendRequested) == [.save, .sendMail(to: "a@b.c")])
  }

  @Test(
    "a refusal for good",
    arguments: [AuthError.userDisabled, .operationNotAllowed, .blockingFunction, .internal, .emailAlreadyInUse])
  func refused(_ error: AuthError) throws {
    var run = try exchanging()
    _ = run(.linkOpened(code: Self.b))
    #expect(run(.exchangeFailed(AuthFailure(error))) == [.save])
    #expect(run.stage == .failed)
    #expect(run.flow.error == error)
    #expect(!run.flow.canRetry)
    expectForgotten(run.flow)
    #expect(run(.linkOpened(code: Self.c)) == [])
  }

  @Test("an address when none is asked for", arguments: [FlowStage.starting, .waitingForLink, .exchanging])
  func strayAddress(_ stage: FlowStage) throws {
    var run = try stage == .starting ? known() : stage == .exchanging ? exchanging() : waiting()
    let before = run.flow
    #expect(run.stage == stage)
    #expect(run(.emailProvided("mallory@b.c")) == [.refuse(.noSuchFlow)])
    #expect(run.flow == before)
  }

  // MARK: The account

  // Behaviour: reauthentication ends with the uid that is protected, or with nothing.
  @Test("another uid, named by the exchange")
  func mismatchByExchange() throws {
    var run = try exchanging { $0.protectedUID = "mine" }
    #expect(run(.exchanged(Self.grant, uid: "other")) == [.save])
    #expect(run.stage == .failed)
    #expect(run.flow.error == .userMismatch)
    #expect(!run.flow.canRetry)
    #expect(run.flow.resultUID == nil)
    expectForgotten(run.flow)
    #expect(run(.lookedUp(user("other"))) == [])
  }

  @Test("another uid, found by the look-up")
  func mismatchByLookUp() throws {
    var run = try exchanging { $0.protectedUID = "mine" }
    #expect(run(.exchanged(Self.grant, uid: nil)) == [.save, .lookUp(Self.grant, delay: 0)])
    #expect(run(.lookedUp(user("other"))) == [.save])
    #expect(run.stage == .failed)
    #expect(run.flow.error == .userMismatch)
    expectForgotten(run.flow)
  }

  @Test("the uid that is protected")
  func match() throws {
    var run = try exchanging { $0.protectedUID = "mine" }
    #expect(run(.exchanged(Self.grant, uid: "mine")) == [.save, .lookUp(Self.grant, delay: 0)])
    #expect(run(.lookedUp(user("mine"))) == [.adopt(user("mine"), Self.grant)])
  }

  @Test("a look-up that meets trouble is tried again, ever later, up to a minute")
  func lookUpTrouble() throws {
    var run = try answered()
    var delays: [Int64] = []
    for _ in 0..<70 {
      let actions = run(.lookUpFailed(AuthFailure(.networkUnavailable)))
      guard case .lookUp(Self.grant, let delay)? = actions.last, actions.count == 1 else {
        Issue.record("\(actions)")
        return
      }
      delays.append(delay)
    }
    #expect(delays.prefix(7) == [2, 4, 8, 16, 32, 60, 60])
    #expect(delays.allSatisfy { $0 <= 60 })
    #expect(run.stage == .exchanging)
    #expect(run.flow.error == .networkUnavailable)
    #expect(run.flow.answer == Self.grant)
    // One visible change in all.
    #expect(run.flow.sequence == 4)
    #expect(
      run(.lookUpFailed(AuthFailure(.tooManyRequests, retryAfter: 300))) == [.lookUp(Self.grant, delay: 300)])
    #expect(run(.lookedUp(user())) == [.adopt(user(), Self.grant)])
    #expect(run.stage == .succeeded)
  }

  @Test("a look-up that is refused ends the flow")
  func lookUpRefused() throws {
    var run = try answered()
    #expect(run(.lookUpFailed(AuthFailure(.userDisabled))) == [.save])
    #expect(run.stage == .failed)
    #expect(run.flow.error == .userDisabled)
    expectForgotten(run.flow)
  }

  @Test("a second answer to one exchange is ignored")
  func strayAnswers() throws {
    var run = try answered()
    let before = run.flow
    let other = TokenGrant(idToken: Secret("X"), refreshToken: Secret("Y"), expiresIn: nil)
    #expect(run(.exchanged(other, uid: "u2")) == [])
    #expect(run(.exchangeFailed(AuthFailure(.invalidActionCode))) == [])
    #expect(run.flow == before)
    var early = try waiting()
    let waits = early.flow
    #expect(early(.exchanged(other, uid: nil)) == [])
    #expect(early(.exchangeFailed(AuthFailure(.userDisabled))) == [])
    #expect(early(.lookedUp(user())) == [])
    #expect(early(.lookUpFailed(AuthFailure(.userDisabled))) == [])
    #expect(early.flow == waits)
  }

  // MARK: Ends

  /// Every stage this machine can stand at before an end.
  private func lively() throws -> [FlowRig] {
    var starting = try known()
    _ = starting(.started)
    var queued = try exchanging()
    _ = queued(.linkOpened(code: Self.b))
    return [starting, try waiting(), try unsolicited(), try exchanging(), queued, try answered()]
  }

  @Test(
    "cancelled or overdue at each stage",
    arguments: [(FlowEvent.cancelRequested, FlowStage.cancelled), (.overdue, .expired)])
  func ended(_ event: FlowEvent, _ stage: FlowStage) throws {
    for var run in try lively() {
      let sequence = run.flow.sequence
      run.now = 5000
      #expect(run(event) == [.save])
      #expect(run.stage == stage)
      #expect(run.flow.endedAt == 5000)
      #expect(run.flow.sequence == sequence + 1)
      #expect(!run.flow.canRetry)
      expectForgotten(run.flow)
    }
  }

  @Test("events at an end change nothing")
  func deaf() throws {
    var succeeded = try answered()
    _ = succeeded(.lookedUp(user()))
    var failed = try exchanging()
    _ = failed(.exchangeFailed(AuthFailure(.userDisabled)))
    var cancelled = try answered()
    _ = cancelled(.cancelRequested)
    var expired = try waiting()
    _ = expired(.overdue)
    let events: [FlowEvent] = [
      .mailSent, .mailFailed(AuthFailure(.userDisabled)), .linkOpened(code: Self.a), .linkOpened(code: Self.c),
      .emailProvided("a@b.c"), .exchanged(Self.grant, uid: "u2"), .exchangeFailed(AuthFailure(.networkUnavailable)),
      .exchangeFailed(AuthFailure(.invalidActionCode)), .lookedUp(user("u2")),
      .lookUpFailed(AuthFailure(.userDisabled)),
      .lookUpFailed(AuthFailure(.networkUnavailable)), .resendRequested, .cancelRequested, .overdue, .restored,
    ]
    for var run in [succeeded, failed, cancelled, expired] {
      let before = run.flow
      let isGivenUp = [.cancelled, .expired].contains(before.stage)
      for event in events {
        // A link that was given up is taken up again when it's opened: the next test.
        if case .linkOpened = event, isGivenUp { continue }
        let actions = run(event)
        #expect(actions.allSatisfy { $0 == .refuse(.noSuchFlow) }, "\(event) at \(before.stage)")
        #expect(run.flow == before, "\(event) at \(before.stage)")
      }
    }
  }

  @Test("a link that was given up unspent asks for its address when it's opened again")
  func openedAgain() throws {
    for end in [FlowEvent.cancelRequested, .overdue] {
      var run = try waiting()
      _ = run(end)
      #expect(run(.linkOpened(code: Self.a)) == [.save])
      #expect(run.flow.stage == .waitingForEmail && run.flow.email == nil)
      #expect(run.flow.code == Self.a && run.flow.endedAt == nil)
    }
  }

  @Test("a code that was refused is exchanged no second time, and a success keeps no old error")
  func refusedOnce() throws {
    var run = try exchanging()
    _ = run(.linkOpened(code: Self.c))
    _ = run(.exchangeFailed(AuthFailure(.networkUnavailable)))
    _ = run(.linkOpened(code: Self.c))
    #expect(run(.exchangeFailed(AuthFailure(.invalidActionCode))) == [.save])
    #expect(run.stage == .failed)
    var slow = try answered()
    _ = slow(.lookUpFailed(AuthFailure(.networkUnavailable)))
    _ = slow(.lookedUp(user()))
    #expect(slow.stage == .succeeded && slow.flow.error == nil)
    #expect(slow(.started) == [])
  }

  // MARK: After a crash

  @Test("found at starting: the mail is sent, once more perhaps")
  func restoredStarting() throws {
    var run = try known()
    _ = run(.started)
    var again = try run.restarted()
    #expect(again(.restored) == [.sendMail(to: Self.address)])
    #expect(again(.mailSent) == [.save])
    #expect(again.stage == .waitingForLink)
  }

  @Test("found waiting: it waits")
  func restoredWaiting() throws {
    for run in [try waiting(), try unsolicited()] {
      var again = try run.restarted()
      #expect(again(.restored) == [])
      #expect(again.flow == run.flow)
    }
    var unsolicited = try unsolicited().restarted()
    #expect(unsolicited(.emailProvided("a@b.c")) == [.save, .exchange(email: "a@b.c", code: Self.a)])
  }

  @Test("found exchanging: tried once again, not twice")
  func restoredExchanging() throws {
    var second = try exchanging().restarted()
    #expect(second(.restored) == [.save, .exchange(email: Self.address, code: Self.a)])
    #expect(second.flow.attempts == 2)
    // The first try has reached the server, as its answer to the second one says.
    var refused = second
    #expect(refused(.exchangeFailed(AuthFailure(.invalidActionCode))) == [.save])
    #expect(refused.stage == .failed)
    #expect(refused.flow.canRetry)

    var third = try second.restarted()
    #expect(third(.restored) == [.save])
    #expect(third.stage == .failed)
    #expect(third.flow.error == .invalidActionCode)
    #expect(third.flow.canRetry)
    #expect(third(.resendRequested) == [.refuse(.rateLimited)])
    third.now = 1060
    #expect(third(.resendRequested) == [.save, .sendMail(to: Self.address)])
  }

  @Test("found exchanging after two tries that met trouble between: the count starts anew with the click")
  func restoredAfterTrouble() throws {
    var run = try exchanging()
    _ = run(.exchangeFailed(AuthFailure(.networkUnavailable)))
    _ = run(.linkOpened(code: Self.a))
    var again = try run.restarted()
    #expect(again(.restored) == [.save, .exchange(email: Self.address, code: Self.a)])
  }

  @Test("found with an answer in hand: the code isn't spent again")
  func restoredAnswered() throws {
    var run = try answered().restarted()
    #expect(run(.restored) == [.lookUp(Self.grant, delay: 0)])
    #expect(run(.lookedUp(user())) == [.adopt(user(), Self.grant)])
    #expect(run.flow.isNewUser)
  }

  @Test("found overdue: ended, at every stage")
  func restoredOverdue() throws {
    for run in try lively() {
      var again = try run.restarted()
      again.now = 1000 + Self.lifetime
      #expect(again(.restored) == [.save])
      #expect(again.stage == .expired)
      expectForgotten(again.flow)
    }
  }
}
