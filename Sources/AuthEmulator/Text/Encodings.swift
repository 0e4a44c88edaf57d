/// Base64 (RFC 4648): the standard alphabet with padding, and the one for URLs without.
enum Base64 {
  private static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let url = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  static func encode(_ text: String) -> String { encode(Array(text.utf8), alphabet: standard, padded: true) }
  static func encodeURL(_ text: String) -> String { encode(Array(text.utf8), alphabet: url, padded: false) }
  static func encodeURL(_ bytes: [UInt8]) -> String { encode(bytes, alphabet: url, padded: false) }

  private static func encode(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> String {
    var out: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let chunk = bytes[start..<min(start + 3, bytes.count)]
      var bits = chunk.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(8 * (3 - chunk.count))
      for place in 0...chunk.count { out.append(alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)]) }
      if padded { out += Array(repeating: UInt8(ascii: "="), count: 3 - chunk.count) }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Takes both alphabets, with or without padding; nil for anything else.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var (out, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
    for byte in text.utf8.prefix(while: { $0 != UInt8(ascii: "=") }) {
      guard let value = standard.firstIndex(of: byte) ?? url.firstIndex(of: byte) else { return nil }
      (bits, count) = (bits << 6 | UInt32(value), count + 6)
      if count >= 8 {
        count -= 8
        out.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return out
  }
}

/// Percent encoding (RFC 3986) and the form encoding of the URL standard.
enum URLText {
  /// As JavaScript's `encodeURIComponent`.
  static func encodeComponent(_ text: String) -> String {
    encode(text, keeping: Array("-_.!~*'()".utf8), plusForSpace: false)
  }

  /// As `URLSearchParams` writes a name or a value.
  static func encodeForm(_ text: String) -> String { encode(text, keeping: Array("*-._".utf8), plusForSpace: true) }

  private static func encode(_ text: String, keeping: [UInt8], plusForSpace: Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: out.append(byte)
      case 0x20 where plusForSpace: out.append(UInt8(ascii: "+"))
      case let byte where keeping.contains(byte): out.append(byte)
      default: out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Decodes `%XX`; what is no escape stays as it is.
  static func decode(_ text: some StringProtocol, plusIsSpace: Bool) -> String {
    var out: [UInt8] = []
    var rest = Substring(text).utf8
    while let byte = rest.popFirst() {
      let pair = rest.prefix(2)
      if byte == UInt8(ascii: "%"), pair.count == 2, let value = UInt8(String(Substring(pair)), radix: 16) {
        out.append(value)
        rest = rest.dropFirst(2)
      } else {
        out.append(byte == UInt8(ascii: "+") && plusIsSpace ? 0x20 : byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// The pairs of a query or a form, decoded, in their order.
  static func pairs(_ text: some StringProtocol) -> [(name: String, value: String)] {
    text.split(separator: "&").map { pair in
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (
        decode(halves[0], plusIsSpace: true), halves.count > 1 ? decode(halves[1], plusIsSpace: true) : ""
      )
    }
  }

  /// Scheme, `://` and a host: what the service asks of a continue URL.
  static func isAbsolute(_ text: String) -> Bool {
    guard let colon = text.range(of: "://") else { return false }
    let scheme = text[..<colon.lowerBound]
    let host = text[colon.upperBound...].prefix { !"/?#".contains($0) }
    return scheme.first?.isLetter == true && !host.isEmpty
      && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
      && !text.contains(" ")
  }

  /// Whether a text is a URI's scheme (RFC 3986, section 3.1).
  static func isScheme(_ text: some StringProtocol) -> Bool {
    guard let first = text.first, first.isASCII, first.isLetter else { return false }
    return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
  }

  /// `url` with further query parameters, before its fragment.
  static func adding(_ parameters: [(name: String, value: String)], to url: String) -> String {
    let fragment = url.firstIndex(of: "#") ?? url.endIndex
    var out = String(url[..<fragment])
    for (name, value) in parameters {
      out += (out.contains("?") ? (out.hasSuffix("?") ? "" : "&") : "?") + encodeForm(name) + "=" + encodeForm(value)
    }
    return out + url[fragment...]
  }

  /// A host without a path gets `/`, as a URL parser writes it.
  static func normalized(_ url: String) -> String {
    guard let colon = url.range(of: "://") else { return url }
    let end = url[colon.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
    return end < url.endIndex && url[end] == "/" ? url : url[..<end] + "/" + url[end...]
  }
}

extension String {
  fileprivate func range(of needle: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(needle) { return start..<index(start, offsetBy: needle.count) }
      start = index(after: start)
    }
    return nil
  }
}

/// Texts made of random letters.
enum RandomText {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
  private static let urlLetters = letters + ["-", "_"]

  static func letters(_ count: Int) -> String { String((0..<count).map { _ in letters.randomElement() ?? "A" }) }
  static func urlLetters(_ count: Int) -> String { String((0..<count).map { _ in urlLetters.randomElement() ?? "A" }) }
  static func base32(_ count: Int) -> String { String((0..<count).map { _ in Base32.letters.randomElement() ?? "A" }) }
  static func digits(_ count: Int) -> String { String((0..<count).map { _ in "0123456789".randomElement() ?? "0" }) }
}
