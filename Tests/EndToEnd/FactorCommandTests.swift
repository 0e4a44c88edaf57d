import Foundation
import TestSupport
import Testing

/// `linkctl` and second factors that come and go, at a terminal and in a script (cli; behaviour: Second factors).
@Suite("Second factors from the command line", .timeLimit(.minutes(3)))
struct FactorCommandTests {
  private static let number = PhoneTests.number

  /// Ada, whose address is proved, is signed in to an app that offers second factors.
  private func signedIn() async throws -> World {
    let world = try await World.startWithFactors()
    _ = try await world.verifiedAccount("ada@example.com")
    let signedIn = try await world.script(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    #expect(signedIn.status == 0, "\(signedIn)")
    return world
  }

  /// The secret among what a terminal has shown: groups of four, in a line of their own.
  private func shownSecret(_ terminal: Terminal) throws -> String {
    let isSecret: (Substring) -> Bool = { $0.wholeMatch(of: /[A-Z2-7]{4}( [A-Z2-7]{1,4})+/) != nil }
    return try #require(terminal.text.split(separator: "\n").last(where: isSecret), "\(terminal.text)")
      .replacingOccurrences(of: " ", with: "")
  }

  // MARK: They come

  @Test("an authenticator app at a terminal: the secret is shown, oathtool's code is typed, and it counts from then on")
  func enrollTOTP() async throws {
    let world = try await signedIn()
    let terminal = try world.person("mfa", "enroll-totp", "--name", "My phone")
    try await terminal.asksSecretly("Code (u: show the otpauth address): ")
    let secret = try shownSecret(terminal)
    terminal.type("u")
    try await terminal.asksSecretly("Code (u", count: 2)
    #expect(terminal.text.contains("\notpauth://totp/") && terminal.text.contains("secret=\(secret)"))
    let code = try await world.totp(secret)
    terminal.type(World.wrong(code))
    try await terminal.asksSecretly("Code (u", count: 3)
    #expect(terminal.text.contains("Tries left: 4."))
    terminal.type(code)
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(!terminal.text.contains(code) && terminal.echoes)
    let listed = try await world.json("mfa", "list")
    #expect(listed.count == 1 && listed[0]["kind"] as? String == "totp", "\(listed)")
    #expect(listed[0]["display-name"] as? String == "My phone" && listed[0]["phone-number"] == nil)
    #expect(listed[0]["uid"] as? String != nil && listed[0]["enrolled-at"] as? Int != nil)

    #expect(try await world.linkctl("sign-out").status == 0)
    let again = try world.person("sign-in", "password", "ada@example.com")
    try await again.asksSecretly("Password: ")
    again.type("correct horse")
    try await again.asksSecretly("Code: ")
    again.type(try await world.totp(secret))
    #expect(again.end() == 0, "\(again.text)\(world.log)")
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("an authenticator app in a script: secret and address are in the line, and code finishes it")
  func enrollTOTPScripted() async throws {
    let world = try await signedIn()
    let started = try await world.script("mfa", "enroll-totp", "--name", "App", "--no-wait")
    let secret = try #require(started.last["secret"] as? String, "\(started)")
    #expect(started.status == 0 && started.stage == "waiting-for-code" && started.last["method"] as? String == "totp")
    #expect((started.last["otpauth-uri"] as? String)?.contains("secret=\(secret)") == true)
    #expect(try await world.script("code", started.flow).status == 4)
    let wrong = try await world.script(
      "code", started.flow, "--code-stdin", stdin: World.wrong(try await world.totp(secret)))
    #expect(wrong.status == 4 && wrong.error == "InvalidVerificationCode", "\(wrong)")
    // The lines of who didn't start it have no secret.
    #expect(!wrong.result.stdout.contains(secret))
    let done = try await world.script("code", started.flow, "--code-stdin", stdin: try await world.totp(secret))
    #expect(done.status == 0 && done.last["purpose"] as? String == "enroll-factor", "\(done)\(world.log)")
    #expect(try await world.json("mfa", "list").map { $0["display-name"] as? String } == ["App"])
  }

  @Test("a phone: by its code at a terminal and in a script; the list masks its number")
  func enrollPhone() async throws {
    let world = try await signedIn()
    let terminal = try world.person("mfa", "enroll-phone", "(555) 555-0100", "--region", "US", "--name", "Work")
    try await terminal.asksSecretly("A code has been sent to \(Self.number).\nCode (")
    terminal.type(try await world.message(Self.number))
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    let stopped = try await world.script("mfa", "enroll-phone", PhoneTests.other, "--name", "Home")
    #expect(stopped.status == 4 && stopped.last["phone-number"] as? String == PhoneTests.other, "\(stopped)")
    let done = try await world.script(
      "code", stopped.flow, "--code-stdin", stdin: try await world.message(PhoneTests.other))
    #expect(done.status == 0, "\(done)\(world.log)")
    let listed = try await world.json("mfa", "list")
    #expect(listed.map { $0["display-name"] as? String } == ["Work", "Home"])
    for (factor, end) in zip(listed, ["0100", "0101"]) {
      let masked = try #require(factor["phone-number"] as? String)
      #expect(factor["kind"] as? String == "phone" && masked.hasSuffix(end) && !masked.contains("555"))
    }
    #expect(try await world.script("mfa", "enroll-phone", Self.number).error == "SecondFactorExists")
  }

  // MARK: They go

  @Test("removed at a terminal by its number in the list, and once more asked; in a script by its uid and --yes")
  func unenroll() async throws {
    let world = try await signedIn()
    _ = try await world.enrollTOTP("App")
    try await world.enrollPhone(Self.number, "Mobile")
    let uids = try await world.json("mfa", "list").map { $0["uid"] as? String ?? "" }
    #expect(uids.count == 2)
    #expect(try await world.script("mfa", "unenroll").status == 4)
    #expect(try await world.script("mfa", "unenroll", uids[0]).status == 4)
    let no = try world.person("mfa", "unenroll")
    try await no.shows("Number of the second factor: ")
    no.type("1")
    try await no.shows("Remove the second factor App (authenticator app)? [y/N] ")
    no.type("n")
    #expect(no.end() == 130, "\(no.text)")
    #expect(try await world.requests("mfaEnrollment:withdraw") == 0)
    let yes = try world.person("mfa", "unenroll")
    try await yes.shows("Number of the second factor: ")
    yes.type("1")
    try await yes.shows("[y/N] ")
    yes.type("y")
    #expect(yes.end() == 0, "\(yes.text)\(world.log)")
    #expect(try await world.json("mfa", "list").map { $0["uid"] as? String } == [uids[1]])
    #expect(try await world.script("mfa", "unenroll", "nobody", "--yes").error == "FactorNotFound")
    let done = try await world.script("mfa", "unenroll", uids[1], "--yes")
    #expect(done.status == 0 && done.last["purpose"] as? String == "unenroll-factor", "\(done)\(world.log)")
    #expect(try await world.json("mfa", "list").isEmpty)
    #expect(try await world.script("mfa", "unenroll", "--yes").error == "FactorNotFound")
    #expect(try await world.email() == "ada@example.com")
  }

  // MARK: After an old login

  @Test("added and removed after an old login, at a terminal: the password is asked for, then it goes on by itself")
  func oldLogin() async throws {
    let world = try await signedIn()
    try await world.lapseLogins()
    let app = try world.person("mfa", "enroll-totp", "--name", "App")
    try await app.asksSecretly("Password: ")
    #expect(!app.text.contains("secret"), "\(app.text)")
    app.type("correct horse")
    try await app.asksSecretly("Code (u")
    let secret = try shownSecret(app)
    app.type(try await world.totp(secret))
    #expect(app.end() == 0, "\(app.text)\(world.log)")
    #expect(try await world.json("mfa", "list").map { $0["display-name"] as? String } == ["App"])

    try await world.lapseLogins()
    let phone = try world.person("mfa", "enroll-phone", Self.number, "--name", "Work")
    try await phone.asksSecretly("Password: ")
    #expect(try await world.messages(Self.number).isEmpty)
    phone.type("correct horse")
    try await phone.asksSecretly("Code: ")
    phone.type(try await world.totp(secret))
    try await phone.asksSecretly("A code has been sent to \(Self.number).\nCode (")
    phone.type(try await world.message(Self.number))
    #expect(phone.end() == 0, "\(phone.text)\(world.log)")

    try await world.lapseLogins()
    let uid = try #require(try await world.json("mfa", "list").first { $0["kind"] as? String == "phone" }?["uid"])
    let removal = try world.person("mfa", "unenroll", try #require(uid as? String), "--yes")
    try await removal.asksSecretly("Password: ")
    removal.type("correct horse")
    try await removal.shows("Number of the second factor: ")
    removal.type("1")
    try await removal.asksSecretly("Code (")
    removal.type(try await world.totp(secret))
    #expect(removal.end() == 0, "\(removal.text)\(world.log)")
    #expect(removal.text.hasSuffix("The second factor has been removed.\n"), "\(removal.text)")
    #expect(try await world.json("mfa", "list").map { $0["kind"] as? String } == ["totp"])
    #expect(try await world.email() == "ada@example.com")
  }
}
