import AuthCore

extension LinkParser.Run {
  /// Links that a mail gateway or Google has wrapped, unwrapped by what is in the URL alone: nothing is ever fetched.
  mutating func wrapped(_ url: SplitURL, _ authority: WebAuthority) throws(LinkRejection) -> Link {
    guard let wrapper = MailWrapper.find(authority.host) else { throw LinkRejection(.untrustedHost) }
    guard wrapper != .opaque else { throw LinkRejection(.opaqueWrapper) }
    guard let inner = try wrapper.target(url) else { throw LinkRejection(.notAuthLink) }
    try enter(wrapper.word)
    return try link(inner)
  }
}

/// A known wrapper, by its host.
enum MailWrapper {
  case safelinks, google, proofpoint, proofpointV3, opaque

  static func find(_ host: String) -> MailWrapper? {
    switch host {
    case "www.google.com", "google.com": .google
    case "urldefense.proofpoint.com": .proofpoint
    case "urldefense.com", "urldefense.us": .proofpointV3
    case "linkprotect.cudasvc.com", "secure-web.cisco.com", "clicktime.symantec.com", "url.emailprotection.link":
      .opaque
    default:
      if host.hasSuffix(".safelinks.protection.outlook.com") {
        .safelinks
      } else if host.hasSuffix(".mimecast.com") || host.hasSuffix(".mimecastprotect.com") {
        .opaque
      } else {
        nil
      }
    }
  }

  /// The word in `via`.
  var word: LinkWrapper {
    switch self {
    case .safelinks: .safelinks
    case .google: .google
    case .proofpoint, .proofpointV3, .opaque: .proofpoint
    }
  }

  /// The wrapped URL, decoded once; nil for a URL of the host that wraps none.
  func target(_ url: SplitURL) throws(LinkRejection) -> Bytes? {
    let parameters = Parameters(url.query, plus: .literal)
    switch self {
    case .safelinks:
      return try parameters.value("url").map { Array($0.utf8)[...] }
    case .google:
      guard url.path.equals("/url") else { return nil }
      if let inner = try parameters.value("q") { return Array(inner.utf8)[...] }
      return try parameters.value("url").map { Array($0.utf8)[...] }
    case .proofpoint: return try proofpoint(url, parameters)
    case .proofpointV3: return Self.proofpointV3(url)
    case .opaque: return nil
    }
  }

  private func proofpoint(_ url: SplitURL, _ parameters: Parameters) throws(LinkRejection) -> Bytes? {
    if url.path.hasPrefix("/v1/") { return try parameters.value("u").map { Array($0.utf8)[...] } }
    guard url.path.hasPrefix("/v2/"), let raw = parameters.raw("u") else { return Self.proofpointV3(url) }
    // Version 2: `-XX` stands for `%XX` and `_` for `/`.
    let escaped = raw.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "%")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    guard let text = PercentCoding.decode(escaped[...]) else { throw LinkRejection(.malformed) }
    return Array(text.utf8)[...]
  }

  /// Version 3: `/v3/__URL__;REPLACED!!…$`. Where the URL has `*`, a character was replaced; which ones stands in base64url
  /// after the semicolon, `**X` for a run.
  private static func proofpointV3(_ url: SplitURL) -> Bytes? {
    guard url.path.hasPrefix("/v3/__") else { return nil }
    // The wrapped URL has its own query and fragment: the whole text counts.
    var whole = Array(url.path.dropFirst("/v3/__".utf8.count))
    if let query = url.query { whole += [UInt8(ascii: "?")] + query }
    if let fragment = url.fragment { whole += [UInt8(ascii: "#")] + fragment }
    guard let end = whole[...].lastRange(of: "__;") else { return nil }
    let inner = whole[..<end.lowerBound]
    let tail = whole[end.upperBound...]
    let replaced = tail.firstRange(of: "!").map { tail[..<$0.lowerBound] } ?? tail
    guard inner.contains(UInt8(ascii: "*")) else { return inner }
    return restored(inner, decodeBase64URL(replaced))
  }

  private static func restored(_ inner: Bytes, _ replaced: [UInt8]) -> Bytes {
    var out: [UInt8] = []
    var source = replaced[...]
    var index = inner.startIndex
    while index < inner.endIndex {
      let byte = inner[index]
      index += 1
      guard byte == UInt8(ascii: "*") else {
        out.append(byte)
        continue
      }
      var count = 1
      if index + 1 < inner.endIndex, inner[index] == UInt8(ascii: "*"), let length = runLength(inner[index + 1]) {
        count = length
        index += 2
      }
      out += source.prefix(count)
      source = source.dropFirst(count)
    }
    return out[...]
  }

  /// `A` is 2, `B` is 3, … `-` and `_` end the alphabet.
  private static func runLength(_ byte: UInt8) -> Int? { base64Value(byte).map { Int($0) + 2 } }

  private static func decodeBase64URL(_ bytes: Bytes) -> [UInt8] {
    var out: [UInt8] = []
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for byte in bytes {
      guard let value = base64Value(byte) else { break }
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

  private static func base64Value(_ byte: UInt8) -> UInt8? {
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

extension Bytes {
  /// Where `literal` last stands.
  func lastRange(of literal: StaticString) -> Range<Int>? {
    var found: Range<Int>?
    var rest = self
    while let range = rest.firstRange(of: literal) {
      found = range
      rest = self[(range.lowerBound + 1)...]
    }
    return found
  }
}
