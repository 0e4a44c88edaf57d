import AppConfiguration
import AuthCore
import Foundation
import LinkHandler

/// How many links a second the parser judges: `parser-benchmark FOLDER`, where FOLDER has the test vectors.
///
/// Prints `foreign N` (links that belong to somebody else: what a browser handler sees most) and `mixed N` (every vector).
@main
struct ParserBenchmark {
  static let seconds = 0.4
  static let repetitions = 5

  static func main() {
    let folder = URL(fileURLWithPath: CommandLine.arguments.dropFirst().first ?? "Tests/Vectors")
    guard let app = app(folder.appendingPathComponent("app.json")) else {
      FileHandle.standardError.write(Data("parser-benchmark: there are no vectors in \(folder.path)\n".utf8))
      exit(1)
    }
    let parser = LinkParser(apps: [app])
    let mixed = links(folder.appendingPathComponent("links.jsonl"))
    let foreign = mixed.filter { link in
      if case .failure(let rejection) = parser.parse(link) { rejection.reason.exitCode == 3 } else { false }
    }
    var rates: [String: [Double]] = [:]
    for _ in 0..<repetitions {
      rates["foreign", default: []].append(rate(foreign, parser))
      rates["mixed", default: []].append(rate(mixed, parser))
    }
    for (name, links) in [("foreign", foreign), ("mixed", mixed)] {
      let sorted = rates[name, default: [0]].sorted()
      let bytes = links.reduce(0) { $0 + $1.utf8.count } / max(1, links.count)
      print(name, Int(sorted[sorted.count / 2]), links.count, bytes)
    }
  }

  /// Links a second. The count of those handled is kept, so that no parse is optimised away.
  private static func rate(_ links: [String], _ parser: LinkParser) -> Double {
    guard !links.isEmpty else { return 0 }
    let clock = ContinuousClock()
    let start = clock.now
    var judged = 0
    var handled = 0
    while start.duration(to: clock.now) < .seconds(seconds) {
      for _ in 0..<10 {
        for link in links {
          if case .success = parser.parse(link) { handled += 1 }
          judged += 1
        }
      }
    }
    precondition(handled <= judged)
    let taken = start.duration(to: clock.now) / .seconds(1)
    return Double(judged) / taken
  }

  private static func links(_ file: URL) -> [String] {
    struct Line: Decodable { let url: String }
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { line in
      guard var url = (try? JSONDecoder().decode(Line.self, from: Data(line.utf8)))?.url else { return nil }
      url.makeContiguousUTF8()
      return url
    }
  }

  /// The app that the vectors are judged against, at Google's servers.
  private static func app(_ file: URL) -> App? {
    guard let data = try? Data(contentsOf: file), var app = try? AppFile.read(Array(data)).app else { return nil }
    app.emulator = nil
    return app
  }
}
