import Foundation

/// A real dbus-daemon of the test's own, with its own socket and configuration. It is killed with SIGKILL: a
/// dbus-daemon with a blocked or ignored SIGTERM would outlive the tests.
public final class PrivateBus: Sendable {
  /// `unix:path=…,guid=…`
  public let address: String
  /// Process id of the dbus-daemon.
  public let pid: Int32
  /// The directory with configuration and socket.
  public let scratch: Scratch
  /// Kills the bus when the test process dies without having done so (a crash, a time limit).
  private let watchdog: Watchdog
  private let running = NSLock()
  private nonisolated(unsafe) var isStopped = false  // guarded by `running`

  private init(address: String, pid: Int32, scratch: Scratch, watchdog: Watchdog) {
    (self.address, self.pid, self.scratch, self.watchdog) = (address, pid, scratch, watchdog)
  }

  /// Starts a bus and returns when it listens.
  /// - Parameters:
  ///   - serviceDirectories: directories with `.service` files for D-Bus activation.
  ///   - environment: added to the test's environment for the bus, and so for the services it starts.
  public static func start(
    serviceDirectories: [String] = [], environment: [String: String] = [:]
  ) throws -> PrivateBus {
    let scratch = try Scratch("linkd-bus")
    let configuration = try scratch.write(
      configurationText(socket: scratch.file("bus"), serviceDirectories: serviceDirectories), to: "bus.conf")
    let pipe = try Subprocess.Pipe.make()
    defer { close(pipe.read) }
    var variables = ProcessInfo.processInfo.environment
    variables["DBUS_SESSION_BUS_ADDRESS"] = nil
    variables["DBUS_STARTER_ADDRESS"] = nil
    variables.merge(environment) { $1 }
    // It grumbles about descriptor limits where it isn't privileged to raise them.
    let log = open(scratch.file("bus.log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    let pid: Int32
    do {
      defer { [pipe.write, log].forEach { close($0) } }
      pid = try Subprocess.spawn(
        ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--nopidfile", "--nosyslog", "--print-address"],
        environment: variables, stdout: pipe.write, stderr: log)
    }
    let address = pipe.readLine()
    guard address.hasPrefix("unix:") else {
      kill(pid, SIGKILL)
      Subprocess.wait(pid)
      throw POSIXFailure("dbus-daemon printed no address", EPROTO)
    }
    return PrivateBus(address: address, pid: pid, scratch: scratch, watchdog: try Watchdog(over: pid))
  }

  deinit { stop() }

  /// The test's environment with this bus as session bus, for programs started on it.
  public var environment: [String: String] {
    var variables = ProcessInfo.processInfo.environment
    variables["DBUS_SESSION_BUS_ADDRESS"] = address
    return variables
  }

  /// Kills the bus and waits for its end. Harmless the second time.
  public func stop() {
    running.withLock {
      if isStopped { return }
      isStopped = true
      watchdog.stop()
      kill(pid, SIGKILL)
      Subprocess.wait(pid)
    }
  }

  private static func configurationText(socket: String, serviceDirectories: [String]) -> String {
    let directories = serviceDirectories.map { "  <servicedir>\($0)</servicedir>" }.joined(separator: "\n")
    let limits = [
      ("max_connections_per_user", 4096), ("max_completed_connections", 4096), ("max_incomplete_connections", 4096),
      ("max_incoming_bytes", 1_000_000_000), ("max_outgoing_bytes", 1_000_000_000),
      ("max_message_size", 1_000_000_000), ("max_match_rules_per_connection", 50000),
      ("max_replies_per_connection", 50000), ("max_pending_service_starts", 10000),
      ("max_names_per_connection", 50000), ("service_start_timeout", 20000), ("auth_timeout", 240_000),
    ].map { "  <limit name=\"\($0.0)\">\($0.1)</limit>" }.joined(separator: "\n")
    return """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
       "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type>
        <listen>unix:path=\(socket)</listen>
        <auth>EXTERNAL</auth>
      \(directories)
        <policy context="default">
          <allow send_destination="*" eavesdrop="true"/>
          <allow eavesdrop="true"/>
          <allow own="*"/>
        </policy>
      \(limits)
      </busconfig>
      """
  }
}

/// A shell that waits for the end of a pipe, which comes when this process is gone, and then kills another process; a whole
/// group where its number is negative.
struct Watchdog: Sendable {
  private let pid: Int32
  private let pipe: Subprocess.Pipe

  init(over victim: Int32) throws {
    let pipe = try Subprocess.Pipe.make()
    defer { close(pipe.read) }
    pid = try Subprocess.spawn(["/bin/sh", "-c", "read -r line; kill -s KILL -- \(victim)"], stdin: pipe.read)
    self.pipe = pipe
  }

  /// Before the victim's id becomes free for others.
  func stop() {
    kill(pid, SIGKILL)
    Subprocess.wait(pid)
    close(pipe.write)
  }
}
