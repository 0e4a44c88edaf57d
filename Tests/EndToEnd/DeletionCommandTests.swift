import Foundation
import TestSupport
import Testing

/// `linkctl account delete` after an old login, at a terminal and in a script (cli; behaviour: Reauthentication and parked
/// operations).
@Suite("Deleting the account from the command line", .timeLimit(.minutes(3)))
struct DeletionCommandTests {
  /// A user of `way` who signed in long ago, and who has a browser.
  private func old(_ way: World.Way) async throws -> (World, uid: String, browser: [String: String]) {
    let world = try await World.start()
    let uid = try await world.signIn(by: way)
    let browser = try await world.withBrowser()
    try await world.lapseLogins()
    return (world, uid, browser)
  }

  private func open(_ world: World) async throws {
    let link = try await world.button(try await world.mail("ada@example.com"))
    let opened = try await world.linkctl("open", link)
    #expect(opened.status == 0, "\(opened)\(world.log)")
  }

  private func expectDeleted(_ uid: String, _ world: World) async throws {
    try await world.eventually("the end") { try await world.serverAccount(uid) == nil }
    try await world.eventually("no session") { try await world.uid() == nil }
    #expect(try await world.json("flows").isEmpty)
    #expect(try await world.json("status").last?["health"] as? String == "ok")
  }

  @Test(
    "at a terminal: asked, parked, signed in again the way that they did, deleted; also with linkd killed at the question",
    arguments: World.Way.allCases, [false, true])
  func typed(_ way: World.Way, isKilled: Bool) async throws {
    let (world, uid, browser) = try await old(way)
    let printsPage = way == .provider && isKilled
    let terminal =
      printsPage
      ? try world.person("account", "delete", "--no-browser")
      : try world.person("account", "delete", environment: browser)
    try await terminal.shows("for good? [y/N] ")
    terminal.type("y")
    switch way {
    case .password:
      try await terminal.asksSecretly("Password: ")
      terminal.type("wrong horse")
      try await terminal.asksSecretly("Password: ", count: 2)
      if isKilled { try await world.killDaemon() }
      terminal.type("correct horse")
    case .phone:
      try await terminal.asksSecretly("Code (")
      let code = try await world.message(World.ownNumber)
      if isKilled { try await world.killDaemon() }
      terminal.type(World.wrong(code))
      try await terminal.asksSecretly("Code (", count: 2)
      terminal.type(code)
    case .emailLink:
      try await terminal.shows("A link has been sent to ada@example.com.")
      _ = try await world.mail("ada@example.com")
      if isKilled { try await world.killDaemon() }
      try await open(world)
    case .provider where printsPage:
      try await terminal.shows("paste that page's address here")
      let url = try #require(terminal.text.split(separator: "\n").first { $0.hasPrefix("http") }.map(String.init))
      try await world.killDaemon()
      terminal.type(try await world.redirect(from: url))
    // The browser goes there and comes back by itself.
    case .provider: break
    }
    #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
    #expect(terminal.text.hasSuffix("The account has been deleted.\n"), "\(terminal.text)")
    try await expectDeleted(uid, world)
  }

  @Test(
    "in a script: 4 and parked; another command signs in again, and the deletion is done; also with linkd killed between",
    arguments: World.Way.allCases, [false, true])
  func scripted(_ way: World.Way, isKilled: Bool) async throws {
    let (world, uid, browser) = try await old(way)
    #expect(try await world.script("account", "delete").status == 4)
    let parked = try await world.script("account", "delete", "--yes")
    #expect(parked.status == 4 && parked.error == "RequiresRecentLogin", "\(parked)")
    #expect(parked.stage == "reauthentication-required")
    #expect((parked.last["reauthentication"] as? [String: Any])?["kind"] as? String == way.kind)
    #expect(parked.result.stderr.contains("'linkctl reauthenticate'"))
    #expect(try await world.uid() == uid)
    if isKilled { try await world.killDaemon() }
    #expect(try await world.flow(parked.flow).stage == "reauthentication-required")
    switch way {
    case .password:
      let nobody = try await world.script("reauthenticate")
      #expect(nobody.status == 4 && nobody.stage == "waiting-for-password", "\(nobody)")
      let again = try await world.script("reauthenticate", "--password-stdin", stdin: "correct horse")
      #expect(again.status == 0, "\(again)\(world.log)")
    case .phone:
      let stopped = try await world.script("reauthenticate")
      #expect(stopped.status == 4 && stopped.stage == "waiting-for-code", "\(stopped)")
      let again = try await world.script(
        "code", stopped.flow, "--code-stdin", stdin: try await world.message(World.ownNumber))
      #expect(again.status == 0, "\(again)\(world.log)")
    case .emailLink:
      let sent = try await world.script("reauthenticate", "--no-wait")
      #expect(sent.status == 0 && sent.last["purpose"] as? String == "reauthenticate", "\(sent)")
      try await open(world)
    case .provider:
      let again = try await world.script("reauthenticate", environment: browser)
      #expect(again.status == 0, "\(again)\(world.log)")
    }
    try await expectDeleted(uid, world)
    #expect(try await world.requests("accounts:delete") == 2)
  }

  @Test("a second factor stops the new sign-in, not the deletion: at a terminal, and in a script with linkd killed")
  func secondFactor() async throws {
    for isScript in [false, true] {
      let world = try await World.start()
      let uid = try await world.signIn(by: .password)
      try await world.addPhoneFactor(to: uid)
      try await world.lapseLogins()
      let firsts = try await world.requests("accounts:signInWithPassword")
      if isScript {
        let parked = try await world.script("account", "delete", "--yes")
        #expect(parked.status == 4 && parked.stage == "reauthentication-required", "\(parked)")
        let again = try await world.script("reauthenticate", "--password-stdin", stdin: "correct horse")
        #expect(again.status == 4 && again.stage == "second-factor-required", "\(again)")
        try await world.killDaemon()
        #expect(try await world.script("factor", again.flow, "second").status == 4)
        let code = try await world.message(World.factorNumber)
        let done = try await world.script("code", again.flow, "--code-stdin", stdin: code)
        #expect(done.status == 0, "\(done)\(world.log)")
      } else {
        let terminal = try world.person("account", "delete")
        try await terminal.shows("[y/N] ")
        terminal.type("y")
        try await terminal.asksSecretly("Password: ")
        terminal.type("correct horse")
        try await terminal.shows("Press Enter to have a code sent to Work (")
        #expect(try await world.messages(World.factorNumber).isEmpty)
        terminal.type("")
        try await terminal.asksSecretly("Code (")
        terminal.type(try await world.message(World.factorNumber))
        #expect(terminal.end() == 0, "\(terminal.text)\(world.log)")
        #expect(terminal.text.hasSuffix("The account has been deleted.\n"), "\(terminal.text)")
      }
      try await expectDeleted(uid, world)
      #expect(try await world.requests("accounts:signInWithPassword") == firsts + 1)
    }
  }

  @Test("who says no deletes nothing; Ctrl-C at the password gives up the deletion with it")
  func givenUp() async throws {
    let (world, uid, _) = try await old(.password)
    let no = try world.person("account", "delete")
    try await no.shows("Delete the account ada@example.com for good? [y/N] ")
    no.type("")
    #expect(no.end() == 130)
    #expect(try await world.requests("accounts:delete") == 0)
    let terminal = try Terminal(
      ["setsid", "--ctty", "--wait", "\(World.programs)/linkctl", "account", "delete"], environment: world.environment)
    try await terminal.shows("[y/N] ")
    terminal.type("y")
    try await terminal.asksSecretly("Password: ")
    terminal.press("\u{3}")
    #expect(terminal.end() == 130, "\(terminal.text)\(world.log)")
    #expect(terminal.echoes)
    try await world.eventually("no flows") { try await world.json("flows").isEmpty }
    #expect(try await world.uid() == uid)
  }
}
