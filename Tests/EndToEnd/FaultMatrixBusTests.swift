import Foundation
import TestSupport
import Testing

@Suite("Fault matrix: the bus", .timeLimit(.minutes(2)))
struct FaultMatrixBusTests {
  @Test("a bus that goes takes the daemon with it, cleanly, and at the next bus a call finds session and flow again")
  func lostAndBack() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    _ = try await world.sendLink("next@example.com")
    let link = try await world.button(try await world.mail("next@example.com"))
    let pid = try #require(try world.daemonPID())
    world.bus.stop()
    try await world.eventually("the daemon's end") { kill(pid, 0) != 0 }
    #expect(world.log.contains("the session bus is gone"))
    #expect(try await world.linkctl("status").status == 69)

    // Another one at the same address; only its id differs.
    let pipe = try Subprocess.Pipe.make()
    let next = try Subprocess.spawn(
      [
        "dbus-daemon", "--config-file=\(world.bus.scratch.file("bus.conf"))", "--nofork", "--nopidfile", "--nosyslog",
        "--print-address",
      ], environment: world.environment.filter { $0.key != "DBUS_SESSION_BUS_ADDRESS" }, stdout: pipe.write, stderr: -1)
    close(pipe.write)
    defer {
      kill(next, SIGKILL)
      Subprocess.wait(next)
      close(pipe.read)
    }
    let address = pipe.readLine()
    #expect(address.prefix { $0 != "," } == world.bus.address.prefix { $0 != "," })
    let session = ["DBUS_SESSION_BUS_ADDRESS": address]
    let whoami = try await world.linkctl("whoami", "--json", environment: session)
    #expect(whoami.status == 0 && whoami.stdout.contains("user@example.com"), "\(whoami)")
    #expect(try await world.linkctl("token", environment: session).status == 0)
    #expect(try await world.linkctl("open", link, environment: session).status == 0)
    #expect(try await world.linkctl("whoami", "--json", environment: session).stdout.contains("next@example.com"))
    // Ended before its bus is.
    let daemon = try await world.run(
      [
        "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
        "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.linkd.Auth1",
      ], environment: session)
    if let pid = Int32(daemon.stdout.filter(\.isNumber).dropFirst(2)) { kill(pid, SIGKILL) }
  }

  @Test("a request under way when the bus goes is lost without harm: the flow goes on at the next start")
  func lostWhileExchanging() async throws {
    let world = try await World.start()
    _ = try await world.sendLink("user@example.com")
    let link = try await world.button(try await world.mail("user@example.com"))
    try await world.fault(["path": "accounts:signInWithEmailLink", "hold-before-handling": true])
    #expect(try await world.linkctl("open", "--no-wait", link).status == 0)
    try await world.eventually("the exchange") { try await world.requests("accounts:signInWithEmailLink") == 1 }
    let pid = try #require(try world.daemonPID())
    world.bus.stop()
    try await world.eventually("the daemon's end") { kill(pid, 0) != 0 }
    try await world.clearFaults()
    let bus = try PrivateBus.start(
      serviceDirectories: [world.home.file("services")],
      environment: world.environment.filter { $0.key != "DBUS_SESSION_BUS_ADDRESS" })
    defer { bus.stop() }
    let session = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
    try await world.eventually("the session") {
      try await world.linkctl("whoami", "--json", environment: session).stdout.contains("user@example.com")
    }
  }
}
