/// Phone numbers as they are shown to whoever only looks, and in logs.
public enum PhoneMask {
  /// `+*******4444` of an E.164 number, as the server masks those of second factors (identity-toolkit 8.9): enough for its
  /// owner to recognise, too little to use. Of a short one less is shown; a masked one stays as it is; `…` for any other text.
  public static func masked(_ number: String) -> String {
    let digits = number.dropFirst()
    guard number.first == "+", !digits.isEmpty, digits.utf8.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: "*") })
    else { return "…" }
    if digits.contains("*") { return number }
    let shown = min(4, max(digits.count - 4, 0))
    return "+" + String(repeating: "*", count: digits.count - shown) + digits.suffix(shown)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
