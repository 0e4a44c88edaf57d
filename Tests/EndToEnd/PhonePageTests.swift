import Foundation
import TestSupport
import Testing

/// The page that tells people from programs before a message is sent, and its way back (identity-toolkit 4.7 to 4.9).
@Suite("The page before a text message", .timeLimit(.minutes(4)))
struct PhonePageTests {
  private static let number = PhoneTests.number
  private static let start = "SignIn.SignInWithPhoneNumber"

  /// A world whose server wants the page.
  private func world(_ settings: [String: Any] = [:]) async throws -> World {
    let world = try await World.start()
    try await world.setPhone(["captcha": true].merging(settings) { $1 })
    return world
  }

  private func error(_ code: String) -> (String, String) {
    ("firebaseError", "{\"code\":\"\(code)\",\"message\":\"as the test says\"}")
  }

  // MARK: There and back

  @Test("wanted, shown and answered: the message is sent, and its code signs in")
  func wanted() async throws {
    let world = try await world()
    let page = try await world.toPage(Self.start, [Self.number])
    let (stage, details) = try await world.flow(page.id)
    #expect(stage == "waiting-for-captcha" && Set(details.keys) == ["expires-at"])
    #expect(page["authType"] == "verifyApp" && page["apiKey"] == "AIzaEXAMPLEKEY0000" && !page.token.isEmpty)
    // Another program isn't the flow's starter.
    #expect(World.refusal(try await world.flow(page.id, "GetUrl")) == "AccessDenied")
    #expect(World.refusal(try await world.flow(page.id, "ProvideCode", "123456")) == "NoSuchFlow")
    #expect(try await world.messages(Self.number).isEmpty)
    let back = try await world.press("continue", page)
    let can = try #require(try await world.json("can-handle", back).last)
    #expect(can["handled"] as? Bool == true && can["kind"] as? String == "appVerification")
    #expect(can["flow"] as? String == page.id)
    #expect(try await world.flow(page.id).stage == "waiting-for-captcha")
    #expect(try await world.linkctl("open", "--no-wait", back).status == 0)
    try await world.answer(page.id, Self.number)
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
    #expect(try await world.requests("sendVerificationCode") == 2)
  }

  @Test("the page's answer twice is one message, and the second click finds the flow where it is")
  func twice() async throws {
    let world = try await world()
    let page = try await world.toPage(Self.start, [Self.number])
    let back = try await world.press("continue", page)
    try await world.fault(["path": "sendVerificationCode", "delay": 300, "times": 1])
    async let first = world.linkctl("open", "--no-wait", back)
    async let second = world.linkctl("open", "--no-wait", back)
    #expect(try await [first.status, second.status] == [0, 0])
    try await world.flow(page.id, at: "waiting-for-code")
    #expect(try await world.linkctl("open", "--no-wait", back).status == 0)
    #expect(try await world.flow(page.id).stage == "waiting-for-code")
    #expect(try await world.messages(Self.number).count == 1)
    #expect(try await world.requests("sendVerificationCode") == 2)
    try await world.answer(page.id, Self.number)
  }

  @Test("a browser is opened by itself, and comes back by itself, where there's a portal")
  func portal() async throws {
    let world = try await world()
    #expect(try await world.linkctl("register").status == 0)
    let portal = try await world.startPortal()
    try await world.setPerson("ada@example.com")
    let flow = try await world.byPhone(Self.number)
    try await world.answer(flow, Self.number)
    withExtendedLifetime(portal) {}
  }

  @Test("where no browser can be opened the flow says that, and whoever started it has the address")
  func noBrowser() async throws {
    let world = try await world()
    #expect(try await world.linkctl("register").status == 0)
    let page = try await world.page([
      ["begin", Self.start, [Self.number], [:]], ["at", "waiting-for-captcha"], ["call", "GetUrl", []],
    ])
    let waiting = try await world.flow(page.id, at: "waiting-for-captcha", "HandlerMissing")
    #expect((waiting["message"] as? String)?.contains("No browser could be opened") == true)
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
    try await world.answer(page.id, Self.number)
  }

  @Test("B085: where nobody would take the page's scheme, that's said before any browser is opened, and what helps")
  func notRegistered() async throws {
    let world = try await world()
    try world.catchPages()
    let flow = try await world.byPhone(Self.number)
    let end = try await world.flow(flow, at: "failed", "HandlerMissing")
    #expect((end["message"] as? String)?.contains("linkctl register") == true)
    #expect(world.pages.isEmpty)
    // Whoever opens it elsewhere needs none.
    let page = try await world.toPage(Self.start, [Self.number])
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
    try await world.answer(page.id, Self.number)
  }

  @Test("B085: an app without a scheme for the page is told so, and who needs no page needs no scheme")
  func noScheme() async throws {
    let world = try await World.start(apps: [])
    let file: [String: Any] = [
      "id": "demo", "project-id": World.project, "api-key": "AIzaEXAMPLEKEY0000",
      "auth-domain": "\(World.project).firebaseapp.com", "schemes": [World.scheme], "emulator": world.emulatorAddress,
    ]
    let folder = world.home.file("config/linkd/apps.d")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try JSONSerialization.data(withJSONObject: file).write(to: URL(fileURLWithPath: "\(folder)/demo.json"))
    try world.catchPages()
    try await world.setPhone(["captcha": true, "testNumbers": [PhoneTests.other: "123456"]])
    let flow = try await world.byPhone(Self.number)
    let end = try await world.flow(flow, at: "failed", "HandlerMissing")
    #expect(end["retry"] as? Bool == false && (end["message"] as? String)?.isEmpty == false)
    #expect(world.pages.isEmpty)
    // Who needs no page needs no scheme.
    try await world.answer(try await world.byPhone(PhoneTests.other), code: "123456")
  }

  @Test("a number for tests needs neither page nor message")
  func testNumber() async throws {
    let world = try await world(["testNumbers": [Self.number: "246810"]])
    let flow = try await world.byPhone(Self.number)
    try await world.flow(flow, at: "waiting-for-code")
    #expect(try await world.flow(flow, "ProvideCode", "123456").status == 0)
    try await world.flow(flow, at: "waiting-for-code", "InvalidVerificationCode")
    try await world.answer(flow, code: "246810")
    #expect(try await world.requests("sendVerificationCode") == 1)
  }

  @Test(
    "the page stands before linking, a new number and signing in again, too", arguments: ["link", "change", "again"])
  func purposes(_ purpose: String) async throws {
    let world = try await World.start()
    if purpose == "link" {
      try await world.createUser("ada@example.com", "correct horse")
    } else {
      try await world.signIn(phone: Self.number)
    }
    try await world.setPhone(["captcha": true])
    let number = purpose == "again" ? Self.number : PhoneTests.other
    let page =
      switch purpose {
      case "link": try await world.toPage(Self.start, [number], options: ["purpose": "link"])
      case "change": try await world.toPage("Account.ChangePhoneNumber", [number])
      default: try await world.toPage("Account.Reauthenticate", [])
      }
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
    try await world.answer(page.id, number)
    #expect(try await world.whoami()["phone-number"] as? String == number)
  }

  // MARK: Ends

  @Test("given up at the page is cancelled with exit 130, and no error")
  func cancelledPage() async throws {
    let world = try await world()
    let page = try await world.toPage(Self.start, [Self.number])
    let opened = try await world.linkctl("open", "--json", try await world.press("cancel", page))
    #expect(opened.status == 130 && !opened.stdout.contains("\"error\""), "\(opened)")
    let end = try await world.flow(page.id, at: "cancelled")
    #expect(end["error"] == nil)
    #expect(try await world.requests("sendVerificationCode") == 1)
    // Who comes back all the same comes too late.
    #expect(try await world.linkctl("open", try await world.press("continue", page)).status == 3)
  }

  @Test("trouble at the page leaves the flow waiting, and the true answer counts")
  func trouble() async throws {
    let world = try await world()
    let page = try await world.toPage(Self.start, [Self.number])
    for (code, name) in [
      ("auth/network-request-failed", "NetworkUnavailable"), ("auth/internal-error", "ServiceUnavailable"),
    ] {
      let url = world.pageAnswer([error(code), ("eventId", page.token)])
      #expect(try await world.linkctl("open", "--no-wait", url).status == 0)
      try await world.flow(page.id, at: "waiting-for-captcha", name)
    }
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
    try await world.answer(page.id, Self.number)
  }

  @Test(
    "a page that couldn't tell ends the flow, and a new message begins anew", arguments: ["made up", "old", "used"])
  func refused(_ kind: String) async throws {
    let world = try await world(kind == "old" ? ["captchaLifetime": 0] : [:])
    let page = try await world.toPage(Self.start, [Self.number])
    var back = try await world.press("continue", page)
    if kind == "made up" { back = world.pageAnswer([("recaptchaToken", "tok-1_A"), ("eventId", page.token)]) }
    if kind == "used" {
      let inner = URLComponents(string: back)?.queryItems?.first?.value ?? ""
      let token = URLComponents(string: inner)?.queryItems?.first { $0.name == "recaptchaToken" }?.value ?? ""
      _ = try await world.emulatorJSON(
        "POST", "/identitytoolkit.googleapis.com/v1/accounts:sendVerificationCode?key=x",
        "{\"phoneNumber\":\"\(PhoneTests.other)\",\"recaptchaToken\":\"\(token)\"}")
    }
    #expect(try await world.linkctl("open", "--no-wait", back).status == 0)
    let end = try await world.flow(page.id, at: "failed", "CaptchaFailed")
    #expect(end["retry"] as? Bool == true)
    #expect(try await world.messages(Self.number).isEmpty)
    try await world.setPhone([:])
    #expect(try await world.flow(page.id, "Resend").status == 0)
    try await world.answer(page.id, Self.number)
  }

  @Test(
    "nobody answers at the page within ten minutes: expired", .enabled(if: access("/usr/bin/cc", X_OK) == 0, "needs cc")
  )
  func expired() async throws {
    let world = try await world()
    try await world.killDaemon()
    try world.setDaemon(try await world.clocks())
    let page = try await world.toPage(Self.start, [Self.number])
    let back = try await world.press("continue", page)
    try await world.killDaemon()
    _ = try world.home.write("601\n", to: "clock")
    try await world.flow(page.id, at: "expired")
    #expect(try await world.linkctl("open", back).status == 3)
    #expect(try await world.messages(Self.number).isEmpty)
  }

  // MARK: reCAPTCHA Enterprise

  @Test("enforced: no page helps, and the error says so before one is shown")
  func enforced() async throws {
    let world = try await world(["enforcement": "ENFORCE"])
    let flow = try await world.byPhone(Self.number)
    let end = try await world.flow(flow, at: "failed", "CaptchaRequired")
    #expect((end["message"] as? String)?.contains("reCAPTCHA Enterprise") == true && end["retry"] as? Bool == false)
    #expect(try await world.requests("sendVerificationCode") == 0)
  }

  @Test("listening: the page does it", arguments: ["AUDIT", "OFF"])
  func audited(_ state: String) async throws {
    let world = try await world(["enforcement": state])
    let page = try await world.toPage(Self.start, [Self.number])
    #expect(try await world.linkctl("open", "--no-wait", try await world.press("continue", page)).status == 0)
    try await world.answer(page.id, Self.number)
    let sent = try await world.records("sendVerificationCode").compactMap { $0["body"] as? [String: Any] }
    #expect(
      sent.map { $0["captchaResponse"] as? String }
        == Array(repeating: state == "AUDIT" ? "NO_RECAPTCHA" : nil, count: 2))
  }
}
