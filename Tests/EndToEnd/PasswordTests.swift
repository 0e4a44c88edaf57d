import Foundation
import TestSupport
import Testing

@Suite("Passwords", .timeLimit(.minutes(2)))
struct PasswordTests {
  static let error = "org.linkd.Auth1.Error."

  @Test("an account is made, signed out of, and signed in to again")
  func createAndSignIn() async throws {
    let world = try await World.start()
    let created = try await world.json(
      "create-user", "ada@example.com", "--display-name", "Ada", "--password-stdin", stdin: "correct horse\n")
    #expect(created.last?["stage"] as? String == "succeeded" && created.last?["is-new-user"] as? Bool == true)
    let user = try await world.whoami()
    #expect(user["email"] as? String == "ada@example.com" && user["display-name"] as? String == "Ada")
    #expect(try await world.json("status").last?["sign-in-method"] as? String == "password")
    #expect(try await world.linkctl("sign-out").status == 0)
    let lines = try await world.json(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    #expect(lines.last?["stage"] as? String == "succeeded" && lines.last?["is-new-user"] as? Bool == false)
    #expect(try await world.whoami()["uid"] as? String == user["uid"] as? String)
  }

  @Test("a wrong password leaves the flow waiting: exit 4, and another one finishes it")
  func wrongPassword() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    let lines = try await world.json("sign-in", "password", "ada@example.com", "--password-stdin", stdin: "wrong horse")
    let last = try #require(lines.last)
    #expect(last["error"] as? String == Self.error + "InvalidCredentials" && last["exit"] as? Int == 4)
    let waiting = try #require(lines.dropLast().last)
    #expect(waiting["stage"] as? String == "waiting-for-password" && waiting["new"] as? Bool == false)
    #expect(waiting["email"] as? String == "ada@example.com")
    let flow = try #require(waiting["flow"] as? String)
    let result = try await world.linkctl("password", flow, "--password-stdin", stdin: "correct horse\n")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("a weak password and a taken address: names, exits, and the server's reason")
  func refused() async throws {
    let world = try await World.start()
    let weak = try await world.json("create-user", "ada@example.com", "--password-stdin", stdin: "x")
    #expect(weak.last?["error"] as? String == Self.error + "WeakPassword" && weak.last?["exit"] as? Int == 4)
    #expect((weak.last?["message"] as? String)?.contains("at least 6 characters") == true)
    let flow = try #require(weak.dropLast().last?["flow"] as? String)
    #expect(try await world.linkctl("password", flow, "--password-stdin", stdin: "correct horse").status == 0)
    #expect(try await world.linkctl("sign-out").status == 0)
    let taken = try await world.json("create-user", "ada@example.com", "--password-stdin", stdin: "another horse")
    #expect(taken.last?["error"] as? String == Self.error + "EmailAlreadyInUse" && taken.last?["exit"] as? Int == 1)
    let empty = try await world.linkctl("create-user", "bob@example.com", "--password-stdin", stdin: "\n")
    #expect(empty.status == 64)
    #expect(try await world.linkctl("create-user", "bob@example.com").status == 4)
    #expect(try await world.requests("accounts:signUp") == 3)
  }

  @Test("a guest who links a password keeps the uid; reauthentication is for the own address alone")
  func linkAndReauthenticate() async throws {
    let world = try await World.start()
    #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
    let guest = try #require(try await world.whoami()["uid"] as? String)
    let linked = try await world.json(
      "sign-in", "password", "ada@example.com", "--link", "--password-stdin", stdin: "correct horse")
    #expect(linked.last?["stage"] as? String == "succeeded")
    #expect(try await world.whoami()["uid"] as? String == guest)
    #expect(try await world.whoami()["is-anonymous"] as? Bool == false)
    #expect(try await world.json("status").last?["sign-in-method"] as? String == "password")
    let again = try await world.json(
      "sign-in", "password", "ada@example.com", "--link", "--password-stdin", stdin: "correct horse")
    #expect(again.last?["error"] as? String == Self.error + "ProviderAlreadyLinked")
    let own = try await world.linkctl(
      "sign-in", "password", "ada@example.com", "--reauthenticate", "--password-stdin", stdin: "correct horse")
    #expect(own.status == 0)
    let foreign = try await world.json(
      "sign-in", "password", "bob@example.com", "--reauthenticate", "--password-stdin", stdin: "x")
    #expect(foreign.last?["error"] as? String == Self.error + "UserMismatch")
  }

  @Test("a guest who has linked a mailed link is asked to reauthenticate by one, not by a password")
  func reauthenticationOfFormerGuest() async throws {
    let world = try await World.start()
    #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
    _ = try await world.sendLink("eve@example.com", "--link")
    #expect(try await world.linkctl("open", try await world.mail("eve@example.com")).status == 0)
    #expect(try await world.json("status").last?["sign-in-method"] as? String == "emailLink")
    try await world.fault(["path": "accounts:delete", "error": "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "times": 1])
    let parked = try await world.json("account", "delete", "--yes").last { $0["stage"] != nil }
    #expect((parked?["reauthentication"] as? [String: Any])?["kind"] as? String == "email-link")
  }

  @Test("killed while the password is being checked: it's asked for again, and the state is as before")
  func killed() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    try await world.fault(["path": "accounts:signInWithPassword", "hang": true, "times": 1])
    let flow = try await world.linkctl(
      "sign-in", "password", "ada@example.com", "--password-stdin", "--no-wait", stdin: "correct horse"
    ).stdout.trimmingCharacters(in: .whitespacesAndNewlines)
    try await world.eventually("the request") { try await world.requests("accounts:signInWithPassword") == 1 }
    try await world.killDaemon()
    let flows = try await world.json("flows")
    #expect(flows.first { $0["flow"] as? String == flow }?["stage"] as? String == "waiting-for-password")
    try await world.clearFaults()
    #expect(try await world.linkctl("password", flow, "--password-stdin", stdin: "correct horse").status == 0)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("an account made by an answer that never came is signed in to, not taken for somebody else's")
  func unanswered() async throws {
    let world = try await World.start()
    try await world.fault(["path": "accounts:signUp", "reset": true, "handle": true, "times": 1])
    let lines = try await world.json("create-user", "ada@example.com", "--password-stdin", stdin: "correct horse")
    #expect(lines.last?["exit"] as? Int == 75)
    let flow = try #require(lines.dropLast().last?["flow"] as? String)
    let again = try await world.json("password", flow, "--password-stdin", stdin: "correct horse")
    #expect(again.last?["stage"] as? String == "succeeded")
    #expect(try await world.email() == "ada@example.com")
  }
}

@Suite("The account", .timeLimit(.minutes(2)))
struct AccountTests {
  static let error = "org.linkd.Auth1.Error."

  @Test("name and picture are changed, kept and cleared, and every app hears of it once")
  func profile() async throws {
    let world = try await World.start()
    try await world.signIn("ada@example.com")
    let monitor = try Monitor(world)
    #expect(
      try await world.linkctl("account", "profile", "--display-name", "Ada", "--photo-url", "https://example.com/a.png")
        .status == 0)
    var user = try await world.whoami()
    #expect(user["display-name"] as? String == "Ada" && user["photo-url"] as? String == "https://example.com/a.png")
    #expect(try await world.linkctl("account", "profile", "--display-name", "").status == 0)
    user = try await world.whoami()
    #expect(user["display-name"] == nil && user["photo-url"] as? String == "https://example.com/a.png")
    try await world.eventually("the signals") { monitor.output.components(separatedBy: "StateChanged").count == 3 }
    #expect(!monitor.output.contains("Ada"))
    #expect(try await world.linkctl("account", "profile").status == 64)
    #expect(try await world.linkctl("sign-out").status == 0)
    let nobody = try await world.json("account", "profile", "--display-name", "Eve")
    #expect(nobody.last?["error"] as? String == Self.error + "NoCurrentUser")
  }

  @Test(
    "a deletion that is refused since account or tokens are gone ends the session, as every other call does",
    arguments: ["TOKEN_EXPIRED", "USER_NOT_FOUND", "USER_DISABLED"])
  func deleteRefused(_ code: String) async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    try await world.fault(["path": "accounts:delete", "error": code, "times": 1])
    // Who has dead tokens may sign in again, and it's done then; the session is over whatever they do.
    let exit = code == "TOKEN_EXPIRED" ? 4 : 1
    #expect(try await world.json("account", "delete", "--yes").last?["exit"] as? Int == exit)
    let status = try await world.json("status").last
    #expect(status?["state"] as? String == "unauthenticated", "\(status ?? [:])")
    #expect(status?["health"] as? String == "attention-needed")
  }

  @Test("a deletion, and a link, that are given up while a token is fetched for them aren't asked for any more")
  func givenUpInTime() async throws {
    let world = try await World.start()
    for (address, path) in [
      ("ada@example.com", "accounts:delete"), ("bob@example.com", "accounts:signInWithEmailLink"),
    ] {
      try await world.fault(["path": "accounts:signUp", "expires-in": 1])
      var flow: String
      if path == "accounts:delete" {
        try await world.createUser(address, "correct horse")
      } else {
        #expect(try await world.linkctl("sign-out").status == 0)
        #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
      }
      try await world.fault(["path": "v1/token", "hold-before-handling": true])
      try await world.eventually("the token's end") {
        try await world.linkctl("token", "--timeout", "1").status != 0
      }
      let refreshes = try await world.requests("v1/token")
      if path == "accounts:delete" {
        flow = try await world.linkctl("account", "delete", "--yes", "--no-wait").stdout
      } else {
        flow = try await world.sendLink(address, "--link")
        #expect(try await world.linkctl("open", "--no-wait", try await world.mail(address)).status == 0)
      }
      flow = flow.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(refreshes == 1)
      #expect(try await world.linkctl("cancel", flow).status == 0)
      try await world.clearFaults()
      #expect(try await world.linkctl("token", "--force-refresh").status == 0)
      #expect(try await world.requests(path) == 0)
      try await world.run([
        "curl", "-X", "DELETE", "http://\(world.emulatorAddress)/emulator/v1/projects/\(World.project)/requests",
      ])
    }
  }

  @Test("who has no address is told so, not that mails are switched off")
  func noAddress() async throws {
    let world = try await World.start()
    #expect(try await world.linkctl("sign-in", "anonymous").status == 0)
    for command in [["account", "verify-email"], ["reauthenticate"]] {
      let result = try await world.run(["\(World.programs)/linkctl"] + command)
      #expect(result.status == 1 && result.stderr.contains("has no email address"), "\(result.stderr)")
    }
  }

  @Test("deleting ends session and flows; too old a sign-in parks it until the user has signed in again")
  func delete() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    #expect(try await world.linkctl("account", "delete").status == 4)
    try await world.fault([
      "path": "accounts:delete", "error": "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "times": 1,
    ])
    let lines = try await world.json("account", "delete", "--yes")
    let parked = try #require(lines.last { $0["stage"] != nil })
    #expect(parked["stage"] as? String == "reauthentication-required")
    let how = try #require(parked["reauthentication"] as? [String: Any])
    #expect(how["kind"] as? String == "password" && how["email"] as? String == "ada@example.com")
    #expect(lines.last?["error"] as? String == Self.error + "RequiresRecentLogin" && lines.last?["exit"] as? Int == 4)
    #expect(try await world.email() == "ada@example.com")
    #expect(
      try await world.linkctl(
        "sign-in", "password", "ada@example.com", "--reauthenticate", "--password-stdin", stdin: "correct horse"
      ).status == 0)
    try await world.eventually("the end") { try await world.json("whoami").last?["uid"] == nil }
    #expect(try await world.json("flows").isEmpty)
    let gone = try await world.json(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    #expect(gone.last?["error"] as? String == Self.error + "EmailNotFound")
    #expect(try await world.json("status").last?["health"] as? String == "ok")
  }
}

extension World {
  /// Makes an account with a password, and stays signed in.
  func createUser(_ address: String, _ password: String) async throws {
    let result = try await linkctl("create-user", address, "--password-stdin", stdin: password)
    guard result.status == 0 else { throw Failure(description: "create-user: \(result.stderr)\n\(log)") }
  }
}
