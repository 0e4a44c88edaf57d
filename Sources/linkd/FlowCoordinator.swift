import AuthCore
import EventLoop
import LinkHandler
import SessionStore

/// Performs what the flow machines want: the only place where rows, requests and signals of flows meet.
///
/// The commits are in FlowCommits.swift, the requests in FlowRequests.swift and FlowAuthorizations.swift, where browsers come
/// back in FlowReturns.swift, the ends in FlowEnds.swift and FlowLifetimes.swift.
@LoopActor
final class FlowCoordinator {
  /// Seconds a finished flow stays readable (contract: Flow).
  static let readableAfterEnd: Duration = .seconds(60)
  /// Links that nobody asked for: the oldest makes room (behaviour: Who may ask).
  static let unsolicitedLimit = 5

  var flows: [FlowID: FlowMachine] = [:]
  /// Called when a flow appears on the bus, or leaves it.
  var onAppear: (Flow) -> Void = { _ in }
  var onDisappear: (Flow) -> Void = { _ in }
  /// Called when a flow ends, and when one that a link made waits for somebody.
  var onNews: (Flow) -> Void = { _ in }
  /// The app of a key, as it is configured now; nil once it has been removed.
  var keeper: (SessionKey) -> SessionKeeper? = { _ in nil }
  let services: Services
  let authorizations: Authorizations
  let returns: ReturnListeners
  /// Browsers to be opened once their flows' requests are made.
  var browsing: [FlowID: BrowserWish] = [:]
  /// Flows that were started in this life of the daemon, and by whom: what is theirs alone.
  var starters: [FlowID: String] = [:]
  /// What Apple gave, until the flow has succeeded.
  var appleTokens: [FlowID: Secret<String>] = [:]
  /// Where browsers are to come back.
  var waiting: [FlowID: [PendingReturns.Waiting]] = [:]
  private var mails = MailLimit()
  /// When ended flows leave the bus.
  var hiding: [FlowID: EventLoop.Timer] = [:]
  /// When the first of the live flows ends, Unix seconds.
  var expiry: (moment: Int64, timer: EventLoop.Timer?) = (.max, nil)
  /// Flows that links made, oldest first; some have ended. To look through all would take milliseconds with thousands.
  private var unsolicited: [FlowID] = []
  private var exchanging: Set<FlowID> = []
  private var waiters: [FlowID: [CheckedContinuation<Void, Never>]] = [:]

  init(services: Services) {
    self.services = services
    returns = ReturnListeners(log: services.log)
    authorizations = Authorizations(services: services, returns: returns)
  }

  /// The flow as it stands.
  func flow(_ id: FlowID) -> Flow? { flows[id]?.flow }

  /// Whether a flow of that id is remembered, ended or not.
  func isTaken(_ id: FlowID) throws(AuthFailure) -> Bool {
    if flows[id] != nil { return true }
    return try services.stored { store throws(StoreError) in try store.flow(id) } != nil
  }

  /// Flows that haven't ended.
  var live: [Flow] { flows.values.map(\.flow).filter { !$0.stage.isEnd } }

  /// Whether the daemon must stay: something is under way that no later start would pick up by itself.
  var isBusy: Bool {
    returns.isBusy || live.contains { $0.stage != .waitingForLink || returns.isListening(for: $0.id) }
  }

  // MARK: Beginnings

  /// Takes up the flows that the store remembers; ends the overdue ones.
  func restore(_ stored: [Flow]) {
    for flow in stored {
      guard let machine = FlowMachine(flow) else { continue }
      flows[flow.id] = machine
      if flow.isUnsolicited { unsolicited.append(flow.id) }
      noteReturns(flow)
      holdContinuePage(flow)
      onAppear(flow)
    }
  }

  /// Continues what was under way when the last daemon ended. After the name has been taken: answers may come at once.
  func resume() {
    handleAll(.restored, Array(flows.keys))
    watchExpiry()
  }

  /// Starts a flow that a caller asked for, by its first event. The row is committed when this returns.
  /// `browser` is how one is to be opened for it, where the caller doesn't do that.
  func start(_ flow: Flow, _ event: FlowEvent = .started, browser: BrowserWish? = nil) throws(AuthFailure) {
    if let recipient = flow.recipient { try countMail(to: recipient) }
    try add(flow, event)
    if let starter = flow.starter { starters[flow.id] = starter }
    // It's opened in a later turn of the loop.
    browsing[flow.id] = browser
  }

  /// A flow that a link made: nobody here asked for the mail.
  func startUnsolicited(_ flow: Flow, code: Secret<String>) throws(AuthFailure) {
    try makeRoom()
    try add(flow, .linkOpened(code: code), code: code)
  }

  /// A guest: the one that's there, the one that's on its way (B125), or a new one.
  func startAnonymous(_ flow: Flow) throws(AuthFailure) -> FlowID {
    if let running = live.first(where: { $0.key == flow.key && $0.method == .anonymous }) { return running.id }
    let user = keeper(flow.key)?.machine.user
    if let user, user.isAnonymous {
      try add(flow, .alreadySignedIn(uid: user.uid))
    } else {
      try add(flow, .started)
    }
    return flow.id
  }

  /// Notes a mail or a text message to an address, a number or a factor.
  ///
  /// - Throws: `rateLimited`.
  func countMail(to recipient: String) throws(AuthFailure) { try mails.check(recipient, at: services.now) }

  /// Gives up the oldest flows that a link made, until one more is allowed.
  private func makeRoom() throws(AuthFailure) {
    unsolicited.removeAll { id in flow(id).map { $0.stage.isEnd || !$0.isUnsolicited } ?? true }
    while unsolicited.count >= Self.unsolicitedLimit, let oldest = unsolicited.first {
      try cancel(oldest)
      unsolicited.removeFirst()
    }
  }

  // MARK: Events from people and links

  /// Lets the flow take an event. What it changes is committed when this returns.
  ///
  /// - Throws: `noSuchFlow` for an unknown flow or an event that isn't legal at its stage, `rateLimited`, the storage
  ///   errors. Nothing has changed then.
  func handle(_ event: FlowEvent, _ id: FlowID) throws(AuthFailure) { try apply(id, event) }

  /// A link whose code belongs to `id`. The row and the code are committed when this returns.
  func open(_ id: FlowID, code: Secret<String>) throws(AuthFailure) {
    try show(id)
    let before = flow(id)
    if let before, before.isUnsolicited, before.stage.isEnd { try makeRoom() }
    try apply(id, .linkOpened(code: code), code: code)
  }

  /// The browser has come back to `id` with `redirect`. The row, and `code` as used, are committed when this returns.
  func redirect(_ id: FlowID, _ redirect: OAuthRedirect, code: Secret<String>?) throws(AuthFailure) {
    try apply(id, .authorization(.redirected(redirect)), code: code)
  }

  /// An event from a person that may send something: that's counted, unless it's refused.
  ///
  /// - Parameter opensBrowser: whether a page that follows is opened here; nil: as before.
  /// - Throws: what `handle` throws.
  func handleCounted(_ event: FlowEvent, _ id: FlowID, opensBrowser: Bool? = nil) throws(AuthFailure) {
    guard var machine = flows[id] else { throw AuthFailure(.noSuchFlow) }
    for action in machine.handle(event, at: services.now) {
      switch action {
      case .refuse(let error): throw refusal(error, machine.flow)
      case .sendMail(let email), .changeEmail(let email): try countMail(to: email)
      case .sendCode:
        try machine.flow.codeRecipient.map { recipient throws(AuthFailure) in try countMail(to: recipient) }
      default: break
      }
    }
    try handle(event, id)
    if let opensBrowser { flows[id]?.setOpensBrowser(opensBrowser) }
  }

  func cancel(_ id: FlowID) throws(AuthFailure) { try handle(.cancelRequested, id) }

  /// Drops every flow of `key` but one, at sign-out and when the app is removed: their rows went with the session.
  func dropAll(of key: SessionKey, but kept: FlowID? = nil) {
    handleAll(.cancelRequested, live.filter { $0.key == key && $0.id != kept }.map(\.id))
  }

  /// Waits until the flow has ended or needs somebody.
  func settled(_ id: FlowID) async -> Flow? {
    while let flow = flow(id), flow.stage == .exchanging || flow.stage == .starting {
      await withCheckedContinuation { waiters[id, default: []].append($0) }
    }
    return flow(id)
  }

  // MARK: The turn of the machine

  /// Lets the machine of `id` take an event and performs what it wants. Nothing has changed if this throws.
  private func apply(_ id: FlowID, _ event: FlowEvent, code: Secret<String>? = nil) throws(AuthFailure) {
    guard var machine = flows[id] else { throw AuthFailure(.noSuchFlow) }
    // The timer is late where the clock was set forward.
    if event.isInTimeAlone, !machine.flow.stage.isEnd, machine.flow.expiresAt <= services.now {
      handleAll(.overdue, [id])
      throw AuthFailure(.noSuchFlow)
    }
    let before = machine.flow
    let actions = machine.handle(event, at: services.now)
    for case .refuse(let error) in actions { throw refusal(error, before) }
    try commit(machine.flow, actions, code: code)
    flows[id] = machine
    perform(machine.flow, actions)
    if machine.flow.sequence != before.sequence { changed(from: before, to: machine.flow) }
    if machine.flow.expiresAt != before.expiresAt || before.stage.isEnd { watchExpiry(machine.flow) }
  }

  /// Lets many machines take an event, with one commit for all: thousands may wait at a start or a sign-out.
  func handleAll(_ event: FlowEvent, _ ids: [FlowID]) {
    let now = services.now
    var turns: [(before: Flow, machine: FlowMachine, actions: [FlowAction])] = []
    for id in ids {
      guard var machine = flows[id] else { continue }
      let before = machine.flow
      let actions = machine.handle(event, at: now)
      if !actions.isEmpty, !actions.contains(where: \.isRefusal) { turns.append((before, machine, actions)) }
    }
    do throws(AuthFailure) {
      try save(turns.filter { $0.actions.contains(.save) }.map(\.machine.flow))
    } catch {
      services.log.error("flows can't be saved", ["count": turns.count, "error": error.error.rawValue])
      turns.removeAll { $0.actions.contains(.save) }
    }
    for turn in turns {
      flows[turn.before.id] = turn.machine
      perform(turn.machine.flow, turn.actions)
      if turn.machine.flow.sequence != turn.before.sequence { changed(from: turn.before, to: turn.machine.flow) }
    }
  }

  /// Why an event isn't taken: the flow may wait for something else.
  private func refusal(_ error: AuthError, _ flow: Flow) -> AuthFailure {
    AuthFailure(error, cause: error == .noSuchFlow && !flow.stage.isEnd ? "cause.not-waited-for" : nil)
  }

  private func add(_ flow: Flow, _ event: FlowEvent, code: Secret<String>? = nil) throws(AuthFailure) {
    guard var machine = FlowMachine(flow) else { throw AuthFailure(.internal) }
    let actions = machine.handle(event, at: services.now)
    for case .refuse(let error) in actions { throw AuthFailure(error) }
    try commit(machine.flow, actions, code: code)
    flows[flow.id] = machine
    onAppear(machine.flow)
    watchExpiry(machine.flow)
    perform(machine.flow, actions)
    changed(from: nil, to: machine.flow)
  }

  private func changed(from old: Flow?, to flow: Flow) {
    services.log.info(
      "flow",
      ["flow": flow.id, "app": flow.key.app, "stage": flow.stage.rawValue, "error": flow.error?.rawValue ?? "-"])
    let isExchange = flow.stage == .exchanging && flow.purpose == .signIn
    if isExchange != exchanging.contains(flow.id) {
      if isExchange { exchanging.insert(flow.id) } else { exchanging.remove(flow.id) }
      keeper(flow.key)?.exchanging(isExchange)
    }
    noteReturns(flow)
    services.broadcast.stageChanged(flow)
    if flow.isNews(since: old) { onNews(flow) }
    if flow.stage.isEnd, old?.stage.isEnd != true { ended(flow) }
    if !flow.stage.isEnd, flow.isUnsolicited {
      if !unsolicited.contains(flow.id) { unsolicited.append(flow.id) }
      if flow.stage != old?.stage { onNews(flow) }
    }
    if flow.stage.isEnd != (old?.stage.isEnd ?? true) { services.broadcast.managerProperties(["ActiveFlows"]) }
    for waiter in waiters.removeValue(forKey: flow.id) ?? [] { waiter.resume() }
  }
}

extension Flow {
  /// Whether a person is told at once what a live flow meets: an answer that isn't its own, accounts that collide for good, a
  /// second mail where they wait for nothing any more, a second factor.
  fileprivate func isNews(since old: Flow?) -> Bool {
    switch stage {
    case .waitingForRedirect: error != nil && (error != old?.error || errorCause != old?.errorCause)
    case .conflict: conflict != .anonymousUpgrade && old?.stage != .conflict
    case .waitingForLink: conflict == .anonymousUpgrade && old?.stage == .starting
    case .secondFactorRequired: old?.stage == .exchanging && secondFactor?.chosen == nil
    default: false
    }
  }

  /// Whom its start sends something to: an address or a number.
  fileprivate var recipient: String? {
    switch method {
    case .emailLink: email
    case .phone: phoneNumber
    default: purpose == .changeEmail ? email : nil
    }
  }

  /// Whom a code goes to.
  fileprivate var codeRecipient: String? { secondFactor?.chosen ?? phoneNumber }

  /// Whether a link made it: nobody here asked for the mail.
  var isUnsolicited: Bool {
    switch method {
    case .emailLink: linkTokenHash == nil
    case .actionCode: true
    case .password, .phone, .anonymous, .custom, .provider, .totp, .none: false
    }
  }
}

extension FlowEvent {
  /// Whether it counts only as long as the flow has time: what people give, and what lets a parked flow go on.
  fileprivate var isInTimeAlone: Bool {
    switch self {
    case .emailProvided, .passwordProvided, .confirmed, .reauthenticated, .conflict(.resolved),
      .verification(.codeProvided), .verification(.factorChosen):
      true
    default: false
    }
  }
}

extension FlowAction {
  fileprivate var isRefusal: Bool { if case .refuse = self { true } else { false } }
}
