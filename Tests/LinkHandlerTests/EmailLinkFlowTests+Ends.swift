import AuthCore
import LinkHandler
import Testing

/// How flows end, and how they go on after a crash.
extension EmailLinkFlowTests {
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

  @Test("a link whose code is spent, or may be, isn't taken up again once it was given up")
  func spentAndGivenUp() throws {
    var troubled = try answered()
    _ = troubled(.lookUpFailed(AuthFailure(.networkUnavailable)))
    for var run in [try exchanging(), try answered(), troubled] {
      #expect(run(.cancelRequested) == [.save])
      #expect(run.stage == .cancelled && run.flow.error == nil)
      #expect(run(.linkOpened(code: Self.a)) == [])
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
