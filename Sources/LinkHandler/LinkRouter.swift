public import AuthCore

/// Which app a link is for, and whether anybody waits for it (behaviour: Links 8).
public enum LinkRouter {
  /// The session a link is for: that of the live flow whose token is in it, which the caller has looked up by
  /// `link.flowToken`'s hash; else the only app left after host, scheme and key.
  ///
  /// A flow of an app that the link can't belong to doesn't count. `ambiguousApp` where several apps could be meant.
  public static func choose(
    _ link: Link, liveFlow: SessionKey? = nil, among parser: LinkParser
  ) -> Result<SessionKey, LinkRejection> {
    if let liveFlow, link.candidates.contains(liveFlow.app) {
      return .success(liveFlow)
    }
    guard link.candidates.count == 1, let id = link.candidates.first else {
      return .failure(LinkRejection(.ambiguousApp, via: link.via))
    }
    if let emulator = link.emulator { return .success(SessionKey(app: id, backend: .emulator(emulator))) }
    let backends = parser.index.apps.filter { $0.id == id }.map(\.backend)
    guard let first = backends.first else { return .failure(LinkRejection(.ambiguousApp, via: link.via)) }
    return .success(SessionKey(app: id, backend: backends.contains(.production) ? .production : first))
  }

  /// A redirect or a verification counts for the flow that waits for its token alone: the others are `noPendingRequest`.
  /// Email action links, and what can't proceed for a reason of its own, pass.
  ///
  /// `isWaiting` says whether a live flow has that `state` or `eventId`; it's asked at most once.
  public static func requirePending(
    _ link: Link, isWaiting: (Secret<String>) -> Bool
  ) -> Result<Link, LinkRejection> {
    if case .action = link.content { return .success(link) }
    if let token = link.flowToken, isWaiting(token) { return .success(link) }
    // Without `state` there's nothing to look up, and the parser has said so.
    if link.flowToken == nil, link.reject != nil { return .success(link) }
    return .failure(LinkRejection(.noPendingRequest, via: link.via))
  }
}
