/// One row of `Table/countries.tsv`: what is needed to make an E.164 number of a region's numbers. The table is generated
/// (docs/design/0006-phone-numbers.md) and read where it stands, line by line: nothing of it is kept.
struct Country {
  /// Digits as ASCII.
  typealias Digits = ArraySlice<UInt8>

  let callingCode: Digits
  /// What is dialled before a calling code, longest first. A dot in it is any digit.
  let internationalPrefixes: [Digits]
  let nationalPrefixes: [NationalPrefix]
  let localForm: LocalForm?
  /// Of a subscriber's number without any prefix.
  let lengths: [ClosedRange<Int>]
  /// Of other lengths than subscribers' numbers are.
  let services: [ServiceNumber]

  /// The region's row; `code` in capital letters.
  static func of(region code: String) -> Country? {
    row { region, _ in region.elementsEqual(code.utf8) }
  }

  /// The row whose calling code `digits` begin with. No code is the beginning of another; of regions that share one, the
  /// country whose rules count comes first.
  static func beginning(_ digits: Digits) -> Country? {
    row { _, code in digits.starts(with: code) }
  }

  /// The release of the source that the table was made from.
  static var tableVersion: String {
    let line = lines.first { $0.starts(with: "# version\t".utf8) } ?? []
    return String(decoding: line.dropFirst(10), as: UTF8.self)
  }

  static var lines: [Digits] { PackageResources.countries_tsv.split(separator: UInt8(ascii: "\n")) }

  private static func row(where isWanted: (_ region: Digits, _ code: Digits) -> Bool) -> Country? {
    let (table, tab) = (PackageResources.countries_tsv, UInt8(ascii: "\t"))
    var start = table.startIndex
    // As far as it's needed, and no line is cut up that isn't: a number takes several look-ups.
    for index in table.indices where table[index] == UInt8(ascii: "\n") {
      let line = table[start..<index]
      start = index + 1
      guard line.first != UInt8(ascii: "#") else { continue }
      let key = line.split(separator: tab, maxSplits: 2)
      guard key.count == 3, isWanted(key[1], key[0]) else { continue }
      let cells = line.split(separator: tab)
      return cells.count == 7 ? Country(cells) : nil
    }
    return nil
  }

  private init(_ cells: [Digits]) {
    callingCode = cells[0]
    internationalPrefixes = Self.list(cells[2]).sorted { $0.count > $1.count }
    nationalPrefixes = Self.list(cells[3]).map(NationalPrefix.init).sorted { $0.pattern.count > $1.pattern.count }
    localForm = LocalForm(cells[4])
    lengths = Self.list(cells[5]).compactMap(Self.range)
    services = Self.list(cells[6]).compactMap(ServiceNumber.init)
  }

  private static func list(_ cell: Digits) -> [Digits] {
    cell.elementsEqual("-".utf8) ? [] : cell.split(separator: UInt8(ascii: ","))
  }

  private static func range(_ text: Digits) -> ClosedRange<Int>? {
    let ends = text.split(separator: UInt8(ascii: "-")).compactMap(number)
    guard let first = ends.first, let last = ends.last, first <= last else { return nil }
    return first...last
  }

  static func number(_ digits: Digits) -> Int? { Int(String(decoding: digits, as: UTF8.self)) }
}

/// What is dialled before a number within the country and isn't part of it: `0`; `8?`, with which numbers begin, too; `0..:13`
/// for a number of 13 digits alone; `15>9`, which stands after the area code and becomes a 9 before it (Argentina's mobiles).
struct NationalPrefix {
  let pattern: Country.Digits
  /// Digits in all, prefix too, that the rule is for.
  let length: Int?
  /// Put in front of the number when the prefix is taken out of its middle.
  let moved: Country.Digits?
  /// Whether what begins with it can't be a number itself.
  let isNeverPart: Bool

  init(_ text: Country.Digits) {
    let isAmbiguous = text.last == UInt8(ascii: "?")
    let text = isAmbiguous ? text.dropLast() : text
    let moving = text.split(separator: UInt8(ascii: ">"))
    let conditional = text.split(separator: UInt8(ascii: ":"))
    pattern = moving.count == 2 ? moving[0] : conditional[0]
    moved = moving.count == 2 ? moving[1] : nil
    length = conditional.count == 2 ? Country.number(conditional[1]) : nil
    isNeverPart = !isAmbiguous && moved == nil && length == nil
  }

  /// `digits` without the prefix; nil where it doesn't stand there.
  func removed(from digits: Country.Digits) -> Country.Digits? {
    guard length.map({ $0 == digits.count }) ?? true else { return nil }
    guard let moved else { return digits.begins(with: pattern) ? digits.dropFirst(pattern.count) : nil }
    // Area codes have two to four digits, none begins with 0, and with the prefix a number has twelve.
    guard digits.count == 12, digits.first != UInt8(ascii: "0") else { return nil }
    for area in 2...4 where digits.dropFirst(area).begins(with: pattern) {
      return moved + digits.prefix(area) + digits.dropFirst(area + pattern.count)
    }
    return nil
  }
}

/// A number as it's dialled within its area: `268+7:457` puts 268 before seven digits that begin with 4, 5 or 7.
struct LocalForm {
  let area: Country.Digits
  let length: Int
  let firsts: Country.Digits

  /// Nil where the row has none.
  init?(_ cell: Country.Digits) {
    let parts = cell.split { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: ":") }
    guard parts.count == 3, let length = Country.number(parts[1]) else { return nil }
    (area, self.length, firsts) = (parts[0], length, parts[2])
  }

  /// The whole number; nil for what isn't in this form.
  func completed(_ digits: Country.Digits) -> Country.Digits? {
    guard digits.count == length, let first = digits.first, firsts.contains(first) else { return nil }
    return area + digits
  }
}

/// Numbers of companies and authorities that are shorter or longer than a person's: `6:13` has six digits and begins with 13.
struct ServiceNumber {
  let length: Int
  let beginning: Country.Digits

  /// Nil for a cell of another form.
  init?(_ text: Country.Digits) {
    let parts = text.split(separator: UInt8(ascii: ":"))
    guard parts.count == 2, let length = Country.number(parts[0]) else { return nil }
    (self.length, beginning) = (length, parts[1])
  }
}

extension ArraySlice<UInt8> {
  /// Whether it begins with these digits, of which a dot is any.
  func begins(with pattern: Self) -> Bool {
    count >= pattern.count && zip(self, pattern).allSatisfy { $0 == $1 || $1 == UInt8(ascii: ".") }
  }
}
