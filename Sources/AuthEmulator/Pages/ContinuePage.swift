import AuthCore

/// `GET /emulator/continue`: the page a mail's link ends at, whose button opens the app.
///
/// It spends no code: what the link brings stays in the query, and goes on to the app as it is.
enum ContinuePage {
  static let operations: [Operation] = [
    Operation(name: "continue", method: "GET", paths: ["/emulator/continue"], access: .anybody) { call, world in
      let named = call.request.query.filter { $0.name == "scheme" }.map(\.value)
      let schemes = named.isEmpty ? world.schemes : named.filter { isScheme($0) }
      return .html(page(schemes: schemes, link: link(call.request, world)))
    }
  ]

  /// A scheme of an app's own (RFC 3986, section 3.1), not one that a browser handles.
  static func isScheme(_ text: String) -> Bool {
    text.first?.isLetter == true && text.contains { ".-0123456789".contains($0) }
      && text.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || "+-.".contains($0)) }
  }

  /// The page's own address, as the browser's address bar has it.
  private static func link(_ request: HTTPRequest, _ world: World) -> String {
    let host = request.headers["host"].map { "http://\($0)" } ?? world.origin
    let rest = host.dropFirst("http://".count)
    let isOurs = rest.hasPrefix("127.0.0.1:") || rest.hasPrefix("localhost:")
    return (isOurs ? host : world.origin) + request.target
  }

  private static func page(schemes: [String], link: String) -> String {
    let buttons = schemes.map { scheme in
      "<p><a id=\"open\" href=\"\(escaped("\(scheme)://auth?link=\(URLText.encodeComponent(link))"))\">Open the app</a></p>"
    }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="referrer" content="no-referrer">
      <title>Finish signing in</title>
      <h1>Finish signing in</h1>
      \(buttons.joined(separator: "\n"))
      <p>If nothing opens, give this link to the app:</p>
      <p><code id="link">\(escaped(link))</code></p>
      </html>

      """
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { out, character in
      switch character {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      default: out.append(character)
      }
    }
  }
}
