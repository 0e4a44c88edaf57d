/// Digits as people type them: keyboards for Arabic, Persian, Devanagari and other scripts have their own (field report
/// B087).
enum DecimalDigits {
  /// The ASCII digit of any Unicode decimal digit (general category Nd); nil for everything else, superscripts too.
  static func ascii(_ scalar: Unicode.Scalar) -> UInt8? {
    guard scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue, (0...9).contains(value)
    else { return nil }
    return UInt8(ascii: "0") + UInt8(value)
  }

  /// What may stand between digits and means nothing: white space, dashes and the minus sign, invisible format characters
  /// (bidi marks, joiners, the byte order mark, the soft hyphen).
  static func isFiller(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.isWhitespace || scalar == "\u{2212}" { return true }
    return scalar.properties.generalCategory == .dashPunctuation || scalar.properties.generalCategory == .format
  }
}
