import AuthCore
import LinkHandler
import Testing

/// What the browser brings, and what isn't the flow's answer.
extension ProviderFlowTests {
  // MARK: What isn't the answer

  private struct Stray: Sendable {
    let event: FlowEvent
    let error: AuthError
  }

  private static let strays = [
    // Field report B055: a wrong state, told once; the true flow goes on.
    Stray(event: .authorization(.redirectRefused(.stateMismatch)), error: .stateMismatch),
    // RFC 9207 2.4: another one, and none where one is promised, in refusals too.
    Stray(event: Rig.redirect(issuer: "https://evil.example"), error: .issuerMismatch),
    Stray(event: Rig.redirect(issuer: nil), error: .issuerMismatch),
    Stray(event: Rig.redirect({ $0.error = "access_denied" }, issuer: nil), error: .issuerMismatch),
    // Field report B063.
    Stray(event: Rig.redirect({ _ in }, reject: "missingCode"), error: .missingCode),
    Stray(event: Rig.redirect({ _ in }), error: .missingCode),
    Stray(event: Rig.redirect({ $0.code = Secret("") }), error: .missingCode),
    Stray(
      event: Rig.redirect(
        {
          $0.code = Rig.code
          $0.error = "access_denied"
        }, reject: "ambiguousResponse"), error: .invalidProviderResponse),
    Stray(event: Rig.redirect(reject: "missingState"), error: .invalidProviderResponse),
    // Field report B058: a ready token, or a code where none belongs.
    Stray(event: Rig.redirect({ $0.idToken = Secret("T") }, fragment: true), error: .invalidProviderResponse),
    Stray(event: Rig.redirect({ $0.accessToken = Secret("T") }, fragment: true), error: .invalidProviderResponse),
    Stray(event: Rig.redirect(fragment: true), error: .invalidProviderResponse),
    // Firebase's page was never asked.
    Stray(event: Rig.handler(link: "https://x/answer"), error: .invalidProviderResponse),
    Stray(event: Rig.handler(error: "auth/user-cancelled"), error: .invalidProviderResponse),
    // Said by the page, which is still open (RFC 6749 4.1.2.1).
    Stray(event: Rig.refusal("temporarily_unavailable"), error: .serviceUnavailable),
    Stray(event: Rig.refusal("server_error"), error: .serviceUnavailable),
  ]

  @Test("B055, B058, B063: what isn't the answer is told once, and the true answer still counts", arguments: 0..<16)
  func stray(_ index: Int) throws {
    try #require(Self.strays.count == 16)
    let stray = Self.strays[index]
    var run = try Rig.waiting()
    #expect(run(stray.event) == [.save])
    #expect(run.stage == .waitingForRedirect && run.flow.error == stray.error)
    #expect(run.flow.sequence == 3 && run.flow.code == nil && run.flow.credential == nil)
    #expect(run(stray.event) == [])
    #expect(run.flow.sequence == 3)
    #expect(run(Rig.redirect()) == [.save, .exchangeAuthorizationCode(Rig.code, delay: 0)])
    #expect(run.flow.error == nil)
    _ = run(.authorization(.credentialReceived(Rig.tokens)))
    _ = run(.exchanged(FlowRig.grant, uid: "u1"))
    #expect(run(.lookedUp(Rig.user("u1"))) == [.adopt(Rig.user("u1"), FlowRig.grant)])
  }

  @Test("a stray makes no flow live longer")
  func strayTime() throws {
    var run = try Rig.waiting()
    run.now = 1500
    _ = run(.authorization(.redirectRefused(.stateMismatch)))
    #expect(run.flow.expiresAt == 1600)
  }

  @Test("an issuer that isn't promised may be missing, but not be another's")
  func unpromised() throws {
    var run = try Rig.waiting(Rig.own(promises: false))
    #expect(run(Rig.redirect(issuer: "https://evil.example")) == [.save])
    #expect(run.flow.error == .issuerMismatch)
    #expect(run(Rig.redirect(issuer: nil)) == [.save, .exchangeAuthorizationCode(Rig.code, delay: 0)])
  }

  @Test("Firebase's page: a code of an own client, and an answer without content, are none of its answers")
  func notThePage() throws {
    for event in [Rig.redirect(), Rig.handler(reject: "missingCode")] {
      var run = try Rig.waiting(Rig.page)
      #expect(run(event) == [.save])
      #expect(run.stage == .waitingForRedirect && run.flow.error == .invalidProviderResponse)
      #expect(run(Rig.handler(link: "https://x/answer")) == [.save, Rig.signIn(Rig.answered)])
    }
  }

  // MARK: Refusals

  // Vector O09.
  @Test(
    "B062: who says no at the provider has cancelled, and nothing has failed",
    arguments: [
      "access_denied", "user_denied", "user_cancelled", "user_cancelled_login", "user_cancelled_authorize",
      "consent_required",
    ])
  func saidNo(_ error: String) throws {
    var run = try Rig.waiting()
    // What went wrong before doesn't matter to whoever gives up.
    _ = run(.authorization(.browserMissing))
    #expect(run(Rig.refusal(error)) == [.save])
    #expect(run.stage == .cancelled && run.flow.error == nil && run.flow.secretsLeft == [])
    #expect(run(Rig.redirect()) == [])
  }

  @Test(
    "what the provider refuses for good ends it (RFC 6749 4.1.2.1)",
    arguments: ["invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope", "x"])
  func refusedForGood(_ error: String) throws {
    var run = try Rig.waiting()
    #expect(run(Rig.refusal(error)) == [.save])
    #expect(run.stage == .failed && run.flow.error == .invalidProviderResponse && run.flow.secretsLeft == [])
  }

  // Identity-toolkit 4.6.
  @Test(
    "what Firebase's page reports",
    arguments: [
      ("auth/user-cancelled", FlowStage.cancelled, nil as AuthError?),
      ("auth/web-context-cancelled", .cancelled, nil),
      ("auth/network-request-failed", .waitingForRedirect, .networkUnavailable),
      ("auth/internal-error", .waitingForRedirect, .serviceUnavailable),
      ("auth/invalid-oauth-client-id", .failed, .invalidProviderResponse),
      ("auth/operation-not-allowed", .failed, .operationNotAllowed),
      ("auth/unknown-error-id", .failed, .invalidProviderResponse),
      ("unknown", .failed, .invalidProviderResponse),
    ])
  func reported(_ code: String, _ stage: FlowStage, _ error: AuthError?) throws {
    var run = try Rig.waiting(Rig.page)
    #expect(run(Rig.handler(error: code)) == [.save])
    #expect(run.stage == stage && run.flow.error == error)
  }

  // Identity-toolkit 4.6: `link` has priority over `firebaseError`.
  @Test("an answer of the page counts before its error")
  func both() throws {
    var run = try Rig.waiting(Rig.page)
    #expect(run(Rig.handler(link: "https://x/answer", error: "auth/internal-error")).contains(Rig.signIn(Rig.answered)))
  }

  // MARK: Twice, and too late

  @Test("B057, B060: a state counts once; what comes after it, or after the end, changes nothing")
  func second() throws {
    var exchanging = try Rig.exchanging()
    var offered = try Rig.exchanging()
    _ = offered(.authorization(.credentialReceived(Rig.tokens)))
    var answered = offered
    _ = answered(.exchanged(FlowRig.grant, uid: "u1"))
    var succeeded = answered
    _ = succeeded(.lookedUp(Rig.user("u1")))
    var cancelled = try Rig.waiting()
    _ = cancelled(.cancelRequested)
    var expired = try Rig.waiting()
    _ = expired(.overdue)
    for var run in [exchanging, offered, answered, succeeded, cancelled, expired] {
      let before = run.flow
      for event in Self.strays.map(\.event) + [
        Rig.redirect(), Rig.redirect({ $0.code = Rig.otherCode }), Rig.refusal("access_denied"),
      ] {
        #expect(run(event) == [], "\(before.stage)")
      }
      #expect(run.flow == before)
    }
    // The first one's answer is still taken.
    #expect(exchanging(.authorization(.credentialReceived(Rig.tokens))) == [.save, Rig.signIn()])
  }

  @Test("B060: a state is good for 10 minutes")
  func tooLate() throws {
    var run = try Rig.waiting().restarted()
    run.now = 1600
    #expect(run(.restored) == [.save])
    #expect(run.stage == .expired && run.flow.secretsLeft == [])
    #expect(run(Rig.redirect()) == [])
  }
}
