import Texts

/// A desktop notification. Title and body are plain text and may come from anywhere.
public struct Notice: Sendable, Hashable {
  /// A button, or a click on the notification itself.
  public struct Action: Sendable, Hashable {
    /// `default` is the click.
    public let key: String
    /// What the button says.
    public let label: String

    /// Pairs the two.
    public init(key: String, label: String) {
      self.key = key
      self.label = label
    }
  }

  /// Usually the app's name.
  public let title: String
  /// What happened, or what to do next.
  public let body: String
  /// What the person can choose.
  public let actions: [Action]

  /// A notification with these texts.
  public init(title: String, body: String, actions: [Action] = []) {
    self.title = title
    self.body = body
    self.actions = actions
  }

  private static let limit = 1000

  /// Summaries have no markup.
  var summary: String { String(Texts.printable(title).prefix(Self.limit)) }

  /// Bodies have (desktop notifications specification 1.2, "Markup"), so what would be one is escaped.
  var markup: String {
    Texts.printable(body).prefix(Self.limit).reduce(into: "") { out, character in
      switch character {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      default: out.append(character)
      }
    }
  }
}
