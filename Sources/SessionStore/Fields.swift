import AuthCore

/// Bytes that don't read as fields: damage, since they were authenticated before.
struct MalformedFields: Error {}

/// A list of numbered fields: one byte of number, four of length (little endian), the value.
///
/// An absent field is nil, zero, false or empty, and an unknown one is skipped: fields can be added without a migration.
/// It takes a fifth of the time of FoundationEssentials' JSON, and none of its pages (docs/design/0003-store.md).
struct FieldWriter {
  private(set) var bytes: [UInt8] = []

  mutating func put(_ number: UInt8, _ value: [UInt8]?) {
    guard let value else { return }
    begin(number, length: value.count)
    bytes.append(contentsOf: value)
  }

  mutating func put(_ number: UInt8, _ value: String?) {
    guard let value else { return }
    begin(number, length: value.utf8.count)
    bytes.append(contentsOf: value.utf8)
  }

  mutating func put(_ number: UInt8, _ value: Secret<String>?) { put(number, value?.reveal()) }

  mutating func put(_ number: UInt8, _ value: Int64?) {
    guard let value else { return }
    begin(number, length: 8)
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ number: UInt8, _ value: Bool) { if value { begin(number, length: 0) } }

  private mutating func begin(_ number: UInt8, length: Int) {
    bytes.append(number)
    withUnsafeBytes(of: UInt32(length).littleEndian) { bytes.append(contentsOf: $0) }
  }
}

/// Reads what `FieldWriter` wrote.
struct FieldReader {
  private let bytes: [UInt8]
  private var fields: [(number: UInt8, range: Range<Int>)] = []

  init(_ bytes: [UInt8]) throws(MalformedFields) {
    self.bytes = bytes
    fields.reserveCapacity(32)
    var position = 0
    while position < bytes.count {
      guard bytes.count - position >= 5 else { throw MalformedFields() }
      var length = 0
      for index in (1...4).reversed() { length = length << 8 | Int(bytes[position + index]) }
      let start = position + 5
      guard length <= bytes.count - start else { throw MalformedFields() }
      fields.append((bytes[position], start..<(start + length)))
      position = start + length
    }
  }

  /// Every field `number`, in order.
  func all(_ number: UInt8) -> [[UInt8]] {
    fields.lazy.filter { $0.number == number }.map { Array(bytes[$0.range]) }
  }

  func blob(_ number: UInt8) -> [UInt8]? { range(number).map { Array(bytes[$0]) } }

  func string(_ number: UInt8) throws(MalformedFields) -> String? {
    guard let range = range(number) else { return nil }
    guard let text = String(validating: bytes[range], as: UTF8.self) else { throw MalformedFields() }
    return text
  }

  func secret(_ number: UInt8) throws(MalformedFields) -> Secret<String>? { try string(number).map { Secret($0) } }

  func integer(_ number: UInt8) throws(MalformedFields) -> Int64? {
    guard let range = range(number) else { return nil }
    guard range.count == 8 else { throw MalformedFields() }
    return Int64(bitPattern: bytes[range].reversed().reduce(0) { $0 << 8 | UInt64($1) })
  }

  func bool(_ number: UInt8) -> Bool { range(number) != nil }

  private func range(_ number: UInt8) -> Range<Int>? { fields.first { $0.number == number }?.range }
}

/// A field that no linkd leaves out.
func required<Field>(_ field: Field?) throws(MalformedFields) -> Field {
  guard let field else { throw MalformedFields() }
  return field
}
