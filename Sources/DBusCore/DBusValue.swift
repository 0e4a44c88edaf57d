/// A value of any D-Bus type. What is read from a message is canonical: `ay` is always `.bytes`, never `.array`.
public indirect enum DBusValue: Sendable, Hashable {
  /// y
  case byte(UInt8)
  /// b
  case boolean(Bool)
  /// n
  case int16(Int16)
  /// q
  case uint16(UInt16)
  /// i
  case int32(Int32)
  /// u
  case uint32(UInt32)
  /// x
  case int64(Int64)
  /// t
  case uint64(UInt64)
  /// d
  case double(Double)
  /// s; must not contain a zero byte
  case string(String)
  /// o
  case objectPath(ObjectPath)
  /// g
  case signature(Signature)
  /// h; the message carries a duplicate, so the value stays usable after sending
  case unixFD(UnixFD)
  /// ay, copied in one piece
  case bytes([UInt8])
  /// An array: the one complete type of its elements, and the elements.
  case array(of: Signature, [DBusValue])
  /// A structure of at least one member.
  case structure([DBusValue])
  /// A dictionary: the basic type of its keys, the type of its values, and the entries in order.
  case dictionary(key: Signature, value: Signature, [Entry])
  /// v
  case variant(DBusValue)

  /// One entry of a dictionary.
  public struct Entry: Sendable, Hashable {
    /// Of a basic type.
    public var key: DBusValue
    /// Of any type.
    public var value: DBusValue

    /// Pairs the two.
    public init(_ key: DBusValue, _ value: DBusValue) {
      self.key = key
      self.value = value
    }
  }

  /// The type of this value.
  public var signature: Signature { Signature(unchecked: signatureText) }

  package var signatureText: String {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .unixFD: "h"
    case .bytes: "ay"
    case .array(let element, _): "a" + element.text
    case .structure(let members): members.reduce(into: "(") { $0 += $1.signatureText } + ")"
    case .dictionary(let key, let value, _): "a{" + key.text + value.text + "}"
    case .variant: "v"
    }
  }
}

// MARK: - Making values

extension DBusValue {
  /// An `a{sv}`: each value is wrapped in a variant; keys in order, so that equal content is an equal value.
  public static func dict(_ content: [String: DBusValue]) -> DBusValue {
    .dictionary(
      key: .string, value: .variant,
      content.sorted { $0.key < $1.key }.map { Entry(.string($0.key), .variant($0.value)) })
  }

  /// An `as`.
  public static func strings(_ content: some Sequence<String>) -> DBusValue {
    .array(of: .string, content.map { .string($0) })
  }

  /// An `ao`.
  public static func paths(_ content: some Sequence<ObjectPath>) -> DBusValue {
    .array(of: .objectPath, content.map { .objectPath($0) })
  }

  /// An `aa{sv}`.
  public static func dicts(_ content: some Sequence<[String: DBusValue]>) -> DBusValue {
    .array(of: Signature(unchecked: "a{sv}"), content.map { .dict($0) })
  }
}

// MARK: - Reading values

extension DBusValue {
  /// The value inside, through any number of variants.
  public var unwrapped: DBusValue {
    var value = self
    while case .variant(let inner) = value { value = inner }
    return value
  }

  /// The text of an s; nil for other types. All accessors look through variants.
  public var asString: String? { if case .string(let value) = unwrapped { value } else { nil } }
  /// The value of a b.
  public var asBool: Bool? { if case .boolean(let value) = unwrapped { value } else { nil } }
  /// The value of a y.
  public var asByte: UInt8? { if case .byte(let value) = unwrapped { value } else { nil } }
  /// The value of an i.
  public var asInt32: Int32? { if case .int32(let value) = unwrapped { value } else { nil } }
  /// The value of a u.
  public var asUInt32: UInt32? { if case .uint32(let value) = unwrapped { value } else { nil } }
  /// The value of an x.
  public var asInt64: Int64? { if case .int64(let value) = unwrapped { value } else { nil } }
  /// The value of a t.
  public var asUInt64: UInt64? { if case .uint64(let value) = unwrapped { value } else { nil } }
  /// The value of a d.
  public var asDouble: Double? { if case .double(let value) = unwrapped { value } else { nil } }
  /// The value of an o.
  public var asPath: ObjectPath? { if case .objectPath(let value) = unwrapped { value } else { nil } }
  /// The value of a g.
  public var asSignature: Signature? { if case .signature(let value) = unwrapped { value } else { nil } }
  /// The descriptor of an h.
  public var asUnixFD: UnixFD? { if case .unixFD(let value) = unwrapped { value } else { nil } }
  /// The content of an ay.
  public var asBytes: [UInt8]? { if case .bytes(let value) = unwrapped { value } else { nil } }
  /// The members of a structure.
  public var asStructure: [DBusValue]? { if case .structure(let value) = unwrapped { value } else { nil } }
  /// The entries of a dictionary of any type.
  public var asEntries: [Entry]? { if case .dictionary(_, _, let value) = unwrapped { value } else { nil } }

  /// Any of the integer types (y, n, q, i, u, x, t) that fits.
  public var asInteger: Int64? {
    switch unwrapped {
    case .byte(let value): Int64(value)
    case .int16(let value): Int64(value)
    case .uint16(let value): Int64(value)
    case .int32(let value): Int64(value)
    case .uint32(let value): Int64(value)
    case .int64(let value): value
    case .uint64(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The elements of an array of any type but ay.
  public var asArray: [DBusValue]? { if case .array(_, let value) = unwrapped { value } else { nil } }

  /// The content of an as.
  public var asStrings: [String]? {
    guard case .array(let element, let values) = unwrapped, element == .string else { return nil }
    return values.compactMap(\.asString)
  }

  /// The content of an ao.
  public var asPaths: [ObjectPath]? {
    guard case .array(let element, let values) = unwrapped, element == .objectPath else { return nil }
    return values.compactMap(\.asPath)
  }

  /// One value of an a{sv}, without its variant; nil where the key isn't there. Of equal keys the last one counts. For a
  /// few keys of a small dictionary: a program that lives for a millisecond needs no hash table for them.
  public func member(_ name: String) -> DBusValue? {
    guard case .dictionary(.string, .variant, let entries) = unwrapped else { return nil }
    for entry in entries.reversed() {
      if case .string(name) = entry.key, case .variant(let inner) = entry.value { return inner }
    }
    return nil
  }

  /// The content of an a{sv}, its values without their variants. Of equal keys the last one counts.
  public var asDict: [String: DBusValue]? {
    guard case .dictionary(let key, let value, let entries) = unwrapped, key == .string, value == .variant
    else { return nil }
    var result: [String: DBusValue] = [:]
    for entry in entries {
      if case .string(let name) = entry.key, case .variant(let inner) = entry.value { result[name] = inner }
    }
    return result
  }
}
