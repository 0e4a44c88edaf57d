/// The continue page of mailed links (behaviour: How a mail's link reaches linkd): static files for any web server, from
/// `desktop/bridge/`, kept inside the programs that write or serve them.
public enum BridgePage {
  /// The files by name. They refer to each other beside themselves, so they work in any folder. `config.js` is the empty
  /// one: put ``config(schemes:name:language:)`` in its place.
  public static let files: [String: [UInt8]] = [
    "index.html": PackageResources.index_html,
    "bridge.js": PackageResources.bridge_js,
    "texts.js": PackageResources.texts_js,
    "style.css": PackageResources.style_css,
    "config.js": PackageResources.config_js,
  ]

  /// Media type of one of the files, for who serves them.
  public static func mediaType(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    default: "application/octet-stream"
    }
  }

  /// The content of `config.js` for an app. Whatever is in the values, it's data there: nothing ends the text, the script
  /// or its line.
  /// - Parameters:
  ///   - schemes: what the button may open, most wanted first.
  ///   - name: the app, as people know it.
  ///   - language: BCP 47; nil for the visitor's own.
  public static func config(schemes: [String], name: String, language: String?) -> String {
    """
    // Filled in by `linkctl app bridge DIR`: the schemes that the button may open, the app's name, and the page's language
    // (null: the visitor's).
    export default {
      "schemes": [\(schemes.map(literal).joined(separator: ", "))],
      "name": \(literal(name)),
      "language": \(language.map(literal) ?? "null")
    };

    """
  }

  /// A JavaScript string that may also stand in HTML: everything that means something there is written as `\uXXXX`.
  private static func literal(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\", "'", "`", "<", ">", "&", "\u{2028}", "\u{2029}", "\u{0}"..<" ", "\u{7f}"..."\u{9f}":
        let digits = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}
