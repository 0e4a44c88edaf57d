/// Judges values before libdbus sees them: well-formed, within the protocol's limits, and of the declared types.
package struct MarshallingCheck {
  package static let maximumArrayLength = 64 << 20
  /// 128 MiB in the specification, less a generous header.
  package static let maximumBodyLength = (128 << 20) - (64 << 10)
  /// Containers of every kind, variants among them, inside each other.
  package static let maximumDepth = 64

  /// Bytes of the body so far.
  private var length = 0

  package static func check(_ arguments: [DBusValue]) throws(DBusError) {
    var check = MarshallingCheck()
    var signature = ""
    for argument in arguments {
      signature += argument.signatureText
      try check.add(argument, depth: 0)
    }
    guard check.length <= maximumBodyLength else { throw .limitsExceeded("the message is longer than 128 MiB") }
    guard signature.utf8.count <= Signature.maximumLength else { throw .limitsExceeded("too many arguments") }
    // Types of one letter each need no parsing.
    guard signature.utf8.count == arguments.count || Signature.isValid(signature)
    else { throw .limitsExceeded("the arguments' types are nested too deeply") }
  }

  private mutating func reserve(_ size: Int, alignment: Int) {
    length = (length + alignment - 1) / alignment * alignment + size
  }

  private mutating func add(_ value: DBusValue, depth: Int) throws(DBusError) {
    switch value {
    case .byte: reserve(1, alignment: 1)
    case .int16, .uint16: reserve(2, alignment: 2)
    case .boolean, .int32, .uint32: reserve(4, alignment: 4)
    case .int64, .uint64, .double: reserve(8, alignment: 8)
    case .string(let text): try addText(text)
    case .objectPath(let path): reserve(5 + path.text.utf8.count, alignment: 4)
    case .signature(let signature): reserve(2 + signature.text.utf8.count, alignment: 1)
    case .unixFD(let descriptor):
      guard descriptor.isOpen else { throw .invalidArgs("a file descriptor isn't open") }
      reserve(4, alignment: 4)
    case .bytes(let bytes):
      try Self.requireArrayLength(bytes.count)
      reserve(4, alignment: 4)
      reserve(bytes.count, alignment: 1)
    case .array, .structure, .dictionary, .variant: try addContainer(value, depth: depth + 1)
    }
  }

  private mutating func addText(_ text: String) throws(DBusError) {
    try Validation.require(string: text)
    guard text.utf8.count < Self.maximumBodyLength else { throw .limitsExceeded("a string is longer than 128 MiB") }
    reserve(5 + text.utf8.count, alignment: 4)
  }

  private mutating func addContainer(_ value: DBusValue, depth: Int) throws(DBusError) {
    guard depth <= Self.maximumDepth else { throw .limitsExceeded("values are nested too deeply") }
    switch value {
    case .array(let element, let values): try addArray(of: element, values, depth: depth)
    case .dictionary(let key, let content, let entries):
      try addDictionary(key: key, value: content, entries, depth: depth)
    case .structure(let members):
      guard !members.isEmpty else { throw .invalidArgs("a structure has no members") }
      reserve(0, alignment: 8)
      for member in members { try add(member, depth: depth) }
    case .variant(let inner):
      let signature = inner.signatureText
      guard Signature.isSingle(signature) else { throw .invalidArgs("a variant's type isn't valid") }
      reserve(2 + signature.utf8.count, alignment: 1)
      try add(inner, depth: depth)
    default: break
    }
  }

  private mutating func addArray(of element: Signature, _ values: [DBusValue], depth: Int) throws(DBusError) {
    guard element.isSingle else { throw .invalidArgs("an array's element type isn't one complete type") }
    reserve(4, alignment: 4)
    reserve(0, alignment: Self.alignment(of: element))
    let start = length
    for value in values {
      guard value.signatureText == element.text else { throw .invalidArgs("an array's elements differ in type") }
      try add(value, depth: depth)
    }
    try Self.requireArrayLength(length - start)
  }

  private mutating func addDictionary(
    key: Signature, value: Signature, _ entries: [DBusValue.Entry], depth: Int
  ) throws(DBusError) {
    guard key.isBasic, value.isSingle else { throw .invalidArgs("a dictionary's types aren't valid") }
    guard depth < Self.maximumDepth else { throw .limitsExceeded("values are nested too deeply") }
    reserve(4, alignment: 4)
    reserve(0, alignment: 8)
    let start = length
    for entry in entries {
      guard entry.key.signatureText == key.text, entry.value.signatureText == value.text
      else { throw .invalidArgs("a dictionary's entries differ in type") }
      reserve(0, alignment: 8)
      try add(entry.key, depth: depth + 1)
      try add(entry.value, depth: depth + 1)
    }
    try Self.requireArrayLength(length - start)
  }

  private static func requireArrayLength(_ length: Int) throws(DBusError) {
    guard length <= maximumArrayLength else { throw .limitsExceeded("an array is longer than 64 MiB") }
  }

  private static func alignment(of signature: Signature) -> Int {
    switch signature.text.utf8.first {
    case UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "("): 8
    case UInt8(ascii: "y"), UInt8(ascii: "g"), UInt8(ascii: "v"): 1
    case UInt8(ascii: "n"), UInt8(ascii: "q"): 2
    default: 4
    }
  }
}
