import AuthCore
import Crypto
import DBus
import EventLoop
import IdentityToolkit
import LinkHandler
import SessionStore

/// A flow's machine, by method.
enum FlowMachine {
  case emailLink(EmailLinkFlow)
  case anonymous(AnonymousFlow)

  /// The machine of a stored row; nil for a method that this version has none for.
  init?(_ flow: Flow) {
    switch flow.method {
    case .emailLink: self = .emailLink(EmailLinkFlow(flow))
    case .anonymous: self = .anonymous(AnonymousFlow(flow))
    case .password, .phone, .custom, .provider, .actionCode, .totp, .none: return nil
    }
  }

  var flow: Flow {
    switch self {
    case .emailLink(let machine): machine.flow
    case .anonymous(let machine): machine.flow
    }
  }

  /// An event of the email-link machine; for another machine nothing happens.
  mutating func handle(_ event: EmailLinkFlow.Event, at now: Int64) -> [FlowAction] {
    guard case .emailLink(var machine) = self else { return [.refuse(.noSuchFlow)] }
    let actions = machine.handle(event, at: now)
    self = .emailLink(machine)
    return actions
  }

  /// The event that the machine's own kind knows by one name.
  mutating func handle(
    _ email: EmailLinkFlow.Event, _ anonymous: AnonymousFlow.Event, at now: Int64
  ) -> [FlowAction] {
    switch self {
    case .emailLink: handle(email, at: now)
    case .anonymous: handle(anonymous, at: now)
    }
  }

  /// An event of the anonymous machine; for another machine nothing happens.
  mutating func handle(_ event: AnonymousFlow.Event, at now: Int64) -> [FlowAction] {
    guard case .anonymous(var machine) = self else { return [.refuse(.noSuchFlow)] }
    let actions = machine.handle(event, at: now)
    self = .anonymous(machine)
    return actions
  }
}

/// Performs what the flow machines want: the only place where rows, requests and signals of flows meet.
@LoopActor
final class FlowCoordinator {
  /// Seconds a finished flow stays readable (contract: Flow).
  static let readableAfterEnd: Duration = .seconds(60)
  /// Links that nobody asked for: the oldest makes room (behaviour: Who may ask).
  static let unsolicitedLimit = 5

  private(set) var flows: [FlowID: FlowMachine] = [:]
  /// Called when a flow appears on the bus, or leaves it.
  var onAppear: (Flow) -> Void = { _ in }
  var onDisappear: (Flow) -> Void = { _ in }
  /// Called once for each flow that ends.
  var onEnd: (Flow) -> Void = { _ in }
  /// The app of a key, as it is configured now; nil once it has been removed.
  var keeper: (SessionKey) -> SessionKeeper? = { _ in nil }
  private let services: Services
  private var mails = MailLimit()
  private var timers: [FlowID: EventLoop.Timer] = [:]
  /// When the first of the live flows ends, Unix seconds.
  private var expiry: (moment: Int64, timer: EventLoop.Timer?) = (.max, nil)
  private var exchanging: Set<FlowID> = []

  init(services: Services) { self.services = services }

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
  var isBusy: Bool { live.contains { $0.stage != .waitingForLink } }

  // MARK: Beginnings

  /// Takes up the flows that the store remembers; ends the overdue ones.
  func restore(_ stored: [Flow]) {
    for flow in stored {
      guard let machine = FlowMachine(flow) else { continue }
      flows[flow.id] = machine
      onAppear(flow)
    }
  }

  /// Continues what was under way when the last daemon ended. After the name has been taken: answers may come at once.
  func resume() {
    applyAll(Array(flows.keys), .restored, .restored)
    watchExpiry()
  }

  /// Starts an email-link flow: row first, then mail.
  func startEmailLink(_ flow: Flow) throws(AuthFailure) {
    if let email = flow.email { try mails.check(email, at: services.now) }
    try add(.emailLink(EmailLinkFlow(flow))) { $0.handle(EmailLinkFlow.Event.started, at: self.services.now) }
  }

  /// A flow that a link made: nobody here asked for the mail.
  func startUnsolicited(_ flow: Flow, code: Secret<String>) throws(AuthFailure) {
    let older = live.filter { $0.linkTokenHash == nil && $0.method == .emailLink }.sorted {
      $0.createdAt < $1.createdAt
    }
    if older.count >= Self.unsolicitedLimit, let oldest = older.first { try? cancel(oldest.id) }
    try add(.emailLink(EmailLinkFlow(flow)), code: code) { machine in
      machine.handle(EmailLinkFlow.Event.linkOpened(code: code), at: self.services.now)
    }
  }

  /// A guest: the one that's there, the one that's on its way (B125), or a new one.
  func startAnonymous(_ flow: Flow) throws(AuthFailure) -> FlowID {
    if let running = live.first(where: { $0.key == flow.key && $0.method == .anonymous }) { return running.id }
    let user = keeper(flow.key)?.machine.user
    try add(.anonymous(AnonymousFlow(flow))) { machine in
      if let user, user.isAnonymous {
        return machine.handle(AnonymousFlow.Event.alreadySignedIn(uid: user.uid), at: self.services.now)
      }
      return machine.handle(AnonymousFlow.Event.started, at: self.services.now)
    }
    return flow.id
  }

  // MARK: Events from people and links

  /// A link whose code belongs to `id`. The row and the code are committed when this returns.
  func open(_ id: FlowID, code: Secret<String>) throws(AuthFailure) {
    try show(id)
    try apply(id, code: code) { $0.handle(EmailLinkFlow.Event.linkOpened(code: code), at: self.services.now) }
  }

  func provideEmail(_ id: FlowID, _ email: String) throws(AuthFailure) {
    try apply(id) { $0.handle(EmailLinkFlow.Event.emailProvided(email), at: self.services.now) }
  }

  func resend(_ id: FlowID) throws(AuthFailure) {
    guard var machine = flows[id] else { throw AuthFailure(.noSuchFlow) }
    // What the machine refuses is no mail.
    for case .refuse(let error) in machine.handle(EmailLinkFlow.Event.resendRequested, at: services.now) {
      throw AuthFailure(error)
    }
    if let email = machine.flow.email { try mails.check(email, at: services.now) }
    try apply(id) { $0.handle(EmailLinkFlow.Event.resendRequested, at: self.services.now) }
  }

  func cancel(_ id: FlowID) throws(AuthFailure) {
    try finish(id, .cancelRequested, .cancelRequested)
  }

  /// Drops every flow of `key`, at sign-out and when the app is removed: their rows went with the session.
  func dropAll(of key: SessionKey) {
    applyAll(live.filter { $0.key == key }.map(\.id), .cancelRequested, .cancelRequested)
  }

  private func finish(
    _ id: FlowID, _ email: EmailLinkFlow.Event, _ anonymous: AnonymousFlow.Event
  ) throws(AuthFailure) {
    let now = services.now
    try apply(id) { $0.handle(email, anonymous, at: now) }
  }

  // MARK: The turn of the machine

  /// Lets the machine of `id` take an event and performs what it wants. Nothing has changed if this throws.
  private func apply(
    _ id: FlowID, code: Secret<String>? = nil, _ event: (inout FlowMachine) -> [FlowAction]
  ) throws(AuthFailure) {
    guard let before = flows[id] else { throw AuthFailure(.noSuchFlow) }
    var next = before
    let actions = event(&next)
    for case .refuse(let error) in actions { throw AuthFailure(error) }
    try commit(next.flow, actions, code: code)
    flows[id] = next
    perform(next.flow, actions)
    if next.flow.sequence != before.flow.sequence { changed(from: before.flow, to: next.flow) }
  }

  /// Lets many machines take an event, with one commit for all: thousands may wait at a start or a sign-out.
  private func applyAll(_ ids: [FlowID], _ email: EmailLinkFlow.Event, _ anonymous: AnonymousFlow.Event) {
    let now = services.now
    var turns: [(before: Flow, next: FlowMachine, actions: [FlowAction])] = []
    for id in ids {
      guard let before = flows[id] else { continue }
      var next = before
      let actions = next.handle(email, anonymous, at: now)
      if !actions.isEmpty, !actions.contains(where: \.isRefusal) { turns.append((before.flow, next, actions)) }
    }
    let changed = turns.filter { $0.actions.contains(.save) }.map(\.next.flow)
    do throws(AuthFailure) {
      if !changed.isEmpty {
        try services.stored { store throws(StoreError) in
          try store.transaction { () throws(StoreError) in for flow in changed { try store.save(flow) } }
        }
      }
    } catch {
      services.log.error("flows can't be saved", ["count": changed.count, "error": error.error.rawValue])
      turns.removeAll { $0.actions.contains(.save) }
    }
    for turn in turns {
      flows[turn.next.flow.id] = turn.next
      perform(turn.next.flow, turn.actions)
      if turn.next.flow.sequence != turn.before.sequence { self.changed(from: turn.before, to: turn.next.flow) }
    }
  }

  private func add(
    _ machine: FlowMachine, code: Secret<String>? = nil, _ event: (inout FlowMachine) -> [FlowAction]
  ) throws(AuthFailure) {
    var next = machine
    let actions = event(&next)
    try commit(next.flow, actions, code: code)
    flows[next.flow.id] = next
    onAppear(next.flow)
    watchExpiry(next.flow)
    perform(next.flow, actions)
    changed(from: nil, to: next.flow)
  }

  /// The durable part of `actions`, as one commit.
  private func commit(_ flow: Flow, _ actions: [FlowAction], code: Secret<String>?) throws(AuthFailure) {
    for action in actions {
      switch action {
      case .save:
        let now = services.now
        try services.stored { store throws(StoreError) in
          guard let code else { return try store.save(flow) }
          try store.transaction { () throws(StoreError) in
            try store.save(flow)
            try store.recordCode(SHA256.hash(code.reveal()), flow: flow.id, at: now)
          }
        }
        if code != nil { PausePoint.linkStored.reached() }
      case .adopt(let user, let grant): try adopt(flow, user, grant)
      case .sendMail, .exchange, .signUpAnonymously, .lookUp, .refuse: break
      }
    }
  }

  private func adopt(_ flow: Flow, _ user: User, _ grant: TokenGrant) throws(AuthFailure) {
    guard let keeper = keeper(flow.key) else { throw AuthFailure(.noSuchApp) }
    // Linking and reauthentication keep what the session says about how somebody signed in.
    let method = flow.purpose == .signIn ? flow.method : keeper.machine.session?.method ?? flow.method
    try keeper.adopt(keeper.session(user: user, grant: grant, method: method)) { store throws(StoreError) in
      try store.save(flow)
    }
  }

  private func perform(_ flow: Flow, _ actions: [FlowAction]) {
    for action in actions {
      switch action {
      case .save, .adopt, .refuse: break
      case .sendMail(let email): send(flow, to: email)
      case .exchange(let email, let code): exchange(flow, email: email, code: code)
      case .signUpAnonymously: signUp(flow)
      case .lookUp(let grant, let delay): lookUp(flow, grant, delay: delay)
      }
    }
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
    services.broadcast.stageChanged(flow)
    if flow.stage.isEnd, old?.stage.isEnd != true { ended(flow) }
    if old?.stage.isEnd == true, !flow.stage.isEnd { watchExpiry(flow) }
    if flow.stage.isEnd != (old?.stage.isEnd ?? true) { services.broadcast.managerProperties(["ActiveFlows"]) }
  }

  // MARK: Ends

  private func ended(_ flow: Flow) {
    onEnd(flow)
    hideLater(flow.id)
  }

  private func hideLater(_ id: FlowID) {
    timers.removeValue(forKey: id)?.cancel()
    timers[id] = EventLoop.shared.after(Self.readableAfterEnd) { [weak self] in self?.hide(id) }
  }

  private func hide(_ id: FlowID) {
    timers.removeValue(forKey: id)?.cancel()
    guard let flow = flows[id]?.flow, flow.stage.isEnd else { return }
    flows.removeValue(forKey: id)
    onDisappear(flow)
  }

  /// Puts a finished flow back on the bus for a while: its link was opened again.
  private func show(_ id: FlowID) throws(AuthFailure) {
    if flows[id] == nil {
      let stored = try services.stored { store throws(StoreError) in try store.flow(id) }
      guard let stored, let machine = FlowMachine(stored) else { throw AuthFailure(.noSuchFlow) }
      flows[id] = machine
      onAppear(stored)
      hideLater(id)
    } else if flows[id]?.flow.stage.isEnd == true {
      hideLater(id)
    }
  }

  /// One timer for all, set for the flow that ends first. One whose end couldn't be saved is tried again in a minute.
  private func watchExpiry() {
    var first = Int64.max
    for machine in flows.values where !machine.flow.stage.isEnd { first = min(first, machine.flow.expiresAt) }
    if first < .max { watchExpiry(first > services.now ? first : services.now + 60) }
  }

  private func watchExpiry(_ flow: Flow) {
    timers.removeValue(forKey: flow.id)?.cancel()
    if flow.expiresAt < expiry.moment { watchExpiry(flow.expiresAt) }
  }

  private func watchExpiry(_ moment: Int64) {
    expiry.timer?.cancel()
    expiry.moment = moment
    expiry.timer = EventLoop.shared.after(.seconds(max(1, moment - services.now))) { [weak self] in
      guard let self else { return }
      expiry.moment = .max
      let now = services.now
      applyAll(live.filter { $0.expiresAt <= now }.map(\.id), .overdue, .overdue)
      watchExpiry()
    }
  }

  // MARK: Requests

  private func send(_ flow: Flow, to email: String) {
    request(flow) { keeper in
      do throws(AuthFailure) {
        let url = try self.services.links.continueURL(for: flow, app: keeper.app)
        try await self.services.toolkit.sendSignInLink(to: email, continueURL: url, project: keeper.project(for: flow))
        return .mailSent
      } catch {
        return .mailFailed(error)
      }
    }
  }

  private func exchange(_ flow: Flow, email: String, code: Secret<String>) {
    request(flow) { keeper in
      do throws(AuthFailure) {
        let idToken = flow.purpose == .link ? try await keeper.idToken().token : nil
        PausePoint.exchangeSent.reached()
        let answer = try await self.services.toolkit.signInWithEmailLink(
          email: email, oobCode: code, idToken: idToken, project: keeper.project(for: flow))
        PausePoint.exchangeAnswered.reached()
        switch answer {
        case .grant(let grant, let uid): return .exchanged(grant, uid: uid)
        case .secondFactorRequired: return .exchangeFailed(AuthFailure(.secondFactorRequired))
        }
      } catch {
        return .exchangeFailed(error)
      }
    }
  }

  private func lookUp(_ flow: Flow, _ grant: TokenGrant, delay: Int64) {
    Task.onLoop { await self.lookUpNow(flow, grant, delay: delay) }
  }

  private func lookUpNow(_ flow: Flow, _ grant: TokenGrant, delay: Int64) async {
    if delay > 0 { try? await EventLoop.shared.sleep(for: .seconds(delay)) }
    guard let keeper = keeper(flow.key), flows[flow.id]?.flow.stage == .exchanging else { return }
    do throws(AuthFailure) {
      let user = try await services.toolkit.lookup(idToken: grant.idToken, project: keeper.project(for: flow))
      try settle(flow.id, user)
    } catch {
      failedLookUp(flow.id, error)
    }
  }

  private func settle(_ id: FlowID, _ user: User) throws(AuthFailure) {
    switch flows[id] {
    case .emailLink: try apply(id) { $0.handle(EmailLinkFlow.Event.lookedUp(user), at: self.services.now) }
    case .anonymous: try apply(id) { $0.handle(AnonymousFlow.Event.lookedUp(user), at: self.services.now) }
    case nil: return
    }
  }

  private func failedLookUp(_ id: FlowID, _ failure: AuthFailure) {
    switch flows[id] {
    case .emailLink: feed(id, .lookUpFailed(failure))
    case .anonymous: try? apply(id) { $0.handle(AnonymousFlow.Event.failed(failure), at: self.services.now) }
    case nil: return
    }
  }

  private func signUp(_ flow: Flow) {
    Task.onLoop { await self.signUpNow(flow) }
  }

  private func signUpNow(_ flow: Flow) async {
    guard let keeper = keeper(flow.key) else { return }
    let event: AnonymousFlow.Event
    do throws(AuthFailure) {
      event = .signedUp(try await services.toolkit.signUpAnonymously(project: keeper.project(for: flow)))
    } catch {
      event = .failed(error)
    }
    try? apply(flow.id) { $0.handle(event, at: self.services.now) }
  }

  private func request(_ flow: Flow, _ body: @escaping @LoopActor (SessionKeeper) async -> EmailLinkFlow.Event) {
    Task.onLoop {
      guard let keeper = self.keeper(flow.key) else { return }
      self.feed(flow.id, await body(keeper))
    }
  }

  /// An answer. The code behind it may be spent, so it's kept in memory until the row can be saved.
  private func feed(_ id: FlowID, _ event: EmailLinkFlow.Event) {
    do throws(AuthFailure) {
      try apply(id) { $0.handle(event, at: self.services.now) }
    } catch {
      services.log.error("an answer can't be kept yet", ["flow": id, "error": error.error.rawValue])
      guard error.isTransient || error.error == .internal else { return }
      EventLoop.shared.after(.seconds(2)) { [weak self] in self?.feed(id, event) }
    }
  }
}

extension FlowAction {
  fileprivate var isRefusal: Bool { if case .refuse = self { true } else { false } }
}

extension SessionKeeper {
  /// The context of a flow's calls: its tenant and language before the app's.
  func project(for flow: Flow) -> ProjectContext {
    var app = app
    app.tenantID = flow.tenantID ?? app.tenantID
    app.languageCode = flow.locale ?? app.languageCode
    return ProjectContext(app: app, backend: flow.key.backend)
  }
}
