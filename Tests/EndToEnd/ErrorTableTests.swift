import Foundation
import TestSupport
import Testing

/// A line of `Tests/Vectors/server-codes.tsv`: what a code of the server becomes.
struct ServerCode: Sendable {
  let code: String
  /// Without the prefix of the contract.
  let name: String
  let exit: Int32

  static let all: [String: ServerCode] = {
    let rows = VectorFile.lines("server-codes.tsv").map { $0.split(separator: "\t").map(String.init) }
    return Dictionary(rows.map { ($0[0], ServerCode(code: $0[0], name: $0[1], exit: Int32($0[2]) ?? -1)) }) { $1 }
  }()
}

enum VectorFile {
  /// The lines of a file in `Tests/Vectors`, without comments.
  static func lines(_ name: String) -> [Substring] {
    let text = (try? String(contentsOfFile: "\(World.root)/Tests/Vectors/\(name)", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }
  }
}

/// Each code of the server, from the wire to the last line of `linkctl --json`: its name, its exit code, a text for a
/// person, and nothing of the server's own words.
@Suite("Server errors", .timeLimit(.minutes(3)))
struct ErrorTableTests {
  private static let prefix = "org.linkd.Auth1.Error."
  /// What no person may see of an answer.
  private static let raw = "RAW-BODY-7f3a"

  @Test("a code of the server arrives as its name, its exit code and a sentence", arguments: ServerCall.allCases)
  func arrives(_ call: ServerCall) async throws {
    let world = try await World.start()
    for (number, code) in call.codes.enumerated() {
      let row = try #require(ServerCode.all[code], "\(code) isn't in the list")
      let result = try await call.drive(
        "\(code) : \(ServerCall.detail(code, raw: Self.raw))", number: number, world)
      let expected = call.expected(row)
      expect(result, name: expected.name, exit: expected.exit, "\(call) \(code)")
    }
  }

  @Test("a code that nobody knows is Internal, without the server's words", arguments: ServerCall.allCases)
  func unknown(_ call: ServerCall) async throws {
    let world = try await World.start()
    for (number, message) in ["NOBODY_KNOWS_IT : \(Self.raw)", "\(Self.raw) in a sentence."].enumerated() {
      expect(
        try await call.drive(message, number: number, world), name: "Internal", exit: 1, "\(call) \(message)")
    }
    #expect(!world.log.contains(Self.raw))
    // The text says that the log knows more.
    #expect(world.log.contains("NOBODY_KNOWS_IT"), "\(call)")
  }

  @Test("every code is driven, or listed as belonging to a call that isn't built yet")
  func complete() {
    // `identifier` of CodeErrorTableTests drives the last one.
    let driven = Set(ServerCall.allCases.flatMap(\.codes) + CodeCall.allCases.flatMap(\.codes) + ["INVALID_IDENTIFIER"])
    let listed = VectorFile.lines("codes-not-driven.txt").map(String.init)
    #expect(Set(listed).count == listed.count)
    #expect(driven.intersection(listed).sorted() == [], "driven now: take them off codes-not-driven.txt")
    #expect(
      Set(ServerCode.all.keys).subtracting(driven).subtracting(listed).sorted() == [], "neither driven nor listed")
    #expect(driven.union(listed).subtracting(ServerCode.all.keys).sorted() == [], "no such code")
  }

  private func expect(_ result: Subprocess.Result, name: String, exit: Int32, _ what: Comment) {
    let line = result.stdout.split(separator: "\n").last ?? ""
    let last = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? [:]
    #expect(last["error"] as? String == Self.prefix + name, what)
    #expect(result.status == exit, what)
    let message = last["message"] as? String ?? ""
    #expect(message.count > 20 && message.contains(". "), what)
    #expect(!result.stdout.contains(Self.raw) && !result.stderr.contains(Self.raw), what)
  }
}
