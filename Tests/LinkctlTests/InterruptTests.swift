import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// What an interrupt leaves behind (behaviour: Pending flows 7).
@Suite("linkctl and interrupts", .loopRunning, .timeLimit(.minutes(1)))
struct InterruptTests {
  @Test("an interrupt cancels what nobody else can go on with", arguments: [SIGINT, SIGTERM, SIGHUP])
  func interrupted(_ number: Int32) async throws {
    let desk = try await Desk()
    await desk.stub.react("Cancel") { stub, _ in stub.move("cancelled") }
    for (stage, question) in [("waiting-for-redirect", "paste that"), ("waiting-for-code", "Code: ")] {
      await desk.stub.move(stage, EnrollmentCommandTests.totp)
      let terminal = try desk.terminal("sign-in", "google.com")
      try await terminal.shows(question)
      terminal.signal(number)
      #expect(terminal.end() == 130 && terminal.echoes && terminal.text.hasSuffix("\nCancelled.\n"))
    }
    #expect(await desk.stub.calls("Cancel").count == 2)
    // At a question that waits for nothing else, and inside a flow for another one: both are given up.
    await desk.stub.begin(
      "reauthentication-required", ReauthenticationCommandTests.parked("password"), purpose: "delete-user",
      method: "none")
    await desk.stub.beginAgain("waiting-for-password")
    let terminal = try desk.terminal("account", "delete", "--yes")
    try await terminal.asksSecretly("Password: ")
    terminal.signal(number)
    #expect(terminal.end() == 130 && terminal.echoes)
    let paths = await desk.stub.calls.filter { $0.member == "Cancel" }.suffix(2).map(\.path)
    #expect(paths == [StubService.secondFlow, StubService.flow])
  }

  @Test("a link that was mailed for what is given up is given up, too; it's told once")
  func mailedForNothing() async throws {
    let desk = try await ReauthenticationCommandTests.desk(
      ReauthenticationCommandTests.parked("email-link", ["email": .string("a@b.c")]))
    await desk.stub.beginAgain("waiting-for-link", ["email": .string("a@b.c")])
    await desk.stub.react("Cancel") { stub, call in
      call.path == StubService.flow ? stub.move("cancelled") : stub.moveAgain("cancelled")
    }
    let terminal = try desk.terminal("account", "delete", "--yes")
    try await terminal.shows("A link has been sent to a@b.c.")
    terminal.signal(SIGINT)
    #expect(terminal.end() == 130 && terminal.text.components(separatedBy: "Cancelled.").count == 2)
    #expect(await desk.stub.calls("Cancel").count == 2)
  }

  @Test("an interrupt leaves what goes on without the command: mailed links, exchanges, others' flows")
  func left() async throws {
    let desk = try await Desk()
    for (command, stage, text) in [
      (["sign-in", "email-link", "a@b.c"], "waiting-for-link", "waiting for it"),
      (["sign-in", "google.com"], "exchanging", "Signing in"),
      (["resolve", "f1", "keep"], "waiting-for-redirect", "Go on"),
    ] {
      await desk.stub.begin(stage)
      let terminal = try Terminal(["\(World.programs)/linkctl"] + command, environment: desk.environment())
      try await terminal.shows(text)
      terminal.signal(SIGINT)
      #expect(terminal.end() == 130)
      #expect(terminal.text.contains("linkd goes on with it") == (stage == "exchanging"))
    }
    #expect(await desk.stub.calls("Cancel").isEmpty)
  }

  @Test("a second interrupt doesn't wait for a linkd that hangs")
  func hanging() async throws {
    let desk = try await Desk()
    await desk.stub.hang()
    let terminal = try desk.terminal("sign-in", "google.com")
    try await terminal.shows("paste that")
    terminal.signal(SIGINT)
    try await until { await !desk.stub.calls("Cancel").isEmpty }
    let before = ContinuousClock.now
    terminal.signal(SIGINT)
    #expect(terminal.end() == 130 && ContinuousClock.now - before < .seconds(2))
  }
}
