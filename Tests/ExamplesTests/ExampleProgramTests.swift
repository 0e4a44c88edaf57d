import Foundation
import TestSupport
import Testing

/// Runs each example in a session of its own with the real linkd and the emulator. They all take the same arguments.
@Suite("The examples", .timeLimit(.minutes(3)))
struct ExampleProgramTests {
  enum Example: String, CaseIterable, CustomTestStringConvertible {
    case python, shell, gjs, c, swift
    var testDescription: String { rawValue }
    /// Those that sign in by phone, and answer for second factors.
    static let withCodes: [Example] = [.python, .shell, .gjs, .swift]

    /// How to run it.
    func argv(_ world: World) async throws -> [String] {
      let folder = "\(World.root)/examples/\(rawValue)"
      switch self {
      case .python: return ["/usr/bin/python3", "\(folder)/sign_in.py"]
      case .shell: return ["bash", "\(folder)/sign-in.sh"]
      case .gjs: return ["gjs", "-m", "\(folder)/sign-in.js"]
      case .swift: return ["\(World.programs)/sign-in-swift"]
      case .c:
        let program = world.home.file("sign-in")
        let flags = try await world.run(["pkg-config", "--cflags", "--libs", "dbus-1"])
        let built = try await world.run(
          ["cc", "-Wall", "-Wextra", "-Werror", "-o", program, "\(folder)/sign-in.c"]
            + flags.stdout.split(whereSeparator: \.isWhitespace).map(String.init), timeout: .seconds(60))
        guard built.status == 0 else { throw World.Failure(description: built.stderr) }
        return [program]
      }
    }
  }

  @Test("signs somebody in by a mailed link, shows state and expiry, and no token", arguments: Example.allCases)
  func signsIn(_ example: Example) async throws {
    let world = try await World.start()
    let program = try Program(world, try await example.argv(world) + ["demo", "you@example.com"])
    try await world.eventually("the hint") { program.output.contains("A link was sent to you@example.com") }
    let link = try await world.button(try await world.mail("you@example.com"))
    #expect(try await world.linkctl("open", "--no-wait", "--", link).status == 0)
    #expect(try await program.end() == 0, "\(program.output)")
    #expect(program.output.contains("state: authenticated\n") && program.output.contains("user: you@example.com\n"))
    #expect(program.output.contains(#/token until: 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d/#))
    #expect(try await world.email() == "you@example.com")
    let token = try await world.linkctl("token").stdout.trimmingCharacters(in: .newlines)
    #expect(token.count > 20 && !program.output.contains(token.prefix(20)))
  }

  @Test("Python signs somebody in by a provider, in the browser that the desktop opens")
  func provider() async throws {
    let world = try await World.start(apps: [])
    let provider = try world.home.write(#"{ "id": "google.com", "kind": "handler" }"#, to: "google.json")
    try await world.addApp("demo", scheme: World.scheme, "--provider", provider)
    try await world.setPerson("ada@example.com")
    let portal = try await world.startPortal()
    #expect(try await world.linkctl("register").status == 0)
    let program = try Program(world, try await Example.python.argv(world) + ["demo", "google.com"])
    #expect(try await program.end() == 0, "\(program.output)")
    #expect(program.output.contains("user: ada@example.com\n"))
    withExtendedLifetime(portal) {}
  }

  @Test(
    "a phone number's code signs in, after something that's no code and a wrong one",
    arguments: Example.withCodes)
  func phone(_ example: Example) async throws {
    let world = try await World.start()
    let program = try Program(world, try await example.argv(world) + ["demo", "+447700900123"])
    try await program.answer("12", to: "code", world)
    try await program.answer("000000", to: "gain|digits", world)
    try await world.eventually("a new question") {
      program.output.contains("4 attempts") || program.output.components(separatedBy: "please:").count > 2
    }
    program.type(try await world.newestCode("+447700900123"))
    #expect(try await program.end() == 0, "\(program.output)")
    #expect(program.output.contains("state: authenticated\n") && program.output.contains("user: +447700900123\n"))
  }

  @Test("a second factor is asked for, and its code signs in", arguments: Example.withCodes)
  func secondFactor(_ example: Example) async throws {
    let world = try await World.start()
    try await world.addAccount("you@example.com", factor: "+447700900123")
    let program = try Program(world, try await example.argv(world) + ["demo", "you@example.com"])
    let link = try await world.button(try await world.mail("you@example.com"))
    #expect(try await world.linkctl("open", "--no-wait", "--", link).status == 0)
    // The shell and GJS take the first.
    if example == .python || example == .swift { try await program.answer("1", to: "Which one", world) }
    try await world.eventually("the code's question") { program.output.contains("code") }
    program.type(try await world.newestCode("+447700900123"))
    #expect(try await program.end() == 0, "\(program.output)")
    #expect(program.output.contains("user: you@example.com\n"))
  }

  @Test("shows the token when it is asked to", arguments: Example.allCases)
  func showsToken(_ example: Example) async throws {
    let world = try await World.start()
    let argv = try await example.argv(world) + ["demo", "you@example.com", "--show-token"]
    let program = try Program(world, argv)
    let link = try await world.button(try await world.mail("you@example.com"))
    #expect(try await world.linkctl("open", "--no-wait", "--", link).status == 0)
    #expect(try await program.end() == 0, "\(program.output)")
    let token = try await world.linkctl("token").stdout.trimmingCharacters(in: .newlines)
    #expect(program.output.contains("\n\(token)\n"))
  }

  @Test("Ctrl-C cancels the flow, and nobody is signed in", arguments: Example.allCases)
  func cancelled(_ example: Example) async throws {
    let world = try await World.start()
    let program = try Program(world, try await example.argv(world) + ["demo", "you@example.com"])
    try await world.eventually("the hint") { program.output.contains("A link was sent to you@example.com") }
    try await world.eventually("the flow") { try await !world.json("flows").isEmpty }
    program.interrupt()
    #expect(try await program.end() == 130, "\(program.output)")
    #expect(try await world.json("flows").isEmpty)
    #expect(try await world.linkctl("whoami").status == 1)
  }

  @Test("Ctrl-C where a code is asked for cancels the flow", arguments: Example.withCodes)
  func cancelledAtQuestion(_ example: Example) async throws {
    let world = try await World.start()
    let program = try Program(world, try await example.argv(world) + ["demo", "+447700900123"])
    try await world.eventually("the question") { program.output.contains("code") }
    program.interrupt()
    #expect(try await program.end() == 130, "\(program.output)")
    #expect(try await world.json("flows").isEmpty)
  }

  @Test("an error is said in words, by its name, and in the exit code", arguments: Example.allCases)
  func refused(_ example: Example) async throws {
    let world = try await World.start()
    let argv = try await example.argv(world)
    let app = try Program(world, argv + ["nobody", "you@example.com"])
    #expect(try await app.end() != 0)
    let address = try Program(world, argv + ["demo", "no address"])
    #expect(try await address.end() != 0)
    // The shell's words are linkctl's, which has no names but in --json; the screen of Swift checks by itself.
    if example != .shell { #expect(app.output.contains("org.linkd.Auth1.Error.NoSuchApp"), "\(app.output)") }
    if example != .shell && example != .swift {
      #expect(address.output.contains("org.linkd.Auth1.Error.InvalidEmail"), "\(address.output)")
    }
    #expect(!app.output.isEmpty && !address.output.isEmpty)
  }

  @Test("each example says how to run it, and the index has it")
  func documented() throws {
    let folder = "\(World.root)/examples"
    let index = try String(contentsOfFile: "\(folder)/README.md", encoding: .utf8)
    for file in [
      "python/sign_in.py", "shell/sign-in.sh", "gjs/sign-in.js", "c/sign-in.c", "dart/sign_in.dart",
      "swift/SignIn/Main.swift", "swift/Login/LoginViewModel.swift", "swift/Login/LoginViewModel+Codes.swift",
    ] {
      #expect(index.contains("(\(file))"), "\(file)")
      let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
      #expect(text.contains("hree lines to sign your user in") || file.contains("LoginViewModel"), "\(file)")
      #expect(file.contains("LoginViewModel") || text.contains("APP EMAIL"), "\(file)")
    }
  }
}

/// An example that runs, with all it writes.
private final class Program: Sendable {
  private let pid: Int32
  private let file: String
  private let input: Int32

  init(_ world: World, _ argv: [String]) throws {
    file = world.home.file("example-\(UUID().uuidString)")
    let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    let pipe = try Subprocess.Pipe.make()
    defer { for end in [descriptor, pipe.read] { close(end) } }
    input = pipe.write
    pid = try Subprocess.spawn(
      argv, environment: world.environment, stdin: pipe.read, stdout: descriptor, stderr: descriptor, ownGroup: true)
  }

  deinit { close(input) }

  /// A line of its standard input.
  func type(_ line: String) { _ = (line + "\n").withCString { write(input, $0, strlen($0)) } }

  /// Types a line once it has asked.
  func answer(_ line: String, to question: String, _ world: World) async throws {
    let question = try Regex(question)
    try await world.eventually("a question") { output.contains(question) }
    type(line)
  }

  var output: String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }

  /// As a terminal does: to the whole group.
  func interrupt() { kill(-pid, SIGINT) }

  /// Its exit status; one that takes too long is killed.
  func end() async throws -> Int32 {
    let pid = pid
    return await withCheckedContinuation { continuation in
      Thread {
        let limit = ContinuousClock.now + .seconds(30)
        var status: Int32 = 0
        while waitpid(pid, &status, WNOHANG) == 0 {
          if ContinuousClock.now > limit { kill(-pid, SIGKILL) }
          usleep(5_000)
        }
        continuation.resume(returning: status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f))
      }.start()
    }
  }
}

extension World {
  /// The code of the newest message to a number.
  fileprivate func newestCode(_ number: String) async throws -> String {
    let path = "/emulator/v1/projects/\(World.project)/verificationCodes"
    let all = try await emulatorJSON("GET", path)["verificationCodes"] as? [[String: Any]] ?? []
    return try #require(all.last { $0["phoneNumber"] as? String == number }?["code"] as? String)
  }

  /// An account with a phone as second factor.
  fileprivate func addAccount(_ email: String, factor number: String) async throws {
    let body = """
      {"localId": "u1", "email": "\(email)", "emailVerified": true, "password": "correct horse",
       "mfaInfo": [{"phoneInfo": "\(number)", "displayName": "Mine"}]}
      """
    let result = try await run([
      "curl", "-fsS", "http://\(emulatorAddress)/identitytoolkit.googleapis.com/v1/projects/\(World.project)/accounts",
      "-H", "Authorization: Bearer owner", "-H", "Content-Type: application/json", "-d", body,
    ])
    guard result.status == 0 else { throw Failure(description: result.stderr) }
  }
}
