import AuthCore

/// The parameters of a query or fragment, undecoded: pairs split at the first `=`, in their order (field report B021).
struct Parameters {
  private struct Pair {
    let name: Bytes
    let value: Bytes
  }

  private var pairs: [Pair] = []
  private let plus: PercentCoding.Plus

  init(_ bytes: Bytes?, plus: PercentCoding.Plus) {
    self.plus = plus
    guard var rest = bytes else { return }
    var isFirst = true
    while !rest.isEmpty {
      var (pair, tail) = rest.cut(at: UInt8(ascii: "&"))
      // `&amp;` between parameters is an `&` that a mail program left in the href (field report B047).
      if !isFirst, pair.hasPrefix("amp;") { pair = pair.dropFirst(4) }
      if !pair.isEmpty {
        let (name, value) = pair.cut(at: UInt8(ascii: "="))
        pairs.append(Pair(name: name, value: value ?? []))
      }
      isFirst = false
      rest = tail ?? []
    }
  }

  /// Whether a parameter of that name stands there, blank or not.
  func has(_ name: StaticString) -> Bool { pairs.contains { $0.name.equals(name) } }

  /// The raw value of `name`; nil where it's absent or blank.
  ///
  /// - Throws: `duplicateParameter` for two different values.
  func raw(_ name: StaticString) throws(LinkRejection) -> Bytes? {
    var found: Bytes?
    for pair in pairs where pair.name.equals(name) {
      if let found, found != pair.value { throw LinkRejection(.duplicateParameter, parameter: "\(name)") }
      found = pair.value
    }
    return found?.isEmpty == false ? found : nil
  }

  /// The value of `name`, decoded once; nil where it's absent or blank.
  ///
  /// - Throws: `duplicateParameter` for two different values, `malformed` for what can't be decoded, `controlCharacter`.
  func value(_ name: StaticString, plus: PercentCoding.Plus? = nil) throws(LinkRejection) -> String? {
    guard let raw = try raw(name) else { return nil }
    guard let text = PercentCoding.decodeText(raw, plus: plus ?? self.plus) else { throw LinkRejection(.malformed) }
    if Self.hasControl(text) { throw LinkRejection(.controlCharacter) }
    return text
  }

  /// The URL inside the value of `name`, else of `other`, decoded once; nil where both are absent or blank.
  ///
  /// - Throws: `duplicateParameter`, `malformed`. Control characters are looked for in the URL as a whole.
  func nested(_ name: StaticString, or other: StaticString? = nil) throws(LinkRejection) -> Bytes? {
    guard let raw = try raw(name) else {
      if let other { return try nested(other) }
      return nil
    }
    guard let decoded = PercentCoding.decode(raw, plus: plus) else { throw LinkRejection(.malformed) }
    return decoded[...]
  }

  /// The value of `name` where it has exactly one that can be read: for what isn't needed.
  func optional(_ name: StaticString) -> String? { (try? value(name)) ?? nil }

  /// C0, DEL and C1 (U+0080…U+009F: C2 80…C2 9F in UTF-8).
  static func hasControl(_ text: String) -> Bool {
    var previous: UInt8 = 0
    for byte in text.utf8 {
      if ASCII.isControl(byte) || previous == 0xc2 && byte < 0xa0 { return true }
      previous = byte
    }
    return false
  }

  /// These, with those of an action link's parameters that stand in `others` alone.
  func filled(from others: Parameters) -> Parameters {
    let missing = Self.actionNames.filter { !has($0) }
    var all = self
    for pair in others.pairs where missing.contains(where: { pair.name.equals($0) }) { all.pairs.append(pair) }
    return all
  }

  private static let actionNames: [StaticString] = [
    "oobCode", "mode", "apiKey", "continueUrl", "lang", "tenantId", "ui_sid", "ui_auid", "ui_sd", "ui_pid",
  ]
}
