import AuthCore
import DBus
import EventLoop
import IdentityToolkit

/// The ID tokens of a session, and their refresh (behaviour: Tokens).
extension SessionKeeper {
  /// The cached ID token, where it lives for `minValidity` seconds more.
  func cachedToken(minValidity: Int64) -> HandedToken? {
    guard let session = machine.session else { return nil }
    return tokens.token(of: session, minValidity: minValidity, serverNow: serverNow)
  }

  /// A token that lives for `minValidity` seconds more, refreshed where needed: one request for all callers.
  ///
  /// - Throws: `noCurrentUser`, or why the refresh failed. A token received less than a minute ago isn't refreshed unless
  ///   `force` says so (behaviour: Tokens).
  func idToken(minValidity: Int64 = 300, force: Bool = false) async throws(AuthFailure) -> HandedToken {
    guard let uid = machine.user?.uid else { throw missingUser }
    if !force {
      if let cached = cachedToken(minValidity: minValidity) { return cached }
      if tokens.isNew, let cached = cachedToken(minValidity: 0) { return cached }
      if let failure = tokens.refusal { throw failure }
    }
    if let refreshing, refreshing.uid == uid { return try await refreshing.task.value.get() }
    let task = Task.onLoop { await self.refresh(uid) }
    refreshing = (uid, task)
    return try await task.value.get()
  }

  /// Takes over new tokens of the same user.
  func renew(_ grant: TokenGrant) throws(AuthFailure) {
    try apply(.refreshed(grant, receivedAt: serverNow))
    tokens.received()
  }

  private func refresh(_ uid: String) async -> Result<HandedToken, AuthFailure> {
    defer { if refreshing?.uid == uid { refreshing = nil } }
    guard let before = machine.session, before.user.uid == uid else { return .failure(AuthFailure(.noCurrentUser)) }
    do throws(AuthFailure) {
      let grant = try await services.toolkit.refresh(refreshToken: before.refreshToken, project: project())
      // Signed out, or somebody else signed in, while the answer was under way.
      guard let current = machine.session, current.user.uid == uid else {
        return .failure(AuthFailure(.noCurrentUser))
      }
      try renew(grant)
      guard machine.session != nil else { return .failure(AuthFailure(.noCurrentUser)) }
      return .success(try HandedToken(grant.idToken))
    } catch {
      services.log.warning(
        "refresh failed", ["app": key.app, "error": error.error.rawValue, "code": error.serverCode ?? "-"])
      // Another call has brought new tokens meanwhile, and ended the old ones by that.
      if let current = machine.session, current.user.uid == uid, current.refreshToken != before.refreshToken,
        let cached = cachedToken(minValidity: 0)
      {
        return .success(cached)
      }
      if machine.session?.user.uid == uid {
        tokens.refreshFailed(error)
        try? apply(.refreshFailed(error))
      }
      return .failure(error)
    }
  }
}

/// An ID token as it's handed out.
@LoopActor
struct HandedToken {
  let token: Secret<String>
  /// What `GetIdToken` answers: token, end of its life and claims; made once per token.
  let reply: PreparedResults

  /// - Throws: `serviceUnavailable` for what is no ID token.
  init(_ token: Secret<String>) throws(AuthFailure) {
    do {
      let claims = try IDToken(token.reveal())
      reply = try PreparedResults([
        .string(token.reveal()), .int64(claims.expiresAt), DBusDictionaries.claims(claims.claims),
      ])
      self.token = token
    } catch {
      throw AuthFailure(.serviceUnavailable, serverCode: "MALFORMED_ID_TOKEN")
    }
  }
}
