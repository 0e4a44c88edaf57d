@testable import DBus

/// Values that are sent: what our check lets pass, libdbus takes, and the other side reads the same.
enum DBusValues {
  static func check(_ input: [UInt8]) throws(Fault) {
    var source = ByteSource(input)
    var arguments: [DBusValue] = []
    while !source.isEmpty, arguments.count < 8 { arguments.append(value(&source, depth: 0)) }
    try writtenAndRead(arguments)
  }

  static func writtenAndRead(_ arguments: [DBusValue]) throws(Fault) {
    do throws(DBusError) {
      try MarshallingCheck.check(arguments)
    } catch {
      return
    }
    let read = try sent(arguments)
    try require(read.map(canonical) == arguments.map(canonical), "values are read as they were written")
    _ = try sent(read)
  }

  /// What arrives when `arguments` are sent.
  private static func sent(_ arguments: [DBusValue]) throws(Fault) -> [DBusValue] {
    let bytes: [UInt8]?
    do throws(DBusError) {
      let message = try Message.signal("M", interface: "a.b", path: "/", destination: nil, arguments: arguments)
      bytes = LibDBus.bytes(message)
    } catch {
      throw Fault(what: "what the check lets pass can be written")
    }
    guard let bytes, let message = LibDBus.message(bytes) else { throw Fault(what: "what is written can be read") }
    return message.arguments()
  }

  /// Bytes are bytes, and a double is its bits: no number differs from itself.
  private static func canonical(_ value: DBusValue) -> DBusValue {
    switch value {
    case .double(let value): .uint64(value.bitPattern)
    case .array(let element, let values):
      element.text == "y" ? .bytes(values.compactMap(\.asByte)) : .array(of: element, values.map(canonical))
    case .structure(let members): .structure(members.map(canonical))
    case .dictionary(let key, let content, let entries):
      .dictionary(
        key: key, value: content, entries.map { DBusValue.Entry(canonical($0.key), canonical($0.value)) })
    case .variant(let inner): .variant(canonical(inner))
    default: value
    }
  }

  // MARK: Values out of bytes

  private static func value(_ source: inout ByteSource, depth: Int) -> DBusValue {
    let kind = source.byte() % 20
    guard depth < 80 || kind < 12 else { return .byte(kind) }
    switch kind {
    case 0: return .byte(source.byte())
    case 1: return .boolean(source.byte() % 2 == 1)
    case 2: return .int16(Int16(truncatingIfNeeded: source.number()))
    case 3: return .uint16(UInt16(truncatingIfNeeded: source.number()))
    case 4: return .int32(Int32(truncatingIfNeeded: source.number()))
    case 5: return .uint32(UInt32(truncatingIfNeeded: source.number()))
    case 6: return .int64(Int64(bitPattern: source.number()))
    case 7: return .uint64(source.number())
    case 8: return .double(Double(bitPattern: source.number()))
    case 9: return .string(source.text())
    case 10: return .objectPath((try? ObjectPath(source.text())) ?? .root)
    case 11: return .bytes(Array(source.text().utf8))
    case 12: return .signature(signature(source.text()))
    default: return container(kind, &source, depth: depth)
    }
  }

  private static func container(_ kind: UInt8, _ source: inout ByteSource, depth: Int) -> DBusValue {
    switch kind {
    case 13, 14: return .variant(value(&source, depth: depth + 1))
    case 15: return .structure(values(&source, depth: depth))
    case 16: return .dictionary(key: signature(source.text()), value: signature(source.text()), [])
    case 17:
      let key = value(&source, depth: depth + 1)
      let content = value(&source, depth: depth + 1)
      return .dictionary(key: key.signature, value: content.signature, [DBusValue.Entry(key, content)])
    case 18: return .array(of: signature(source.text()), [])
    default:
      let values = values(&source, depth: depth)
      return .array(of: values.first?.signature ?? .string, values)
    }
  }

  private static func values(_ source: inout ByteSource, depth: Int) -> [DBusValue] {
    let count = source.byte() % 5
    return (0..<count).map { _ in value(&source, depth: depth + 1) }
  }

  private static func signature(_ text: String) -> Signature { (try? Signature(text)) ?? .string }
}

/// Bytes as a source of decisions; zeros when there are no more.
struct ByteSource {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func number() -> UInt64 { (0..<8).reduce(0) { number, _ in number << 8 | UInt64(byte()) } }

  /// A length, and as many bytes.
  mutating func text() -> String {
    let length = Int(byte())
    defer { rest = rest.dropFirst(length) }
    return String(decoding: rest.prefix(length), as: UTF8.self)
  }
}
