import AuthCore
import Foundation
import Testing

/// One line of `Tests/Vectors/server-codes.tsv`: a code of the server and what it becomes.
struct ServerCode: Sendable, CustomStringConvertible {
  let code: String
  let name: String
  let exit: Int32
  let textID: String
  /// Where the code is described.
  let source: String

  var description: String { code }

  /// Nil for a line that isn't five fields.
  init?(_ line: Substring) {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 5, let exit = Int32(fields[2]) else { return nil }
    (code, name, self.exit, textID, source) = (fields[0], fields[1], exit, fields[3], fields[4])
  }

  static let lines: [Substring] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/server-codes.tsv")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }
  }()

  static let all = lines.compactMap(ServerCode.init)
}

/// The one table, server code → name → exit code → text id, against the list made from the protocol's description.
@Suite("The table of server errors", .timeLimit(.minutes(1)))
struct ErrorTableTests {
  @Test("a code has its name, exit code and text id", arguments: ServerCode.all)
  func row(_ row: ServerCode) throws {
    let error = try #require(ServerErrorTable.error(for: row.code), "no row")
    #expect(error.rawValue == row.name)
    #expect(error.dbusName == "org.linkd.Auth1.Error.\(row.name)")
    #expect(error.exitCode == row.exit)
    #expect(error.textID == row.textID)
  }

  @Test("every row of the table is in the list, and each code once")
  func complete() {
    #expect(ServerCode.all.count == ServerCode.lines.count, "a line isn't five fields")
    let listed = ServerCode.all.map(\.code)
    #expect(Set(listed).count == listed.count)
    #expect(Set(listed) == Set(ServerErrorTable.rows.keys))
  }

  @Test("the list has the protocol's 59 mapped codes and its 24 without an error of their own")
  func described() {
    let sources = Dictionary(grouping: ServerCode.all, by: \.source).mapValues(\.count)
    #expect(sources["3.3"] == 59)
    #expect(sources["3.3 unmapped"] == 24)
    #expect(Set(sources.keys) == ["3.3", "3.3 unmapped", "2.11", "2.18", "2.20", "2.21", "recorded", "other"])
  }

  @Test("a code is found with whatever follows it", arguments: ServerCode.all)
  func withDetail(_ row: ServerCode) {
    for message in ["\(row.code)", "\(row.code) : detail", "\(row.code):", "\(row.code) ((detail))"] {
      #expect(ServerErrorTable.error(for: ServerErrorTable.split(message).code)?.rawValue == row.name, "\(message)")
    }
  }
}
