import AuthCore
import EventLoop
import IdentityToolkit

/// Apple wants to be told before the account of somebody who signed in with it goes (identity-toolkit 2.19). What it gave with
/// a sign-in is in memory alone: the flow's until that has succeeded, then its session's.
enum AppleTokens {
  static let provider = "apple.com"
  /// Seconds since the last sign-in within which the server takes a deletion for certain.
  static let recent: Int64 = 240
}

extension FlowCoordinator {
  func noteAppleToken(_ flow: Flow, _ given: OAuthCredential?, _ own: OAuthCredential) {
    guard own.providerID == AppleTokens.provider else { return }
    appleTokens[flow.id] = given?.accessToken ?? own.accessToken
  }
}

extension SessionKeeper {
  /// What a deletion of `flow`'s account needs besides: who signed in with Apple does so again first, unless that has just been
  /// done. Nothing is revoked for a deletion that would be refused.
  ///
  /// - Throws: `requiresRecentLogin`.
  func checkAppleToken(_ flow: Flow) throws(AuthFailure) {
    guard let session = machine.session, session.method == .provider(AppleTokens.provider), !flow.isConfirmed,
      session.user.uid == flow.protectedUID
    else { return }
    let signedInAt = session.idToken.flatMap { try? IDToken($0.reveal()) }?.authenticatedAt ?? 0
    if appleToken?.uid == flow.protectedUID, serverNow - signedInAt < AppleTokens.recent { return }
    throw AuthFailure(.requiresRecentLogin, cause: "cause.apple-revocation")
  }

  /// Ends what Apple gave. Whether it can or not, the account goes.
  func revokeAppleToken(of uid: String, _ idToken: Secret<String>, _ project: ProjectContext) async {
    guard let held = appleToken, held.uid == uid else { return }
    appleToken = nil
    do throws(AuthFailure) {
      try await toolkit.revokeAppleToken(.accessToken(held.token), idToken: idToken, project: project)
    } catch {
      services.log.warning("apple's token isn't revoked", ["app": key.app, "code": error.serverCode ?? "-"])
    }
  }
}
