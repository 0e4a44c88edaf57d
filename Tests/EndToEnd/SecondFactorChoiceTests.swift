import Foundation
import TestSupport
import Testing

/// What happens between the question for a second factor and its answer: the choice, wrong codes, what gets old, restarts.
@Suite("The choice of a second factor", .timeLimit(.minutes(4)))
struct SecondFactorChoiceTests {
  private static let numbers = ["+15555550111", "+15555550122"]

  /// Ada, with an authenticator app and two phones, at the question.
  private func asked(
    _ settings: [String: Any] = [:], phones: KeyValuePairs<String, String> = ["Home": numbers[0], "Work": numbers[1]]
  ) async throws -> (World, FactoredAccount, String) {
    let world = try await World.startWithFactors()
    let ada = try await world.withFactors("ada@example.com", phones: phones)
    try await world.setPhone(settings)
    return (world, ada, try await world.toSecondFactor(ada.address))
  }

  // MARK: The choice

  @Test("of several one is chosen by its uid, and a change of mind is another choice")
  func changeOfMind() async throws {
    let (world, ada, flow) = try await asked()
    #expect(try await world.hints(flow).map { $0["display-name"] as? String } == ["App", "Home", "Work"])
    for uid in ["", "nobody", "App"] {
      #expect(World.refusal(try await world.flow(flow, "ChooseFactor", uid)) == "FactorNotFound", "\(uid)")
    }
    // Nothing is guessed where there's a choice.
    let guess = try await world.flow(flow, "ProvideCode", try await world.totp(ada.secret))
    #expect(World.refusal(guess) == "NoSuchFlow")
    #expect(try await world.flow(flow).stage == "second-factor-required")

    let home = try await world.choose(ada.factors["Home"], flow)
    #expect(home["display-name"] as? String == "Home" && home["kind"] as? String == "phone")
    let first = try await world.message(Self.numbers[0])
    // The same again would be another message.
    let again = try await world.flow(flow, "ChooseFactor", try #require(ada.factors["Home"]))
    #expect(World.refusal(again) == "RateLimited")
    let app = try await world.choose(ada.factors["App"], flow)
    #expect(app["display-name"] as? String == "App" && app["kind"] as? String == "totp")
    #expect(app["can-resend-at"] == nil && app["phone-number"] == nil)
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "NoSuchFlow")
    let work = try await world.choose(ada.factors["Work"], flow)
    #expect(work["display-name"] as? String == "Work" && (work["phone-number"] as? String)?.hasSuffix("0122") == true)
    let second = try await world.message(Self.numbers[1])
    if first != second {
      #expect(try await world.flow(flow, "ProvideCode", first).status == 0)
      try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    }
    try await world.answer(flow, code: second)
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.requests("mfaSignIn:start") == 2)
  }

  @Test("where an authenticator app is all there is, its code may come at once")
  func onlyApp() async throws {
    let (world, ada, flow) = try await asked(phones: [:])
    let code = try await world.totp(ada.secret)
    #expect(World.refusal(try await world.flow(flow, "ProvideCode", "12345")) == "InvalidVerificationCode")
    #expect(try await world.flow(flow).stage == "second-factor-required")
    #expect(try await world.flow(flow, "ProvideCode", World.wrong(code)).status == 0)
    #expect(try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")["attempts-left"] as? Int == 4)
    try await world.answer(flow, code: code)
    #expect(try await world.uid() == ada.uid)
  }

  @Test("a phone whose message takes the page: shown at the choice, given up back to it, answered to the message")
  func page() async throws {
    let (world, ada, _) = try await asked(["captcha": true])
    let home = try #require(ada.factors["Home"])
    let page = try await world.page([
      ["begin", "SignIn.SignInWithPassword", [ada.address, "correct horse"], ["open-browser": false]],
      ["at", "second-factor-required"], ["call", "ChooseFactor", [home]], ["at", "waiting-for-captcha"],
      ["call", "GetUrl", []],
    ])
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("cancel", page)).status == 0)
    let back = try await world.flow(page.id, at: "second-factor-required")
    #expect(back["error"] == nil && (back["hints"] as? [Any])?.count == 3)
    #expect(try await world.flow(page.id, "ChooseFactor", home).status == 0)
    try await world.flow(page.id, at: "waiting-for-captcha")
    // Another choice at the page.
    try await world.choose(ada.factors["App"], page.id)
    #expect(try await world.flow(page.id, "ChooseFactor", home).status == 0)
    try await world.flow(page.id, at: "waiting-for-captcha")
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
    try await world.answer(page.id, Self.numbers[0])
    #expect(try await world.uid() == ada.uid)
  }

  @Test(
    "a second factor's page is opened in the browser whatever the first one was, unless somebody says otherwise",
    arguments: [true, false])
  func browser(_ atStart: Bool) async throws {
    let (world, ada, _) = try await asked(["captcha": true])
    #expect(try await world.linkctl("register").status == 0)
    let portal = try await world.startPortal()
    try await world.setPerson(ada.address)
    let flow = try await world.begin(
      "SignIn.SignInWithPassword", ada.address, "correct horse", options: "{'open-browser': <\(atStart)>}")
    _ = try await world.hints(flow)
    let home = try #require(ada.factors["Home"])
    let path = "/org/linkd/Auth1/flow/\(flow)"
    if !atStart {
      #expect(try await world.flow(flow, "ChooseFactor", home).status == 0)
      try await world.flow(flow, at: "waiting-for-captcha", nil)
    }
    let options = atStart ? "{}" : "{'open-browser': <true>}"
    #expect(try await world.gdbus(path, "org.linkd.Auth1.Flow.ChooseFactor", home, options).status == 0)
    try await world.answer(flow, Self.numbers[0])
    #expect(try await world.uid() == ada.uid)
    withExtendedLifetime(portal) {}
  }

  @Test("where the page couldn't come back the choice is there again, and says what helps")
  func notRegistered() async throws {
    let (world, ada, flow) = try await asked(["captcha": true])
    #expect(try await world.flow(flow, "ChooseFactor", try #require(ada.factors["Home"])).status == 0)
    let back = try await world.flow(flow, at: "second-factor-required", "HandlerMissing")
    #expect((back["message"] as? String)?.contains("linkctl register") == true)
    try await world.choose(ada.factors["App"], flow)
    try await world.answer(flow, code: try await world.totp(ada.secret))
  }

  @Test("a page that couldn't tell leads back to the choice, with the reason")
  func pageRefused() async throws {
    let (world, ada, _) = try await asked(["captcha": true])
    let page = try await world.page([
      ["begin", "SignIn.SignInWithPassword", [ada.address, "correct horse"], ["open-browser": false]],
      ["at", "second-factor-required"], ["call", "ChooseFactor", [try #require(ada.factors["Home"])]],
      ["at", "waiting-for-captcha"], ["call", "GetUrl", []],
    ])
    let url = world.pageAnswer([("recaptchaToken", "made-up"), ("eventId", page.token)])
    #expect(try await world.linkctl("open", "--no-wait", url).status == 0)
    try await world.flow(page.id, at: "second-factor-required", "CaptchaFailed")
    try await world.choose(ada.factors["App"], page.id)
    try await world.answer(page.id, code: try await world.totp(ada.secret))
  }

  // MARK: Wrong and late

  @Test("B101: the fifth wrong code of a message leads back to the choice, where the authenticator app still does")
  func wrongMessageCodes() async throws {
    let (world, ada, flow) = try await asked()
    try await world.choose(ada.factors["Home"], flow)
    let wrong = World.wrong(try await world.message(Self.numbers[0]))
    for _ in 1...5 {
      try await world.flow(flow, at: "waiting-for-code")
      #expect(try await world.flow(flow, "ProvideCode", wrong).status == 0)
    }
    try await world.flow(flow, at: "second-factor-required", "InvalidVerificationCode")
    try await world.choose(ada.factors["App"], flow)
    try await world.answer(flow, code: try await world.totp(ada.secret))
    #expect(try await world.uid() == ada.uid)
  }

  @Test("B101: the fifth wrong code of an authenticator app ends the sign-in")
  func wrongAppCodes() async throws {
    let (world, ada, flow) = try await asked()
    try await world.choose(ada.factors["App"], flow)
    let wrong = World.wrong(try await world.totp(ada.secret))
    for _ in 1...5 {
      try await world.flow(flow, at: "waiting-for-code")
      #expect(try await world.flow(flow, "ProvideCode", wrong).status == 0)
    }
    #expect(try await world.flow(flow, at: "failed", "InvalidVerificationCode")["retry"] as? Bool == false)
    #expect(try await world.uid() == nil)
  }

  @Test("B101: a message that timed out leads back to the choice and says so; the first factor still counts")
  func timedOut() async throws {
    let (world, ada, flow) = try await asked(["codeLifetime": 0])
    try await world.choose(ada.factors["Home"], flow)
    let code = try await world.message(Self.numbers[0])
    #expect(try await world.flow(flow, "ProvideCode", code).status == 0)
    try await world.flow(flow, at: "second-factor-required", "SessionExpired")
    try await world.setPhone([:])
    let work = try await world.choose(ada.factors["Work"], flow)
    #expect(work["error"] == nil)
    try await world.answer(flow, code: try await world.message(Self.numbers[1]))
    #expect(try await world.uid() == ada.uid)
  }

  @Test("B101: a first factor that timed out says start again", arguments: ["App", "Home"])
  func firstFactorTimedOut(_ name: String) async throws {
    let (world, ada, _) = try await asked()
    try await world.setFactors(["pendingLifetime": 0])
    let flow = try await world.toSecondFactor(ada.address)
    #expect(try await world.flow(flow, "ChooseFactor", try #require(ada.factors[name])).status == 0)
    if name == "App" {
      try await world.flow(flow, at: "waiting-for-code")
      #expect(try await world.flow(flow, "ProvideCode", try await world.totp(ada.secret)).status == 0)
    }
    #expect(try await world.flow(flow, at: "failed", "SessionExpired")["retry"] as? Bool == false)
    #expect(World.refusal(try await world.flow(flow, "ChooseFactor", try #require(ada.factors[name]))) == "NoSuchFlow")
    try await world.setFactors([:])
    let next = try await world.toSecondFactor(ada.address)
    try await world.choose(ada.factors["App"], next)
    try await world.answer(next, code: try await world.totp(ada.secret))
  }

  @Test("a factor that has gone meanwhile is named, and another one does")
  func factorGone() async throws {
    let (world, ada, flow) = try await asked()
    try await world.fault(["path": "mfaSignIn:start", "error": "MFA_ENROLLMENT_NOT_FOUND", "times": 1])
    #expect(try await world.flow(flow, "ChooseFactor", try #require(ada.factors["Home"])).status == 0)
    try await world.flow(flow, at: "second-factor-required", "FactorNotFound")
    try await world.choose(ada.factors["App"], flow)
    try await world.answer(flow, code: try await world.totp(ada.secret))
  }

  @Test("temporary trouble leaves it where it was", arguments: ["mfaSignIn:start", "mfaSignIn:finalize"])
  func trouble(_ path: String) async throws {
    let (world, ada, flow) = try await asked()
    try await world.fault(["path": path, "status": 503, "times": 1])
    if path == "mfaSignIn:start" {
      #expect(try await world.flow(flow, "ChooseFactor", try #require(ada.factors["Home"])).status == 0)
      try await world.flow(flow, at: "second-factor-required", "ServiceUnavailable")
      try await world.choose(ada.factors["Home"], flow)
      try await world.answer(flow, Self.numbers[0])
    } else {
      try await world.choose(ada.factors["App"], flow)
      let code = try await world.totp(ada.secret)
      #expect(try await world.flow(flow, "ProvideCode", code).status == 0)
      try await world.flow(flow, at: "waiting-for-code", "ServiceUnavailable")
      try await world.answer(flow, code: code)
    }
    #expect(try await world.uid() == ada.uid)
  }
}
