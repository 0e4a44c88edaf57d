import AppConfiguration
import AuthCore
import Crypto
import DBus
import EventLoop
import LinkHandler
import SessionStore

/// What becomes of a URL: parsed, matched with the flow it belongs to, stored, answered. Nothing is ever fetched.
@LoopActor
final class LinkInbox {
  /// What `CanHandle` and `Open` answer.
  struct Verdict {
    var handled: Bool
    var kind: LinkKind
    /// A word of the parser's or a reject word.
    var reason: String?
    var via: [LinkWrapper]
    var key: SessionKey?
    var flow: FlowID?
    /// What most likely happened to a link that isn't handled.
    var hint: LinkHint?

    /// What isn't handled.
    static func rejected(_ rejection: LinkRejection, via: [LinkWrapper]? = nil) -> Verdict {
      Verdict(
        handled: false, kind: .none, reason: rejection.reason.rawValue, via: via ?? rejection.via,
        hint: rejection.hint)
    }
  }

  /// Where a link leads.
  private enum Target {
    case flow(Flow)
    /// No row knows it; it's for this session.
    case unsolicited(SessionKey)
  }

  private let registry: AppRegistry
  private let coordinator: FlowCoordinator
  private let services: Services
  private let redirects: RedirectInbox
  /// Opens that match no row and no known code: each click is a new caller, so the limit is for all of them.
  private var strays = RateLimit(limit: 60, window: 60)
  /// The same for what arrives by loopback: any web page can make a browser ask, and mustn't keep people's clicks out.
  private var browserStrays = RateLimit(limit: 60, window: 60)
  private var unhandled: [UInt64: Unhandled] = [:]
  private var nextUnhandled: UInt64 = 1

  private struct Unhandled {
    let url: String
    let app: AppID
    let timer: EventLoop.Timer
  }

  init(registry: AppRegistry, coordinator: FlowCoordinator, services: Services) {
    self.registry = registry
    self.coordinator = coordinator
    self.services = services
    redirects = RedirectInbox(coordinator: coordinator, services: services)
  }

  // MARK: CanHandle

  /// What linkd thinks of `url`: no network, no change.
  func judge(_ url: String) throws(AuthFailure) -> Verdict {
    switch registry.parser.parse(url, pending: coordinator.pendingReturns) {
    case .failure(let rejection): return .rejected(rejection)
    case .success(let link): return try judge(link, url)
    }
  }

  private func judge(_ link: Link, _ url: String) throws(AuthFailure) -> Verdict {
    var verdict = Verdict(handled: false, kind: link.kind, reason: link.reject, via: link.via, hint: link.hint)
    guard case .action(let action) = link.content else { return try redirects.judge(link, url) }
    switch try target(of: link, action) {
    case .success(.flow(let flow)):
      verdict.key = flow.key
      if !flow.stage.isEnd { verdict.flow = flow.id }
    case .success(.unsolicited(let key)): verdict.key = key
    case .failure(let rejection): return .rejected(rejection, via: link.via)
    }
    verdict.handled = true
    return verdict
  }

  // MARK: Open

  /// Takes `url` in: when this returns, the link is stored durably in the row it belongs to.
  ///
  /// - Throws: `rateLimited`, `differentDevice`, `operationNotAllowed`, `noSuchApp` where the app's file is damaged, and the
  ///   storage errors.
  func open(_ url: String, caller: Caller) throws(AuthFailure) -> Verdict {
    switch registry.parser.parse(url, pending: coordinator.pendingReturns) {
    case .failure(let rejection):
      try countStray(of: caller)
      if rejection.reason.exitCode == 3, let damage = registry.damaged.first(where: { $0.speaks(of: url) }) {
        services.log.warning("a link for an app whose file is damaged", ["file": damage.file])
        throw AuthFailure(.noSuchApp, detail: "\(damage.file): \(damage.error)", cause: "cause.app-file-damaged")
      }
      services.log.info("link not handled", ["reason": rejection.reason.rawValue, "scheme": rejection.scheme ?? "-"])
      offer(url, rejection)
      return .rejected(rejection)
    case .success(let link):
      guard case .action(let action) = link.content else {
        let verdict = try redirects.judge(link, url)
        // What a flow waits for is no stray.
        if verdict.flow == nil { try countStray(of: caller) }
        try redirects.open(link, url, verdict)
        services.log.info(
          "redirect", ["kind": link.kind.rawValue, "flow": verdict.flow?.value ?? "-", "reason": verdict.reason ?? "-"])
        return verdict
      }
      return try open(link, action, caller: caller)
    }
  }

  private func open(_ link: Link, _ action: ActionLink, caller: Caller) throws(AuthFailure) -> Verdict {
    var verdict = Verdict(handled: true, kind: link.kind, via: link.via)
    switch try target(of: link, action) {
    case .failure(let rejection):
      try countStray(of: caller)
      verdict = .rejected(rejection, via: link.via)
    case .success(.flow(let flow)):
      if flow.stage == .cancelled || flow.stage == .expired { try countStray(of: caller) }
      try coordinator.open(flow.id, code: action.oobCode)
      verdict.flow = flow.id
      verdict.key = flow.key
    case .success(.unsolicited(let key)):
      try countStray(of: caller)
      verdict.key = key
      verdict.flow = try openUnsolicited(action, key: key, caller: caller)
    }
    services.log.info(
      "link", ["kind": verdict.kind.rawValue, "flow": verdict.flow?.value ?? "-", "reason": verdict.reason ?? "-"])
    return verdict
  }

  /// The flow of an action link that came by a method call: the one that knows its code, else a new one.
  func take(_ action: ActionLink, key: SessionKey, caller: Caller) throws(AuthFailure) -> FlowID {
    guard let flow = try flow(knowing: action), flow.key == key else {
      return try openUnsolicited(action, key: key, caller: caller)
    }
    try coordinator.open(flow.id, code: action.oobCode)
    return flow.id
  }

  /// A link that no row here asked for. A sign-in link waits for its address, what can hurt for a confirmation; nothing is
  /// spent until then.
  private func openUnsolicited(
    _ action: ActionLink, key: SessionKey, caller: Caller
  ) throws(AuthFailure) -> FlowID {
    let isSignIn = action.kind == .emailSignIn
    if isSignIn, action.hints.sameDevice || registry.keep(key)?.app.options.forceSameDevice == true {
      throw AuthFailure(.differentDevice)
    }
    let now = services.now
    var flow = Flow(
      id: FlowIDs.random(), key: key, purpose: isSignIn ? .signIn : .actionCode,
      method: isSignIn ? .emailLink : .actionCode, createdAt: now, expiresAt: now + waitingLifetime)
    flow.caller = caller.sandboxID
    flow.tenantID = action.tenantID
    flow.opensBrowser = true
    if !isSignIn { flow.actionKind = action.kind }
    // The guest who asked for the mail is still here: the account may become theirs (behaviour: Anonymous upgrade).
    if isSignIn, let keeper = registry.keep(key), let guest = keeper.guestToUpgrade,
      action.hints.anonymousUID == guest
    {
      flow.anonymousUID = guest
      flow.linkUID = guest
    }
    try coordinator.startUnsolicited(flow, code: action.oobCode)
    return flow.id
  }

  // MARK: Whose link it is

  /// The flow that knows the code, else the flow whose token is in the link, else the app (behaviour: Links 8).
  private func target(
    of link: Link, _ action: ActionLink
  ) throws(AuthFailure) -> Result<Target, LinkRejection> {
    if let flow = try knownFlow(link, action) { return .success(.flow(flow)) }
    return LinkRouter.choose(link, among: registry.parser).map(Target.unsolicited)
  }

  private func knownFlow(_ link: Link, _ action: ActionLink) throws(AuthFailure) -> Flow? {
    if let flow = try flow(knowing: action), link.candidates.contains(flow.key.app) { return flow }
    guard action.kind == .emailSignIn, let token = action.hints.sessionID else { return nil }
    let tokenHash = SHA256.hash(token.reveal())
    let byToken = try services.stored { store throws(StoreError) in try store.flow(linkTokenHash: tokenHash) }
    guard let flow = byToken.map(current), link.candidates.contains(flow.key.app) else { return nil }
    switch flow.stage {
    // Given up: whoever opens the link now begins anew.
    case .cancelled, .expired: return nil
    case .failed: return flow.canRetry ? flow : nil
    default: return flow
    }
  }

  private func flow(knowing action: ActionLink) throws(AuthFailure) -> Flow? {
    let hash = SHA256.hash(action.oobCode.reveal())
    return try services.stored { store throws(StoreError) in try store.flow(codeHash: hash) }.map(current)
  }

  /// The flow as it stands in memory, where it's there.
  private func current(_ flow: Flow) -> Flow { coordinator.flow(flow.id) ?? flow }

  private func countStray(of caller: Caller) throws(AuthFailure) {
    let isAllowed = caller == .browser ? browserStrays.take(at: services.now) : strays.take(at: services.now)
    guard isAllowed else { throw AuthFailure(.rateLimited, retryAfter: 60) }
  }

  // MARK: URLs of an app's scheme that aren't ours

  private func offer(_ url: String, _ rejection: LinkRejection) {
    guard rejection.reason.exitCode == 3, let scheme = rejection.scheme else { return }
    for app in rejection.schemeOwners {
      let id = nextUnhandled
      nextUnhandled += 1
      let timer = EventLoop.shared.after(.seconds(60)) { [weak self] in self?.unhandled.removeValue(forKey: id) }
      unhandled[id] = Unhandled(url: url, app: app, timer: timer)
      services.broadcast.unhandled(scheme: scheme, app: app, id: id)
    }
  }

  /// Gives the URL once, to a caller that may see its app.
  func takeUnhandled(_ id: UInt64, isVisible: (AppID) -> Bool) throws(AuthFailure) -> String {
    guard let entry = unhandled[id], isVisible(entry.app) else { throw AuthFailure(.noSuchFlow) }
    entry.timer.cancel()
    unhandled.removeValue(forKey: id)
    return entry.url
  }
}

/// Public flow ids.
enum FlowIDs {
  /// 128 random bits in hexadecimal.
  /// The system's generator (getrandom(2)).
  static func random() -> FlowID {
    var generator = SystemRandomNumberGenerator()
    var text = ""
    for _ in 0..<4 {
      let digits = String(UInt32.random(in: .min ... .max, using: &generator), radix: 16)
      text += String(repeating: "0", count: 8 - digits.count) + digits
    }
    // Hexadecimal digits always make an id.
    guard let id = FlowID(text) else { preconditionFailure("hexadecimal digits are no flow id") }
    return id
  }
}
