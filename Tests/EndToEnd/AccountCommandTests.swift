import Foundation
import TestSupport
import Testing

/// `linkctl account password` and `email`, at a terminal and in a script (cli; contract: Account).
@Suite("Password and address from the command line", .timeLimit(.minutes(3)))
struct AccountCommandTests {
  private func signIn(_ password: String, _ world: World) async throws -> Int32 {
    try await world.linkctl("sign-in", "password", "ada@example.com", "--password-stdin", stdin: password).status
  }

  @Test("a new password at a terminal is asked for twice, and signs in from then on")
  func passwordTyped() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    let terminal = try world.person("account", "password")
    try await terminal.asksSecretly("New password: ")
    terminal.type("another horse")
    try await terminal.asksSecretly("New password once more: ")
    terminal.type("anothre horse")
    try await terminal.asksSecretly("New password: ", count: 2)
    terminal.type("another horse")
    try await terminal.asksSecretly("New password once more: ", count: 2)
    terminal.type("another horse")
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(terminal.text.hasSuffix("The password has been changed.\n") && !terminal.text.contains("another horse"))
    #expect(try await world.linkctl("sign-out").status == 0)
    #expect(try await signIn("another horse", world) == 0)
  }

  @Test("a new password in a script: what each outcome's exit is")
  func passwordScripted() async throws {
    let world = try await World.start()
    let nobody = try await world.script("account", "password", "--password-stdin", stdin: "another horse")
    #expect(nobody.status == 1 && nobody.error == "NoCurrentUser", "\(nobody)")
    try await world.createUser("ada@example.com", "correct horse")
    #expect(try await world.script("account", "password").status == 4)
    #expect(try await world.script("account", "password", "--password-stdin", stdin: "\n").status == 64)
    let weak = try await world.script("account", "password", "--password-stdin", stdin: "x")
    #expect(weak.status == 4 && weak.error == "WeakPassword", "\(weak)")
    let done = try await world.script("password", weak.flow, "--password-stdin", stdin: "another horse")
    #expect(done.status == 0 && done.last["purpose"] as? String == "update-password", "\(done)\(world.log)")
    // Parked, with linkd killed: it isn't kept, so it's asked for again.
    try await world.lapseLogins()
    let parked = try await world.script("account", "password", "--password-stdin", stdin: "a third horse")
    #expect(parked.status == 4 && parked.error == "RequiresRecentLogin", "\(parked)")
    try await world.killDaemon()
    let again = try await world.script("reauthenticate", "--password-stdin", stdin: "another horse")
    #expect(again.status == 0, "\(again)\(world.log)")
    try await world.flow(parked.flow, at: "waiting-for-password")
    #expect(
      try await world.linkctl("password", parked.flow, "--password-stdin", stdin: "a third horse").status == 0)
    #expect(try await world.linkctl("sign-out").status == 0)
    #expect(try await signIn("a third horse", world) == 0)
  }

  @Test("a new password after an old login, at a terminal: the old one is asked for, then it's done")
  func passwordParked() async throws {
    let world = try await World.start()
    _ = try await world.signIn(by: .password)
    try await world.lapseLogins()
    let terminal = try world.person("account", "password")
    try await terminal.asksSecretly("New password: ")
    terminal.type("another horse")
    try await terminal.asksSecretly("New password once more: ")
    terminal.type("another horse")
    try await terminal.asksSecretly("\nPassword: ")
    terminal.type("correct horse")
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(terminal.text.hasSuffix("The password has been changed.\n"), "\(terminal.text)")
    #expect(try await world.linkctl("sign-out").status == 0)
    #expect(try await signIn("another horse", world) == 0)
  }

  @Test("another address at a terminal: the mail is on its way, and its link changes it")
  func emailTyped() async throws {
    let world = try await World.start()
    let uid = try await world.signIn(by: .password)
    let terminal = try world.person("account", "email", "new@example.com")
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(terminal.text.contains("A mail is on its way to new@example.com."), "\(terminal.text)")
    #expect(try await world.email() == "ada@example.com")
    // The emulator lists it by the old address.
    let opened = try await world.linkctl("open", try await world.mail("ada@example.com"))
    #expect(opened.status == 0, "\(opened)\(world.log)")
    #expect(try await world.serverAccount(uid)?["email"] as? String == "new@example.com")
  }

  @Test("another address in a script: what each outcome's exit is")
  func emailScripted() async throws {
    let world = try await World.start()
    _ = try await world.madeElsewhere("bob@example.com")
    #expect(try await world.script("account", "email", "new@example.com").error == "NoCurrentUser")
    _ = try await world.signIn(by: .password)
    #expect(try await world.linkctl("account", "email").status == 64)
    let invalid = try await world.script("account", "email", "no address")
    #expect(invalid.status == 1 && invalid.error == "InvalidEmail", "\(invalid)")
    let taken = try await world.script("account", "email", "bob@example.com")
    #expect(taken.status == 1 && taken.error == "EmailAlreadyInUse", "\(taken)")
    let done = try await world.script("account", "email", "new@example.com")
    #expect(done.status == 0 && done.last["purpose"] as? String == "change-email", "\(done)\(world.log)")
    #expect(done.last["email"] as? String == "new@example.com")
    #expect(try await world.mails("ada@example.com").count == 1)
    try await world.lapseLogins()
    let parked = try await world.script("account", "email", "newer@example.com")
    #expect(parked.status == 4 && parked.error == "RequiresRecentLogin", "\(parked)")
    let again = try await world.script("reauthenticate", "--password-stdin", stdin: "correct horse")
    #expect(again.status == 0, "\(again)\(world.log)")
    try await world.flow(parked.flow, at: "succeeded")
    #expect(try await world.mails("ada@example.com").count == 2)
  }
}
