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

  /// The region of a person's settings: the territory of the first of these variables that is set and not empty, in the order
  /// of locale(7). Nil where that one names none, as `C` and `POSIX`: ask for a number with `+`.
  /// - Parameters:
  ///   - telephone: the value of `LC_TELEPHONE`.
  ///   - all: the value of `LC_ALL`.
  ///   - language: the value of `LANG`.
  public init?(telephone: String?, all: String?, language: String?) {
    guard let name = [all, telephone, language].lazy.compactMap(\.self).first(where: { !$0.isEmpty }) else {
      return nil
    }
    self.init(locale: name)
  }
}
