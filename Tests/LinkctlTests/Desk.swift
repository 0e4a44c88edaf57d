import EventLoop
import Foundation
import TestSupport

/// A bus with a stub of linkd, and `linkctl` on it, with an `xdg-open` of the test's.
struct Desk {
  let bus: PrivateBus
  let stub: StubService
  let home: Scratch

  /// - Parameter xdgOpen: what `xdg-open` does after it has noted how it was called.
  init(xdgOpen: String = "exit 0") async throws {
    bus = try PrivateBus.start()
    stub = try await StubService(bus)
    home = try Scratch("linkctl")
    let note = "printf '%s\\n' \"$#\" \"$@\" \"$(readlink /proc/self/fd/0)\" >'\(home.file("part"))'"
    try home.write(
      "#!/bin/sh\n\(note)\nmv '\(home.file("part"))' '\(home.file("opened"))'\n\(xdgOpen)\n", to: "bin/xdg-open",
      executable: true)
  }

  /// How `xdg-open` was called: the number of its arguments, these, its standard input; nil if it wasn't.
  var opened: [String]? {
    (try? String(contentsOfFile: home.file("opened"), encoding: .utf8))?.split(separator: "\n").map(String.init)
  }

  func environment(_ more: [String: String] = [:]) -> [String: String] {
    [
      "PATH": "\(home.file("bin")):/usr/bin:/bin", "HOME": home.path, "LC_ALL": "C.UTF-8",
      "DBUS_SESSION_BUS_ADDRESS": bus.address,
    ].merging(more) { $1 }
  }

  /// Runs `linkctl` to its end, without a terminal.
  func linkctl(_ arguments: String..., stdin: String = "", display: Bool = false) async throws -> Subprocess.Result {
    try await Subprocess.run(
      ["\(World.programs)/linkctl"] + arguments, environment: environment(display ? ["DISPLAY": ":0"] : [:]),
      stdin: stdin)
  }

  /// Runs `linkctl` at a terminal.
  func terminal(_ arguments: String..., display: Bool = false) throws -> Terminal {
    try Terminal(
      ["\(World.programs)/linkctl"] + arguments, environment: environment(display ? ["DISPLAY": ":0"] : [:]))
  }

  /// The objects of a run with `--json`.
  static func objects(_ result: Subprocess.Result) throws -> [[String: Any]] {
    try result.stdout.split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
  }
}

/// Waits for a condition.
func until(_ condition: () async throws -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(20)
  while try await !condition() {
    guard ContinuousClock.now < deadline else { throw World.Failure(description: "waited in vain") }
    try await Task.sleep(for: .milliseconds(5))
  }
}
