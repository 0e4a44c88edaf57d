import Foundation
import PhoneVerification
import Testing

/// The example numbers of an independent library, in the forms that it writes itself (`scripts/phone-numbers`).
@Suite("Phone numbers of all regions", .timeLimit(.minutes(4)))
struct AllRegionsTests {
  @Test("every kind of number, typed at home and abroad: the same E.164 as an independent library's")
  func examples() throws {
    for vector in try NumberVector.recorded() { #expect(vector.read == vector.e164, "\(vector)") }
  }

  @Test("what was read reads back as it is")
  func stable() throws {
    for e164 in Set(try NumberVector.recorded().map(\.e164)) {
      #expect((try? PhoneNumber(e164, region: nil).e164) == e164)
      #expect((try? PhoneNumber("00" + e164.dropFirst(), region: nil).e164) == e164)
    }
  }

  @Test("none of the library's 245 regions is missing, with a fixed or a mobile number at least")
  func complete() throws {
    let vectors = try NumberVector.recorded()
    let regions = vectors.filter { $0.region != "001" }
    #expect(Set(regions.map(\.region)).count >= 245)
    #expect(Set(regions.filter { $0.kind == "mobile" }.map(\.region)).count >= 240)
    #expect(regions.allSatisfy { Region($0.region) != nil })
    let kinds: Set = [
      "fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost", "voip", "personal_number", "uan",
    ]
    #expect(kinds.isSubset(of: Set(regions.map(\.kind))))
  }

  @Test("table and vectors are of one release")
  func release() throws {
    #expect(try NumberVector.recordedLines().first == "# version\t\(PhoneNumber.tableVersion)")
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
    #expect(try PhoneNumber("00" + number.dropFirst(), region: Region("DE")).e164 == number)
  }
}

/// The library itself, where it could be had: the recorded numbers are compared in any case.
@Suite("Phone numbers beside an independent library", .timeLimit(.minutes(10)))
struct NumberLibraryTests {
  @Test(
    "B087, B088, B091: all regions, all kinds of numbers, all writings: the same E.164",
    .enabled(
      if: NumberLibrary.isInstalled, "phonenumbers isn't installed (make deps): only what was recorded is compared"))
  func everything() async throws {
    let vectors = try await NumberLibrary.everything()
    #expect(vectors.count > 20_000)
    #expect(Set(vectors.map(\.region)).count >= 246)
    let different = vectors.filter { $0.read != $0.e164 }
    #expect(different.isEmpty, "\(different.count): \(different.prefix(20))")
  }
}
