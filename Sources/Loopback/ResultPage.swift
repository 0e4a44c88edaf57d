/// The page that says what happened: a title, some sentences, at most one button. No script, no picture, nothing loaded.
public struct ResultPage: Sendable {
  /// A form with nothing to fill in: its button sends a POST.
  public struct Form: Sendable {
    /// What the button says.
    public var button: String
    /// A path on this listener. Empty: the page's own address, query and all.
    public var action: String
    /// Hidden fields, sent with the form. A random one, known to who made the page, shows that the page was seen, in browsers
    /// that don't say where a form comes from.
    public var fields: [(name: String, value: String)]

    /// A form with a button.
    public init(button: String, action: String = "", fields: [(name: String, value: String)] = []) {
      (self.button, self.action, self.fields) = (button, action, fields)
    }
  }

  /// Heading, and title of the tab.
  public var title: String
  /// Sentences. Foreign text may be in them: everything is escaped.
  public var paragraphs: [String]
  /// The button, if something is to be confirmed.
  public var form: Form?
  /// BCP 47, such as `en` or `ar`.
  public var language: String
  /// Whether the language is written from right to left.
  public var isRightToLeft: Bool

  /// A page.
  public init(
    title: String, paragraphs: [String], form: Form? = nil, language: String = "en", isRightToLeft: Bool = false
  ) {
    (self.title, self.paragraphs, self.form) = (title, paragraphs, form)
    (self.language, self.isRightToLeft) = (language, isRightToLeft)
  }

  /// The whole document, escaped.
  public var html: String {
    let title = PageText.escaped(title)
    let sentences = paragraphs.map { "<p>\(PageText.escaped($0))</p>\n" }.joined()
    return """
      <!DOCTYPE html>
      <html lang="\(PageText.escaped(language))" dir="\(isRightToLeft ? "rtl" : "ltr")">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex">
      <title>\(title)</title>
      <style>\(Self.style)</style>
      </head>
      <body>
      <main>
      <h1>\(title)</h1>
      \(sentences)\(formText)</main>
      </body>
      </html>

      """
  }

  private var formText: String {
    guard let form else { return "" }
    let fields = form.fields.map {
      "<input type=\"hidden\" name=\"\(PageText.escaped($0.name))\" value=\"\(PageText.escaped($0.value))\">\n"
    }.joined()
    let action = form.action.isEmpty ? "" : " action=\"\(PageText.escaped(form.action))\""
    return """
      <form method="post"\(action)>
      \(fields)<button type="submit">\(PageText.escaped(form.button))</button>
      </form>

      """
  }
}
