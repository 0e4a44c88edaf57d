/// Values by ASCII name, whatever its letter case, found from bytes without making a string.
///
/// The names come from the apps' files; what is looked up may be hostile, and costs one pass over it however many names
/// there are.
struct NameTable<Value: Sendable>: Sendable {
  private var entries: [(name: [UInt8], value: Value)] = []
  /// Index of an entry plus one; 0 is a free slot. At most half full, a power of two long.
  private var slots: [Int]
  private var longest = 0

  /// A table of `values`; the names' letter case doesn't count.
  init(_ values: [String: Value] = [:]) {
    var size = 4
    while size < values.count * 2 { size *= 2 }
    slots = [Int](repeating: 0, count: size)
    for (name, value) in values {
      let name = name.utf8.map(ASCII.lower)
      var slot = Self.hash(name[...]) & (size - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
      entries.append((name, value))
      slots[slot] = entries.count
      longest = max(longest, name.count)
    }
  }

  /// The value of `name`; nil where there's none.
  func find(_ name: Bytes) -> Value? {
    guard name.count <= longest, !entries.isEmpty else { return nil }
    var slot = Self.hash(name) & (slots.count - 1)
    while slots[slot] != 0 {
      let entry = entries[slots[slot] - 1]
      if name.isName(entry.name) { return entry.value }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// FNV-1a over the lower-case bytes.
  private static func hash(_ name: Bytes) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name { hash = (hash ^ UInt64(ASCII.lower(byte))) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: hash ^ (hash >> 32))
  }
}

/// Classes of ASCII bytes.
enum ASCII {
  static func lower(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }
  static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
  static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
  static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7f }
}
