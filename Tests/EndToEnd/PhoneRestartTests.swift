import Foundation
import TestSupport
import Testing

/// The daemon dies at each stage of a sign-in by phone, and is started by the next call (behaviour: Pending flows 1 and 5).
@Suite("The daemon killed around a text message", .timeLimit(.minutes(4)))
struct PhoneRestartTests {
  private static let number = PhoneTests.number

  /// A flow whose code is given to a daemon that stops at `point` and is killed there.
  private func killed(at point: String, _ world: World) async throws -> String {
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    try await world.killDaemon()
    try world.setDaemon(["LINKD_PAUSE_AT": point])
    async let given = world.flow(flow, "ProvideCode", code)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try await given
    return flow
  }

  // MARK: Before the code

  @Test("while the message is asked for: the next start asks once more")
  func starting() async throws {
    let world = try await World.start()
    try await world.fault(["path": "sendVerificationCode", "hold-before-handling": true, "times": 1])
    let flow = try await world.byPhone(Self.number)
    try await world.eventually("the request") { try await world.requests("sendVerificationCode") == 1 }
    #expect(try await world.flow(flow).stage == "starting")
    try await world.killDaemon()
    try await world.clearFaults()
    try await world.answer(flow, Self.number)
    #expect(try await world.requests("sendVerificationCode") == 2)
  }

  @Test("while the code is waited for: the code of the message still counts, and the count of wrong ones is kept")
  func waiting() async throws {
    let world = try await World.start()
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    #expect(try await world.flow(flow, "ProvideCode", World.wrong(code)).status == 0)
    let before = try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    try await world.killDaemon()
    let after = try await world.flow(flow, at: "waiting-for-code")
    for key in ["kind", "phone-number", "code-length", "attempts-left", "can-resend-at", "expires-at"] {
      #expect("\(after[key] ?? "")" == "\(before[key] ?? "-")", "\(key)")
    }
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "RateLimited")
    try await world.killDaemon()
    try await world.answer(flow, code: code)
    #expect(try await world.requests("sendVerificationCode") == 1)
  }

  @Test("while a person is at the page: its answer starts the daemon, and the message is sent")
  func page() async throws {
    let world = try await World.start()
    try await world.setPhone(["captcha": true])
    let page = try await world.toPage("SignIn.SignInWithPhoneNumber", [Self.number])
    try await world.killDaemon()
    let back = try await world.press("continue", page)
    #expect(try world.daemonPID() == nil)
    #expect(try await world.linkctl("open", "--no-wait", back).status == 0)
    try await world.answer(page.id, Self.number)
    #expect(try await world.requests("sendVerificationCode") == 2)
  }

  @Test("while a person is at the page, any program of theirs may have its address afterwards")
  func pageAddress() async throws {
    let world = try await World.start()
    try await world.setPhone(["captcha": true])
    let page = try await world.toPage("SignIn.SignInWithPhoneNumber", [Self.number])
    #expect(World.refusal(try await world.flow(page.id, "GetUrl")) == "AccessDenied")
    try await world.killDaemon()
    let told = try await world.flow(page.id, "GetUrl")
    #expect(told.status == 0 && told.stdout.contains(page.token), "\(told)")
  }

  @Test("after the page, while the message is asked for: the page's word is kept, and sent again")
  func afterPage() async throws {
    let world = try await World.start()
    try await world.setPhone(["captcha": true])
    let page = try await world.toPage("SignIn.SignInWithPhoneNumber", [Self.number])
    try await world.fault(["path": "sendVerificationCode", "hold-before-handling": true, "times": 1])
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
    try await world.eventually("the request") { try await world.requests("sendVerificationCode") == 2 }
    // The server goes on holding this one, of which it has seen nothing; the page's word is good for the next.
    try await world.killDaemon()
    try await world.answer(page.id, Self.number)
    #expect(try await world.requests("sendVerificationCode") == 3)
  }

  // MARK: The code

  @Test("before the server has seen the code: the next start shows it, once")
  func unsent() async throws {
    let world = try await World.start()
    let flow = try await killed(at: "exchange-sent", world)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
    #expect(try await world.requests("signInWithPhoneNumber") == 1)
  }

  @Test("after the answer and before the commit: the code is spent, and a new message begins anew")
  func answered() async throws {
    let world = try await World.start()
    let flow = try await killed(at: "exchange-answered", world)
    // Asked once more, for who knows whether the first one arrived.
    let end = try await world.flow(flow, at: "failed", "SessionExpired")
    #expect(end["retry"] as? Bool == true && end["can-resend-at"] != nil)
    #expect(try await world.requests("signInWithPhoneNumber") == 2)
    #expect(try await world.linkctl("whoami").status == 1)
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "RateLimited")
    // The person needn't wait: a flow of their own.
    let next = try await world.answer(try await world.byPhone(Self.number), Self.number)
    #expect(next["is-new-user"] as? Bool == false)
  }

  @Test("a number whose linking was answered and not kept is there all the same, and is seen")
  func linkAnswered() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    let flow = try await world.byPhone(Self.number, options: "{'purpose': <'link'>}")
    let code = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    try await world.killDaemon()
    try world.setDaemon(["LINKD_PAUSE_AT": "exchange-answered"])
    async let given = world.flow(flow, "ProvideCode", code)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try await given
    try await world.flow(flow, at: "succeeded")
    try await world.eventually("the number") { try await world.providers() == ["password", "phone"] }
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
  }

  @Test("after the commit and before the signal: the next start has the session and says so")
  func committed() async throws {
    let world = try await World.start()
    let monitor = try await BusMonitor(world)
    let flow = try await killed(at: "session-committed", world)
    #expect(monitor.count("StateChanged", "\"authenticated\"") == 0)
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
    try await world.eventually("the signal of the next start") {
      monitor.count("StateChanged", "\"authenticated\"") == 1
    }
    #expect(try await world.flow(flow).stage == "succeeded")
    #expect(try await world.requests("signInWithPhoneNumber") == 1)
  }

  @Test("while the account is looked up: the tokens are kept, and nothing is spent again")
  func lookup() async throws {
    let world = try await World.start()
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    try await world.fault(["path": "accounts:lookup", "hold-before-handling": true, "times": 1])
    #expect(try await world.flow(flow, "ProvideCode", code).status == 0)
    try await world.eventually("the lookup") { try await world.requests("accounts:lookup") == 1 }
    try await world.killDaemon()
    try await world.clearFaults()
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.requests("signInWithPhoneNumber") == 1)
  }

  @Test("a flow that failed for good reason a moment ago can be begun anew after a restart, too")
  func failed() async throws {
    let world = try await World.start()
    try await world.setPhone(["captcha": true, "captchaLifetime": 0])
    let page = try await world.toPage("SignIn.SignInWithPhoneNumber", [Self.number])
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
    try await world.flow(page.id, at: "failed", "CaptchaFailed")
    try await world.killDaemon()
    try await world.setPhone([:])
    try await world.flow(page.id, at: "failed", "CaptchaFailed")
    #expect(try await world.flow(page.id, "Resend").status == 0)
    try await world.answer(page.id, Self.number)
  }
}
