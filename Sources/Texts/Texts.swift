/// What linkd says to people. Each text has a stable id, an English source and translations (behaviour: People).
///
/// The ids and sources are the tables `errors`, `causes`, `links`, `notices`, `commands`, `providers`
/// and `verification`; a translation is a ``Catalogue``.
public enum Texts {
  /// Every text in English.
  public static let english: [String: String] = [
    errors, causes, links, notices, commands, providers, verification,
  ]
  .reduce(into: [:]) { all, table in all.merge(table) { first, _ in first } }

  /// The translations this build has. They'll be made from gettext's files under `po/`, whose `msgctxt` is the id.
  static let catalogues: [Catalogue] = []

  /// The text `id` for a person.
  /// - Parameters:
  ///   - locale: BCP 47 or POSIX form (`zh-TW`, `fr_FR.UTF-8`); nil for the process's own.
  ///   - values: what stands for `{key}` in the text. They may come from anywhere, so they're made ``printable(_:)``.
  /// - Returns: the translation, else the English text, else the id itself.
  public static func lookup(_ id: String, locale: String?, _ values: [String: String] = [:]) -> String {
    lookup(id, languages: locale.map(Language.fallbacks) ?? Language.ofProcess, values, catalogues)
  }

  static func lookup(
    _ id: String, languages: [String], _ values: [String: String], _ catalogues: [Catalogue]
  ) -> String {
    for language in languages {
      // The source is a language like the others: who prefers it gets it.
      if language == "en" { break }
      if let text = catalogues.first(where: { $0.language == language })?.texts[id] { return fill(text, values) }
    }
    return fill(english[id] ?? id, values)
  }

  /// Puts the values in, in one pass: a value never becomes part of the pattern.
  private static func fill(_ text: String, _ values: [String: String]) -> String {
    guard !values.isEmpty, text.utf8.contains(UInt8(ascii: "{")) else { return text }
    var out = ""
    var rest = text[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      out += rest[..<open]
      if let value = values[String(rest[rest.index(after: open)..<close])] {
        out += printable(value)
      } else {
        out += rest[open...close]
      }
      rest = rest[rest.index(after: close)...]
    }
    return out + rest
  }

  /// Foreign text that can be shown in a terminal, a notification or a page: on one line, without control characters and
  /// without those that change the direction of what follows (Unicode TR 36, 3.1).
  public static func printable(_ text: String) -> String {
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\u{61c}", "\u{200e}", "\u{200f}", "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}", "\u{feff}": continue
      case "\n", "\r", "\t", "\u{2028}", "\u{2029}": out.append(" ")
      case _ where scalar.properties.generalCategory == .control: continue
      default: out.append(scalar)
      }
    }
    return String(out)
  }
}

/// The texts of one language, by id.
struct Catalogue: Sendable {
  /// POSIX form without encoding: `fr`, `zh_TW`.
  let language: String
  let texts: [String: String]
}
