import Foundation
import TestSupport
import Testing

@Suite("The main job", .timeLimit(.minutes(2)))
struct MainJobTests {
  @Test("a mailed link, opened by xdg-open through the registered handler, becomes a session that every app hears of")
  func xdgOpen() async throws {
    let world = try await World.start()
    #expect(try await world.linkctl("register").status == 0)
    let monitor = try Monitor(world)
    let flow = try await world.sendLink("user@example.com")
    let opened = try await world.run(["xdg-open", try await world.button(try await world.mail("user@example.com"))])
    #expect(opened.status == 0)
    try await world.eventually("the session") { try await world.email() == "user@example.com" }
    try await world.eventually("the signals") {
      monitor.output.contains("StateChanged ('authenticated'") && monitor.output.contains("'succeeded'")
    }
    #expect(monitor.output.contains("/org/linkd/Auth1/flow/\(flow)"))
    let token = try #require(try await world.json("token").last)
    let claims = try #require(token["claims"] as? [String: Any])
    #expect(claims["email"] as? String == "user@example.com")
    #expect((token["token"] as? String)?.split(separator: ".", omittingEmptySubsequences: false).count == 3)
  }

  @Test("gio open runs the same handler")
  func gioOpen() async throws {
    let world = try await World.start()
    #expect(try await world.linkctl("register").status == 0)
    _ = try await world.sendLink("user@example.com")
    let opened = try await world.run(["gio", "open", try await world.button(try await world.mail("user@example.com"))])
    #expect(opened.status == 0, "\(opened.stderr)")
    try await world.eventually("the session") { try await world.email() == "user@example.com" }
  }

  @Test("B082: a link opened while the daemon isn't running starts it, and nothing is lost")
  func coldStart() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com")
    let link = try await world.mail("user@example.com")
    try await world.killDaemon()
    #expect(try await world.linkctl("open", "--no-wait", "--", try await world.button(link)).status == 0)
    try await world.eventually("the session") { try await world.email() == "user@example.com" }
  }

  @Test("B037: the same link opened five times at once is one exchange and five times success")
  func fiveTimes() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com")
    let link = try await world.button(try await world.mail("user@example.com"))
    let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
      for _ in 0..<5 { group.addTask { try await world.linkctl("open", link).status } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses == [0, 0, 0, 0, 0])
    #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
    // And once more, later: the first one's result.
    #expect(try await world.linkctl("open", link).status == 0)
    #expect(try await world.requests("accounts:signInWithEmailLink") == 1)
  }

  @Test(
    "B029: two apps and three pending addresses, sign-in and reauthentication mixed: each link does its own row's purpose"
  )
  func twoApps() async throws {
    let world = try await World.start(apps: ["demo", "other"])
    try await world.signIn("a@example.com")
    _ = try await world.sendLink("b@example.com", "--app", "other")
    let reauthentication = try await world.linkctl("reauthenticate", "--no-wait", "--app", "demo")
    #expect(reauthentication.status == 0, "\(reauthentication.stderr)")
    _ = try await world.sendLink("c@example.com", "--app", "demo")
    let uid = try #require(try await world.whoami()["uid"] as? String)

    // The reauthentication's link, though a newer mail was sent: it confirms a@example.com and changes nobody.
    let confirm = try await world.button(try await world.mail("a@example.com"))
    let lines = try await world.json("open", confirm)
    #expect(lines.last?["purpose"] as? String == "reauthenticate")
    #expect(lines.last?["stage"] as? String == "succeeded")
    #expect(try await world.whoami()["uid"] as? String == uid)

    let other = try await world.button(try await world.mail("b@example.com"), scheme: "\(World.scheme).other")
    #expect(try await world.linkctl("open", other).status == 0)
    #expect(try await world.email(app: "other") == "b@example.com")
    #expect(try await world.email(app: "demo") == "a@example.com")

    #expect(try await world.linkctl("open", try await world.button(try await world.mail("c@example.com"))).status == 0)
    #expect(try await world.email(app: "demo") == "c@example.com")
    #expect(try await world.email(app: "other") == "b@example.com")
  }

  @Test("a reauthentication that ends with another uid is UserMismatch and changes nothing")
  func userMismatch() async throws {
    let world = try await World.start()
    try await world.signIn("a@example.com")
    let uid = try #require(try await world.whoami()["uid"] as? String)
    #expect(try await world.linkctl("reauthenticate", "--no-wait").status == 0)
    let link = try await world.mail("a@example.com")
    // The account is deleted meanwhile, so the same address comes back as somebody else.
    _ = try await world.run(
      [
        "curl", "-fsS", "-X", "DELETE",
        "http://\(world.emulatorAddress)/emulator/v1/projects/\(World.project)/accounts",
      ])
    let lines = try await world.json("open", try await world.button(link))
    #expect(lines.last?["error"] as? String == "org.linkd.Auth1.Error.UserMismatch")
    #expect(try await world.whoami()["uid"] as? String == uid)
  }
}

@Suite("Purposes of a mailed link", .timeLimit(.minutes(1)))
struct PurposeTests {
  @Test("B027: a guest who links an address keeps the uid and is a guest no more")
  func link() async throws {
    let world = try await World.start()
    #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
    let guest = try #require(try await world.whoami()["uid"] as? String)
    // The same guest again, without asking the server.
    #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
    #expect(try await world.requests("accounts:signUp") == 1)
    _ = try await world.sendLink("user@example.com", "--link")
    #expect(
      try await world.linkctl("open", try await world.button(try await world.mail("user@example.com"))).status == 0)
    let user = try await world.whoami()
    #expect(user["uid"] as? String == guest && user["is-anonymous"] as? Bool == false)
    #expect(user["email"] as? String == "user@example.com")
    #expect(try await world.json("status").last?["state"] as? String == "authenticated")
  }

  @Test("linking and reauthentication need somebody who is signed in, and reauthentication their own address")
  func refused() async throws {
    let world = try await World.start()
    for flag in ["--link", "--reauthenticate"] {
      let result = try await world.linkctl("sign-in", "email-link", "user@example.com", flag)
      #expect(result.status == 1 && result.stderr.contains("signed in"))
    }
    try await world.signIn("user@example.com")
    let foreign = try #require(
      try await world.json("sign-in", "email-link", "other@example.com", "--reauthenticate").last)
    #expect(foreign["error"] as? String == "org.linkd.Auth1.Error.UserMismatch")
    #expect(try await world.mails("other@example.com").isEmpty)
  }

  @Test("a cancelled link that is opened again asks for its address, and a resend comes after a minute alone")
  func cancelled() async throws {
    let world = try await World.start()
    let flow = try await world.sendLink("user@example.com")
    let link = try await world.button(try await world.mail("user@example.com"))
    #expect(try await world.linkctl("resend", flow).status == 75)
    #expect(try await world.linkctl("cancel", flow).status == 0)
    #expect(try await world.json("flows").isEmpty)
    let opened = try #require(try await world.json("open", link).last)
    #expect(opened["stage"] as? String == "waiting-for-email")
    let again = try #require(opened["flow"] as? String)
    // Given up once more, and opened once more.
    #expect(try await world.linkctl("cancel", again).status == 0)
    #expect(try await world.json("open", link).last?["stage"] as? String == "waiting-for-email")
    #expect(try await world.linkctl("email", again, "user@example.com").status == 0)
    #expect(try await world.email() == "user@example.com")
  }

  @Test("force-same-device refuses a link that no row here asked for")
  func sameDevice() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com", "--force-same-device")
    let link = try await world.button(try await world.mail("user@example.com"))
    let elsewhere = try await World.start()
    // The other machine's emulator is another address: the link is taken as it would be there.
    let moved = link.replacingOccurrences(
      of: world.emulatorAddress.replacingOccurrences(of: ":", with: "%3A"),
      with: elsewhere.emulatorAddress.replacingOccurrences(of: ":", with: "%3A"))
    let refused = try #require(try await elsewhere.json("open", moved).last)
    #expect(refused["error"] as? String == "org.linkd.Auth1.Error.DifferentDevice")
    #expect(try await world.linkctl("open", link).status == 0)
  }
}
