import AuthCore
import Foundation
import PhoneVerification
import Testing

/// What must hold whatever is typed; `fuzz/Targets/Names.swift` asks the same of bytes.
@Suite("Any text", .timeLimit(.minutes(4)))
struct AnyTextTests {
  /// The same numbers in each run.
  struct Chance: RandomNumberGenerator {
    var state: UInt64

    /// SplitMix64.
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var z = state
      z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      return z ^ (z >> 31)
    }
  }

  static let digits = ["0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "０１２３４５６７８９"].map(Array.init)
  static let others: [Character] = [
    "+", "＋", " ", "-", "(", ")", "/", ".", "\u{a0}", "\u{200e}", "\u{200f}", "\u{2066}", "\u{2069}", "\u{feff}",
    "\u{2011}",
    "x", "#", ";", "*", "é", "٪", "½", "²", "\u{0}", "\u{301}", "🎉",
  ]

  static func text(_ chance: inout Chance) -> String {
    let isTidy = Bool.random(using: &chance)
    let script = digits.randomElement(using: &chance) ?? []
    var text = Bool.random(using: &chance) ? "+" : ""
    for _ in 0..<Int.random(in: 0...20, using: &chance) {
      let isDigit = isTidy || Int.random(in: 0..<8, using: &chance) > 0
      if let next = (isDigit ? script : others).randomElement(using: &chance) { text.append(next) }
    }
    return text
  }

  @Test("a text is refused with a reason, or a number of six to fifteen ASCII digits that reads back", arguments: 0..<4)
  func numbers(_ part: UInt64) throws {
    var chance = Chance(state: part)
    let regions = [nil] + Set(try NumberVector.recorded().map(\.region)).sorted().map { Region($0) }
    var read = 0
    for _ in 0..<1500 {
      let text = Self.text(&chance)
      guard let region = regions.randomElement(using: &chance) else { continue }
      guard let number = try? PhoneNumber(text, region: region) else { continue }
      read += 1
      // The shortest of all are Germany's pagers.
      #expect(number.e164.wholeMatch(of: #/\+[1-9][0-9]{5,14}/#) != nil, "\(text.debugDescription)")
      #expect((try? PhoneNumber(number.e164, region: nil)) == number, "\(text.debugDescription)")
      if text.hasPrefix("+") { #expect((try? PhoneNumber(text, region: nil)) == number, "\(text.debugDescription)") }
    }
    #expect(read > 100)
  }

  @Test("without a region nothing but + and 00 makes a number, and that is its own reason")
  func noRegion() {
    var chance = Chance(state: 99)
    for _ in 0..<500 {
      let digits = (0..<10).map { _ in String(Int.random(in: 1...9, using: &chance)) }.joined()
      #expect(throws: PhoneNumberError.noRegion) { try PhoneNumber(digits, region: nil) }
      #expect(throws: PhoneNumberError.noRegion) { try PhoneNumber("0" + digits, region: nil) }
    }
  }

  @Test("a code is six ASCII digits or refused with a reason")
  func codes() {
    var chance = Chance(state: 7)
    for _ in 0..<20_000 {
      let text = Self.text(&chance)
      guard let code = try? VerificationCode(text).digits.reveal() else { continue }
      #expect(code.wholeMatch(of: #/[0-9]{6}/#) != nil)
    }
  }
}
