/// A telephone number as a person types or pastes it, down to its digits.
struct TypedNumber {
  /// Whether a plus stands before the digits.
  let hasPlus: Bool
  /// As ASCII, never empty.
  let digits: Country.Digits

  /// More are no number, whatever the country.
  static let limit = 32

  /// Drops what people put between digits: spaces, dashes, brackets, dots, slashes, marks of direction.
  init(_ text: String) throws(PhoneNumberError) {
    var hasPlus = false
    var digits: Country.Digits = []
    var rest = Self.withoutScheme(text)
    while let scalar = rest.first {
      if let digit = DecimalDigits.ascii(scalar) {
        digits.append(digit)
        if digits.count > Self.limit { throw .tooLong }
      } else if Self.pluses.contains(scalar) {
        guard digits.isEmpty, !hasPlus else { throw .foreignCharacter }
        hasPlus = true
      } else if !Self.isFiller(scalar) {
        throw Self.fault(at: rest, after: digits)
      }
      rest.removeFirst()
    }
    guard !digits.isEmpty else { throw .empty }
    self.hasPlus = hasPlus
    self.digits = digits
  }

  /// Plus; superscript, small and full-width plus.
  private static let pluses: Set<Unicode.Scalar> = ["+", "\u{207a}", "\u{fe62}", "\u{ff0b}"]
  /// Full stops, middle dots, solidi and tildes, with their wide forms.
  private static let separators: Set<Unicode.Scalar> = [
    ".", "\u{ff0e}", "\u{3002}", "\u{2024}", "\u{b7}", "\u{2022}", "\u{2219}", "\u{30fb}", "/", "\u{2044}", "\u{2215}",
    "\u{ff0f}", "~", "\u{223c}", "\u{301c}", "\u{ff5e}",
  ]

  private static func isFiller(_ scalar: Unicode.Scalar) -> Bool {
    if DecimalDigits.isFiller(scalar) || separators.contains(scalar) { return true }
    let category = scalar.properties.generalCategory
    return category == .openPunctuation || category == .closePunctuation
  }

  /// A link's text may be pasted, too (RFC 3966).
  private static func withoutScheme(_ text: String) -> Substring.UnicodeScalarView {
    let scalars = Substring(text).unicodeScalars.drop { DecimalDigits.isFiller($0) }
    return scalars.prefix(4).map { $0.properties.lowercaseMapping }.joined() == "tel:" ? scalars.dropFirst(4) : scalars
  }

  private static func fault(at rest: Substring.UnicodeScalarView, after digits: Country.Digits) -> PhoneNumberError {
    let letters = String(rest.prefix { $0.properties.isAlphabetic }).lowercased()
    let isExtension = letters.isEmpty ? [";", ",", "#"].contains(rest.first) : extensions.contains(letters)
    if isExtension && !digits.isEmpty { return .hasExtension }
    return letters.isEmpty ? .foreignCharacter : .hasLetters
  }

  private static let extensions: Set<String> = ["x", "ext", "extn", "extension", "доб", "anexo", "int", "wew"]
}
