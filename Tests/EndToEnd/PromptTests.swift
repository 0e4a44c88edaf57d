import Foundation
import TestSupport
import Testing

@Suite("Questions at the terminal, and passwords of scripts", .timeLimit(.minutes(2)))
struct PromptTests {
  /// `linkctl sign-in password` with its input at a terminal.
  private final class Asking {
    let terminal: Int32
    private let slave: Int32
    let pid: Int32
    private var output = ""
    private let errors: Subprocess.Pipe

    init(_ world: World) throws {
      var (master, slave) = (Int32(-1), Int32(-1))
      guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw World.Failure(description: "no terminal") }
      (terminal, self.slave) = (master, slave)
      errors = try Subprocess.Pipe.make()
      pid = try Subprocess.spawn(
        ["\(World.programs)/linkctl", "sign-in", "password", "ada@example.com"], environment: world.environment,
        stdin: slave, stderr: errors.write, ownGroup: true)
      close(errors.write)
      _ = fcntl(errors.read, F_SETFL, O_NONBLOCK)
    }

    deinit { [terminal, slave, errors.read].forEach { close($0) } }

    var shows: Bool {
      var mode = termios()
      return tcgetattr(slave, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// How often it has asked for a password by now.
    var questions: Int {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case let count = read(errors.read, &buffer, buffer.count), count > 0 {
        output += String(decoding: buffer[..<count], as: UTF8.self)
      }
      return output.components(separatedBy: "Password:").count - 1
    }

    func type(_ text: String) { _ = text.withCString { write(terminal, $0, strlen($0)) } }
  }

  @Test("an interrupt at a question ends the command with 130, and the terminal shows what is typed again")
  func interrupted() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    for signal in [SIGINT, SIGTERM, SIGHUP] {
      let first = try Asking(world)
      try await world.eventually("the question") { first.questions == 1 && !first.shows }
      kill(first.pid, signal)
      #expect(Subprocess.wait(first.pid) == 130)
      #expect(first.shows)
    }
    // The second question comes while the event loop holds these signals back.
    let second = try Asking(world)
    try await world.eventually("the question") { second.questions == 1 && !second.shows }
    second.type("wrong horse\n")
    try await world.eventually("the second question") { second.questions == 2 && !second.shows }
    kill(second.pid, SIGINT)
    #expect(Subprocess.wait(second.pid) == 130)
    #expect(second.shows)
  }

  @Test("a typed password signs in")
  func typed() async throws {
    let world = try await World.start()
    try await world.createUser("ada@example.com", "correct horse")
    #expect(try await world.linkctl("sign-out").status == 0)
    let asking = try Asking(world)
    try await world.eventually("the question") { asking.questions == 1 && !asking.shows }
    asking.type("correct horse\n")
    #expect(Subprocess.wait(asking.pid) == 0)
    #expect(asking.shows)
    #expect(try await world.email() == "ada@example.com")
  }

  // Repaired, every broken password would be the same one.
  @Test("a script's password is taken as it is, up to the end of its line, or refused with 65")
  func scripted() async throws {
    let world = try await World.start()
    let create = ["create-user", "ada@example.com", "--password-stdin"]
    for (bytes, name) in [("p\\374ssword", "latin 1"), ("pass\\000word", "a zero byte")] {
      let shell = "printf '\(bytes)\\n' | '\(World.programs)/linkctl' \(create.joined(separator: " "))"
      #expect(try await world.run(["sh", "-c", shell]).status == 65, "\(name)")
    }
    #expect(try await world.requests("accounts:signUp") == 0)
    let endless = "head -c 200000 /dev/zero | tr '\\0' x | '\(World.programs)/linkctl' \(create.joined(separator: " "))"
    #expect(try await world.run(["sh", "-c", endless]).status == 65)
    #expect(
      try await world.linkctl("create-user", "a@example.com", "--password-stdin", stdin: " two words \r\n").status == 0)
    #expect(
      try await world.linkctl("sign-in", "password", "a@example.com", "--password-stdin", stdin: " two words ").status
        == 0)
  }
}
