import AuthCore
import Crypto
import EventLoop
import LinkHandler
import SessionStore

/// What becomes of a provider's redirect: it counts for the flow that waits for its `state` or `eventId` alone, and only where
/// that flow waits for it (behaviour: OAuth and OpenID Connect).
@LoopActor
struct RedirectInbox {
  let coordinator: FlowCoordinator
  let services: Services

  /// What linkd thinks of it. `flow` is set where one waits for it, or has had it.
  func judge(_ link: Link, _ url: String) throws(AuthFailure) -> LinkInbox.Verdict {
    var verdict = LinkInbox.Verdict(
      handled: false, kind: link.kind, reason: link.reject, via: link.via, hint: link.hint)
    if let flow = try flow(of: link, url) {
      verdict.key = flow.key
      verdict.flow = flow.id
      verdict.handled = link.reject == nil
      return verdict
    }
    // Without `state` there's nothing to look up, and the parser has said so.
    if link.flowToken == nil, link.reject != nil { return verdict }
    verdict.kind = .none
    verdict.reason = LinkRejectionReason.noPendingRequest.rawValue
    return verdict
  }

  /// Gives the redirect to its flow, durably; what is nobody's is told to those that wait where it arrived.
  func open(_ link: Link, _ url: String, _ verdict: LinkInbox.Verdict) throws(AuthFailure) {
    if case .appVerification(let page) = link.content {
      // One that says nothing at all ends the flow, too: nobody waits for ever (field report B095).
      guard let id = verdict.flow else { return }
      return try coordinator.handle(.verification(.pageReturned(page)), id)
    }
    guard case .oauthRedirect(let redirect) = link.content else { return }
    guard let id = verdict.flow else { return tell(link, url) }
    try coordinator.show(id)
    guard coordinator.flow(id)?.stage == .waitingForRedirect else { return }
    var code: Secret<String>?
    if case .own(let response) = redirect.response { code = response.code }
    if let code, let owner = try owner(of: code) {
      // One exchange for each code: this flow's own was refused.
      guard owner.id != id else { return }
      return try coordinator.handle(.authorization(.redirectRefused(.invalidProviderResponse)), id)
    }
    try coordinator.redirect(id, redirect, code: code)
  }

  /// The flow that has exchanged the code already.
  private func owner(of code: Secret<String>) throws(AuthFailure) -> Flow? {
    let hash = SHA256.hash(code.reveal())
    return try services.stored { store throws(StoreError) in try store.flow(codeHash: hash) }
  }

  private func flow(of link: Link, _ url: String) throws(AuthFailure) -> Flow? {
    guard let token = link.flowToken else { return nil }
    let hash = SHA256.hash(token.reveal())
    guard case .oauthRedirect(let redirect) = link.content else { return try flow(verifying: hash, link) }
    let stored = try services.stored { store throws(StoreError) in try store.flow(linkTokenHash: hash) }
    guard let flow = stored.map({ coordinator.flow($0.id) ?? $0 }), link.candidates.contains(flow.key.app),
      case .provider = flow.method
    else { return nil }
    switch flow.stage {
    case .waitingForRedirect: return flow.waits(for: redirect, at: url) ? flow : nil
    // Given up: its browser has come too late.
    case .cancelled, .expired: return nil
    default: return flow
    }
  }

  /// The flow whose page for telling people from programs has come back. Any flow may have one, so it's no row's column; few
  /// have one at a time.
  private func flow(verifying hash: [UInt8], _ link: Link) throws(AuthFailure) -> Flow? {
    for flow in coordinator.live where flow.verification?.page != nil && link.candidates.contains(flow.key.app) {
      if try services.links.hash(for: flow) == hash { return flow }
    }
    return nil
  }

  /// A wrong state leaves the true flow waiting, and the person hears of it (field report B055).
  private func tell(_ link: Link, _ url: String) {
    let waiting = coordinator.live.filter {
      $0.stage == .waitingForRedirect && link.candidates.contains($0.key.app) && $0.returns.contains(url)
    }
    coordinator.handleAll(.authorization(.redirectRefused(.stateMismatch)), waiting.map(\.id))
  }
}

extension Flow {
  /// Where its browser may come back.
  var returns: PendingReturns {
    PendingReturns(
      authorization?.returnURIs.compactMap { PendingReturns.Waiting(app: key.app, returnURI: $0) } ?? [])
  }

  /// Whether `redirect` is of the flow's way, and has arrived where it was sent: a provider that doesn't say who it is, is
  /// known by that (RFC 9700 4.4).
  fileprivate func waits(for redirect: OAuthRedirect, at url: String) -> Bool {
    switch redirect.response {
    case .handler: authorization?.sessionID != nil
    case .own: authorization?.client != nil && returns.contains(url)
    }
  }
}
