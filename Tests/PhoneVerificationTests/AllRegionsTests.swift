import Foundation
import PhoneVerification
import Testing

/// The example numbers of an independent library, in the forms that it writes itself (`scripts/phone-numbers`).
@Suite("Phone numbers of all regions", .timeLimit(.minutes(4)))
struct AllRegionsTests {
  struct Vector {
    let region, kind, typedIn, text, e164: String
  }

  static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Vectors/phone-numbers.tsv")

  static func lines() throws -> [Substring] { try String(contentsOf: file, encoding: .utf8).split(separator: "\n") }

  static func vectors() throws -> [Vector] {
    try lines().filter { !$0.hasPrefix("#") }.map { line in
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      try #require(cells.count == 5)
      return Vector(region: cells[0], kind: cells[1], typedIn: cells[2], text: cells[3], e164: cells[4])
    }
  }

  @Test("mobile and fixed, typed at home and abroad: the same E.164 as an independent library's")
  func examples() throws {
    for vector in try Self.vectors() {
      let region = Region(vector.typedIn)
      #expect((region == nil) == (vector.typedIn == "-"), "\(vector)")
      let read = try? PhoneNumber(vector.text, region: region).e164
      #expect(read == vector.e164, "\(vector)")
    }
  }

  @Test("what was read reads back as it is")
  func stable() throws {
    for e164 in Set(try Self.vectors().map(\.e164)) {
      #expect((try? PhoneNumber(e164, region: nil).e164) == e164)
      #expect((try? PhoneNumber("00" + e164.dropFirst(), region: nil).e164) == e164)
    }
  }

  @Test("none of the library's 245 regions is missing, with a fixed or a mobile number at least")
  func complete() throws {
    let vectors = try Self.vectors()
    #expect(Set(vectors.map(\.region)).count >= 245)
    #expect(Set(vectors.filter { $0.kind == "mobile" }.map(\.region)).count >= 240)
    #expect(vectors.allSatisfy { Region($0.region) != nil })
  }

  @Test("table and vectors are of one release")
  func release() throws {
    #expect(try Self.lines().first == "# version\t\(PhoneNumber.tableVersion)")
  }

  @Test(
    "numbers that belong to no country have their codes",
    arguments: [
      "+80012345678", "+80812345678", "+870301234567", "+878101234567890", "+881612345678", "+8823421234",
      "+883510012345",
      "+88812345678901", "+979123456789",
    ])
  func international(_ number: String) throws {
    #expect(try PhoneNumber(number, region: nil).e164 == number)
  }
}
