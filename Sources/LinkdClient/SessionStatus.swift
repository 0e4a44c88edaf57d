import LinkdContract
public import AuthCore
import DBus

/// Who is signed in to an app at one moment.
public struct SessionStatus: Sendable, Hashable {
  /// A guest is `unauthenticated`, and has a ``user``.
  public var state: SessionState
  /// Nil when nobody is signed in. Of a user who had left again before linkd could be asked, `uid` and `isAnonymous` alone
  /// are known.
  public var user: User?
  /// Grows with every change. Numbers are left out now and then.
  public var sequence: UInt64

  /// Every field by name.
  public init(state: SessionState, user: User?, sequence: UInt64) {
    self.state = state
    self.user = user
    self.sequence = sequence
  }
}

extension SessionStatus: Followed {
  static var interface: String { Contract.Interface.session }
  static var signal: String { "StateChanged" }
  static var missing: LinkdError { .auth(.noSuchApp, message: "There is no such app in linkd.") }
  var isLast: Bool { false }
  var isUnderWay: Bool { state == .authenticating }

  init?(_ path: ObjectPath, properties: [String: DBusValue]) {
    guard let state = properties["State"]?.asString.flatMap(SessionState.init(rawValue:)) else { return nil }
    self.init(
      state: state, user: properties["User"]?.asDict.flatMap(User.init),
      sequence: properties["Sequence"]?.asUInt64 ?? 0)
  }

  init?(_ signal: Signal, newest: SessionStatus?, previous: SessionStatus?) {
    guard signal.arguments.count == 3, let sequence = signal.arguments[2].asUInt64,
      let state = signal.arguments[0].asString.flatMap(SessionState.init(rawValue:))
    else { return nil }
    var user = signal.arguments[1].asDict.flatMap(User.init)
    // The signal has the uid alone: the rest is read, of the same user.
    let known = [newest?.user, previous?.user].compactMap { $0 }
    if let same = known.first(where: { $0.uid == user?.uid && $0.isAnonymous == user?.isAnonymous }) { user = same }
    self.init(state: state, user: user, sequence: sequence)
  }
}

/// All that linkd tells of an app's session besides ``SessionStatus``. Times are Unix seconds.
public struct SessionReport: Sendable, Hashable {
  /// State and user.
  public var status: SessionStatus
  /// How they signed in; nil when nobody is.
  public var signInMethod: SignInMethod?
  /// Whether the session can be used.
  public var health: SessionHealth
  /// Why not.
  public var healthReason: AuthError?
  /// Seconds that the server's clock is ahead of this machine's.
  public var clockSkew: Int64
  /// Who was signed in before a forced sign-out.
  public var lastUser: LastUser?

  init?(_ path: ObjectPath, properties: [String: DBusValue]) {
    guard let status = SessionStatus(path, properties: properties) else { return nil }
    self.status = status
    signInMethod = properties["SignInMethod"]?.asString.flatMap(SignInMethod.init)
    health = properties["Health"]?.asString.flatMap(SessionHealth.init(rawValue:)) ?? .ok
    healthReason = properties["HealthReason"]?.asString.flatMap(AuthError.init(dbusName:))
    clockSkew = properties["ClockSkew"]?.asInt64 ?? 0
    let last = properties["LastUser"]?.asDict ?? [:]
    lastUser = last["uid"]?.asString.map { uid in
      LastUser(
        uid: uid, email: last["email"]?.asString, signInMethod: last["sign-in-method"]?.asString ?? "",
        reason: healthReason?.rawValue ?? "")
    }
  }
}

/// An ID token, as an app shows it to its own server.
public struct IdentityToken: Sendable, Hashable {
  /// The token itself: reveal it where it is sent.
  public var token: Secret<String>
  /// Unix seconds, by the server's clock.
  public var expiresAt: Int64
  /// What is in it.
  public var claims: [String: JSONValue]

  /// Every field by name.
  public init(token: Secret<String>, expiresAt: Int64, claims: [String: JSONValue]) {
    self.token = token
    self.expiresAt = expiresAt
    self.claims = claims
  }
}
