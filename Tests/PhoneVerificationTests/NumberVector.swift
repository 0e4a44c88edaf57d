import Foundation
import PhoneVerification
import TestSupport
import Testing

/// A number as it's typed somewhere, and as an independent library reads it: a line of `Tests/Vectors/phone-numbers.tsv`, or
/// of what `scripts/phone-numbers --all` prints.
struct NumberVector: Sendable {
  let region, kind, typedIn, text, e164: String

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  init(_ line: Substring) throws {
    let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    try #require(cells.count == 5)
    (region, kind, typedIn, text, e164) = (cells[0], cells[1], cells[2], cells[3], cells[4])
  }

  static func recordedLines() throws -> [Substring] {
    try String(contentsOf: root.appendingPathComponent("Tests/Vectors/phone-numbers.tsv"), encoding: .utf8)
      .split(separator: "\n")
  }

  static func recorded() throws -> [NumberVector] {
    try recordedLines().filter { !$0.hasPrefix("#") }.map(NumberVector.init)
  }

  /// What ours reads; nil if it refuses.
  var read: String? {
    let region = Region(typedIn)
    guard (region == nil) == (typedIn == "-") else { return nil }
    return try? PhoneNumber(text, region: region).e164
  }
}

/// The Python package `phonenumbers`, which `make deps` installs where it can be had.
enum NumberLibrary {
  static var isInstalled: Bool {
    let folder = NumberVector.root.appendingPathComponent(".build-python/lib").path
    let pythons = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return pythons.contains {
      FileManager.default.fileExists(atPath: "\(folder)/\($0)/site-packages/phonenumbers/__init__.py")
    }
  }

  static func everything() async throws -> [NumberVector] {
    let script = NumberVector.root.appendingPathComponent("scripts/phone-numbers").path
    let run = try await Subprocess.run(["python3", script, "--all"], timeout: .seconds(120))
    try #require(run.status == 0, "\(run.stderr)")
    return try run.stdout.split(separator: "\n").map(NumberVector.init)
  }
}
