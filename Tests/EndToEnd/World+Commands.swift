import Foundation
import TestSupport

/// What a script gets from `linkctl … --json`.
struct ScriptAnswer {
  let result: Subprocess.Result
  /// The objects of its lines.
  let lines: [[String: Any]]

  init(_ result: Subprocess.Result) throws {
    self.result = result
    lines = try result.stdout.split(separator: "\n").map { line in
      guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
        throw World.Failure(description: "no object: \(line)")
      }
      return object
    }
  }

  var status: Int32 { result.status }
  /// The flow's id; empty where none was made.
  var flow: String { lines.lazy.compactMap { $0["flow"] as? String }.first ?? "" }
  /// The last line about the flow.
  var last: [String: Any] { lines.last { $0["stage"] != nil } ?? [:] }
  var stage: String? { last["stage"] as? String }
  /// The name of the error in the last line, without the prefix.
  var error: String? { (lines.last?["error"] as? String)?.split(separator: ".").last.map(String.init) }
}

/// `linkctl` as a person at a terminal and as a script use it.
extension World {
  /// A browser without a person, to which `xdg-open` gives every page; it comes back by the scheme.
  func withBrowser() async throws -> [String: String] {
    let registered = try await linkctl("register")
    guard registered.status == 0 else { throw Failure(description: "register: \(registered.stderr)") }
    _ = try addWalker()
    return ["PATH": "\(home.file("bin")):\(environment["PATH"] ?? "/usr/bin:/bin")"]
  }

  /// `linkctl` with a person in front of it.
  func person(_ arguments: String..., environment more: [String: String] = [:]) throws -> Terminal {
    try Terminal(["\(World.programs)/linkctl"] + arguments, environment: environment.merging(more) { $1 })
  }

  /// `linkctl … --json` with nobody in front of it.
  func script(
    _ arguments: String..., stdin: String = "", environment more: [String: String] = [:]
  ) async throws -> ScriptAnswer {
    try ScriptAnswer(
      try await run(["\(World.programs)/linkctl"] + arguments + ["--json"], stdin: stdin, environment: more))
  }
}
