import AuthEmulator
import Foundation
import TestSupport
import Testing

/// The program `auth-emulator`, as started from a shell.
@Suite(.timeLimit(.minutes(1)))
struct ProgramTests {
  static let program: String = {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath
    let folder = URL(filePath: bundle ?? CommandLine.arguments[0]).deletingLastPathComponent()
    return folder.appending(path: "auth-emulator").path
  }()

  @Test func saysWhenItIsReadyAndEndsOnSIGTERM() throws {
    let pipe = try Subprocess.Pipe.make()
    defer { close(pipe.read) }
    let pid = try Subprocess.spawn([Self.program, "--port", "0", "--project", "p"], stdout: pipe.write)
    close(pipe.write)
    var buffer = [UInt8](repeating: 0, count: 200)
    let count = read(pipe.read, &buffer, buffer.count)
    let line = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    let match = try #require(line.wholeMatch(of: #/auth-emulator: http:\/\/127\.0\.0\.1:(\d+) \(project p\)\n/#))
    let port = try #require(UInt16(match.1))
    #expect(try HTTPProbe(port: port).request("GET", "/").status == 200)
    kill(pid, SIGTERM)
    #expect(Subprocess.wait(pid) == 0)
  }

  @Test(arguments: [("--auto-consent=ada", "code="), ("--auto-refuse", "error=access_denied")])
  func pagesAnswerByThemselves(_ option: String, _ expected: String) throws {
    let pipe = try Subprocess.Pipe.make()
    defer { close(pipe.read) }
    let pid = try Subprocess.spawn(
      [Self.program, "--port", "0", "--account", "sub=ada,email=ada@example.com,name=Ada L.", option],
      stdout: pipe.write)
    close(pipe.write)
    defer {
      kill(pid, SIGTERM)
      Subprocess.wait(pid)
    }
    let match = try #require(pipe.readLine().firstMatch(of: #/127\.0\.0\.1:(\d+) /#))
    let port = try #require(UInt16(match.1))
    let answer = try HTTPProbe(port: port).request(
      "GET",
      "/emulator/openid/authorize?client_id=app&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2F&response_type=code"
        + "&scope=openid&code_challenge=\(OpenIDProbe.challenge)&code_challenge_method=S256")
    #expect(answer.status == 302 && answer.headers["location"]?.contains(expected) == true)
  }

  @Test func takenPortIsSaid() async throws {
    let emulator = try AuthEmulator.start()
    let result = try await Subprocess.run([Self.program, "--port=\(emulator.port)"])
    #expect(result.status == 69)
    #expect(result.stderr == "auth-emulator: port \(emulator.port) is taken\n")
    emulator.stop()
  }

  @Test(arguments: [
    ["--nonsense"], ["--port"], ["--port", "x"], ["--fault", "nonsense"], [""], ["--project", "a/b"],
    ["--account", "email=a@example.com"], ["--account", "sub=a,nonsense"], ["--auto-consent"], ["--auto-refuse=1"],
  ])
  func usageErrors(_ arguments: [String]) async throws {
    let result = try await Subprocess.run([Self.program] + arguments)
    #expect(result.status == 64)
    #expect(result.stderr.hasPrefix("auth-emulator: "))
    #expect(result.stdout.isEmpty)
  }

  @Test func helpHasAnExample() async throws {
    let result = try await Subprocess.run([Self.program, "--help"])
    #expect(result.status == 0 && result.stdout.contains("auth-emulator --fault path="))
    #expect(try await Subprocess.run([Self.program, "--version"]).stdout.hasPrefix("auth-emulator "))
  }
}
