import AuthCore
import EventLoop
import IdentityToolkit

/// Apple wants to be told before the account of somebody who signed in with it goes (identity-toolkit 2.19).
extension SessionKeeper {
  private static let apple = "apple.com"

  /// Keeps what Apple gave with a sign-in, in memory alone, for a deletion that may follow.
  func noteAppleToken(_ token: Secret<String>?, of credential: OAuthCredential, _ grant: TokenGrant) {
    guard credential.providerID == Self.apple, let token, let uid = try? IDToken(grant.idToken.reveal()).subject else {
      return
    }
    appleToken = (uid, token)
  }

  /// Who signed in with Apple does so again first, unless that has just been tried.
  ///
  /// - Throws: `requiresRecentLogin`.
  func checkAppleToken(_ flow: Flow) throws(AuthFailure) {
    guard let session = machine.session, session.method == .provider(Self.apple), !flow.isConfirmed,
      session.user.uid == flow.protectedUID, appleToken?.uid != flow.protectedUID
    else { return }
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
