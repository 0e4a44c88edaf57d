import AuthCore
import EventLoop
import IdentityToolkit
import LinkHandler

/// First factors without a browser and without a text message.
extension FlowCoordinator {
  func performSignIn(_ flow: Flow, _ action: FlowAction) {
    switch action {
    case .sendMail(let email): sendMail(flow, to: email)
    case .exchange(let email, let code): exchangeLink(flow, email, code)
    case .signUpAnonymously:
      signIn(flow) { toolkit, project async throws(AuthFailure) in
        try await toolkit.signUpAnonymously(project: project)
      }
    case .signIn(let email, let password):
      signIn(flow) { toolkit, project async throws(AuthFailure) in
        try await toolkit.signInWithPassword(email: email, password: password, project: project)
      }
    case .signUp(let email, let password): signUp(flow, email, password)
    case .signInWithCustomToken(let token, let delay):
      signIn(flow, delay: delay) { toolkit, project async throws(AuthFailure) in
        try await toolkit.signInWithCustomToken(token, project: project)
      }
    default: break
    }
  }

  private func sendMail(_ flow: Flow, to email: String) {
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

  private func exchangeLink(_ flow: Flow, _ email: String, _ code: Secret<String>) {
    signIn(flow) { toolkit, project async throws(AuthFailure) in
      try await self.withLinkingToken(flow) { idToken async throws(AuthFailure) in
        PausePoint.exchangeSent.reached()
        let answer = try await toolkit.signInWithEmailLink(
          email: email, oobCode: code, idToken: idToken, project: project)
        PausePoint.exchangeAnswered.reached()
        return answer
      }
    }
  }

  private func signUp(_ flow: Flow, _ email: String, _ password: Secret<String>) {
    signIn(flow) { toolkit, project async throws(AuthFailure) in
      try await self.withLinkingToken(flow) { idToken async throws(AuthFailure) in
        try await toolkit.signUp(
          email: email, password: password, displayName: flow.displayName, idToken: idToken, project: project)
      }
    }
  }

  /// A first factor, after `delay` seconds: tokens, or why there are none.
  private func signIn(
    _ flow: Flow, delay: Int64 = 0,
    _ body: @escaping @LoopActor (IdentityToolkit, ProjectContext) async throws(AuthFailure) -> SignInAnswer
  ) {
    request(flow) { keeper in
      if delay > 0 {
        try? await EventLoop.shared.sleep(for: .seconds(delay))
        guard self.isExchanging(flow) else { return nil }
      }
      // Neither is a code spent for nothing, nor does another account get what this one asked for.
      guard !self.isOthersNow(flow) else { return .exchangeFailed(AuthFailure(.userMismatch)) }
      do throws(AuthFailure) {
        switch try await body(self.services.toolkit, keeper.project(for: flow)) {
        case .grant(let grant, let uid): return .exchanged(grant, uid: uid)
        case .secondFactorRequired(let pending, let factors): return .secondFactor(pending, factors)
        }
      } catch {
        return .exchangeFailed(error)
      }
    }
  }

  /// Asks with the token of the account that something is added to. A plain sign-in asks without one, and so does a guest's
  /// that can't be an upgrade any more: the guest has gone, has become somebody, or is dead at the server.
  func withLinkingToken<Answer: Sendable>(
    _ flow: Flow, _ ask: @LoopActor (Secret<String>?) async throws(AuthFailure) -> Answer
  ) async throws(AuthFailure) -> Answer {
    let token = try await linkingToken(flow)
    do throws(AuthFailure) {
      return try await ask(token)
    } catch {
      guard token != nil, error.endsSession else { throw error }
      // The account that the token is for is gone, so the session is over. A refusal may also be about who signs in.
      if error.error != .userDisabled, let keeper = keeper(flow.key), keeper.machine.user?.uid == flow.linkUID {
        // Another call has ended the old tokens by bringing new ones: these count.
        if let current = keeper.machine.session?.idToken, current != token, isExchanging(flow) {
          return try await ask(current)
        }
        try keeper.apply(.refreshFailed(error))
      }
      guard flow.protectedUID == nil, isExchanging(flow) else { throw error }
      return try await ask(nil)
    }
  }

  private func linkingToken(_ flow: Flow) async throws(AuthFailure) -> Secret<String>? {
    guard let uid = flow.linkUID, let keeper = keeper(flow.key) else { return nil }
    let mayBePlain = flow.protectedUID == nil
    func check() throws(AuthFailure) {
      guard let user = keeper.machine.user, user.uid == uid, user.isAnonymous || !mayBePlain else {
        throw AuthFailure(.userMismatch)
      }
    }
    do throws(AuthFailure) {
      try check()
      let token = try await keeper.idToken().token
      // A refresh takes time.
      guard isExchanging(flow) else { throw AuthFailure(.cancelled) }
      try check()
      return token
    } catch {
      guard mayBePlain, error.error == .userMismatch || error.endsSession else { throw error }
      return nil
    }
  }
}
