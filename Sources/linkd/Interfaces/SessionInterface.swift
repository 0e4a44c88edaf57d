import AuthCore
import DBus
import EventLoop
import LinkdContract

/// `org.linkd.Auth1.Session`: who is signed in to an app, and the tokens of it.
@LoopActor
struct SessionInterface {
  let keeper: SessionKeeper
  let tree: ObjectTree

  var table: Interface {
    Interface(
      Contract.Interface.session,
      methods: [
        Method(
          "GetIdToken", in: [Argument("options", "a{sv}")],
          out: [Argument("token", "s"), Argument("expires_at", "x"), Argument("claims", "a{sv}")],
          handler: .prepared(token)),
        Method("SignOut", in: [Argument("options", "a{sv}")], out: [], handler: .sync(signOut)),
        Method("ReloadUser", in: [Argument("options", "a{sv}")], out: [], handler: .async(reloadUser)),
      ],
      properties: properties,
      signals: [
        SignalDescription(
          "StateChanged", [Argument("state", "s"), Argument("user", "a{sv}"), Argument("sequence", "t")]),
        SignalDescription("IdTokenChanged", [Argument("sequence", "t")]),
        SignalDescription("ProvidersChanged", [Argument("added", "as"), Argument("removed", "as")]),
      ])
  }

  private var properties: [Property] {
    [
      Version.property,
      Property("State", "s", emitsChanged: .true) { _ in .string(keeper.machine.state.rawValue) },
      Property("User", "a{sv}", emitsChanged: .invalidates) { _ in
        .dict(keeper.machine.user.map(DBusDictionaries.user) ?? [:])
      },
      Property("IsAnonymous", "b", emitsChanged: .true) { _ in .boolean(keeper.machine.user?.isAnonymous ?? false) },
      Property("SignInMethod", "s", emitsChanged: .true) { _ in
        .string(keeper.machine.session?.method.description ?? "")
      },
      Property("Sequence", "t", emitsChanged: .true) { _ in .uint64(keeper.machine.sequence) },
      Property("ClockSkew", "x", emitsChanged: .true) { _ in .int64(keeper.clockSkew ?? 0) },
      Property("Health", "s", emitsChanged: .true) { _ in .string(keeper.machine.health.rawValue) },
      Property("HealthReason", "s", emitsChanged: .true) { _ in
        .string(keeper.machine.healthReason?.dbusName ?? "")
      },
      Property("LastUser", "a{sv}", emitsChanged: .invalidates) { _ in
        .dict(DBusDictionaries.lastUser(keeper.machine.lastUser))
      },
    ]
  }

  /// A cached token is answered without waiting for anything: apps ask before every request of theirs.
  private func token(_ call: MethodCall) throws(DBusError) -> Method.PreparedAnswer {
    let options = try Options(call)
    try requireUser(options)
    let minValidity = Int64(try options.uint32("min-validity") ?? 300)
    let force = try options.bool("force-refresh") ?? false
    if !force, let cached = keeper.cachedToken(minValidity: minValidity) { return .now(cached.reply) }
    return .later { () async throws(DBusError) in
      do throws(AuthFailure) {
        return try await keeper.idToken(minValidity: minValidity, force: force).reply
      } catch {
        throw tree.reply(error, options, keeper)
      }
    }
  }

  private func requireUser(_ options: Options) throws(DBusError) {
    let uid = try options.string("uid")
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      guard let user = keeper.machine.user else { throw keeper.missingUser }
      if let uid, uid != user.uid { throw AuthFailure(.userMismatch) }
    }
  }

  private func signOut(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try tree.answer(Options(call), keeper) { () throws(AuthFailure) in
      // Without the key nothing is deleted: the person was told of the key, not of a session.
      let reason = keeper.machine.healthReason
      if keeper.machine.health == .locked || reason == .keyringWrongKey || reason == .storageTooNew {
        throw keeper.missingUser
      }
      tree.coordinator.dropAll(of: keeper.key)
      try keeper.signOut()
    }
    return []
  }

  private func reloadUser(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    try await tree.answer(Options(call), keeper) { () async throws(AuthFailure) in
      _ = try await keeper.reload()
      return []
    }
  }
}
