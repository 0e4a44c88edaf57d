import AuthCore

extension LinkParser.Run {
  /// Links that a mail gateway or Google has wrapped, unwrapped by what is in the URL alone: nothing is ever fetched.
  mutating func wrapped(_ url: SplitURL, _ authority: WebAuthority) throws(LinkRejection) -> Link {
    guard let wrapper = MailWrapper.find(authority.host) else { throw LinkRejection(.untrustedHost) }
    guard let word = wrapper.word else { throw LinkRejection(.opaqueWrapper, hint: .openInBrowser) }
    guard let inner = try wrapper.target(url) else { throw LinkRejection(.notAuthLink) }
    try enter(word)
    return try link(inner)
  }
}

/// A known wrapper, by its host.
enum MailWrapper {
  case safelinks, teamsSafelinks, google, proofpoint, proofpointV3
  /// The target isn't in the URL, or only part of it is (field report B006).
  case opaque

  private static let hosts = NameTable<MailWrapper>([
    "statics.teams.cdn.office.net": .teamsSafelinks,
    "www.google.com": .google, "google.com": .google,
    "urldefense.proofpoint.com": .proofpoint,
    "urldefense.com": .proofpointV3, "urldefense.us": .proofpointV3,
    "linkprotect.cudasvc.com": .opaque, "secure-web.cisco.com": .opaque, "clicktime.symantec.com": .opaque,
    "url.emailprotection.link": .opaque, "protect2.fireeye.com": .opaque,
  ])

  private static let domains: [(suffix: StaticString, wrapper: MailWrapper)] = [
    (".safelinks.protection.outlook.com", .safelinks), (".safelinks.protection.office365.us", .safelinks),
    (".mimecast.com", .opaque), (".mimecastprotect.com", .opaque), (".protection.sophos.com", .opaque),
  ]

  /// The wrapper at `host`, whatever its letter case.
  static func find(_ host: Bytes) -> MailWrapper? {
    if let wrapper = hosts.find(host) { return wrapper }
    return domains.first {
      host.count > $0.suffix.utf8CodeUnitCount && host.suffix($0.suffix.utf8CodeUnitCount).isName($0.suffix)
    }?
    .wrapper
  }

  /// The word in `via`; nil for what can't be unwrapped.
  var word: LinkWrapper? {
    switch self {
    case .safelinks, .teamsSafelinks: .safelinks
    case .google: .google
    case .proofpoint, .proofpointV3: .proofpoint
    case .opaque: nil
    }
  }

  /// The wrapped URL, decoded once; nil for a URL of the host that wraps none.
  func target(_ url: SplitURL) throws(LinkRejection) -> Bytes? {
    let parameters = Parameters(url.query, plus: .literal)
    switch self {
    case .safelinks: return try parameters.nested("url")
    case .teamsSafelinks:
      guard url.path.hasPrefix("/evergreen-assets/safelinks/") else { return nil }
      return try parameters.nested("url")
    case .google:
      guard url.path.equals("/url") else { return nil }
      return try parameters.nested("q", or: "url")
    case .proofpoint:
      if url.path.hasPrefix("/v1/") { return try parameters.nested("u") }
      if url.path.hasPrefix("/v2/") { return try Proofpoint.version2(parameters) }
      return try Proofpoint.version3(url)
    case .proofpointV3: return try Proofpoint.version3(url)
    case .opaque: return nil
    }
  }
}

/// The encodings of Proofpoint URL Defense that aren't plain percent-encoding.
enum Proofpoint {
  /// `-XX` stands for `%XX` and `_` for `/`.
  static func version2(_ parameters: Parameters) throws(LinkRejection) -> Bytes? {
    guard let raw = try parameters.raw("u") else { return nil }
    let escaped = raw.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "%")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    guard let decoded = PercentCoding.decode(escaped[...]) else { throw LinkRejection(.malformed) }
    return decoded[...]
  }

  /// `/v3/__URL__;REPLACED!!…$`. Where the URL has `*`, a character was replaced; which ones stands in base64url after the
  /// semicolon. `**X` is a run of them.
  static func version3(_ url: SplitURL) throws(LinkRejection) -> Bytes? {
    guard url.path.hasPrefix("/v3/__") else { return nil }
    // The wrapped URL has its own query and fragment: the whole text counts.
    var whole = Array(url.path.dropFirst("/v3/__".utf8.count))
    if let query = url.query { whole += [UInt8(ascii: "?")] + query }
    if let fragment = url.fragment { whole += [UInt8(ascii: "#")] + fragment }
    guard let end = whole[...].firstRange(of: "__;") else { throw LinkRejection(.malformed, hint: .cutOff) }
    let replaced = whole[end.upperBound...].cut(at: UInt8(ascii: "!")).head
    var inner = try restored(whole[..<end.lowerBound], Base64URL.decode(replaced))
    // A gateway on the way merged the two slashes.
    if let range = inner.firstRange(of: ":/"), !inner[range.upperBound...].hasPrefix("/") {
      inner.insert(UInt8(ascii: "/"), at: range.upperBound)
    }
    return inner
  }

  private static func restored(_ inner: Bytes, _ replaced: [UInt8]?) throws(LinkRejection) -> Bytes {
    guard inner.contains(UInt8(ascii: "*")) else { return inner }
    guard let text = replaced.flatMap({ $0[...].text }) else { throw LinkRejection(.malformed) }
    var source = text.unicodeScalars[...]
    var out: [UInt8] = []
    var rest = inner
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "*") else {
        out.append(byte)
        continue
      }
      var count = 1
      if rest.first == UInt8(ascii: "*"), let length = rest.dropFirst().first.flatMap(Base64URL.value) {
        // `A` is a run of 2, `B` of 3, and so on through the alphabet of base64url.
        count = Int(length) + 2
        rest = rest.dropFirst(2)
      }
      guard source.count >= count else { throw LinkRejection(.malformed) }
      for scalar in source.prefix(count) { out += Array(UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter) }
      source = source.dropFirst(count)
    }
    return out[...]
  }
}

/// RFC 4648 5, without padding.
enum Base64URL {
  /// The decoded bytes; nil for a foreign character.
  static func decode(_ bytes: Bytes) -> [UInt8]? {
    var out: [UInt8] = []
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for byte in bytes where byte != UInt8(ascii: "=") {
      guard let value = value(byte) else { return nil }
      buffer = buffer << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        out.append(UInt8(truncatingIfNeeded: buffer >> bits))
        buffer &= (1 << bits) - 1
      }
    }
    return out
  }

  /// The six bits of a character.
  static func value(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
