import Foundation
import TestSupport
import Testing

/// Phone numbers as a way into an account: sign-in, linking, another number, signing in again (behaviour: Phone).
@Suite("Phone numbers", .timeLimit(.minutes(4)))
struct PhoneTests {
  static let number = "+15555550100"
  static let other = "+15555550101"

  /// The bodies of the requests for a path that ends in `suffix`.
  private func bodies(_ world: World, _ suffix: String) async throws -> [[String: Any]] {
    try await world.records(suffix).map { $0["body"] as? [String: Any] ?? [:] }
  }

  // MARK: Sign-in

  @Test("a number and the code that is sent to it make an account, and later sign in to it")
  func signIn() async throws {
    let world = try await World.start()
    let before = Int(Date().timeIntervalSince1970)
    let flow = try await world.byPhone(Self.number)
    let waiting = try await world.flow(flow, at: "waiting-for-code")
    #expect(waiting["kind"] as? String == "phone" && waiting["phone-number"] as? String == Self.number)
    #expect(waiting["code-length"] as? Int == 6 && waiting["attempts-left"] as? Int == 5)
    let resend = try #require(waiting["can-resend-at"] as? Int)
    #expect((before + 60...before + 80).contains(resend))
    let end = try #require(waiting["expires-at"] as? Int)
    #expect((before + 600...before + 620).contains(end))
    #expect(waiting["error"] == nil && waiting["display-name"] == nil)
    let done = try await world.answer(flow, Self.number)
    #expect(done["is-new-user"] as? Bool == true)
    #expect((done["user"] as? [String: Any])?["phone-number"] as? String == Self.number)
    let user = try await world.whoami()
    #expect(user["phone-number"] as? String == Self.number && user["is-anonymous"] as? Bool == false)
    #expect(try await world.providers() == ["phone"])
    #expect(try await world.signInMethod() == "phone")
    #expect(try await bodies(world, "signInWithPhoneNumber").map { $0["operation"] as? String } == ["SIGN_UP_OR_IN"])
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)

    let uid = try #require(try await world.uid())
    #expect(try await world.linkctl("sign-out").status == 0)
    let again = try await world.answer(try await world.byPhone(Self.number), Self.number)
    #expect(again["is-new-user"] as? Bool == false)
    #expect(try await world.uid() == uid)
  }

  @Test(
    "B087, B088: a number counts however it's spelt, and a leading plus or 00 wins over the region",
    arguments: [
      ("+44 7700 900123", "", "+447700900123"), ("+44 (0)7700-900123", "", "+447700900123"),
      ("07700 900123", "GB", "+447700900123"), ("+44 7700 900123", "US", "+447700900123"),
      ("0044 7700 900123", "AT", "+447700900123"), ("٠٧٧٠٠ ٩٠٠١٢٣", "GB", "+447700900123"),
      ("\u{202A}(555) 555-0100\u{202C}", "US", "+15555550100"), ("＋４３ ６６４ １２３４５６７", "", "+436641234567"),
    ])
  func spellings(typed: String, region: String, e164: String) async throws {
    let world = try await World.start()
    let options = region.isEmpty ? "{}" : "{'region': <'\(region)'>}"
    let flow = try await world.byPhone(typed, options: options)
    #expect(try await world.flow(flow, at: "waiting-for-code")["phone-number"] as? String == e164)
    #expect(try await bodies(world, "sendVerificationCode").map { $0["phoneNumber"] as? String } == [e164])
    try await world.answer(flow, e164)
    #expect(try await world.whoami()["phone-number"] as? String == e164)
  }

  @Test("B087: the code counts in any digits, and with what is put between them")
  func codeSpellings() async throws {
    let world = try await World.start()
    for (zero, gap) in [("٠", ""), ("۰", " "), ("0", "-"), ("０", "\u{200E}")] {
      let flow = try await world.byPhone(Self.number)
      let code = try await world.message(Self.number)
      let base = try #require(zero.unicodeScalars.first).value
      let digits = code.compactMap { $0.wholeNumberValue.flatMap { UnicodeScalar(base + UInt32($0)) } }.map { "\($0)" }
      let typed = digits[..<3].joined() + gap + digits[3...].joined()
      try await world.flow(flow, at: "waiting-for-code")
      try await world.answer(flow, code: typed)
      #expect(try await world.linkctl("sign-out").status == 0)
    }
  }

  @Test("a number that can't be one is refused at once, with what is wrong with it; nobody is taken to be anywhere")
  func wrongNumbers() async throws {
    let world = try await World.start()
    for (typed, options, word) in [
      ("5555550100", "{}", "which country"), ("+15555", "{}", "too few"), ("+1555555010099999", "{}", "too many"),
      ("+999 1234567", "{}", "No country"), ("+1 555 CALL NOW", "{}", "letters"), ("", "{}", ""),
    ] {
      let call = try await world.gdbus(
        "/org/linkd/Auth1/app/demo", "org.linkd.Auth1.SignIn.SignInWithPhoneNumber", typed, options)
      #expect(World.refusal(call) == "InvalidPhoneNumber", "\(typed): \(call)")
      #expect(word.isEmpty || call.stderr.contains(word), "\(typed): \(call.stderr)")
    }
    let region = try await world.refused(
      "SignIn.SignInWithPhoneNumber", "5555550100", options: "{'region': <'Austria'>}")
    #expect(region?.contains("InvalidArgs") == true && region?.contains("region") == true)
    #expect(try await world.requests("sendVerificationCode") == 0)
    // The daemon's own settings say where it is.
    try await world.killDaemon()
    try world.setDaemon(["LC_ALL": "de_AT.UTF-8"])
    let flow = try await world.byPhone("0664 1234567")
    #expect(try await world.flow(flow, at: "waiting-for-code")["phone-number"] as? String == "+436641234567")
  }

  @Test("B093: a well-formed number that the server refuses isn't called a mistake in typing")
  func refusedNumber() async throws {
    let world = try await World.start()
    try await world.fault([
      "path": "sendVerificationCode", "error": "INVALID_PHONE_NUMBER : Phone number is too short", "times": 1,
    ])
    let flow = try await world.byPhone("+441632960123")
    let end = try await world.flow(flow, at: "failed")
    #expect(end["error"] as? String == "org.linkd.Auth1.Error.InvalidPhoneNumber" && end["retry"] as? Bool == false)
    #expect((end["message"] as? String)?.contains("doesn't accept") == true)
    #expect(try await world.flow(flow, "Resend").stderr.contains("NoSuchFlow"))
  }

  // MARK: The account that is there

  @Test("linking adds the number to the account, and the session stays as it was")
  func link() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    let uid = try #require(try await world.uid())
    let flow = try await world.byPhone(Self.number, options: "{'purpose': <'link'>}")
    let end = try await world.answer(flow, Self.number)
    #expect(end["is-new-user"] as? Bool == false)
    #expect(try await world.uid() == uid)
    #expect(try await world.providers() == ["password", "phone"])
    #expect(try await world.serverProviders(uid) == ["password", "phone"])
    #expect(try await world.signInMethod() == "password")
    #expect(try await bodies(world, "signInWithPhoneNumber").map { $0["operation"] as? String } == ["LINK"])
    let again = try await world.refused(
      "SignIn.SignInWithPhoneNumber", Self.other, options: "{'purpose': <'link'>}")
    #expect(again == "ProviderAlreadyLinked")
    #expect(try await world.linkctl("sign-out").status == 0)
    let nobody = try await world.refused("SignIn.SignInWithPhoneNumber", Self.other, options: "{'purpose': <'link'>}")
    #expect(nobody == "NoCurrentUser")
    #expect(try await world.requests("sendVerificationCode") == 1)
  }

  @Test("another number takes the old one's place, once its code is there")
  func changeNumber() async throws {
    let world = try await World.start()
    try await world.signIn(phone: Self.number)
    let uid = try #require(try await world.uid())
    let flow = try await world.begin("Account.ChangePhoneNumber", "555 555 0101", options: "{'region': <'US'>}")
    #expect(try await world.flow(flow, at: "waiting-for-code")["phone-number"] as? String == Self.other)
    #expect(try await world.whoami()["phone-number"] as? String == Self.number)
    try await world.answer(flow, Self.other)
    #expect(try await world.whoami()["phone-number"] as? String == Self.other)
    #expect(try await world.uid() == uid)
    #expect(try await world.serverAccount(uid)?["phoneNumber"] as? String == Self.other)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  @Test("signing in again goes by the account's own number alone, and changes nobody")
  func reauthenticate() async throws {
    let world = try await World.start()
    try await world.signIn(phone: Self.number)
    let uid = try #require(try await world.uid())
    let monitor = try await BusMonitor(world)
    let flow = try await world.begin("Account.Reauthenticate")
    #expect(try await world.flow(flow, at: "waiting-for-code")["phone-number"] as? String == Self.number)
    try await world.answer(flow, Self.number)
    let second = try await world.byPhone("+1 555-555-0100", options: "{'purpose': <'reauthenticate'>}")
    try await world.answer(second, Self.number)
    #expect(
      try await bodies(world, "signInWithPhoneNumber").map { $0["operation"] as? String }
        == ["SIGN_UP_OR_IN", "REAUTH", "REAUTH"])
    #expect(try await world.uid() == uid)
    #expect(monitor.count("StateChanged", "\"unauthenticated\"") == 0)
    #expect(monitor.count("StateChanged", "\"authenticating\"") == 0)
    let other = try await world.refused(
      "SignIn.SignInWithPhoneNumber", Self.other, options: "{'purpose': <'reauthenticate'>}")
    #expect(other == "UserMismatch")
    #expect(try await world.requests("sendVerificationCode") == 3)
  }

  @Test("whose session the server has ended proves who they are by their number, and is back")
  func endedSession() async throws {
    let world = try await World.start()
    try await world.signIn(phone: Self.number)
    let uid = try #require(try await world.uid())
    try await world.fault(["path": "v1/token", "error": "TOKEN_EXPIRED", "times": 1])
    try await world.linkctl("token", "--force-refresh")
    #expect(try await world.uid() == nil)
    let flow = try await world.begin("Account.Reauthenticate")
    try await world.answer(flow, Self.number)
    #expect(try await world.uid() == uid)
    #expect(try await world.signInMethod() == "phone")
  }

  // MARK: Many at once

  @Test("B089: two apps and two flows of each at once end with their own numbers, whatever the order of the codes")
  func manyAtOnce() async throws {
    let world = try await World.start(apps: ["demo", "other"])
    let numbers = (1...4).map { "+1555555010\($0)" }
    var flows: [String] = []
    for (index, number) in numbers.enumerated() {
      flows.append(try await world.byPhone(number, app: index < 2 ? "demo" : "other"))
    }
    var codes: [String] = []
    for (flow, number) in zip(flows, numbers) {
      codes.append(try await world.message(number))
      #expect(try await world.flow(flow, at: "waiting-for-code")["phone-number"] as? String == number)
    }
    // Another flow's code isn't this one's.
    if codes[0] != codes[1] {
      #expect(try await world.flow(flows[0], "ProvideCode", codes[1]).status == 0)
      let waiting = try await world.flow(flows[0], at: "waiting-for-code", "InvalidVerificationCode")
      #expect(waiting["attempts-left"] as? Int == 4)
      #expect(try await world.flow(flows[1]).details["attempts-left"] as? Int == 5)
    }
    for index in [3, 1, 2, 0] {
      let app = index < 2 ? "demo" : "other"
      try await world.answer(flows[index], code: codes[index])
      #expect(try await world.whoami(app: app)["phone-number"] as? String == numbers[index])
    }
    #expect(try await world.whoami(app: "other")["phone-number"] as? String == numbers[2])
    #expect(try await world.requests("signInWithPhoneNumber") == (codes[0] == codes[1] ? 4 : 5))
  }
}
