import AuthCore
import Foundation
import LinkHandler
import Testing

@Suite("Link vectors", .timeLimit(.minutes(1)))
struct VectorTests {
  static let links = Vector.load("links.jsonl")
  static let bridge = Vector.load("bridge-links.jsonl")

  @Test("all vectors are there")
  func count() {
    #expect(Self.links.count == 124)
    #expect(Self.bridge.count >= 20)
  }

  @Test("each link has every expected field", arguments: links + bridge)
  func vector(_ vector: Vector) throws {
    let usesEmulator = vector.id.hasPrefix("E") || vector.id.hasPrefix("BE")
    let parser = LinkParser(apps: [Vector.app(emulator: usesEmulator)])
    let expect = vector.expect
    switch parser.parse(vector.url, pending: Vector.pending) {
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
    guard vector.id.hasPrefix("A") || vector.id.hasPrefix("D") || vector.id.hasPrefix("P") else { return }
    let parser = LinkParser(apps: [Vector.app(emulator: false)])
    let allowed = CharacterSet.alphanumerics
    guard let encoded = vector.url.addingPercentEncoding(withAllowedCharacters: allowed) else { return }
    let alone = parser.parse(vector.url)
    let inside = parser.parse("com.example.linkd://auth?link=\(encoded)")
    switch (alone, inside) {
    case (.success(let alone), .success(let inside)):
      #expect(alone.content == inside.content)
      #expect([.customScheme] + alone.via == inside.via)
    case (.failure(let alone), .failure(let inside)):
      #expect(alone.reason == inside.reason || inside.reason == .tooLong)
    default: Issue.record("one is handled and the other isn't")
    }
  }

  @Test("a hundred thousand damaged links are judged without a trap, and twice alike")
  func mutations() {
    var generator = SplitMix(state: 20_260_101)
    let parser = LinkParser(apps: [Vector.app(emulator: true)])
    let seeds = Self.links.map { Array($0.url.utf8) }.filter { $0.count < 2000 }
    for _ in 0..<100_000 {
      var bytes = seeds[Int(generator.next() % UInt64(seeds.count))]
      for _ in 0..<Int(1 + generator.next() % 4) where !bytes.isEmpty {
        let place = Int(generator.next() % UInt64(bytes.count))
        switch generator.next() % 4 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
        default: bytes.removeSubrange(place...)
        }
      }
      #expect(
        parser.parse(bytes: bytes, pending: Vector.pending) == parser.parse(bytes: bytes, pending: Vector.pending))
    }
  }
}

/// A generator whose numbers are the same in every run.
struct SplitMix {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
