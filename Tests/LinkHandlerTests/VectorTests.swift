import AuthCore
import Foundation
import LinkHandler
import Testing

@Suite("Link vectors", .timeLimit(.minutes(1)))
struct VectorTests {
  static let links = Vector.load("links.jsonl")
  static let bridge = Vector.load("bridge-links.jsonl")

  @Test("all vectors are there, each once")
  func count() {
    #expect(Self.links.count == 124)
    #expect(Self.bridge.count >= 60)
    #expect(Set((Self.links + Self.bridge).map(\.id)).count == Self.links.count + Self.bridge.count)
  }

  @Test("each link has every expected field", arguments: links + bridge)
  func vector(_ vector: Vector) throws {
    let usesEmulator = vector.id.hasPrefix("E") || vector.id.hasPrefix("BE")
    expectVector(vector, parser: usesEmulator ? Judge.emulatorParser : Judge.parser)
  }

  @Test("an app in emulator mode judges the links of production alike", arguments: links)
  func emulatorMode(_ vector: Vector) {
    expectVector(vector, parser: Judge.emulatorParser)
  }

  @Test("a hundred other apps change nothing", arguments: links)
  func manyApps(_ vector: Vector) {
    guard !vector.id.hasPrefix("E") else { return }
    expectVector(vector, parser: Self.crowd)
  }

  private static let crowd = LinkParser(
    apps: (1...100).compactMap { number in
      AppID("other\(number)").map { id in
        var app = App(id: id, projectID: "other-\(number)", apiKey: "AIzaOTHER\(number)")
        app.schemes = ["com.example.other\(number)"]
        app.linkDomains = ["links\(number).example.com"]
        return app
      }
    } + [Vector.app(emulator: false)])

  private func expectVector(_ vector: Vector, parser: LinkParser) {
    let expect = vector.expect
    let parsed = parser.parse(vector.url, pending: Vector.pending).flatMap {
      LinkRouter.requirePending($0, isWaiting: Vector.isWaiting)
    }
    switch parsed {
    case .failure(let rejection):
      #expect(vector.kind == "none", "rejected as \(rejection.reason)")
      #expect(expect["reason"] as? String == rejection.reason.rawValue)
      #expect(expect["name"] as? String == rejection.parameter)
    case .success(let link):
      #expect(link.kind.rawValue == vector.kind)
      let fields = link.fields
      for (key, value) in expect {
        #expect((fields[key] as? NSObject) == (value as? NSObject), "\(key): \(fields[key] ?? "-")")
      }
      // What isn't expected isn't there.
      if expect["via"] == nil { #expect(link.via.isEmpty) }
      if expect["reject"] == nil { #expect(link.reject == nil) }
      if case .action(let action) = link.content {
        #expect(action.continueURLRejected == (expect["continueUrlRejected"] as? Bool ?? false))
      }
      #expect(link.candidates == [Vector.app(emulator: false).id])
    }
  }

  @Test("an inner URL is judged in an app's scheme as if it came alone", arguments: links)
  func inScheme(_ vector: Vector) {
    // What is itself in a scheme, and redirects, don't come this way.
    guard !"RO".contains(vector.id.prefix(1)), !Self.ownScheme(vector.url) else { return }
    let parser = vector.id.hasPrefix("E") ? Judge.emulatorParser : Judge.parser
    let alone = parser.parse(vector.url)
    for wrapper in ["com.example.linkd://auth?link=", "com.example.linkd://google/link/?deep_link_id="] {
      switch (alone, parser.parse(wrapper + Judge.encoded(vector.url))) {
      case (.success(let alone), .success(let inside)):
        #expect(alone.content == inside.content)
        #expect(alone.candidates == inside.candidates)
        #expect([.customScheme] + alone.via == inside.via)
      case (.failure(let alone), .failure(let inside)):
        #expect(alone.reason == inside.reason || inside.reason == .tooLong)
        #expect(alone.parameter == inside.parameter)
      default: Issue.record("one is handled and the other isn't")
      }
    }
  }

  private static func ownScheme(_ url: String) -> Bool {
    ["com.example.linkd:", "app-1-", "fb1234567890:", "com.googleusercontent."].contains(where: url.hasPrefix)
  }
}
