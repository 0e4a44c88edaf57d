import Foundation
import TestSupport

/// `gdbus monitor`: a subscriber that isn't ours.
final class Monitor: Sendable {
  private let pid: Int32
  private let file: String

  init(_ world: World) throws {
    file = world.home.file("monitor-\(UUID().uuidString)")
    let descriptor = open(file, O_WRONLY | O_CREAT, 0o600)
    defer { close(descriptor) }
    pid = try Subprocess.spawn(
      ["gdbus", "monitor", "--session", "--dest", "org.linkd.Auth1"], environment: world.environment, stdout: descriptor
    )
    let deadline = ContinuousClock.now + .seconds(10)
    while !output.contains("Monitoring signals"), ContinuousClock.now < deadline { usleep(10_000) }
    // The line is printed before the bus has the match rule; a call of its own connection's owner is the next thing.
    while !output.contains("is owned by") && !output.contains("does not have an owner"), ContinuousClock.now < deadline
    {
      usleep(10_000)
    }
  }

  var output: String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }

  deinit {
    kill(pid, SIGKILL)
    Subprocess.wait(pid)
  }
}

/// `dbus-monitor`: every signal that anybody on the bus could see, from its first moment.
final class BusMonitor: Sendable {
  private let pid: Int32
  private let file: String

  /// - Parameter notices: whether to look at what the desktop is asked to show, too, which is no broadcast.
  init(_ world: World, notices: Bool = false) async throws {
    file = world.home.file("bus-monitor-\(UUID().uuidString)")
    let descriptor = open(file, O_WRONLY | O_CREAT, 0o600)
    defer { close(descriptor) }
    pid = try Subprocess.spawn(
      ["dbus-monitor", "--session", "type='signal'"] + (notices ? ["type='method_call',member='Notify'"] : []),
      environment: world.environment, stdout: descriptor)
    // It says nothing when it's ready: a signal of our own shows that it is.
    try await world.eventually("dbus-monitor") {
      try await world.run([
        "gdbus", "emit", "--session", "--object-path", "/probe", "--signal", "org.example.Probe.Probe",
      ])
      return output.contains("member=Probe")
    }
  }

  var output: String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }

  /// The notifications that the desktop was asked to show, whole.
  var notices: [String] {
    output.components(separatedBy: "\nmethod call time=").dropFirst().map {
      $0.components(separatedBy: "\nsignal time=")[0]
    }
  }

  /// How often a signal of that name carried `text` in its first lines.
  func count(_ member: String, _ text: String) -> Int {
    output.components(separatedBy: "signal time=").filter { $0.contains("member=\(member)\n") && $0.contains(text) }
      .count
  }

  deinit {
    kill(pid, SIGKILL)
    Subprocess.wait(pid)
  }
}
