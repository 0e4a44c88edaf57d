public import AuthCore

/// Which app a link is for, where no live flow says so (behaviour: Links 8).
public enum LinkRouter {
  /// The app and the backend that were chosen.
  public struct Choice: Sendable, Hashable {
    /// The app.
    public let app: AppID
    /// Where its accounts live.
    public let backend: Backend
  }

  /// The only app left; `ambiguousApp` where several could be meant. The link's key has been counted already.
  public static func choose(_ link: Link, among parser: LinkParser) -> Result<Choice, LinkRejection> {
    guard link.candidates.count == 1, let id = link.candidates.first else {
      return .failure(LinkRejection(.ambiguousApp, via: link.via))
    }
    let entries = parser.index.apps.filter { $0.id == id }
    if let emulator = link.emulator { return .success(Choice(app: id, backend: .emulator(emulator))) }
    guard let app = entries.first else { return .failure(LinkRejection(.ambiguousApp, via: link.via)) }
    return .success(Choice(app: id, backend: app.backend))
  }
}
