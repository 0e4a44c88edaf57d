import AuthCore

/// The parameters of a query or fragment, undecoded: pairs split at the first `=`, in their order (field report B021).
struct Parameters {
  private var pairs: [(name: Bytes, value: Bytes)] = []
  private let plus: PercentCoding.Plus

  init(_ bytes: Bytes?, plus: PercentCoding.Plus) {
    self.plus = plus
    guard let bytes else { return }
    for pair in bytes.split(separator: UInt8(ascii: "&")) {
      let (name, value) = pair.cut(at: UInt8(ascii: "="))
      pairs.append((name, value ?? []))
    }
  }

  /// Whether a parameter of that name stands there, blank or not.
  func has(_ name: StaticString) -> Bool { pairs.contains { $0.name.equals(name) } }

  /// The raw value of `name`.
  func raw(_ name: StaticString) -> Bytes? { pairs.first { $0.name.equals(name) }?.value }

  /// The value of `name`, decoded once; nil where it's absent or blank.
  ///
  /// - Throws: `duplicateParameter` for two different values, `malformed` for what can't be decoded, `controlCharacter`.
  func value(_ name: StaticString, plus: PercentCoding.Plus? = nil) throws(LinkRejection) -> String? {
    var found: Bytes?
    for pair in pairs where pair.name.equals(name) {
      if let found, !found.elementsEqual(pair.value) {
        throw LinkRejection(.duplicateParameter, parameter: "\(name)")
      }
      found = pair.value
    }
    guard let found, !found.isEmpty else { return nil }
    guard let text = PercentCoding.decode(found, plus: plus ?? self.plus) else { throw LinkRejection(.malformed) }
    if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) { throw LinkRejection(.controlCharacter) }
    return text
  }

  /// These, with those of `others` whose names don't stand here.
  func filled(from others: Parameters) -> Parameters {
    var all = self
    for pair in others.pairs where !pairs.contains(where: { $0.name.elementsEqual(pair.name) }) {
      all.pairs.append(pair)
    }
    return all
  }
}
