import CLinux
import Foundation
import Glibc

/// Programs run by tests, through posix_spawn: `Foundation.Process` hands its own blocked signals on to children,
/// which then ignore SIGTERM.
public enum Subprocess {
  /// How a program ended and what it wrote.
  public struct Result: Sendable {
    /// Exit status; 128 + signal number for a killed one.
    public let status: Int32
    /// All of its standard output.
    public let stdout: String
    /// All of its standard error.
    public let stderr: String
    /// Whether it had to be killed for taking too long.
    public let timedOut: Bool
  }

  /// Runs a program to its end. The whole process group is killed after `timeout`.
  /// - Parameters:
  ///   - argv: the program (looked up in PATH unless it has a slash) and its arguments.
  ///   - environment: all of it; nil hands on the environment of the test.
  ///   - stdin: what it can read; by default nothing.
  public static func run(
    _ argv: [String], environment: [String: String]? = nil, stdin: String = "", timeout: Duration = .seconds(20)
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread {
        continuation.resume(
          with: Swift.Result { try runBlocking(argv, environment: environment, stdin: stdin, timeout: timeout) })
      }
      thread.start()
    }
  }

  /// The same on the calling thread.
  public static func runBlocking(
    _ argv: [String], environment: [String: String]? = nil, stdin: String = "", timeout: Duration = .seconds(20)
  ) throws -> Result {
    let input = try Pipe.make(), output = try Pipe.make(), error = try Pipe.make()
    let pid: Int32
    do {
      defer { [input.read, output.write, error.write].forEach { close($0) } }
      pid = try spawn(
        argv, environment: environment, stdin: input.read, stdout: output.write, stderr: error.write,
        ownGroup: true)
    } catch {
      [input.write, output.read].forEach { close($0) }
      throw error
    }
    var exchange = Exchange(input: input.write, output: output.read, error: error.read, text: Array(stdin.utf8))
    let finished = exchange.run(until: ContinuousClock.now + timeout)
    if !finished { kill(-pid, SIGKILL) }
    return Result(
      status: wait(pid), stdout: String(decoding: exchange.outputBytes, as: UTF8.self),
      stderr: String(decoding: exchange.errorBytes, as: UTF8.self), timedOut: !finished)
  }

  /// Starts a program with an empty signal mask, default signal actions and no descriptors but the three given
  /// (-1: /dev/null), and gives its process id. The caller waits for it.
  public static func spawn(
    _ argv: [String], environment: [String: String]? = nil, stdin: Int32 = -1, stdout: Int32 = -1,
    stderr: Int32 = 2, ownGroup: Bool = false
  ) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, target) in [(stdin, Int32(0)), (stdout, 1), (stderr, 2)] {
      if descriptor < 0 {
        posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0)
      } else {
        posix_spawn_file_actions_adddup2(&actions, descriptor, target)
      }
    }
    clinux_spawn_close_from(&actions, 3)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t(), all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    let group = ownGroup ? POSIX_SPAWN_SETPGROUP : 0
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))

    let own = ProcessInfo.processInfo.environment
    // What scripts/sanitize asks of the sanitizers, it asks of every program.
    let sanitizers = own.filter { ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key) }
    let variables = (environment ?? own).merging(sanitizers) { $1 }.map { "\($0.key)=\($0.value)" }
    let arguments = argv.map { strdup($0) } + [nil], block = variables.map { strdup($0) } + [nil]
    defer { (arguments + block).forEach { free($0) } }
    var pid = pid_t()
    let code = posix_spawnp(&pid, argv[0], &actions, &attributes, arguments, block)
    guard code == 0 else { throw POSIXFailure("spawn \(argv[0])", code) }
    return pid
  }

  /// Waits for a child's end: exit status, or 128 + signal number.
  @discardableResult
  public static func wait(_ pid: Int32) -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 { if errno != EINTR { return -1 } }
    return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
  }

  /// Both ends of a pipe, closed on exec.
  public struct Pipe: Sendable {
    /// To read from.
    public let read: Int32
    /// To write to.
    public let write: Int32

    /// Makes one.
    public static func make() throws -> Pipe {
      var ends: [Int32] = [-1, -1]
      guard clinux_pipe(&ends) == 0 else { throw POSIXFailure("pipe") }
      return Pipe(read: ends[0], write: ends[1])
    }

    /// The next line, without its end: all that is left where there is none.
    public func readLine() -> String {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while Glibc.read(read, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}

/// Feeds a child's input and collects what it writes, without blocking on either.
private struct Exchange {
  var input: Int32
  var output: Int32
  var error: Int32
  var text: [UInt8]
  var outputBytes: [UInt8] = []
  var errorBytes: [UInt8] = []

  init(input: Int32, output: Int32, error: Int32, text: [UInt8]) {
    (self.input, self.output, self.error, self.text) = (input, output, error, text)
    signal(SIGPIPE, SIG_IGN)
    _ = fcntl(input, F_SETFL, O_NONBLOCK)
  }

  /// False when the time was up first.
  mutating func run(until deadline: ContinuousClock.Instant) -> Bool {
    defer { [input, output, error].filter { $0 >= 0 }.forEach { close($0) } }
    while output >= 0 || error >= 0 {
      if text.isEmpty, input >= 0 {
        close(input)
        input = -1
      }
      let left = (deadline - .now) / .milliseconds(1)
      if left <= 0 { return false }
      var set = [input, output, error].map {
        pollfd(fd: $0, events: $0 == input ? Int16(POLLOUT) : Int16(POLLIN), revents: 0)
      }
      guard poll(&set, 3, Int32(min(left.rounded(.up), 1e6))) > 0 else { continue }
      if set[0].revents != 0 { feed() }
      if set[1].revents != 0, !collect(output, &outputBytes) { close(output); output = -1 }
      if set[2].revents != 0, !collect(error, &errorBytes) { close(error); error = -1 }
    }
    return true
  }

  private mutating func feed() {
    let count = write(input, text, text.count)
    if count > 0 { text.removeFirst(count) } else if errno != EAGAIN { text = [] }
  }

  private func collect(_ descriptor: Int32, _ bytes: inout [UInt8]) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65536)
    let count = read(descriptor, &chunk, chunk.count)
    if count > 0 { bytes += chunk[..<count] }
    return count > 0
  }
}
