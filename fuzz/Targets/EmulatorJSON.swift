import AuthCore
@testable import AuthEmulator

/// The emulator's parser, by another name: two modules have a `JSONText`.
enum EmulatorJSON {
  static func parse(_ bytes: [UInt8]) throws -> JSONValue { try JSONText.parse(bytes) }
}
