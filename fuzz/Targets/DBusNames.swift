import CDBus
@testable import DBus

/// The rules for names, paths and signatures: libdbus ends the process for what breaks them, so ours must say the same.
enum DBusNames {
  static func check(_ input: [UInt8]) throws(Fault) {
    let text = String(decoding: input, as: UTF8.self)
    try label(text)
    guard !text.utf8.contains(0) else { return try refused(text) }
    let rules: [(name: String, ours: Bool, theirs: dbus_bool_t)] = [
      ("path", Validation.isObjectPath(text), dbus_validate_path(text, nil)),
      ("interface", Validation.isInterfaceName(text), dbus_validate_interface(text, nil)),
      ("member", Validation.isMemberName(text), dbus_validate_member(text, nil)),
      ("error name", Validation.isErrorName(text), dbus_validate_error_name(text, nil)),
      ("string", Validation.isString(text), dbus_validate_utf8(text, nil)),
      ("signature", Signature.isValid(text), dbus_signature_validate(text, nil)),
      ("single type", Signature.isSingle(text), dbus_signature_validate_single(text, nil)),
    ]
    // Of a unique name libdbus asks less than the specification: any number of elements, an empty one too.
    let isName = dbus_validate_bus_name(text, nil) != 0
    let isOurs = Validation.isBusName(text)
    try require(isOurs == isName || text.hasPrefix(":") && !isOurs, "libdbus says otherwise: bus name")
    // libdbus counts arrays anew behind a dictionary's key; the specification allows 32 in all, and so do we.
    let isTooDeep = text.utf8.count { $0 == UInt8(ascii: "a") } > Signature.maximumDepth
    for rule in rules {
      let mayBeStricter = isTooDeep && !rule.ours && ["signature", "single type"].contains(rule.name)
      try require(mayBeStricter || rule.ours == (rule.theirs != 0), "libdbus says otherwise: \(rule.name)")
    }
    if text.utf8.count <= Validation.maximumNameLength - 2 {
      let isStart = dbus_validate_bus_name(text + ".a", nil) != 0 && !text.hasPrefix(":")
      try require(Validation.isNameNamespace(text) == isStart, "a namespace is the beginning of a name")
    }
    if let signature = try? Signature(text) {
      let types = signature.completeTypes
      try require(types.map(\.text).joined() == text, "a signature is its complete types")
      try require(types.allSatisfy(\.isSingle), "a complete type is one")
    }
  }

  /// What C can't hold, no rule lets pass.
  private static func refused(_ text: String) throws(Fault) {
    let isAny =
      Validation.isObjectPath(text) || Validation.isInterfaceName(text) || Validation.isMemberName(text)
      || Validation.isBusName(text) || Validation.isString(text) || Validation.isNameNamespace(text)
      || Signature.isValid(text)
    try require(!isAny, "a zero byte is in no name")
  }

  /// Any text as an element of a path, and back.
  private static func label(_ text: String) throws(Fault) {
    let path = ObjectPath.root.appending(label: text)
    try require(dbus_validate_path(path.text, nil) != 0, "an encoded label is an element of a path")
    try require(path.label(below: .root) == text, "a label reads back")
    if let decoded = ObjectPath.decode(text) {
      try require(ObjectPath.encode(decoded) == text, "a label has one encoding")
    }
  }
}
