import Foundation

/// What a mail's scanner does with a link before the person sees the mail: it fetches it, all that it leads to and all that
/// those pages name, without running a script. `curl` does it.
public struct Scanner {
  private let world: World
  /// Where it goes, such as `http://127.0.0.1:4711`: first the world's server alone.
  public var origins: [String]
  /// Whether it goes on to what a page names.
  public var readsPages = true
  /// Addresses that it has fetched, in order.
  public private(set) var visited: [String] = []

  /// Scans from within a world.
  public init(in world: World) {
    self.world = world
    origins = ["http://\(world.emulatorAddress)"]
  }

  /// HEADs and GETs an address and what follows from it.
  public mutating func scan(_ url: String) async throws {
    var waiting = [url]
    while let next = waiting.popLast() {
      if visited.contains(next) || visited.count > 50 { continue }
      visited.append(next)
      _ = try await fetch(next, ["--head"])
      let answer = try await fetch(next, ["--include"])
      waiting += mentioned(answer, at: next)
    }
  }

  private func fetch(_ url: String, _ how: [String]) async throws -> String {
    let result = try await world.run(["curl", "--silent", "--show-error", "--max-time", "20"] + how + [url])
    guard result.status == 0 else { throw World.Failure(description: "the scanner at \(url): \(result.stderr)") }
    return result.stdout
  }

  /// Redirects, links and files of a page, and addresses inside the query.
  private func mentioned(_ answer: String, at url: String) -> [String] {
    // A line ends in two scalars, which are one character.
    let redirect = /(?i)\nlocation: *([^\r\n]+)/.matchingSemantics(.unicodeScalar)
    let patterns = readsPages ? [redirect, /(?:href|src)="([^"#]+)"/, /(?:from|import) "([^"]+)"/] : [redirect]
    let base = URL(string: url)
    let named = patterns.flatMap { pattern in answer.matches(of: pattern).map { String($0.1) } }
    let inner = URLComponents(string: url)?.queryItems?.compactMap(\.value) ?? []
    return (named + inner.filter { $0.hasPrefix("http") })
      .compactMap { URL(string: $0.replacing("&amp;", with: "&"), relativeTo: base)?.absoluteString }
      .filter { address in origins.contains { address.hasPrefix("\($0)/") } }
  }
}
