/// An email address as a person types it, checked as little as needed (field reports B033–B035).
public struct EmailAddress: Sendable, Hashable {
  /// Before the last `@`; case and `+` kept.
  public let local: String
  /// After it, as typed: an international name may be in U-label form.
  public let domain: String

  /// Trims white space around `text`. Nil unless something stands on both sides of the last `@`, without white space,
  /// control or direction-changing characters, in at most 320 bytes: the server judges the rest.
  public init?(_ text: String) {
    var text = Substring(text)
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    guard text.utf8.count <= 320, let at = text.lastIndex(of: "@") else { return nil }
    let local = text[..<at]
    let domain = text[text.index(after: at)...]
    guard !local.isEmpty, !domain.isEmpty, text.unicodeScalars.allSatisfy(Self.isAllowed) else { return nil }
    self.local = String(local)
    self.domain = String(domain)
  }

  /// As typed, without white space around it: what a person is shown.
  public var text: String { "\(local)@\(domain)" }

  /// Whether the domain has letters that go to the server as A-labels (RFC 5890).
  public var needsALabel: Bool { !domain.utf8.allSatisfy { $0 < 0x80 } }

  /// Lower case, with the domain's A-label form put in: what is compared. The server treats addresses likewise.
  public func comparable(domainALabel: String) -> String { "\(local.lowercased())@\(domainALabel.lowercased())" }

  /// `j…@example.com`: enough for a person to recognise, for logs too little to use.
  public static func masked(_ address: String) -> String {
    guard let at = address.lastIndex(of: "@"), let first = address.first, first != "@" else { return "…" }
    return "\(first)…\(address[at...])"
  }

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .unassigned: false
    default: true
    }
  }
}
