import Glibc

/// The rules of the D-Bus specification for names and paths. libdbus aborts the process for what breaks them, so
/// everything is judged here first.
public enum Validation {
  /// Longest bus, interface, member or error name, in bytes.
  public static let maximumNameLength = 255

  /// `/`, or elements of `[A-Za-z0-9_]+`, each after a slash.
  public static func isObjectPath(_ text: String) -> Bool {
    let bytes = text.utf8
    guard bytes.first == slash else { return false }
    if bytes.count == 1 { return true }
    var previous = UInt8(0)
    for byte in bytes {
      if byte == slash ? previous == slash : !isWord(byte) { return false }
      previous = byte
    }
    return previous != slash
  }

  /// Two or more elements of `[A-Za-z_][A-Za-z0-9_]*` with dots between them.
  public static func isInterfaceName(_ text: String) -> Bool {
    isDotted(text.utf8, minimumElements: 2, digitFirst: false, dash: false)
  }

  /// The same rule as for interfaces.
  public static func isErrorName(_ text: String) -> Bool { isInterfaceName(text) }

  /// `[A-Za-z_][A-Za-z0-9_]*`
  public static func isMemberName(_ text: String) -> Bool {
    let bytes = text.utf8
    guard let first = bytes.first, bytes.count <= maximumNameLength, !isDigit(first) else { return false }
    return bytes.allSatisfy(isWord)
  }

  /// A unique name (`:1.42`) or a well-known one.
  public static func isBusName(_ text: String) -> Bool { isUniqueName(text) || isWellKnownName(text) }

  /// A colon and two or more elements of `[A-Za-z0-9_-]+`.
  public static func isUniqueName(_ text: String) -> Bool {
    guard text.utf8.first == UInt8(ascii: ":"), text.utf8.count <= maximumNameLength else { return false }
    return isDotted(text.utf8.dropFirst(), minimumElements: 2, digitFirst: true, dash: true)
  }

  /// Two or more elements of `[A-Za-z_-][A-Za-z0-9_-]*`.
  public static func isWellKnownName(_ text: String) -> Bool {
    isDotted(text.utf8, minimumElements: 2, digitFirst: false, dash: true)
  }

  /// A well-known name or its first elements: what `arg0namespace` takes.
  public static func isNameNamespace(_ text: String) -> Bool {
    isDotted(text.utf8, minimumElements: 1, digitFirst: false, dash: true)
  }

  /// A string that D-Bus can carry. Swift's strings are valid UTF-8; what remains is the zero byte.
  public static func isString(_ text: String) -> Bool {
    // Native strings lie in one piece: megabytes of them are searched by libc.
    let found = text.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    }
    return !(found ?? text.utf8.contains(0))
  }

  private static let slash = UInt8(ascii: "/")

  private static func isDotted(
    _ bytes: some Collection<UInt8>, minimumElements: Int, digitFirst: Bool, dash: Bool
  ) -> Bool {
    guard bytes.count <= maximumNameLength else { return false }
    var elements = 1
    var length = 0
    for byte in bytes {
      if byte == UInt8(ascii: ".") {
        if length == 0 { return false }
        elements += 1
        length = 0
        continue
      }
      guard isWord(byte) || (dash && byte == UInt8(ascii: "-")) else { return false }
      if length == 0, !digitFirst, isDigit(byte) { return false }
      length += 1
    }
    return length > 0 && elements >= minimumElements
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
    default: isDigit(byte)
    }
  }
}

extension Validation {
  package static func require(objectPath text: String) throws(DBusError) {
    guard isObjectPath(text) else { throw .invalidArgs("not an object path: \(shown(text))") }
  }

  package static func require(interface text: String) throws(DBusError) {
    guard isInterfaceName(text) else { throw .invalidArgs("not an interface name: \(shown(text))") }
    guard text != "org.freedesktop.DBus.Local" else { throw .invalidArgs("org.freedesktop.DBus.Local is reserved") }
  }

  package static func require(member text: String) throws(DBusError) {
    guard isMemberName(text) else { throw .invalidArgs("not a member name: \(shown(text))") }
  }

  /// Whoever sends from the reserved path is thrown off the bus.
  package static func require(sendable path: ObjectPath) throws(DBusError) {
    guard path.text != "/org/freedesktop/DBus/Local"
    else { throw .invalidArgs("/org/freedesktop/DBus/Local is reserved") }
  }

  package static func require(busName text: String) throws(DBusError) {
    guard isBusName(text) else { throw .invalidArgs("not a bus name: \(shown(text))") }
  }

  package static func require(string text: String) throws(DBusError) {
    guard isString(text) else { throw .invalidArgs("a string contains a zero byte") }
  }

  /// Names are short; what isn't one may be anything, and is cut and made printable.
  private static func shown(_ text: String) -> String {
    let head = text.unicodeScalars.prefix(64).map { $0.value < 32 || $0.value == 127 ? "?" : Character($0) }
    return "“\(String(head))”"
  }
}
