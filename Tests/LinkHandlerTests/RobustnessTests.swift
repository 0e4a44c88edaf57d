import AuthCore
import LinkHandler
import Testing

@Suite("Links from anywhere", .timeLimit(.minutes(1)))
struct RobustnessTests {
  private static let seeds = (VectorTests.links + VectorTests.bridge).map { Array($0.url.utf8) }.filter {
    $0.count < 2000
  }

  @Test("a hundred thousand damaged links are judged without a trap, and twice alike")
  func mutations() {
    var generator = SplitMix(state: 20_260_101)
    let parser = Judge.emulatorParser
    var differences = 0
    for number in 0..<100_000 {
      let bytes = mutated(&generator)
      let first = parser.parse(bytes: bytes, pending: Vector.pending)
      // Twice is slow in a debug build; every eighth shows as well that nothing is remembered.
      if number % 8 == 0, first != parser.parse(bytes: bytes, pending: Vector.pending) { differences += 1 }
    }
    #expect(differences == 0)
  }

  private func mutated(_ generator: inout SplitMix) -> [UInt8] {
    let special = Array("%&=?#/:;@\\*_-+<>\" \n\0[]".utf8)
    var bytes = Self.seeds[Int(generator.next() % UInt64(Self.seeds.count))]
    for _ in 0..<Int(1 + generator.next() % 4) where !bytes.isEmpty {
      let place = Int(generator.next() % UInt64(bytes.count))
      switch generator.next() % 6 {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
      case 3: bytes[place] = special[Int(generator.next() % UInt64(special.count))]
      case 4:
        // A piece of another link, put in the middle.
        let other = Self.seeds[Int(generator.next() % UInt64(Self.seeds.count))]
        bytes.insert(contentsOf: other[(other.count / 2)...], at: place)
      default: bytes.removeSubrange(place...)
      }
    }
    return bytes
  }

  @Test("a link cut anywhere never yields another code, mode or app", arguments: VectorTests.links + VectorTests.bridge)
  func prefixes(_ vector: Vector) throws {
    let bytes = Array(vector.url.utf8)
    let parser = Judge.emulatorParser
    guard bytes.count < 5000, case .success(let whole) = parser.parse(bytes: bytes),
      case .action(let link) = whole.content
    else { return }
    for length in 0..<bytes.count {
      guard case .success(let cut) = parser.parse(bytes: Array(bytes[..<length])), case .action(let part) = cut.content
      else { continue }
      #expect(link.oobCode.reveal().hasPrefix(part.oobCode.reveal()))
      #expect(part.mode == link.mode)
      #expect(cut.candidates == whole.candidates)
    }
  }

  @Test("no host but the apps' own is ever accepted", arguments: VectorTests.links + VectorTests.bridge)
  func hosts(_ vector: Vector) {
    // The same link, with every host of ours replaced by somebody else's.
    let ours = [
      "demo-linkd.firebaseapp.com", "DEMO-LINKD.FirebaseApp.COM", "demo-2Dlinkd.firebaseapp.com", "demo-linkd.web.app",
      "auth.example.com", "demo.page.link", "links.example.com", "app.example.com",
    ]
    let url = ours.reduce(vector.url) { $0.replacing($1, with: "host.invalid") }
    guard url.contains("host.invalid") else { return }
    // Redirects come from the browser, whichever host had sent them there.
    guard case .success(let link) = Judge.parser.parse(url, pending: Vector.pending), case .action = link.content else {
      return
    }
    Issue.record("accepted")
  }

  @Test("the size limit is exact")
  func size() throws {
    let start = Judge.plain + "&x="
    let fill = { (total: Int) in start + String(repeating: "y", count: total - start.utf8.count) }
    #expect(Judge.rejection(fill(LinkParser.sizeLimit)) == nil)
    #expect(Judge.rejection(fill(LinkParser.sizeLimit + 1))?.reason == .tooLong)
  }

  @Test("the worst links of full size are judged at once")
  func worst() {
    let units = [
      "a", "&", "=", "&a", "&amp;", "%", "%25", "%2", "*", "**_", "__;", "/", ":", "\"", "<", " ", "\n", "\u{feff}",
      "=3D",
      "&link=", "&oobCode=a", "&lang=a", "\\", "@", "(", "https://",
    ]
    let starts = [
      "", "https:", "https://", Judge.actionPage, Judge.plain + "&",
      "https://demo.page.link/?link=" + Judge.actionPage + "a=b&",
      "https://urldefense.com/v3/__", "https://urldefense.com/v3/__https://x**_", "com.example.linkd://auth?link=",
      "com.example.linkd://firebaseauth/link?deep_link_id=https://demo-linkd.firebaseapp.com/?authType=verifyApp%26firebaseError=%7b",
    ]
    let clock = ContinuousClock()
    for start in starts {
      for unit in units {
        let text = start + String(repeating: unit, count: (LinkParser.sizeLimit - start.utf8.count) / unit.utf8.count)
        let time = clock.measure { _ = Judge.parser.parse(text, pending: Vector.pending) }
        // Some milliseconds in a debug build; a square of the length would take minutes.
        #expect(time < .seconds(2), "\(start)\(unit)…")
      }
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
