import Foundation
import TestSupport
import Testing

/// The code of a message: wrong ones, late ones, a new one, two at once (behaviour: Phone; field reports B096, B101).
@Suite("Codes of text messages", .timeLimit(.minutes(4)))
struct PhoneCodeTests {
  private static let number = PhoneTests.number
  private static let hasCompiler = access("/usr/bin/cc", X_OK) == 0

  /// A world whose daemon's clock is ahead by what `clock` is given.
  private func clocked() async throws -> World {
    let world = try await World.start()
    try await world.killDaemon()
    try world.setDaemon(try await world.clocks())
    return world
  }

  private func setClock(_ world: World, _ seconds: Int) throws { _ = try world.home.write("\(seconds)\n", to: "clock") }

  // MARK: Wrong

  @Test("B101: a wrong code keeps the session and counts down; the right one still signs in")
  func wrong() async throws {
    let world = try await World.start()
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    for left in [4, 3, 2, 1] {
      #expect(try await world.flow(flow, "ProvideCode", World.wrong(code)).status == 0)
      try await world.eventually("\(left) left") {
        let (stage, details) = try await world.flow(flow)
        return stage == "waiting-for-code" && details["attempts-left"] as? Int == left
      }
      let details = try await world.flow(flow).details
      #expect(details["error"] as? String == "org.linkd.Auth1.Error.InvalidVerificationCode")
    }
    try await world.answer(flow, code: code)
    #expect(try await world.requests("signInWithPhoneNumber") == 5)
    #expect(try await world.requests("sendVerificationCode") == 1)
  }

  @Test("what isn't a code at all is refused without asking the server, and isn't counted")
  func noCode() async throws {
    let world = try await World.start()
    let flow = try await world.byPhone(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    for typed in ["", "12345", "1234567", "12345a", "      "] {
      #expect(World.refusal(try await world.flow(flow, "ProvideCode", typed)) == "InvalidVerificationCode", "\(typed)")
    }
    let (stage, details) = try await world.flow(flow)
    #expect(stage == "waiting-for-code" && details["attempts-left"] as? Int == 5 && details["error"] == nil)
    #expect(try await world.requests("signInWithPhoneNumber") == 0)
    try await world.answer(flow, Self.number)
  }

  @Test(
    "the fifth wrong code ends it; a minute later a new message begins anew, with five codes",
    .enabled(if: hasCompiler, "needs cc"))
  func lastWrong() async throws {
    let world = try await clocked()
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    for _ in 1...5 {
      try await world.flow(flow, at: "waiting-for-code")
      #expect(try await world.flow(flow, "ProvideCode", World.wrong(code)).status == 0)
    }
    let end = try await world.flow(flow, at: "failed", "InvalidVerificationCode")
    #expect(end["retry"] as? Bool == true && end["can-resend-at"] != nil)
    #expect(World.refusal(try await world.flow(flow, "ProvideCode", code)) == "NoSuchFlow")
    // However long that has taken here.
    try setClock(world, -120)
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "RateLimited")
    try setClock(world, 61)
    #expect(try await world.flow(flow, "Resend").status == 0)
    let again = try await world.flow(flow, at: "waiting-for-code")
    #expect(again["attempts-left"] as? Int == 5 && again["error"] == nil)
    try await world.answer(flow, code: try await world.message(Self.number, count: 2))
    #expect(try await world.requests("sendVerificationCode") == 2)
  }

  @Test("the server's own limit of wrong codes is said, and leaves the flow waiting")
  func serversLimit() async throws {
    let world = try await World.start()
    try await world.setPhone(["attempts": 1])
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    #expect(try await world.flow(flow, "ProvideCode", World.wrong(code)).status == 0)
    try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    #expect(try await world.flow(flow, "ProvideCode", code).status == 0)
    try await world.flow(flow, at: "waiting-for-code", "TooManyRequests")
  }

  // MARK: Late

  @Test(
    "B101: a session that timed out says start again, and a new message does that",
    .enabled(if: hasCompiler, "needs cc"))
  func timedOut() async throws {
    let world = try await clocked()
    try await world.setPhone(["codeLifetime": 0])
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    #expect(try await world.flow(flow, "ProvideCode", code).status == 0)
    let end = try await world.flow(flow, at: "failed", "SessionExpired")
    #expect(end["retry"] as? Bool == true)
    try await world.setPhone([:])
    try setClock(world, 61)
    #expect(try await world.flow(flow, "Resend").status == 0)
    try await world.flow(flow, at: "waiting-for-code")
    try await world.answer(flow, code: try await world.message(Self.number, count: 2))
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
  }

  @Test("nobody types a code within ten minutes: the flow has expired", .enabled(if: hasCompiler, "needs cc"))
  func expired() async throws {
    let world = try await clocked()
    let flow = try await world.byPhone(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    try await world.killDaemon()
    try setClock(world, 601)
    try await world.flow(flow, at: "expired")
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "NoSuchFlow")
    #expect(World.refusal(try await world.flow(flow, "ProvideCode", "123456")) == "NoSuchFlow")
  }

  // MARK: Anew

  @Test(
    "a new message may be asked for after a minute, and its code alone counts", .enabled(if: hasCompiler, "needs cc"))
  func resend() async throws {
    let world = try await clocked()
    let flow = try await world.byPhone(Self.number)
    let first = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    #expect(try await world.flow(flow, "ProvideCode", World.wrong(first)).status == 0)
    try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    try setClock(world, -120)
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "RateLimited")
    #expect(try await world.requests("sendVerificationCode") == 1)
    try setClock(world, 61)
    let monitor = try await BusMonitor(world)
    #expect(try await world.flow(flow, "Resend").status == 0)
    let second = try await world.message(Self.number, count: 2)
    let waiting = try await world.flow(flow, at: "waiting-for-code")
    #expect(waiting["attempts-left"] as? Int == 5 && waiting["error"] == nil)
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "RateLimited")
    try await world.eventually("the signals") { monitor.count("StageChanged", "\"waiting-for-code\"") >= 1 }
    #expect(monitor.count("StageChanged", "\"starting\"") == 1)
    if first != second {
      #expect(try await world.flow(flow, "ProvideCode", first).status == 0)
      try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    }
    try await world.answer(flow, code: second)
  }

  @Test("five messages a minute to a number are enough, however it's spelt")
  func manyMessages() async throws {
    let world = try await World.start(apps: ["demo", "other"])
    for index in 1...5 {
      let flow = try await world.byPhone("+1 555 555 0100", app: index % 2 == 0 ? "demo" : "other")
      try await world.flow(flow, at: "waiting-for-code")
    }
    #expect(try await world.refused("SignIn.SignInWithPhoneNumber", Self.number) == "RateLimited")
    let other = try await world.byPhone(PhoneTests.other)
    try await world.flow(other, at: "waiting-for-code")
    #expect(try await world.requests("sendVerificationCode") == 6)
  }

  // MARK: Twice

  @Test("B096: two codes at once are one exchange, and one after the success changes nothing")
  func twice() async throws {
    let world = try await World.start()
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    try await world.fault(["path": "signInWithPhoneNumber", "delay": 500, "times": 1])
    async let first = world.flow(flow, "ProvideCode", code)
    async let second = world.flow(flow, "ProvideCode", code)
    let results = try await [first, second]
    #expect(results.filter { $0.status == 0 }.count == 1)
    #expect(results.compactMap(World.refusal) == ["NoSuchFlow"])
    try await world.flow(flow, at: "succeeded")
    #expect(World.refusal(try await world.flow(flow, "ProvideCode", code)) == "NoSuchFlow")
    #expect(try await world.flow(flow).stage == "succeeded")
    #expect(try await world.requests("signInWithPhoneNumber") == 1)
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
  }

  // MARK: Trouble on the way

  @Test("a message that couldn't be sent for the moment is asked for again in one step")
  func unsent() async throws {
    let world = try await World.start()
    try await world.fault(["path": "sendVerificationCode", "status": 503, "times": 1])
    let flow = try await world.byPhone(Self.number)
    try await world.flow(flow, at: "waiting-for-code", "ServiceUnavailable")
    #expect(World.refusal(try await world.flow(flow, "ProvideCode", "123456")) == "NoSuchFlow")
    #expect(try await world.flow(flow, "Resend").status == 0)
    try await world.answer(flow, Self.number)
  }

  @Test("a code that the server couldn't be shown for the moment is good for another try")
  func unanswered() async throws {
    let world = try await World.start()
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    try await world.fault(["path": "signInWithPhoneNumber", "status": 503, "times": 1])
    #expect(try await world.flow(flow, "ProvideCode", code).status == 0)
    let waiting = try await world.flow(flow, at: "waiting-for-code", "ServiceUnavailable")
    #expect(waiting["attempts-left"] as? Int == 5)
    try await world.answer(flow, code: code)
  }

  @Test("given up: no code counts any more")
  func cancelled() async throws {
    let world = try await World.start()
    let flow = try await world.byPhone(Self.number)
    let code = try await world.message(Self.number)
    #expect(try await world.flow(flow, "Cancel").status == 0)
    try await world.flow(flow, at: "cancelled")
    #expect(World.refusal(try await world.flow(flow, "ProvideCode", code)) == "NoSuchFlow")
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "NoSuchFlow")
    #expect(try await world.requests("signInWithPhoneNumber") == 0)
  }
}
