/// A valid D-Bus object path.
public struct ObjectPath: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The path, for example `/org/linkd/Auth1`.
  public let text: String

  /// Throws InvalidArgs for what isn't an object path.
  public init(_ text: String) throws(DBusError) {
    try Validation.require(objectPath: text)
    self.text = text
  }

  /// For paths written in source code: an invalid one is a mistake of the programmer and stops the program.
  public init(stringLiteral text: StaticString) {
    self.text = text.description
    precondition(Validation.isObjectPath(self.text), "not an object path: \(text)")
  }

  /// For text that libdbus has validated.
  package init(unchecked text: String) { self.text = text }

  /// `/`
  public static let root = ObjectPath(unchecked: "/")

  /// The path itself.
  public var description: String { text }

  /// By bytes.
  public static func < (a: ObjectPath, b: ObjectPath) -> Bool { a.text < b.text }

  /// What has to stand before a descendant's own part: `/a/`, and `/` for the root.
  package var prefixOfDescendants: String { text == "/" ? text : text + "/" }

  /// Whether this path is strictly below `other`.
  public func isDescendant(of other: ObjectPath) -> Bool {
    text.utf8.count > other.text.utf8.count && text.hasPrefix(other.prefixOfDescendants)
  }
}

extension ObjectPath {
  /// This path and one more element, made of any text by ``encode(_:)``.
  public func appending(label: String) -> ObjectPath {
    ObjectPath(unchecked: prefixOfDescendants + Self.encode(label))
  }

  /// Any text as one path element, exactly as `sd_bus_path_encode` does: ASCII letters and digits stay, except for a
  /// digit in front; every other byte becomes `_` and two lower-case hex digits; the empty text becomes `_`.
  public static func encode(_ label: String) -> String {
    if label.isEmpty { return "_" }
    var result: [UInt8] = []
    for byte in label.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): result.append(byte)
      case UInt8(ascii: "0")...UInt8(ascii: "9") where !result.isEmpty: result.append(byte)
      default: result += [UInt8(ascii: "_"), hexDigit(byte >> 4), hexDigit(byte & 15)]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The inverse of ``encode(_:)``; nil for what it can't have made or what isn't UTF-8.
  public static func decode(_ element: String) -> String? {
    if element == "_" { return "" }
    var bytes = Array(element.utf8)[...]
    var result: [UInt8] = []
    while let byte = bytes.popFirst() {
      if byte != UInt8(ascii: "_") {
        result.append(byte)
        continue
      }
      guard let high = bytes.popFirst().flatMap(value(ofHex:)), let low = bytes.popFirst().flatMap(value(ofHex:))
      else { return nil }
      result.append(high << 4 | low)
    }
    guard let text = String(validating: result, as: UTF8.self), encode(text) == element else { return nil }
    return text
  }

  /// The last element decoded, when this path is exactly one element below `parent`.
  public func label(below parent: ObjectPath) -> String? {
    guard isDescendant(of: parent) else { return nil }
    return Self.decode(String(text.dropFirst(parent.prefixOfDescendants.count)))
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  private static func value(ofHex digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
