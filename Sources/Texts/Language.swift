import Glibc

/// Which languages somebody reads.
enum Language {
  /// The catalogues that serve a locale, best first: `zh-Hant-TW` gives `zh_TW` and `zh`, `fr_CA.UTF-8@euro` gives `fr_CA`
  /// and `fr`.
  static func fallbacks(_ locale: String) -> [String] {
    let name = locale.prefix { $0 != "." && $0 != "@" }
    let parts = name.split { $0 == "-" || $0 == "_" }.map(String.init)
    guard let language = parts.first?.lowercased(), language != "c", language != "posix" else { return ["en"] }
    var region = parts.dropFirst().first { $0.utf8.count == 2 }?.uppercased()
    // The script without a region, as browsers send it.
    if language == "zh", region == nil, parts.contains(where: { $0.lowercased() == "hant" }) { region = "TW" }
    return (region.map { ["\(language)_\($0)"] } ?? []) + [language]
  }

  /// By the environment, in gettext's order: `LANGUAGE` is a list and counts unless the locale is `C`.
  static var ofProcess: [String] {
    ofEnvironment { name in getenv(name).map { String(cString: $0) } }
  }

  static func ofEnvironment(_ variable: (String) -> String?) -> [String] {
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { variable($0) }.first { !$0.isEmpty } ?? "C"
    let own = fallbacks(locale)
    if own == ["en"] { return own }
    let list = (variable("LANGUAGE") ?? "").split(separator: ":").map(String.init)
    return list.flatMap(fallbacks) + own
  }
}
