import AuthCore

extension LinkParser.Run {
  /// The rejection with what is known about the whole URL, `text`.
  func completed(_ rejection: LinkRejection, text: Bytes) -> LinkRejection {
    var rejection = rejection
    rejection.via = via
    rejection.scheme = scheme.map(Self.name)
    rejection.schemeOwners = ids(schemeOwners)
    if rejection.reason.exitCode == 65, let hint = Self.hint(rejection, text) { rejection.hint = hint }
    return rejection
  }

  private static func name(_ scheme: Bytes) -> String {
    if scheme.isName("https") { return "https" }
    return scheme.isName("http") ? "http" : scheme.lowercased
  }

  /// What the text shows besides the fault itself; nil where it shows nothing.
  private static func hint(_ rejection: LinkRejection, _ text: Bytes) -> LinkHint? {
    if isSource(text) { return .copiedFromSource }
    switch rejection.reason {
    case .controlCharacter: return text.contains { $0 == 0x0a || $0 == 0x0d } ? .joinedLines : nil
    case .malformed:
      if endsInEscape(text) { return .cutOff }
      return rejection.via.isEmpty || text.firstRange(of: "%253A%252F") == nil ? nil : .encodedTwice
    default: return nil
    }
  }

  /// Quoted-printable (RFC 2045 6.7) writes every `=` of a link as `=3D`.
  private static func isSource(_ text: Bytes) -> Bool { text.firstRange(of: "=3D") != nil }

  private static func endsInEscape(_ text: Bytes) -> Bool {
    text.last == UInt8(ascii: "%") || text.dropLast().last == UInt8(ascii: "%")
  }
}
