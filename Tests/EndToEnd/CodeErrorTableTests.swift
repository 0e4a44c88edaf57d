import Foundation
import TestSupport
import Testing

/// Each code of the server for text messages and second factors, from the wire to the flow's details: where the flow stands,
/// its name, a text for a person, and nothing of the server's own words.
@Suite("Server errors of phones and factors", .timeLimit(.minutes(3)))
struct CodeErrorTableTests {
  private static let prefix = "org.linkd.Auth1.Error."
  /// What no person may see of an answer.
  private static let raw = "RAW-BODY-7f3a"

  private func expect(_ flow: String, _ expected: FlowState, _ world: World, _ note: Comment) async throws {
    let (stage, details) = try await world.flow(flow)
    #expect(stage == expected.stage, note)
    #expect(details["error"] as? String == expected.error.map { Self.prefix + $0 }, note)
    let message = details["message"] as? String ?? ""
    if expected.error != nil { #expect(message.count > 20 && message.contains(". "), note) }
    #expect(!"\(details)".contains(Self.raw), note)
  }

  @Test(
    "B097: a code of the server arrives as its name, whatever follows it, and the flow stands where it must",
    arguments: CodeCall.allCases)
  func arrives(_ call: CodeCall) async throws {
    let world = try await World.startWithFactors()
    for (number, code) in call.codes.enumerated() {
      let row = try #require(ServerCode.all[code], "\(code) isn't in the list")
      let flow = try await call.drive("\(code) : \(ServerCall.detail(code, raw: Self.raw))", number: number, world)
      try await expect(flow, call.expected(row), world, "\(call) \(code)")
    }
    #expect(!world.log.contains(Self.raw))
  }

  @Test("a code that nobody knows is Internal, without the server's words", arguments: CodeCall.allCases)
  func unknown(_ call: CodeCall) async throws {
    let world = try await World.startWithFactors()
    let flow = try await call.drive("NOBODY_KNOWS_IT : \(Self.raw)", number: 0, world)
    let isSecondFactor = [.startSecondFactor, .finishPhoneFactor, .finishTOTPFactor].contains(call)
    let stage = isSecondFactor ? "second-factor-required" : "failed"
    try await expect(flow, FlowState(stage, "Internal"), world, "\(call)")
    #expect(!world.log.contains(Self.raw) && world.log.contains("NOBODY_KNOWS_IT"))
  }

  @Test("after the page every refusal of its word is CaptchaFailed, and a new message may be asked for")
  func afterPage() async throws {
    let world = try await World.start()
    for (number, code) in CodeCall.ofPage.split(whereSeparator: \.isWhitespace).enumerated() {
      try await world.setPhone(["captcha": true])
      let phone = "+15555551\(100 + number)"
      let page = try await world.toPage("SignIn.SignInWithPhoneNumber", [phone])
      try await world.fault(["path": "sendVerificationCode", "error": "\(code) : ((\(Self.raw)))", "times": 1])
      #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
      let end = try await world.flow(page.id, at: "failed", "CaptchaFailed")
      #expect(end["retry"] as? Bool == true, "\(code)")
    }
    #expect(!world.log.contains(Self.raw))
  }

  @Test("B097: a rate limit with a detail says when another message may be asked for")
  func rateLimit() async throws {
    let world = try await World.start()
    try await world.fault([
      "path": "sendVerificationCode", "error": "TOO_MANY_ATTEMPTS_TRY_LATER : We have blocked this device.",
      "status": 400, "retry-after": "120", "times": 1,
    ])
    let before = Int(Date().timeIntervalSince1970)
    let flow = try await world.byPhone(PhoneTests.number)
    let details = try await world.flow(flow, at: "waiting-for-code", "TooManyRequests")
    let moment = try #require(details["can-resend-at"] as? Int)
    #expect((before + 115...before + 150).contains(moment), "\(moment - before)")
    #expect(World.refusal(try await world.flow(flow, "Resend")) == "RateLimited")
  }

  @Test("an address that the server has no ways for is said by its name")
  func identifier() async throws {
    let world = try await World.start()
    try await world.fault(["path": "accounts:createAuthUri", "error": "INVALID_IDENTIFIER", "times": 1])
    #expect(try await world.refused("SignIn.FetchSignInMethods", "ada@example.com") == "InvalidEmail")
  }
}
