/// A country or territory, for numbers that are typed without a calling code.
public struct Region: Sendable, Hashable {
  /// Two capital letters: ISO 3166-1 alpha-2, or `XK` for Kosovo.
  public let code: String

  /// Reads a code in either letter case. Nil unless it is one whose numbers are known.
  public init?(_ code: String) {
    // `ß` would become two letters.
    guard code.utf8.count == 2, code.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let capitals = code.uppercased()
    guard Country.of(region: capitals) != nil else { return nil }
    self.code = capitals
  }

  /// The territory of a locale's name (locale(7)), `AT` for `de_AT.UTF-8@euro`. Nil where it names none, as `C.UTF-8`, `de`,
  /// and `es_419`: no country is guessed from a language.
  public init?(locale: String) {
    let name = locale.prefix { $0 != "." && $0 != "@" }
    let parts = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
    // A script may stand between: zh_Hant_TW.
    guard let territory = parts.dropFirst().first(where: { $0.utf8.count == 2 }) else { return nil }
    self.init(String(territory))
  }

  /// The region that a person's settings name: the option's, else the first of these variables that names one, the most
  /// particular first (behaviour: Phone). Nil: ask for a number with `+`.
  ///
  /// locale(7) would have `LC_ALL` first. But it is mostly set by scripts, for another reason than telephones, and what
  /// names no territory doesn't hide what does.
  /// - Parameter environment: the value of a variable.
  public init?(of environment: (String) -> String?) {
    for name in ["LC_TELEPHONE", "LC_ALL", "LANG"] {
      guard let value = environment(name), let region = Region(locale: value) else { continue }
      self = region
      return
    }
    return nil
  }
}
