import AuthCore
import DBus
import EventLoop
import SessionStore

/// One app's session at one backend: its machine, its tokens, its row, its signals. The only door to all four.
///
/// The tokens are in SessionTokens.swift, the calls for the account in AccountCalls.swift.
@LoopActor
final class SessionKeeper {
  let key: SessionKey
  var app: App
  /// What was set over D-Bus in place of what the app's file says, for as long as the daemon lives.
  var overrides = AppOverrides()
  private(set) var machine: SessionMachine
  /// Seconds that the server's clock is ahead of ours; nil until a server has answered.
  private(set) var clockSkew: Int64?
  let services: Services
  /// The request for a token that is under way, and whose it is: somebody else may sign in meanwhile.
  var refreshing: (uid: String, task: Task<Result<HandedToken, AuthFailure>, Never>)?
  var tokens = TokenCache()
  /// What is being changed at the server and may end the tokens there.
  let changes = PendingChanges()
  /// What Apple gave with the last sign-in by it, and to whom.
  var appleToken: (uid: String, token: Secret<String>)?
  /// What the row says: sequence numbers up to it may have been handed out, so that most changes need no commit for the
  /// number alone.
  private var reservedSequence: UInt64

  init(app: App, key: SessionKey, stored: StoredSession?, services: Services) {
    self.app = app
    self.key = key
    self.services = services
    clockSkew = stored?.clockSkew
    reservedSequence = stored?.sequence ?? 0
    machine = SessionMachine(
      key: key, session: stored?.session, lastUser: stored?.lastUser, sequence: stored?.sequence ?? 0)
  }

  /// Why nobody is there: a session that can't be opened is never taken for none (field report B136).
  var missingUser: AuthFailure {
    switch machine.health {
    case .locked, .unreadable:
      if let fault = services.storage.fault, fault.error == machine.healthReason {
        fault
      } else {
        AuthFailure(machine.healthReason ?? .storageUnreadable)
      }
    case .ok, .degraded, .attentionNeeded: AuthFailure(.noCurrentUser)
    }
  }

  /// The guest whose account a sign-in makes a lasting one; nil where nobody is one, or the app doesn't want it.
  var guestToUpgrade: String? {
    guard app.options.autoUpgradeAnonymous, let user = machine.user, user.isAnonymous else { return nil }
    return user.uid
  }

  /// Says the current state once, after start: a subscriber that outlived the last daemon learns it (B128).
  func announce() { services.broadcast.stateChanged(machine) }

  /// The server's clock, as far as it's known: Unix seconds.
  var serverNow: Int64 { services.now + (clockSkew ?? 0) }

  /// Notes what the server's `Date` header said.
  func observe(serverTime: Int64, localTime: Int64) {
    let skew = serverTime - localTime
    // The header has whole seconds and travelled a while: small differences say nothing.
    guard abs(skew - (clockSkew ?? 0)) > 2 || clockSkew == nil else { return }
    clockSkew = skew
    services.broadcast.sessionProperties(key, ["ClockSkew"])
  }

  // MARK: Changes

  /// The session that a finished flow gives.
  func session(user: User, grant: TokenGrant, method: SignInMethod) -> Session {
    Session(
      key: key, user: user, method: method, refreshToken: grant.refreshToken, idToken: grant.idToken,
      idTokenReceivedAt: serverNow, idTokenLifetime: grant.expiresIn ?? 0)
  }

  /// Takes over `session` and commits it together with `other` rows.
  func adopt(_ session: Session, with other: (SessionStore) throws(StoreError) -> Void) throws(AuthFailure) {
    try apply(.adopted(session), with: other)
    tokens.received()
  }

  /// Ends the session and commits that together with `other` rows. Nothing of it stays but the sequence.
  func signOut(with other: (SessionStore) throws(StoreError) -> Void = { _ in }) throws(AuthFailure) {
    try apply(.signedOut, with: other)
  }

  /// A flow that signs in began or ended an exchange.
  func exchanging(_ began: Bool) { try? apply(.exchanging(began)) }

  /// The stored session can't be opened.
  func unavailable(_ health: SessionHealth, _ error: AuthError) { try? apply(.unavailable(health, error)) }

  /// Lets the machine take an event, commits what it wants together with `other` rows, and says what has changed.
  func apply(
    _ event: SessionMachine.Event, with other: (SessionStore) throws(StoreError) -> Void = { _ in }
  ) throws(AuthFailure) {
    var next = machine
    let actions = next.handle(event)
    do throws(AuthFailure) {
      try commit(next, actions, with: other)
    } catch {
      // A token is good for its hour though the disk be full: the row's refresh token gives another one at the next start.
      // Only the sequence mustn't outrun what is stored.
      guard case .refreshed = event, next.sequence <= reservedSequence else { throw error }
      services.log.warning("a token can't be saved", ["app": key.app])
    }
    if case .adopted = event { PausePoint.sessionCommitted.reached() }
    let tokenBefore = machine.session?.idToken
    machine = next
    if machine.session?.idToken != tokenBefore { tokens.forget() }
    if appleToken?.uid != machine.user?.uid { appleToken = nil }
    announce(actions)
  }

  private func commit(
    _ next: SessionMachine, _ actions: [SessionMachine.Action], with other: (SessionStore) throws(StoreError) -> Void
  ) throws(AuthFailure) {
    let reserved = next.sequence > reservedSequence ? next.sequence + 64 : reservedSequence
    guard reserved > reservedSequence || actions.contains(where: \.isDurable) else { return }
    let skew = clockSkew ?? 0
    try services.stored { store throws(StoreError) in
      try store.transaction { () throws(StoreError) in
        var removed = false
        for case .remove(let uid) in actions {
          try store.removeSession(
            key, uid: uid.isEmpty ? nil : uid, lastUser: next.lastUser, sequence: reserved)
          removed = true
        }
        if let session = next.session {
          try store.save(session, clockSkew: skew, sequence: reserved)
        } else if !removed {
          try store.save(sequence: reserved, for: key)
        }
        try other(store)
      }
      // What was signed out is gone from the log too.
      if next.session == nil { try store.checkpoint() }
    }
    reservedSequence = reserved
  }

  private func announce(_ actions: [SessionMachine.Action]) {
    for action in actions {
      switch action {
      case .save: break
      case .remove: services.log.info("signed out", ["app": key.app])
      case .stateChanged: services.broadcast.stateChanged(machine)
      case .idTokenChanged: services.broadcast.idTokenChanged(machine)
      case .providersChanged(let added, let removed):
        services.broadcast.providersChanged(key, added: added, removed: removed)
      case .healthChanged: services.broadcast.sessionProperties(key, ["Health", "HealthReason", "LastUser"])
      }
    }
  }
}

/// Values of an app's that are set over D-Bus: reading the files anew leaves them alone. An inner nil is none.
struct AppOverrides {
  var tenantID: String??
  var languageCode: String??

  func applied(to app: App) -> App {
    var app = app
    if let tenantID { app.tenantID = tenantID }
    if let languageCode { app.languageCode = languageCode }
    return app
  }
}

extension SessionMachine.Action {
  /// Whether it needs a commit.
  var isDurable: Bool {
    switch self {
    case .save, .remove: true
    case .stateChanged, .idTokenChanged, .providersChanged, .healthChanged: false
    }
  }
}

extension AuthFailure {
  /// Whether the account itself was refused: the session is over.
  var endsSession: Bool {
    switch error {
    case .tokenRevoked, .userDisabled, .userNotFound: true
    default: false
    }
  }
}
