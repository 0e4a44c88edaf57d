import Foundation

/// `linkctl` at a terminal of its own.
public final class WorldTerminal {
  private let master: Int32
  private let pid: Int32
  /// What it has shown.
  public private(set) var text = ""

  /// Runs `linkctl` with `arguments`.
  public init(_ world: World, _ arguments: String...) throws {
    var (master, slave) = (Int32(-1), Int32(-1))
    guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw World.Failure(description: "no terminal") }
    self.master = master
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    pid = try Subprocess.spawn(
      ["\(World.programs)/linkctl"] + arguments, environment: world.environment, stdin: slave, stdout: slave,
      stderr: slave, ownGroup: true)
    close(slave)
  }

  deinit { close(master) }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = Glibc.read(master, &buffer, buffer.count), count > 0 {
      text += String(decoding: buffer[..<count], as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
    }
  }

  /// Whether what is typed is shown.
  private var echoes: Bool {
    var mode = termios()
    return tcgetattr(master, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
  }

  /// Waits until `part` has been shown.
  /// - Parameter isSecret: and what is typed isn't any more; what was typed before that is thrown away.
  public func shows(_ part: String, isSecret: Bool = false) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
      read()
      if text.contains(part), !isSecret || !echoes { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw World.Failure(description: "never shown: \(part)\n\(text)")
  }

  /// Types a line.
  public func type(_ line: String) { _ = (line + "\n").withCString { write(master, $0, strlen($0)) } }

  /// Waits for the end; the exit code.
  public func end() -> Int32 {
    let status = Subprocess.wait(pid)
    read()
    return status
  }
}
