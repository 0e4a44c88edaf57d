import AuthCore
import DBus
import EventLoop
import IdentityToolkit
import SessionStore

/// One app's session at one backend: its machine, its tokens, its row, its signals. The only door to all four.
@LoopActor
final class SessionKeeper {
  /// An ID token as it's handed out.
  struct HandedToken {
    let token: Secret<String>
    /// What `GetIdToken` answers: token, end of its life and claims; made once per token.
    let reply: PreparedResults
  }

  let key: SessionKey
  var app: App
  private(set) var machine: SessionMachine
  /// Seconds that the server's clock is ahead of ours; nil until a server has answered.
  private(set) var clockSkew: Int64?
  /// Called with the provider lists that a lookup changed, and so on: what D-Bus caches of the session is stale.
  var onChange: () -> Void = {}
  let services: Services
  /// The request that is under way, and whose tokens it asks for: somebody else may sign in meanwhile.
  private var refreshing: (uid: String, task: Task<Result<HandedToken, AuthFailure>, Never>)?
  /// Boot-clock second at which the current ID token was received; nil where an earlier life of the daemon did.
  private var receivedAtBoot: Int64?
  private var handed: HandedToken?
  private var backoff = Backoff()
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

  /// Says the current state once, after start: a subscriber that outlived the last daemon learns it (B128).
  func announce() { services.broadcast.stateChanged(machine) }

  /// The context of every call for this session's account.
  var project: ProjectContext {
    var app = app
    app.tenantID = machine.user?.tenantID ?? app.tenantID
    return ProjectContext(app: app, backend: key.backend)
  }

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
      idTokenReceivedAt: services.now + (clockSkew ?? 0), idTokenLifetime: grant.expiresIn ?? 0)
  }

  /// Takes over `session` and commits it together with `other` rows.
  func adopt(_ session: Session, with other: (SessionStore) throws(StoreError) -> Void) throws(AuthFailure) {
    try apply(.adopted(session), with: other)
    receivedAtBoot = BootClock.seconds
    backoff = Backoff()
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
    if machine.session?.idToken != tokenBefore {
      handed = nil
      receivedAtBoot = nil
    }
    if !actions.isEmpty { onChange() }
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

  // MARK: Tokens

  /// The cached ID token, where it lives for `minValidity` seconds more.
  func cachedToken(minValidity: Int64) -> HandedToken? {
    guard let session = machine.session, let token = session.idToken, remaining(session) > minValidity else {
      return nil
    }
    if let handed { return handed }
    handed = try? hand(token, session)
    return handed
  }

  /// A token that lives for `minValidity` seconds more, refreshed where needed: one request for all callers.
  ///
  /// - Throws: `noCurrentUser`, or why the refresh failed. A token received less than a minute ago isn't refreshed unless
  ///   `force` says so (behaviour: Tokens).
  func idToken(minValidity: Int64 = 300, force: Bool = false) async throws(AuthFailure) -> HandedToken {
    guard let uid = machine.user?.uid else { throw missingUser }
    if !force {
      if let cached = cachedToken(minValidity: minValidity) { return cached }
      if let receivedAtBoot, BootClock.seconds - receivedAtBoot < 60, let cached = cachedToken(minValidity: 0) {
        return cached
      }
      if let failure = backoff.failure(at: Self.moment) { throw failure }
    }
    if let refreshing, refreshing.uid == uid { return try await refreshing.task.value.get() }
    let task = Task.onLoop { await self.refresh(uid) }
    refreshing = (uid, task)
    return try await task.value.get()
  }

  /// Takes over new tokens of the same user.
  func renew(_ grant: TokenGrant) throws(AuthFailure) {
    try apply(.refreshed(grant, receivedAt: services.now + (clockSkew ?? 0)))
    receivedAtBoot = BootClock.seconds
    backoff = Backoff()
  }

  private func refresh(_ uid: String) async -> Result<HandedToken, AuthFailure> {
    defer { if refreshing?.uid == uid { refreshing = nil } }
    guard let before = machine.session, before.user.uid == uid else { return .failure(AuthFailure(.noCurrentUser)) }
    do throws(AuthFailure) {
      let grant = try await services.toolkit.refresh(refreshToken: before.refreshToken, project: project)
      // Signed out, or somebody else signed in, while the answer was under way.
      guard let current = machine.session, current.user.uid == uid else {
        return .failure(AuthFailure(.noCurrentUser))
      }
      try renew(grant)
      guard let session = machine.session else { return .failure(AuthFailure(.noCurrentUser)) }
      return .success(try hand(grant.idToken, session))
    } catch {
      services.log.warning(
        "refresh failed", ["app": key.app, "error": error.error.rawValue, "code": error.serverCode ?? "-"])
      if machine.session?.user.uid == uid {
        backoff.failed(error, at: Self.moment)
        try? apply(.refreshFailed(error))
      }
      return .failure(error)
    }
  }

  /// Milliseconds of the boot clock.
  private static var moment: Int64 { Int64(BootClock.nanoseconds / 1_000_000) }

  /// Seconds left, counted on the boot clock where the token was received in this life of the daemon.
  private func remaining(_ session: Session) -> Int64 {
    if let receivedAtBoot { return session.idTokenLifetime - (BootClock.seconds - receivedAtBoot) }
    let age = services.now + (clockSkew ?? 0) - session.idTokenReceivedAt
    // A clock that went back says nothing about the token.
    return age < 0 ? 0 : session.idTokenLifetime - age
  }

  private func hand(_ token: Secret<String>, _ session: Session) throws(AuthFailure) -> HandedToken {
    do {
      let claims = try IDToken(token.reveal())
      let reply = try PreparedResults([
        .string(token.reveal()), .int64(claims.expiresAt), DBusDictionaries.claims(claims.claims),
      ])
      return HandedToken(token: token, reply: reply)
    } catch {
      throw AuthFailure(.serviceUnavailable, serverCode: "MALFORMED_ID_TOKEN")
    }
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
