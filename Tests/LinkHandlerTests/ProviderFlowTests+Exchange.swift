import AuthCore
import LinkHandler
import Testing

/// The exchange, its troubles, and what a restart finds.
extension ProviderFlowTests {
  // MARK: The code

  @Test(
    "a refused code, or tokens that aren't right: it wasn't the flow's, and the true one may come",
    arguments: [
      AuthFailure(.invalidProviderResponse, serverCode: "invalid_grant"), AuthFailure(.invalidProviderResponse),
      AuthFailure(.nonceMismatch), AuthFailure(.issuerMismatch),
    ])
  func refusedCode(_ failure: AuthFailure) throws {
    var run = try Rig.exchanging()
    run.now = 1400
    #expect(run(.exchangeFailed(failure)) == [.save])
    #expect(run.stage == .waitingForRedirect && run.flow.error == failure.error && run.flow.expiresAt == 2000)
    #expect(run.flow.authorization == Rig.own())
    // Behaviour, Pending flows 4: one exchange for each code, however often it is delivered.
    let before = run.flow
    #expect(run(Rig.redirect()) == [])
    #expect(run.flow == before)
    #expect(
      run(Rig.redirect({ $0.code = Rig.otherCode })) == [.save, .exchangeAuthorizationCode(Rig.otherCode, delay: 0)])
    #expect(run.flow.error == nil)
    #expect(run(.authorization(.credentialReceived(Rig.tokens))) == [.save, Rig.signIn()])
  }

  @Test(
    "a provider that refuses the app itself ends it: no other code would help (RFC 6749 5.2)",
    arguments: [
      AuthFailure(.invalidProviderResponse, serverCode: "invalid_client"),
      AuthFailure(.invalidProviderResponse, serverCode: "unauthorized_client"),
      AuthFailure(.invalidProviderResponse, serverCode: "invalid_scope"),
      // The app's file doesn't name the provider any more.
      AuthFailure(.noSuchProvider), AuthFailure(.noSuchApp),
    ])
  func refusedClient(_ failure: AuthFailure) throws {
    var run = try Rig.exchanging()
    #expect(run(.exchangeFailed(failure)) == [.save])
    #expect(run.stage == .failed && run.flow.error == failure.error && run.flow.secretsLeft == [])
  }

  @Test("trouble at the provider is waited out, with the same code")
  func codeTrouble() throws {
    var run = try Rig.exchanging()
    let trouble = AuthFailure(.networkUnavailable)
    #expect(run(.exchangeFailed(trouble)) == [.exchangeAuthorizationCode(Rig.code, delay: 2)])
    #expect(run(.exchangeFailed(trouble)) == [.exchangeAuthorizationCode(Rig.code, delay: 4)])
    #expect(
      run(.exchangeFailed(AuthFailure(.tooManyRequests, retryAfter: 90)))
        == [.exchangeAuthorizationCode(Rig.code, delay: 90)])
    #expect(run.stage == .exchanging && run.flow.error == .tooManyRequests)
    // A step that went well begins to count anew.
    #expect(run(.authorization(.credentialReceived(Rig.tokens))) == [.save, Rig.signIn()])
    #expect(run.flow.error == nil)
    #expect(run(.exchangeFailed(trouble)) == [Rig.signIn(delay: 2)])
    _ = run(.exchangeFailed(trouble))
    _ = run(.exchanged(FlowRig.grant, uid: "u1"))
    #expect(run(.lookUpFailed(trouble)) == [.lookUp(FlowRig.grant, delay: 2)])
    #expect(run(.lookedUp(Rig.user("u1"))) == [.adopt(Rig.user("u1"), FlowRig.grant)])
    #expect(run.flow.error == nil)
  }

  @Test("the next code isn't made to wait for what the last one met")
  func countsAnew() throws {
    var run = try Rig.exchanging()
    for _ in 0..<6 { _ = run(.exchangeFailed(AuthFailure(.serviceUnavailable))) }
    _ = run(.exchangeFailed(AuthFailure(.invalidProviderResponse)))
    _ = run(Rig.redirect({ $0.code = Rig.otherCode }))
    #expect(
      run(.exchangeFailed(AuthFailure(.serviceUnavailable)))
        == [.exchangeAuthorizationCode(Rig.otherCode, delay: 2)])
  }

  // MARK: The server

  @Test(
    "what the server refuses for good ends it",
    arguments: [
      AuthError.invalidProviderResponse, .nonceMismatch, .userDisabled, .operationNotAllowed, .blockingFunction,
      .secondFactorRequired, .noSuchProvider,
    ])
  func serverRefuses(_ error: AuthError) throws {
    var run = try Rig.exchanging()
    _ = run(.authorization(.credentialReceived(Rig.tokens)))
    #expect(run(.exchangeFailed(AuthFailure(error, detail: "Why"))) == [.save])
    #expect(run.stage == .failed && run.flow.error == error && run.flow.errorDetail == "Why")
    #expect(run.flow.secretsLeft == [])
  }

  @Test("an answer counts once, and none counts where nothing is asked")
  func strayAnswers() throws {
    var answered = try Rig.offered()
    _ = answered(.exchanged(FlowRig.grant, uid: "u1"))
    var waiting = try Rig.waiting()
    let other = TokenGrant(idToken: Secret("X"), refreshToken: Secret("Y"), expiresIn: nil)
    for var run in [answered, waiting] {
      let before = run.flow
      #expect(run(.exchanged(other, uid: "u2")) == [])
      #expect(run(.exchangeFailed(AuthFailure(.userDisabled))) == [])
      #expect(run(Rig.found(.credentialAlreadyInUse)) == [])
      #expect(run(.authorization(.credentialReceived(Rig.pending))) == [])
      #expect(run.flow == before)
    }
    #expect(waiting(.lookedUp(Rig.user("u1"))) == [])
    #expect(waiting(.lookUpFailed(AuthFailure(.userDisabled))) == [])
    #expect(waiting.stage == .waitingForRedirect)
  }

  // MARK: Time

  // Behaviour, Pending flows 2: waiting stages end after 10 minutes. The exchange of what came in time is no such stage.
  @Test("what the browser brings in the last second is exchanged, not expired")
  func inTime() throws {
    var run = try Rig.waiting()
    run.now = 1599
    _ = run(Rig.redirect())
    #expect(run.flow.expiresAt == 2199)
    run.now = 1700
    _ = run(.authorization(.credentialReceived(Rig.tokens)))
    #expect(run.flow.expiresAt == 2199)
    #expect(try run.restart() == [Rig.signIn()])
  }

  // MARK: Ends

  private func lively() throws -> [FlowRig] {
    var starting = try Rig.fresh()
    _ = starting(.started)
    var noted = try Rig.waiting()
    _ = noted(.authorization(.browserMissing))
    var offered = try Rig.exchanging()
    _ = offered(.authorization(.credentialReceived(Rig.tokens)))
    var answered = offered
    _ = answered(.exchanged(FlowRig.grant, uid: "u1"))
    var conflict = try Rig.offered()
    _ = conflict(Rig.found(.accountExistsWithDifferentCredential, email: "a@example.com", credential: Rig.pending))
    return [starting, try Rig.waiting(), noted, try Rig.exchanging(), offered, answered, conflict]
  }

  @Test(
    "cancelled or overdue at each stage",
    arguments: [(FlowEvent.cancelRequested, FlowStage.cancelled), (.overdue, .expired)])
  func ended(_ event: FlowEvent, _ stage: FlowStage) throws {
    for var run in try lively() {
      let sequence = run.flow.sequence
      run.now = 5000
      #expect(run(event) == [.save])
      #expect(run.stage == stage && run.flow.endedAt == 5000 && run.flow.sequence == sequence + 1)
      #expect(run.flow.secretsLeft == [] && run.flow.resultUID == nil)
      if stage == .cancelled { #expect(run.flow.error == nil) }
    }
  }

  @Test("found overdue: ended, at every stage")
  func restoredOverdue() throws {
    for run in try lively() {
      var again = try run.restarted()
      again.now = 5000
      #expect(again(.restored) == [.save])
      #expect(again.stage == .expired && again.flow.secretsLeft == [])
    }
  }

  @Test(
    "what isn't asked for is refused, and changes nothing",
    arguments: [
      FlowEvent.emailProvided("a@example.com"), .passwordProvided(Secret("p")), .confirmed, .resendRequested,
      .conflict(.resolved(.switch, current: nil)),
    ])
  func notAsked(_ event: FlowEvent) throws {
    for var run in try lively() {
      let before = run.flow
      #expect(run(event) == [.refuse(.noSuchFlow)])
      #expect(run.flow == before)
    }
  }

  // MARK: After a restart

  @Test("found at starting: the request is made anew, or the credential offered")
  func restoredStarting() throws {
    var run = try Rig.fresh()
    _ = run(.started)
    #expect(try run.restart() == [.prepareAuthorization(delay: 0)])
    #expect(run(.authorization(.ready(Rig.own()))) == [.save, .openBrowser])
    var ready = try Rig.fresh { $0.credential = Rig.tokens }
    #expect(try ready.restart() == [.save, Rig.signIn()])
  }

  @Test(
    "B067: found waiting: by loopback the port is held again, by scheme nothing is needed; the values are in the row")
  func restoredWaiting() throws {
    var loopback = try Rig.waiting()
    #expect(try loopback.restart() == [.listen])
    #expect(loopback(Rig.redirect()) == [.save, .exchangeAuthorizationCode(Rig.code, delay: 0)])
    #expect(loopback.flow.authorization?.client?.codeVerifier == Secret("V"))
    var scheme = try Rig.waiting(Rig.page)
    #expect(try scheme.restart() == [])
    #expect(scheme(Rig.handler(link: "https://x/answer")) == [.save, Rig.signIn(Rig.answered)])
  }

  // Behaviour, Pending flows 5: a row found `exchanging` is retried once.
  @Test("found with a code: tried once again, with the port held for the browser that has to come anew")
  func restoredCode() throws {
    var run = try Rig.exchanging()
    #expect(try run.restart() == [.save, .listen, .exchangeAuthorizationCode(Rig.code, delay: 0)])
    var spent = run
    // The first try has reached the provider.
    #expect(spent(.exchangeFailed(AuthFailure(.invalidProviderResponse, serverCode: "invalid_grant"))) == [.save])
    #expect(spent.stage == .waitingForRedirect && spent.flow.error == .invalidProviderResponse)
    #expect(spent(Rig.redirect({ $0.code = Rig.otherCode })).first == .save)
    // Twice is enough.
    #expect(try run.restart() == [.save, .listen])
    #expect(run.stage == .waitingForRedirect && run.flow.error == .invalidProviderResponse)
    #expect(run(Rig.redirect()) == [])
    #expect(
      run(Rig.redirect({ $0.code = Rig.otherCode })) == [.save, .exchangeAuthorizationCode(Rig.otherCode, delay: 0)])
  }

  @Test("found with tokens, or with the server's answer: what was spent isn't spent again")
  func restoredAnswers() throws {
    var offered = try Rig.exchanging()
    _ = offered(.authorization(.credentialReceived(Rig.tokens)))
    #expect(try offered.restart() == [Rig.signIn()])
    _ = offered(.exchanged(FlowRig.grant, uid: "u1"))
    #expect(try offered.restart() == [.lookUp(FlowRig.grant, delay: 0)])
    #expect(offered(.lookedUp(Rig.user("u1"))) == [.adopt(Rig.user("u1"), FlowRig.grant)])
  }
}
