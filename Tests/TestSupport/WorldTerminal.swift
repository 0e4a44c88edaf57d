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

  /// Waits until `part` has been shown.
  public func shows(_ part: String) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
      read()
      if text.contains(part) { return }
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
