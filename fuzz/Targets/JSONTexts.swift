@testable import AppConfiguration
import AuthCore
import FoundationEssentials

/// JSON (RFC 8259): our reader and writer, FoundationEssentials' decoder, and the emulator's own parser.
enum JSONTexts {
  static func check(_ input: [UInt8]) throws(Fault) {
    let value = JSONValue(json: input)
    _ = JSONFault.place(in: input)
    if let value { try writtenAndRead(value) }
    let emulators = try? EmulatorJSON.parse(input)
    // Its decoder is slow with nesting: that is why there's a reader of our own.
    if value != nil, input.count(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }) <= 32 {
      // FoundationEssentials takes more: UTF-16, a comma at the end, more nesting, whole numbers beyond a double's bits.
      let theirs = try? JSONDecoder().decode(JSONValue.self, from: Data(input))
      try require(theirs != nil && emulators != nil, "other readers read it too")
      if let value, let theirs { try require(isAlike(value, theirs), "another reader reads the same") }
    }
    guard let value, let emulators else { return }
    // Of two members of one name, each keeps another.
    guard members(emulators) == input.count(where: { $0 == UInt8(ascii: ":") }) else { return }
    try require(isAlike(emulators, value), "the emulator reads the same")
  }

  private static func writtenAndRead(_ value: JSONValue) throws(Fault) {
    guard let again = JSONValue(json: value.text.utf8) else { throw Fault(what: "what is written can be read") }
    try require(again == value, "what is written is read the same")
  }

  /// Equal, but that a whole number may be written with a fraction of zero, and that there's no infinity in JSON.
  private static func isAlike(_ one: JSONValue, _ other: JSONValue) -> Bool {
    switch (one, other) {
    case (.array(let one), .array(let other)): one.count == other.count && zip(one, other).allSatisfy(isAlike)
    case (.object(let one), .object(let other)):
      one.count == other.count && one.allSatisfy { key, value in other[key].map { isAlike(value, $0) } ?? false }
    case (.number, _), (_, .number), (.integer, .integer): isNear(number(one), number(other))
    default: one == other
    }
  }

  /// Beyond a double's bits each reader rounds in its own way.
  private static func isNear(_ one: Double?, _ other: Double?) -> Bool {
    guard let one, let other, abs(one) >= 0x1p53 else { return one == other }
    return abs(one - other) <= 4 * one.ulp
  }

  private static func number(_ value: JSONValue) -> Double? {
    switch value {
    case .integer(let value): Double(value)
    case .number(let value): value.isFinite ? value : nil
    default: nil
    }
  }

  private static func members(_ value: JSONValue) -> Int {
    switch value {
    case .object(let members): members.reduce(members.count) { $0 + Self.members($1.value) }
    case .array(let elements): elements.reduce(0) { $0 + members($1) }
    default: 0
    }
  }
}
