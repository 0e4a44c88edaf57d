/// The one place where an app's session changes: events in, actions out (D-Bus contract: Session; behaviour: Tokens).
///
/// Reauthentication and linking change tokens and user, never `state`.
public struct SessionMachine: Sendable {
  /// What happened. Times are Unix seconds.
  public enum Event: Sendable {
    /// A sign-in, a link or a reauthentication has ended well and is to be kept.
    case adopted(Session)
    /// The token endpoint answered.
    case refreshed(TokenGrant, receivedAt: Int64)
    /// The token endpoint didn't, or refused.
    case refreshFailed(AuthFailure)
    /// `accounts:lookup` gave a newer picture of the same account.
    case reloaded(User)
    /// The person, or an app of theirs, signed out.
    case signedOut
    /// A flow of the app that signs in began, or ended, an exchange.
    case exchanging(Bool)
    /// The stored session can't be opened: why.
    case unavailable(SessionHealth, AuthError)
  }

  /// What is to be done, in this order.
  public enum Action: Sendable, Equatable {
    /// Commit the session and `sequence`.
    case save
    /// Drop tokens and rows of `uid`, keep `lastUser` and `sequence`.
    case remove(uid: String)
    case stateChanged
    case idTokenChanged
    case providersChanged(added: [String], removed: [String])
    /// `Health` or `HealthReason` changed.
    case healthChanged
  }

  /// Whose session it is.
  public let key: SessionKey
  /// The lasting session; nil when nobody is signed in.
  public private(set) var session: Session?
  /// Who was signed in before a forced sign-out.
  public private(set) var lastUser: LastUser?
  /// `Health` on D-Bus.
  public private(set) var health: SessionHealth = .ok
  /// `HealthReason` on D-Bus.
  public private(set) var healthReason: AuthError?
  /// Grows with every signal, is stored, and never goes back.
  public private(set) var sequence: UInt64
  private var exchanges = 0

  /// A machine for `key` with what the store remembers.
  public init(key: SessionKey, session: Session?, lastUser: LastUser?, sequence: UInt64) {
    self.key = key
    self.session = session
    self.lastUser = lastUser
    self.sequence = sequence
    if session == nil, let lastUser {
      health = .attentionNeeded
      healthReason = AuthError(rawValue: lastUser.reason)
    }
  }

  /// `State` on D-Bus: a guest is `unauthenticated`, as in FirebaseUI.
  public var state: SessionState {
    if let session, !session.user.isAnonymous { return .authenticated }
    return exchanges > 0 ? .authenticating : .unauthenticated
  }

  /// The signed-in user, a guest too.
  public var user: User? { session?.user }

  /// Takes `event` and says what is to be done.
  public mutating func handle(_ event: Event) -> [Action] {
    let before = (state: state, user: user, health: health, reason: healthReason)
    var actions = step(event)
    if before.health != health || before.reason != healthReason { actions.append(.healthChanged) }
    let tokenChanged = actions.contains(.idTokenChanged)
    if before.state != state || before.user != user {
      sequence += 1
      actions.append(.stateChanged)
      if let change = providerChange(from: before.user) { actions.append(change) }
    } else if tokenChanged {
      sequence += 1
    }
    return actions
  }

  private mutating func step(_ event: Event) -> [Action] {
    switch event {
    case .adopted(let new):
      let tokenChanged = session?.idToken != new.idToken
      session = new
      lastUser = nil
      heal()
      return tokenChanged ? [.save, .idTokenChanged] : [.save]
    case .refreshed(let grant, let receivedAt): return refreshed(grant, receivedAt: receivedAt)
    case .refreshFailed(let failure): return refreshFailed(failure)
    case .reloaded(let user):
      guard var session, session.user.uid == user.uid, session.user != user else { return [] }
      session.user = user
      self.session = session
      return [.save]
    case .signedOut:
      lastUser = nil
      heal()
      guard let uid = session?.user.uid else { return [.remove(uid: "")] }
      session = nil
      return [.remove(uid: uid), .idTokenChanged]
    case .exchanging(let began):
      exchanges = max(0, exchanges + (began ? 1 : -1))
      return []
    case .unavailable(let health, let error):
      self.health = health
      healthReason = error
      return []
    }
  }

  private mutating func refreshed(_ grant: TokenGrant, receivedAt: Int64) -> [Action] {
    guard var session else { return [] }
    let changed = session.idToken != grant.idToken
    session.idToken = grant.idToken
    session.refreshToken = grant.refreshToken
    session.idTokenReceivedAt = receivedAt
    session.idTokenLifetime = grant.expiresIn ?? 0
    self.session = session
    heal()
    return changed ? [.save, .idTokenChanged] : [.save]
  }

  /// Temporary trouble keeps the session; a definite refusal ends it and says whose it was (behaviour: Tokens).
  private mutating func refreshFailed(_ failure: AuthFailure) -> [Action] {
    guard let session else { return [] }
    healthReason = failure.error
    switch failure.error {
    case .tokenRevoked, .userDisabled, .userNotFound:
      lastUser = LastUser(
        uid: session.user.uid, email: session.user.email, phoneNumber: session.user.phoneNumber,
        tenantID: session.user.tenantID,
        signInMethod: session.method.description,
        reason: failure.error.rawValue)
      health = .attentionNeeded
      self.session = nil
      return [.remove(uid: session.user.uid), .idTokenChanged]
    default:
      health = .degraded
      return []
    }
  }

  private mutating func heal() {
    health = .ok
    healthReason = nil
  }

  private func providerChange(from old: User?) -> Action? {
    guard let old, let user, old.uid == user.uid else { return nil }
    let before = Set(old.providers.map(\.providerID))
    let after = Set(user.providers.map(\.providerID))
    guard before != after else { return nil }
    return .providersChanged(added: after.subtracting(before).sorted(), removed: before.subtracting(after).sorted())
  }
}
