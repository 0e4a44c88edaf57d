import AuthCore

/// A URL in its parts (RFC 3986 3), split and not normalised: what counts is what stands there.
struct SplitURL {
  /// As written: compare with `isName`.
  let scheme: Bytes
  /// Nil where there is no `//`.
  let authority: Bytes?
  /// What follows the authority. Split when it's asked for: of a foreign URL, nothing here counts.
  private let rest: Bytes
  /// A raw space stands somewhere.
  let hasSpace: Bool

  /// Checks of behaviour, Links 1, that need no knowledge of the apps: control characters and the shape of the scheme.
  ///
  /// - Throws: `controlCharacter`, `malformed`.
  init(_ bytes: Bytes) throws(LinkRejection) {
    let (hasControl, hasSpace) = Self.scan(bytes)
    if hasControl { throw LinkRejection(.controlCharacter) }
    guard let colon = bytes.firstIndex(where: { !Self.isSchemeByte($0) }), bytes[colon] == UInt8(ascii: ":"),
      let first = bytes.first, ASCII.isLetter(first)
    else { throw LinkRejection(.malformed) }
    self.hasSpace = hasSpace
    scheme = bytes[..<colon]
    let hierarchy = bytes[(colon + 1)...]
    if hierarchy.hasPrefix("//") {
      let start = colon + 3
      let end = bytes[start...].firstIndex(where: Self.endsAuthority) ?? bytes.endIndex
      authority = bytes[start..<end]
      rest = bytes[end...]
    } else {
      authority = nil
      rest = hierarchy
    }
  }

  /// As written, up to the query.
  var path: Bytes { rest.prefix { !Self.endsPath($0) } }

  /// Between the first `?` and the fragment; nil where there's none.
  var query: Bytes? {
    guard let end = rest.firstIndex(where: Self.endsPath), rest[end] == UInt8(ascii: "?") else { return nil }
    return rest[(end + 1)...].cut(at: UInt8(ascii: "#")).head
  }

  /// After the first `#`; nil where there's none.
  var fragment: Bytes? { rest.cut(at: UInt8(ascii: "#")).tail }

  private static func endsPath(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || endsPath(byte)
  }

  private static func scan(_ bytes: Bytes) -> (hasControl: Bool, hasSpace: Bool) {
    bytes.withUnsafeBufferPointer { own in
      var control: UInt8 = 0
      var space: UInt8 = 0
      // Without a branch: the whole text counts anyway, and this way many bytes are looked at in one step.
      for byte in own {
        control |= ASCII.isControl(byte) ? 1 : 0
        space |= byte == 0x20 ? 1 : 0
      }
      return (control != 0, space != 0)
    }
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ".")
  }
}

/// Host and port of a web URL.
struct WebAuthority {
  /// As written: compare with `isName`. An IPv6 address without brackets.
  let host: Bytes
  /// Nil where none is named.
  let port: UInt16?

  /// - Throws: `userinfo`, `malformed`.
  init(_ authority: Bytes) throws(LinkRejection) {
    guard !authority.contains(UInt8(ascii: "\\")) else { throw LinkRejection(.malformed) }
    guard !authority.contains(UInt8(ascii: "@")) else { throw LinkRejection(.userinfo) }
    var host = authority
    var port: Bytes?
    if authority.first == UInt8(ascii: "[") {
      guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { throw LinkRejection(.malformed) }
      host = authority[(authority.startIndex + 1)..<end]
      let rest = authority[(end + 1)...]
      guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { throw LinkRejection(.malformed) }
      port = rest.isEmpty ? nil : rest.dropFirst()
    } else {
      (host, port) = authority.cut(at: UInt8(ascii: ":"))
    }
    guard !host.isEmpty else { throw LinkRejection(.malformed) }
    self.host = host
    self.port = try port.flatMap { digits throws(LinkRejection) in try Self.number(digits) }
  }

  /// The port; nil for an empty one, which means the scheme's own (RFC 3986 3.2.3).
  private static func number(_ digits: Bytes) throws(LinkRejection) -> UInt16? {
    if digits.isEmpty { return nil }
    guard digits.allSatisfy(ASCII.isDigit), let number = UInt16(digits.ascii) else { throw LinkRejection(.malformed) }
    return number
  }

  /// Whether this is the machine itself, in one of its three plain spellings.
  var isLoopback: Bool { host.isName("localhost") || host.equals("127.0.0.1") || host.equals("::1") }
}
