import AuthCore
import LinkHandler
import Testing

/// The exchange of the code, and the account behind it.
extension EmailLinkFlowTests {
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

  @Test("a link that is opened, or an address that is given, in the last second is exchanged, not expired")
  func inTime() throws {
    var run = try waiting()
    run.now = 1000 + Self.lifetime - 1
    _ = run(.linkOpened(code: Self.a))
    #expect(run.flow.expiresAt == run.now + 600)
    var unsolicited = try unsolicited()
    unsolicited.now = 1000 + Self.lifetime - 1
    _ = unsolicited(.emailProvided("a@b.c"))
    #expect(unsolicited.flow.expiresAt == unsolicited.now + 600)
    // It's never cut short.
    var early = try waiting()
    _ = early(.linkOpened(code: Self.a))
    #expect(early.flow.expiresAt == 1000 + Self.lifetime)
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
}
