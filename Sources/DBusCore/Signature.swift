/// A valid D-Bus signature: any number of complete types.
public struct Signature: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// For example `a{sv}`.
  public let text: String

  /// Throws InvalidArgs for what isn't a signature.
  public init(_ text: String) throws(DBusError) {
    guard Self.isValid(text) else { throw .invalidArgs("not a D-Bus signature") }
    self.text = text
  }

  /// For signatures written in source code: an invalid one is a mistake of the programmer and stops the program.
  public init(stringLiteral text: StaticString) {
    self.text = text.description
    precondition(Self.isValid(self.text), "not a D-Bus signature: \(text)")
  }

  /// For text that libdbus has validated or that is made of valid parts.
  package init(unchecked text: String) { self.text = text }

  /// The signature itself.
  public var description: String { text }

  package static let byte = Signature(unchecked: "y")
  package static let string = Signature(unchecked: "s")
  package static let objectPath = Signature(unchecked: "o")
  package static let variant = Signature(unchecked: "v")
}

extension Signature {
  /// Longest signature in bytes.
  public static let maximumLength = 255
  /// Arrays inside arrays, dictionaries among them, and separately structures inside structures.
  package static let maximumDepth = 32

  /// Whether the text is a sequence of complete types within the protocol's limits.
  public static func isValid(_ text: String) -> Bool {
    var parser = SignatureParser(text)
    return parser.isWithinLength && parser.parseAll() != nil
  }

  /// Whether the text is exactly one complete type.
  public static func isSingle(_ text: String) -> Bool {
    var parser = SignatureParser(text)
    return parser.isWithinLength && parser.parseAll()?.count == 1
  }

  /// Whether this is exactly one complete type.
  public var isSingle: Bool { Self.isSingle(text) }

  /// Its complete types, one by one.
  public var completeTypes: [Signature] {
    var parser = SignatureParser(text)
    return (parser.parseAll() ?? []).map { Signature(unchecked: $0) }
  }

  /// Whether this is one basic type, as dictionary keys have to be.
  public var isBasic: Bool { text.utf8.count == 1 && SignatureParser.isBasic(text.utf8.first ?? 0) }
}

/// Recursive descent; the depth limits bound the recursion.
private struct SignatureParser {
  private let bytes: [UInt8]
  private var position = 0

  package init(_ text: String) { bytes = Array(text.utf8) }

  package var isWithinLength: Bool { bytes.count <= Signature.maximumLength }

  package static func isBasic(_ code: UInt8) -> Bool { "ybnqiuxtdsogh".utf8.contains(code) }

  package mutating func parseAll() -> [String]? {
    var types: [String] = []
    while position < bytes.count {
      let start = position
      guard parseType(arrays: 0, structures: 0) else { return nil }
      types.append(String(decoding: bytes[start..<position], as: UTF8.self))
    }
    return types
  }

  private mutating func next() -> UInt8? {
    guard position < bytes.count else { return nil }
    position += 1
    return bytes[position - 1]
  }

  private mutating func parseType(arrays: Int, structures: Int) -> Bool {
    guard let code = next() else { return false }
    switch code {
    case UInt8(ascii: "v"): return true
    case UInt8(ascii: "a"):
      guard arrays < Signature.maximumDepth else { return false }
      if position < bytes.count, bytes[position] == UInt8(ascii: "{") {
        position += 1
        return parseEntry(arrays: arrays + 1, structures: structures)
      }
      return parseType(arrays: arrays + 1, structures: structures)
    case UInt8(ascii: "("): return parseStructure(arrays: arrays, structures: structures)
    default: return Self.isBasic(code)
    }
  }

  private mutating func parseStructure(arrays: Int, structures: Int) -> Bool {
    guard structures < Signature.maximumDepth else { return false }
    var members = 0
    while position < bytes.count, bytes[position] != UInt8(ascii: ")") {
      guard parseType(arrays: arrays, structures: structures + 1) else { return false }
      members += 1
    }
    return next() != nil && members > 0
  }

  private mutating func parseEntry(arrays: Int, structures: Int) -> Bool {
    // Each entry is in an array of its own, whose depth has a limit.
    guard let key = next(), Self.isBasic(key) else { return false }
    return parseType(arrays: arrays, structures: structures) && next() == UInt8(ascii: "}")
  }
}
