import AuthCore
import LinkHandler
import Testing

@Suite("Provider flow", .timeLimit(.minutes(1)))
struct ProviderFlowTests {
  typealias Rig = ProviderRig

  // MARK: The good ways

  // RFC 6749 4.1, RFC 8252 4.1.
  @Test("an own client: request, browser, code, tokens, account")
  func ownClient() throws {
    var run = try Rig.fresh()
    #expect(run(.started) == [.save, .prepareAuthorization(delay: 0)])
    #expect(run.stage == .starting && run.flow.sequence == 1)

    run.now = 1300
    #expect(run(.authorization(.ready(Rig.own()))) == [.save, .openBrowser])
    #expect(run.stage == .waitingForRedirect && run.flow.authorization == Rig.own())
    // Behaviour, Pending flows 2: a redirect is waited for 10 minutes.
    #expect(run.flow.expiresAt == 1900 && run.flow.sequence == 2)

    #expect(run(Rig.redirect()) == [.save, .exchangeAuthorizationCode(Rig.code, delay: 0)])
    #expect(run.stage == .exchanging && run.flow.code == Rig.code && run.flow.sequence == 3)

    #expect(run(.authorization(.credentialReceived(Rig.tokens))) == [.save, Rig.signIn()])
    #expect(run.flow.code == nil && run.flow.credential == Rig.tokens && run.flow.sequence == 3)

    #expect(run(.exchanged(FlowRig.grant, uid: "u1")) == [.save, .lookUp(FlowRig.grant, delay: 0)])
    #expect(run(.lookedUp(Rig.user("u1"))) == [.adopt(Rig.user("u1"), FlowRig.grant)])
    #expect(run.stage == .succeeded && run.flow.resultUID == "u1" && run.flow.sequence == 4)
    #expect(run.flow.secretsLeft == [])
  }

  // Identity-toolkit 4.6: `requestUri` is the link, `sessionId` the raw session id, which goes out here for the first time.
  @Test("Firebase's page: its answer goes to the server with the raw session id")
  func handler() throws {
    var run = try Rig.waiting(Rig.page)
    #expect(run(Rig.handler(link: "https://x/answer")) == [.save, Rig.signIn(Rig.answered)])
    #expect(run.stage == .exchanging && run.flow.code == nil)
    _ = run(.exchanged(FlowRig.grant, uid: "u1"))
    #expect(run(.lookedUp(Rig.user("u1"))) == [.adopt(Rig.user("u1"), FlowRig.grant)])
    #expect(run.flow.secretsLeft == [])
  }

  @Test("a credential that the app has got by itself needs no browser")
  func readyCredential() throws {
    var run = try Rig.fresh { $0.credential = Rig.tokens }
    #expect(run(.started) == [.save, Rig.signIn()])
    #expect(run.stage == .exchanging && run.flow.sequence == 2)
    #expect(run(.authorization(.ready(Rig.own()))) == [])
    // Nothing can come from a browser that nobody has opened.
    #expect(run(Rig.redirect()) == [])
    #expect(run(.authorization(.credentialReceived(Rig.pending))) == [])
    #expect(run.flow.credential == Rig.tokens)
  }

  @Test("who signs in to no account but the protected one", arguments: [FlowPurpose.link, .reauthenticate])
  func protected(_ purpose: FlowPurpose) throws {
    var right = try Rig.offered(purpose: purpose)
    _ = right(.exchanged(FlowRig.grant, uid: "u1"))
    #expect(right(.lookedUp(Rig.user("u1"))) == [.adopt(Rig.user("u1"), FlowRig.grant)])
    // Identity-toolkit 8.5: on a mismatch the foreign tokens are dropped.
    var named = try Rig.offered(purpose: purpose)
    #expect(named(.exchanged(FlowRig.grant, uid: "u2")) == [.save])
    var found = try Rig.offered(purpose: purpose)
    _ = found(.exchanged(FlowRig.grant, uid: nil))
    #expect(found(.lookedUp(Rig.user("u2"))) == [.save])
    for run in [named, found] {
      #expect(run.stage == .failed && run.flow.error == .userMismatch && run.flow.resultUID == nil)
      #expect(run.flow.secretsLeft == [])
    }
  }

  // Identity-toolkit 8.5, rule 4.
  @Test("who proves who they are by an account that isn't there is somebody else")
  func unknown() throws {
    var run = try Rig.offered(purpose: .reauthenticate)
    #expect(run(.exchangeFailed(AuthFailure(.userNotFound))) == [.save])
    #expect(run.stage == .failed && run.flow.error == .userMismatch)
    var taken = try Rig.offered(purpose: .reauthenticate)
    #expect(taken(Rig.found(.accountExistsWithDifferentCredential, email: "a@example.com")) == [.save])
    #expect(taken.stage == .failed && taken.flow.error == .userMismatch && taken.flow.secretsLeft == [])
  }

  @Test("a link or a reauthentication whose user has gone is refused, and nobody else is touched")
  func signedOutMeanwhile() throws {
    for error in [AuthError.userMismatch, .noCurrentUser, .tokenRevoked] {
      var run = try Rig.offered(purpose: .link)
      #expect(run(.exchangeFailed(AuthFailure(error))) == [.save])
      #expect(run.stage == .failed && run.flow.error == error && run.flow.secretsLeft == [])
    }
  }

  // MARK: Before the browser

  @Test("a provider that can't be reached is asked again, ever later, up to a minute")
  func unreachable() throws {
    var run = try Rig.fresh()
    _ = run(.started)
    var delays: [Int64] = []
    for _ in 0..<9 {
      let actions = run(.authorization(.failed(AuthFailure(.networkUnavailable))))
      guard actions.count == 1, case .prepareAuthorization(let delay)? = actions.first else {
        Issue.record("\(actions)")
        return
      }
      delays.append(delay)
    }
    #expect(delays == [2, 4, 8, 16, 32, 60, 60, 60, 60])
    #expect(run.stage == .starting && run.flow.error == .networkUnavailable && run.flow.sequence == 2)
    let asked = AuthFailure(.tooManyRequests, retryAfter: 7)
    #expect(run(.authorization(.failed(asked))) == [.prepareAuthorization(delay: 7)])
    _ = run(.authorization(.ready(Rig.own())))
    #expect(run.stage == .waitingForRedirect && run.flow.error == nil)
  }

  @Test(
    "a request that can't be made ends it",
    arguments: [AuthError.noSuchProvider, .handlerMissing, .issuerMismatch, .invalidProviderResponse, .keyringAbsent])
  func impossible(_ error: AuthError) throws {
    var run = try Rig.fresh()
    _ = run(.started)
    #expect(run(.authorization(.failed(AuthFailure(error)))) == [.save])
    #expect(run.stage == .failed && run.flow.error == error && !run.flow.canRetry)
  }

  @Test("a request is made once: what comes later changes nothing")
  func onlyOnce() throws {
    var run = try Rig.waiting()
    let before = run.flow
    #expect(run(.authorization(.ready(Rig.page))) == [])
    #expect(run(.authorization(.failed(AuthFailure(.handlerMissing)))) == [])
    #expect(run(.started) == [])
    #expect(run.flow == before)
  }

  @Test("without a browser or a port it waits, and says so once: the person can open the page, and paste")
  func byHand() throws {
    for event in [AuthorizationEvent.browserMissing, .listenerMissing] {
      var run = try Rig.waiting()
      #expect(run(.authorization(event)) == [.save])
      #expect(run.stage == .waitingForRedirect && run.flow.error == .handlerMissing && run.flow.sequence == 3)
      #expect(run(.authorization(event)) == [])
      #expect(run(Rig.redirect()) == [.save, .exchangeAuthorizationCode(Rig.code, delay: 0)])
      #expect(run.flow.error == nil)
    }
  }

  @Test("who doesn't want the browser to be opened has cancelled")
  func noBrowser() throws {
    var run = try Rig.waiting()
    #expect(run(.authorization(.browserRefused)) == [.save])
    #expect(run.stage == .cancelled && run.flow.error == nil && run.flow.secretsLeft == [])
    // The portal's answer about a browser that has come back long since.
    var late = try Rig.exchanging()
    #expect(late(.authorization(.browserRefused)) == [])
    #expect(late(.authorization(.browserMissing)) == [])
    #expect(late.stage == .exchanging && late.flow.error == nil)
  }
}
