import Foundation
import TestSupport
import Testing

@Suite("Action codes", .timeLimit(.minutes(2)))
struct ActionCodeTests {
  static let error = "org.linkd.Auth1.Error."
  static let app = "/org/linkd/Auth1/app/demo"

  @Test("a reset link asks for a new password, which then signs in; the code counts once")
  func reset() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "old password")
    #expect(try await world.linkctl("sign-out").status == 0)
    #expect(try await world.linkctl("account", "reset-password", "ada@example.com").status == 0)
    let link = try await world.mail("ada@example.com")
    let opened = try await world.json("open", link)
    let flow = try #require(opened.last?["flow"] as? String)
    #expect(opened.last?["stage"] as? String == "waiting-for-password" && opened.last?["new"] as? Bool == true)
    #expect(try await world.linkctl("open", link).status == 4)
    try await world.eventually("the address") {
      try await world.json("flows").first { $0["flow"] as? String == flow }?["email"] as? String == "a…@example.com"
    }
    let done = try await world.linkctl("password", flow, "--password-stdin", stdin: "a new password")
    #expect(done.status == 0 && done.stderr.contains("password has been changed"), "\(done.stderr)")
    // The flow has ended: the same link gives the same result.
    #expect(try await world.linkctl("open", link).status == 0)
    #expect(try await world.requests("accounts:resetPassword") == 2)
    #expect(
      try await world.linkctl("sign-in", "password", "ada@example.com", "--password-stdin", stdin: "a new password")
        .status == 0)
  }

  @Test("a reset link that was given up is opened again, by click and by method")
  func resetAgain() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "old password")
    #expect(try await world.linkctl("account", "reset-password", "ada@example.com").status == 0)
    let link = try await world.mail("ada@example.com")
    let flow = try #require(try await world.json("open", link).last?["flow"] as? String)
    #expect(try await world.linkctl("cancel", flow).status == 0)
    #expect(try await world.json("open", link).last?["stage"] as? String == "waiting-for-password")
    #expect(try await world.linkctl("cancel", flow).status == 0)
    let done = try await world.gdbus(
      Self.app, "org.linkd.Auth1.SignIn.ConfirmPasswordReset", link, "a new password", "{}")
    #expect(done.status == 0, "\(done.stderr)")
  }

  @Test("B120: an address that is verified by its link is verified in every app, once")
  func verify() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    #expect(try await world.whoami()["email-verified"] as? Bool == false)
    #expect(try await world.linkctl("account", "verify-email").status == 0)
    let link = try await world.mail("ada@example.com")
    let monitor = try Monitor(world)
    let opened = try await world.json("open", link)
    #expect(opened.last?["stage"] as? String == "succeeded" && opened.last?["kind"] as? String == "verifyEmail")
    try await world.eventually("the news") { try await world.whoami()["email-verified"] as? Bool == true }
    try await world.eventually("the signal") { monitor.output.contains("StateChanged ('authenticated'") }
    #expect(try await world.linkctl("open", link).status == 0)
    #expect(try await world.requests("accounts:update") == 1)
  }

  @Test("B119: an address that was changed elsewhere ends the session with the new address at hand")
  func changed() async throws {
    let world = try await World.start()
    try await world.createUser("old@example.com", "correct horse")
    let token = try #require(try await world.json("token").last?["token"] as? String)
    _ = try await world.emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=x",
      "{\"requestType\":\"VERIFY_AND_CHANGE_EMAIL\",\"idToken\":\"\(token)\",\"newEmail\":\"new@example.com\"}")
    // The server has ended every token of the old address.
    try await world.fault(["path": "accounts:lookup", "error": "TOKEN_EXPIRED", "times": 1])
    let opened = try await world.json("open", try await world.mail("old@example.com"))
    #expect(opened.last?["stage"] as? String == "succeeded", "\(opened) \(world.log)")
    try await world.eventually("the end of the session") {
      try await world.json("status").last?["health"] as? String == "attention-needed"
    }
    let last = try await world.gdbus(
      Self.app, "org.freedesktop.DBus.Properties.Get", "org.linkd.Auth1.Session", "LastUser")
    #expect(last.stdout.contains("new@example.com"))
    #expect(try await world.json("status").last?["health-reason"] as? String == Self.error + "TokenRevoked")
  }

  @Test("a recovery waits for an agreement, also if its link calls itself a verification")
  func recover() async throws {
    let world = try await World.start()
    try await world.createUser("first@example.com", "correct horse")
    let token = try #require(try await world.json("token").last?["token"] as? String)
    _ = try await world.emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:update?key=x",
      "{\"idToken\":\"\(token)\",\"email\":\"second@example.com\",\"returnSecureToken\":true}")
    let link = try await world.mail("first@example.com")
    #expect(link.contains("mode=recoverEmail"))
    let lie = link.replacingOccurrences(of: "mode=recoverEmail", with: "mode=verifyEmail")
    let opened = try await world.json("open", lie)
    let flow = try #require(opened.last?["flow"] as? String)
    try await world.eventually("the truth") {
      let row = try await world.json("flows").first { $0["flow"] as? String == flow }
      return row?["stage"] as? String == "waiting-for-confirmation" && row?["kind"] as? String == "recoverEmail"
    }
    #expect(try await world.requests("accounts:update") == 1)
    #expect(try await world.linkctl("confirm", flow).status == 0)
    #expect(try await world.requests("accounts:update") == 2)
    #expect(
      try await world.linkctl("sign-in", "password", "first@example.com", "--password-stdin", stdin: "correct horse")
        .status == 0)
  }

  @Test("codes by method: looked at without being spent, spent once whoever comes first, and refused by name")
  func methods() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    #expect(try await world.linkctl("account", "reset-password", "ada@example.com").status == 0)
    let link = try await world.mail("ada@example.com")
    let interface = "org.linkd.Auth1.SignIn"
    for _ in 0..<2 {
      let info = try await world.gdbus(Self.app, "\(interface).CheckActionCode", link, "{}")
      #expect(info.stdout.contains("'passwordReset'") && info.stdout.contains("'ada@example.com'"), "\(info.stderr)")
    }
    let applied = try await world.gdbus(Self.app, "\(interface).ApplyActionCode", link, "{}")
    #expect(applied.stderr.contains("OperationNotAllowed"))
    let weak = try await world.gdbus(Self.app, "\(interface).ConfirmPasswordReset", link, "x", "{}")
    #expect(weak.stderr.contains("WeakPassword"))
    let done = try await world.gdbus(Self.app, "\(interface).ConfirmPasswordReset", link, "a new password", "{}")
    #expect(done.status == 0, "\(done.stderr)")
    let another = try await world.gdbus(Self.app, "\(interface).ConfirmPasswordReset", link, "another password", "{}")
    #expect(another.stderr.contains("InvalidActionCode"), "whose password it is now")
    let used = try await world.gdbus(Self.app, "\(interface).CheckActionCode", link, "{}")
    #expect(used.stderr.contains("InvalidActionCode"))
    let none = try await world.gdbus(Self.app, "\(interface).CheckActionCode", "https://example.com/", "{}")
    #expect(none.stderr.contains("InvalidArgs"))
    let methods = try await world.gdbus(Self.app, "\(interface).FetchSignInMethods", "ada@example.com", "{}")
    #expect(methods.stdout.contains("'password'"))

    // The reset has ended every session of the account.
    #expect(
      try await world.linkctl("sign-in", "password", "ada@example.com", "--password-stdin", stdin: "a new password")
        .status == 0)
    #expect(try await world.linkctl("account", "verify-email").status == 0)
    let verification = try #require(try await world.mails("ada@example.com").last)
    let wrong = try await world.gdbus(Self.app, "\(interface).ConfirmPasswordReset", verification, "a password", "{}")
    #expect(wrong.stderr.contains("OperationNotAllowed"))
    #expect(try await world.gdbus(Self.app, "\(interface).ApplyActionCode", verification, "{}").status == 0)
    #expect(try await world.linkctl("open", verification).status == 0)
    #expect(try await world.requests("accounts:update") == 1)
  }

  @Test("a continue URL that is refused counts as no mail")
  func refusedContinueURL() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    for command in [["reset-password", "ada@example.com"], ["verify-email"]] {
      for _ in 0..<3 {
        let all = ["\(World.programs)/linkctl", "account"] + command + ["--continue-url", "no URL", "--json"]
        #expect(try await world.run(all).stdout.contains("InvalidContinueUrl"))
      }
    }
    #expect(try await world.linkctl("account", "reset-password", "ada@example.com").status == 0)
  }

  @Test("a used code is InvalidActionCode; a server that is down is tried again by a second click")
  func refusedAndDown() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    #expect(try await world.linkctl("account", "verify-email").status == 0)
    let link = try await world.mail("ada@example.com")
    try await world.fault(["path": "accounts:resetPassword", "status": 503, "times": 1])
    let down = try await world.json("open", link)
    #expect(down.last?["exit"] as? Int == 75, "\(down)")
    #expect(try await world.linkctl("open", link).status == 0)
    let foreign = link.replacingOccurrences(of: world.code(link), with: "nobody-knows-this-code")
    let used = try await world.json("open", foreign)
    #expect(used.last?["error"] as? String == Self.error + "InvalidActionCode" && used.last?["exit"] as? Int == 1)
  }
}
