/// Foreign text made harmless for HTML.
enum PageText {
  /// Text for content and for attributes in double quotes: markup is written as entities; control characters and those that
  /// change the direction of what follows (Unicode TR 36, 3.1) are left out, line ends become spaces.
  static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case "'": out += "&#39;"
      case "\n", "\r", "\t", "\u{2028}", "\u{2029}": out += " "
      case _ where isUnwanted(scalar): continue
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  private static func isUnwanted(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\u{61c}", "\u{200e}", "\u{200f}", "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}", "\u{feff}": true
    // Invisible tags, which can carry text that nobody sees.
    case "\u{e0000}"..."\u{e007f}": true
    default: scalar.properties.generalCategory == .control || scalar.properties.isNoncharacterCodePoint
    }
  }
}
