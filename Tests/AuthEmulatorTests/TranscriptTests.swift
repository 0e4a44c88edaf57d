import Foundation
import Testing

/// The recorded exchanges of the public emulator, replayed. `not-yet-implemented.txt` lists what doesn't match yet, and may
/// only shrink: an operation by method and path, or a single exchange, by the transcript's number and its name, that needs
/// one of those operations or differs on purpose.
@Suite(.timeLimit(.minutes(1)))
struct TranscriptTests {
  static let listed: Set<String> = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "not-yet-implemented.txt")
    let lines = ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    return Set(lines.filter { !$0.hasPrefix("#") })
  }()

  private static func replayAll() async throws -> [Replay.Outcome] {
    try await withThrowingTaskGroup(of: [Replay.Outcome].self) { group in
      for transcript in try Transcript.all() { group.addTask { try Replay.run(transcript) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  @Test func answersAreAsRecorded() async throws {
    let outcomes = try await Self.replayAll()
    #expect(outcomes.count == 913)
    for outcome in outcomes where !Self.listed.contains(outcome.exchange.operation) {
      if Self.listed.contains(outcome.title) {
        #expect(!outcome.differences.isEmpty, "matches now, take it off the list: \(outcome.title)")
      } else {
        #expect(outcome.differences.isEmpty, "\(outcome.exchange.operation) “\(outcome.title)”")
      }
    }
    let operations = Dictionary(grouping: outcomes, by: \.exchange.operation)
    for operation in Self.listed where operation.contains(" /") {
      let matches = operations[operation]?.allSatisfy { $0.differences.isEmpty } ?? true
      #expect(!matches, "all of it matches now, take it off the list: \(operation)")
    }
    let titles = Set(outcomes.map(\.title))
    for title in Self.listed where !title.contains(" /") {
      #expect(titles.contains(title), "no such exchange: \(title)")
    }
  }
}
