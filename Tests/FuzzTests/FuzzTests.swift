import Foundation
import FuzzTargets
import Testing

/// What has been found by fuzzing, and what was put beside it by hand: fuzz/corpus (CONTRIBUTING.md: Fuzzing).
@Suite("Kept inputs", .timeLimit(.minutes(3)))
struct FuzzTests {
  static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("fuzz/corpus")

  static func inputs(_ name: String) throws -> [(file: String, bytes: [UInt8])] {
    let folder = corpus.appendingPathComponent(name)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { file in
      (file, [UInt8](try Data(contentsOf: folder.appendingPathComponent(file))))
    }
  }

  @Test("everything that must hold holds for every kept input", arguments: FuzzTarget.all.map(\.name))
  func kept(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let inputs = try Self.inputs(name)
    #expect(!inputs.isEmpty)
    let clock = ContinuousClock()
    for input in inputs {
      var fault: String?
      let time = clock.measure { fault = target.fault(in: input.bytes) }
      #expect(fault == nil, "\(name)/\(input.file)")
      // Milliseconds in an optimised build.
      #expect(time < .seconds(5), "\(name)/\(input.file)")
    }
    for length in [0, 1, 2, 3, 5, 8] { #expect(target.fault(in: [UInt8](repeating: 0, count: length)) == nil) }
  }

  @Test("the kept inputs are few and small, and each belongs to a target")
  func size() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path).sorted()
    #expect(folders == FuzzTarget.all.map(\.name).sorted())
    let all = try folders.flatMap { try Self.inputs($0) }
    #expect(all.count < 320)
    #expect(all.reduce(0) { $0 + $1.bytes.count } < 1_000_000)
  }
}
