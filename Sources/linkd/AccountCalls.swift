import AuthCore
import DomainNames
import EventLoop
import IdentityToolkit

/// What is asked about, and done to, the account that is signed in.
extension SessionKeeper {
  var toolkit: IdentityToolkit { services.toolkit }

  /// Looks the account up again.
  func reload() async throws(AuthFailure) -> User {
    try await withToken { token async throws(AuthFailure) in
      let user = try await toolkit.lookup(idToken: token, project: project())
      try apply(.reloaded(user))
      return user
    }
  }

  /// Changes name and picture: nil keeps, an empty text clears.
  func updateProfile(displayName: String?, photoURL: String?) async throws(AuthFailure) {
    guard displayName != nil || photoURL != nil else { return }
    let uid = machine.user?.uid
    let grant = try await withToken { token async throws(AuthFailure) in
      try await toolkit.updateProfile(
        displayName: displayName, photoURL: photoURL, idToken: token, project: project())
    }
    // Somebody else may have signed in meanwhile: theirs is left alone.
    guard uid == machine.user?.uid else { return }
    if let grant { try renew(grant) }
    _ = try await reload()
  }

  /// Has the account's address proved by a mail.
  func sendEmailVerification(continueURL: String?, locale: String?) async throws(AuthFailure) {
    let context = project(locale: locale)
    try await withToken { token async throws(AuthFailure) in
      try await toolkit.sendEmailVerification(idToken: token, continueURL: continueURL, project: context)
    }
  }

  /// The ways in which an address signs in.
  func fetchSignInMethods(_ email: String, locale: String?) async throws(AuthFailure) -> [String] {
    try await toolkit.fetchSignInMethods(email: email, project: projectOfApp(locale: locale))
  }

  /// Has a link mailed that leads to a new password.
  func sendPasswordReset(to email: String, continueURL: String?, locale: String?) async throws(AuthFailure) {
    try await toolkit.sendPasswordReset(
      to: email, continueURL: continueURL, project: projectOfApp(locale: locale))
  }

  /// The context of a call about who is signed in: the language of its mail, and the account's tenant.
  func project(locale: String? = nil) -> ProjectContext { project(locale, machine.user?.tenantID) }

  /// The context of a call about somebody else: the tenant of a link, or the app's own.
  func projectOfApp(locale: String? = nil, tenant: String? = nil) -> ProjectContext { project(locale, tenant) }

  private func project(_ locale: String?, _ tenant: String?) -> ProjectContext {
    var app = app
    app.tenantID = tenant ?? app.tenantID
    app.languageCode = locale ?? app.languageCode
    return ProjectContext(app: app, backend: key.backend)
  }

  /// Deletes the account of `flow`, if it's still the one that is signed in. The session ends with the flow that asked.
  func deleteUser(_ flow: Flow, _ project: ProjectContext, if isWanted: () -> Bool) async throws(AuthFailure) {
    try checkAppleToken(flow)
    try await asUser(flow.protectedUID, if: isWanted) { token async throws(AuthFailure) in
      guard let uid = flow.protectedUID else { throw AuthFailure(.userMismatch) }
      await revokeAppleToken(of: uid, token, project)
      try await toolkit.deleteUser(uid: uid, idToken: token, project: project)
    }
  }

  /// Does something to the account that is signed in, if it's still `uid`'s, which may give new tokens; then looks at it.
  func change(
    _ uid: String?, if isWanted: () -> Bool,
    _ body: (Secret<String>) async throws(AuthFailure) -> TokenGrant?
  ) async throws(AuthFailure) {
    try await asUser(uid, if: isWanted) { token async throws(AuthFailure) in
      try await changes.run { () async throws(AuthFailure) in
        // Somebody else may have signed in meanwhile: theirs is left alone.
        if let grant = try await body(token), uid == machine.user?.uid { try renew(grant) }
      }
    }
    guard uid == machine.user?.uid else { return }
    // It's done; what the account looks like now may be learnt later.
    _ = try? await reload()
  }

  /// Takes a second factor away. Where no tokens come with the answer, the old ones may have ended with it: a refresh tells
  /// (identity-toolkit 8.9).
  func unenroll(
    _ factor: String, _ uid: String?, _ project: ProjectContext, if isWanted: () -> Bool
  ) async throws(AuthFailure) {
    try await change(uid, if: isWanted) { token async throws(AuthFailure) in
      let grant = try await toolkit.withdrawSecondFactor(factor, idToken: token, project: project)
      if grant == nil { _ = try? await idToken(force: true) }
      return grant
    }
  }

  /// An action code has changed an account. If it may be ours, it's looked at anew: somebody verified an address in a browser
  /// (field report B120), or changed it, which ends every token (B119).
  func accountChanged(email: String?, previous: String?) {
    guard var user = machine.user, let own = user.email else { return }
    let isOurs = [email, previous].contains { $0.map { DomainNames.areSame($0, own) } ?? false }
    guard isOurs || email == nil else { return }
    if isOurs, let email, !DomainNames.areSame(email, own) {
      // The new address is what the person has to sign in with, should the lookup be refused.
      user.email = email
      try? apply(.reloaded(user))
    }
    Task.onLoop { _ = try? await self.reload() }
  }

  /// Runs `body` with a token of `uid`'s, if that one is signed in, and if it `isWanted` once there is a token: a refresh takes
  /// time.
  ///
  /// - Throws: `userMismatch` where somebody else is signed in, `cancelled` where it isn't wanted any more, and what
  ///   `withToken` throws.
  func asUser<Result>(
    _ uid: String?, if isWanted: () -> Bool, _ body: (Secret<String>) async throws(AuthFailure) -> Result
  ) async throws(AuthFailure) -> Result {
    guard let user = machine.user else {
      // The server has ended the session: who signs in again may go on.
      throw uid != nil && machine.lastUser?.uid == uid ? AuthFailure(.tokenRevoked) : missingUser
    }
    guard user.uid == uid else { throw AuthFailure(.userMismatch) }
    return try await withToken { token async throws(AuthFailure) in
      guard isWanted() else { throw AuthFailure(.cancelled) }
      return try await body(token)
    }
  }

  /// Runs `body` with a token. If the server says that the account or its tokens are gone, the session is over.
  private func withToken<Result>(
    _ body: (Secret<String>) async throws(AuthFailure) -> Result
  ) async throws(AuthFailure) -> Result {
    let token = try await idToken().token
    let uid = machine.user?.uid
    do throws(AuthFailure) {
      return try await body(token)
    } catch {
      guard error.endsSession else { throw error }
      // A change, such as a new password, may have ended the old tokens, and brings new ones with its answer: these count.
      await changes.answered()
      guard machine.user?.uid == uid else { throw error }
      guard let current = machine.session?.idToken, current != token else {
        try apply(.refreshFailed(error))
        throw error
      }
      return try await body(current)
    }
  }
}
