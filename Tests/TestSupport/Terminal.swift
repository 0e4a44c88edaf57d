import Foundation

/// A program with its input at a terminal, and what it writes to standard output and standard error.
public final class Terminal {
  private let master: Int32
  private let slave: Int32
  private let output: Subprocess.Pipe
  private let pid: Int32
  /// What it has written, as far as it has been waited for.
  public private(set) var text = ""

  /// Starts it.
  public init(_ argv: [String], environment: [String: String]) throws {
    var (master, slave) = (Int32(-1), Int32(-1))
    guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw POSIXFailure("openpty") }
    (self.master, self.slave) = (master, slave)
    output = try Subprocess.Pipe.make()
    pid = try Subprocess.spawn(
      argv, environment: environment, stdin: slave, stdout: output.write, stderr: output.write, ownGroup: true)
    close(output.write)
    _ = fcntl(output.read, F_SETFL, O_NONBLOCK)
  }

  deinit {
    if !hasEnded {
      kill(pid, SIGKILL)
      Subprocess.wait(pid)
    }
    [master, slave, output.read].forEach { close($0) }
  }

  /// Types a line.
  public func type(_ line: String) { press(line + "\n") }

  /// Types keys, and no more.
  public func press(_ keys: String) { _ = keys.withCString { write(master, $0, strlen($0)) } }

  /// Waits until what it has written has this in it at least `count` times; fails after 20 s.
  public func shows(_ part: String, count: Int = 1) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while text.components(separatedBy: part).count <= count {
      guard ContinuousClock.now < deadline else { throw World.Failure(description: "no '\(part)' in:\n\(text)") }
      collect()
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Waits until it's shown, and what is typed isn't any more.
  public func asksSecretly(_ part: String, count: Int = 1) async throws {
    try await shows(part, count: count)
    let deadline = ContinuousClock.now + .seconds(20)
    while echoes {
      guard ContinuousClock.now < deadline else { throw World.Failure(description: "what is typed is shown") }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Whether what is typed is shown.
  public var echoes: Bool {
    var mode = termios()
    return tcgetattr(slave, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Sends the program a signal.
  public func signal(_ number: Int32) { kill(pid, number) }

  private func collect() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(output.read, &buffer, buffer.count), count > 0 {
      text += String(decoding: buffer[..<count], as: UTF8.self)
    }
  }

  private var hasEnded = false

  /// Waits for its end, and gives the exit status.
  public func end() -> Int32 {
    hasEnded = true
    let status = Subprocess.wait(pid)
    collect()
    return status
  }
}
