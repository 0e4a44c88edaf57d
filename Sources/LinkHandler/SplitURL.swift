import AuthCore

/// A URL in its parts (RFC 3986 3), split and not normalised: what counts is what stands there.
struct SplitURL {
  /// Lower case.
  let scheme: String
  /// Nil where there is no `//`.
  let authority: Bytes?
  let path: Bytes
  let query: Bytes?
  let fragment: Bytes?

  /// Checks of behaviour, Links 1, that need no knowledge of the apps: the shape of the scheme, control characters, raw
  /// spaces.
  ///
  /// - Throws: `controlCharacter`, `malformed`.
  init(_ bytes: Bytes) throws(LinkRejection) {
    if bytes.contains(where: { $0 < 0x20 || $0 == 0x7f }) { throw LinkRejection(.controlCharacter) }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]) else {
      throw LinkRejection(.malformed)
    }
    scheme = bytes[..<colon].lowercased
    let (beforeFragment, fragment) = bytes[(colon + 1)...].cut(at: UInt8(ascii: "#"))
    let (hierarchy, query) = beforeFragment.cut(at: UInt8(ascii: "?"))
    self.fragment = fragment
    self.query = query
    if hierarchy.hasPrefix("//") {
      let rest = hierarchy.dropFirst(2)
      let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      authority = rest[..<slash]
      path = rest[slash...]
    } else {
      authority = nil
      path = hierarchy
    }
  }

  private static func isScheme(_ bytes: Bytes) -> Bool {
    guard let first = bytes.first, isLetter(first) else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
      default: isLetter(byte)
      }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }
}

/// Host and port of a web URL.
struct WebAuthority {
  /// Lower case; an IPv6 address without brackets.
  let host: String
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
    } else if let colon = authority.firstIndex(of: UInt8(ascii: ":")) {
      host = authority[..<colon]
      port = authority[(colon + 1)...]
    }
    guard !host.isEmpty else { throw LinkRejection(.malformed) }
    self.host = host.lowercased
    if let port, !port.isEmpty {
      guard let number = UInt16(port.ascii) else { throw LinkRejection(.malformed) }
      self.port = number
    } else {
      self.port = nil
    }
  }

  /// Whether this is the machine itself, in one of its three plain spellings.
  var isLoopback: Bool { host == "localhost" || host == "127.0.0.1" || host == "::1" }
}
