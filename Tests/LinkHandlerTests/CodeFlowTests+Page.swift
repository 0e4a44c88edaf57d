import AuthCore
import LinkHandler
import Testing

/// The page that tells people from programs (identity-toolkit 4.7, 6.2; behaviour: Phone).
extension CodeFlowTests {
  @Test("the page, its token, the message", arguments: CodeRig.phones)
  func page(_ purpose: FlowPurpose) throws {
    var run = try Rig.starting(purpose)
    #expect(run(Rig.pageWanted) == [.prepareVerificationPage])
    #expect(run.stage == .starting)
    run.now = 1100
    #expect(run(Rig.pageReady) == [.save, .openBrowser])
    #expect(run.stage == .waitingForCaptcha && run.flow.page == Rig.page && run.flow.expiresAt == 1700)
    run.now = 1200
    #expect(run(Rig.returned(token: Rig.token)) == [.save, .sendCode])
    #expect(run.stage == .starting && run.flow.verification?.recaptchaToken == Rig.token)
    #expect(run.flow.expiresAt == 1800 && run.flow.page == nil)
    #expect(run(Rig.sent) == [.save])
    // It has counted. The page may come back twice: whose it was is still known.
    #expect(run.flow.verification?.recaptchaToken == nil && run.flow.verification?.page == Rig.page)
    #expect(run.flow.page == nil)
    _ = run(Rig.provided())
    CodeRig.expectSuccess(&run)
  }

  @Test("a page that comes back twice, or after its time, is taken once")
  func pageTwice() throws {
    var run = try Rig.atPage()
    _ = run(Rig.returned(token: Rig.token))
    for event in [Rig.returned(token: Secret("OTHER")), Rig.returned(error: "auth/user-cancelled"), Rig.returned()] {
      #expect(run(event) == [])
      #expect(run.flow.verification?.recaptchaToken == Rig.token)
    }
    _ = run(Rig.sent)
    let before = run.flow
    for event in [Rig.returned(token: Rig.token), Rig.pageWanted, Rig.pageReady, Rig.returned()] {
      #expect(run(event) == [])
    }
    #expect(run.flow == before)
  }

  @Test("a server that wants the page again after its token refuses it: failed, and Resend shows a new page")
  func tokenRefused() throws {
    for event in [Rig.pageWanted, Rig.sendFailed(.captchaFailed)] {
      var run = try Rig.atPage()
      _ = run(Rig.returned(token: Rig.token))
      #expect(run(event) == [.save])
      #expect(run.stage == .failed && run.flow.error == .captchaFailed && run.flow.canRetry)
      #expect(run.flow.secretsLeft == [])
      // No message was sent: nothing has to be waited for.
      #expect(run(.resendRequested) == [.save, .sendCode])
      #expect(run(Rig.pageWanted) == [.prepareVerificationPage] && run(Rig.pageReady) == [.save, .openBrowser])
      #expect(run(Rig.returned(token: Secret("OTHER"))) == [.save, .sendCode])
    }
  }

  @Test("enforced reCAPTCHA Enterprise has no page that would help: it ends with its own error and text")
  func enforced() throws {
    var run = try Rig.starting()
    let failure = AuthFailure(.captchaRequired, cause: "cause.recaptcha-enterprise")
    #expect(run(.verification(.sendFailed(failure))) == [.save])
    #expect(run.stage == .failed && run.flow.error == .captchaRequired && run.flow.errorCause == failure.cause)
    #expect(!run.flow.canRetry)
  }

  @Test(
    "who closes the page has cancelled",
    arguments: [
      "auth/user-cancelled", "auth/popup-closed-by-user", "auth/cancelled-popup-request", "auth/web-context-cancelled",
    ])
  func pageClosed(_ error: String) throws {
    var run = try Rig.atPage()
    #expect(run(Rig.returned(error: error)) == [.save])
    #expect(run.stage == .cancelled && run.flow.error == nil && run.flow.secretsLeft == [])
    #expect(run(.resendRequested) == [.refuse(.noSuchFlow)])
  }

  // B095: unparsable → unknown; missing token → fail at once.
  @Test(
    "B095: a page that couldn't do it fails at once, and may be tried again",
    arguments: [nil, "unknown", "auth/captcha-check-failed", "auth/unauthorized-domain", ""])
  func pageFailed(_ error: String?) throws {
    var run = try Rig.atPage()
    #expect(run(Rig.returned(error: error)) == [.save])
    #expect(run.stage == .failed && run.flow.error == .captchaFailed && run.flow.canRetry)
    #expect(run(.resendRequested) == [.save, .sendCode])
  }

  @Test(
    "trouble at the page leaves the person there, and is said once",
    arguments: [
      ("auth/network-request-failed", AuthError.networkUnavailable), ("auth/internal-error", .serviceUnavailable),
    ])
  func pageTrouble(_ error: String, _ expected: AuthError) throws {
    var run = try Rig.atPage()
    let sequence = run.flow.sequence
    #expect(run(Rig.returned(error: error)) == [.save])
    #expect(run.stage == .waitingForCaptcha && run.flow.error == expected && run.flow.sequence == sequence + 1)
    #expect(run(Rig.returned(error: error)) == [])
    #expect(run(Rig.returned(token: Rig.token)) == [.save, .sendCode])
    #expect(run.flow.error == nil)
  }

  @Test("B085: without a browser it waits, and says so once: the person can open the page")
  func noBrowser() throws {
    var run = try Rig.atPage()
    #expect(run(.authorization(.browserMissing)) == [.save])
    #expect(run.stage == .waitingForCaptcha && run.flow.error == .handlerMissing)
    #expect(run.flow.errorCause == "cause.no-browser")
    #expect(run(.authorization(.browserMissing)) == [])
    #expect(run(Rig.returned(token: Rig.token)) == [.save, .sendCode])
    // Whose page comes by a scheme that isn't registered, no page is made for.
    var unregistered = try Rig.starting()
    _ = unregistered(Rig.pageWanted)
    #expect(unregistered(Rig.sendFailed(.handlerMissing)) == [.save])
    #expect(unregistered.stage == .failed && unregistered.flow.error == .handlerMissing)
  }

  @Test("who doesn't want the browser to be opened has cancelled; its late answers change nothing")
  func browserRefused() throws {
    var run = try Rig.atPage()
    #expect(run(.authorization(.browserRefused)) == [.save])
    #expect(run.stage == .cancelled && run.flow.error == nil)
    var late = try Rig.waiting()
    for event in [AuthorizationEvent.browserRefused, .browserMissing] { #expect(late(.authorization(event)) == []) }
    #expect(late.stage == .waitingForCode && late.flow.error == nil)
  }

  @Test("at the page, a new message may be asked for: the same again from the start")
  func pageAnew() throws {
    var run = try Rig.atPage()
    #expect(run(.resendRequested) == [.save, .sendCode])
    #expect(run.stage == .starting && run.flow.verification?.page == nil)
    // The page that was left behind is nobody's.
    #expect(run(Rig.returned(token: Rig.token)) == [])
    #expect(run.flow.verification?.recaptchaToken == nil)
    // A page that a message wanted a minute after the last one, too.
    var again = try Rig.waiting()
    again.now = 1060
    _ = again(.resendRequested)
    #expect(again(Rig.pageWanted) == [.prepareVerificationPage] && again(Rig.pageReady) == [.save, .openBrowser])
  }
}
