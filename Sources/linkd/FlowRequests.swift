import AuthCore
import EventLoop
import IdentityToolkit
import LinkHandler

/// What the machines ask of the server. Each request ends with an event for its flow.
extension FlowCoordinator {
  func perform(_ flow: Flow, _ actions: [FlowAction]) {
    for action in actions {
      switch action {
      case .save, .adopt, .endSession, .refuse: break
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
      case .lookUp(let grant, let delay): lookUp(flow, grant, delay: delay)
      case .checkCode(let code): checkCode(flow, code)
      case .applyCode(let code):
        ask(flow) { keeper, project async throws(AuthFailure) in
          try await keeper.toolkit.applyActionCode(code, project: project)
        }
      case .resetPassword(let code, let password):
        ask(flow) { keeper, project async throws(AuthFailure) in
          try await keeper.toolkit.confirmPasswordReset(code, newPassword: password, project: project)
        }
      case .signInWithCustomToken(let token, let delay):
        signIn(flow, delay: delay) { toolkit, project async throws(AuthFailure) in
          try await toolkit.signInWithCustomToken(token, project: project)
        }
      case .prepareAuthorization(let delay): prepareAuthorization(flow, delay: delay)
      case .openBrowser: openBrowser(flow)
      case .listen: listen(flow)
      case .exchangeAuthorizationCode(let code, let delay): exchangeAuthorizationCode(flow, code, delay: delay)
      case .signInWithCredential(let credential, let delay): signInWithCredential(flow, credential, delay: delay)
      case .sendCode: sendCode(flow)
      case .prepareVerificationPage: prepareVerificationPage(flow)
      case .startTOTPEnrollment(let delay): startTOTPEnrollment(flow, delay: delay)
      case .verifyCode(let code): verifyCode(flow, code)
      case .signInWithPhoneProof(let proof, let delay): signInWithPhoneProof(flow, proof, delay: delay)
      case .fetchSignInMethods(let email): fetchSignInMethods(flow, email)
      case .resolveLater(let seconds):
        EventLoop.shared.after(.seconds(seconds)) { [weak self] in self?.feed(flow.id, .conflict(.timeOver)) }
      case .unlink(let provider):
        change(flow) { keeper, token, project async throws(AuthFailure) in
          try await keeper.toolkit.unlink(providerID: provider, idToken: token, project: project)
        }
      case .updatePassword(let password):
        change(flow) { keeper, token, project async throws(AuthFailure) in
          try await keeper.toolkit.updatePassword(password, idToken: token, project: project)
        }
      case .unenrollFactor(let uid):
        ask(flow) { keeper, project async throws(AuthFailure) in
          try await keeper.unenroll(uid, flow.protectedUID, project) { self.isExchanging(flow) }
        }
      case .changeEmail(let email): changeEmail(flow, email)
      case .deleteUser:
        ask(flow) { keeper, project async throws(AuthFailure) in
          try await keeper.deleteUser(flow, project) { self.isExchanging(flow) }
          // Given up too late: the account is gone, which its session learns by asking.
          if !self.isExchanging(flow) { _ = try? await keeper.reload() }
        }
      case .accountChanged(let email, let previous): keeper(flow.key)?.accountChanged(email: email, previous: previous)
      }
    }
  }

  /// What changes the account that is signed in.
  private func change(
    _ flow: Flow,
    _ body:
      @escaping @LoopActor (SessionKeeper, Secret<String>, ProjectContext) async throws(AuthFailure) -> TokenGrant?
  ) {
    ask(flow) { keeper, project async throws(AuthFailure) in
      try await keeper.change(flow.protectedUID, if: { self.isExchanging(flow) }) { token async throws(AuthFailure) in
        try await body(keeper, token, project)
      }
    }
  }

  /// The mail's link changes the address.
  private func changeEmail(_ flow: Flow, _ email: String) {
    ask(flow) { keeper, project async throws(AuthFailure) in
      let url = try MailedLinks.plain(flow.continueURL)
      try await keeper.asUser(flow.protectedUID, if: { self.isExchanging(flow) }) { token async throws(AuthFailure) in
        do throws(AuthFailure) {
          try await keeper.toolkit.sendEmailChange(to: email, idToken: token, continueURL: url, project: project)
        } catch {
          // It's well-formed.
          guard error.error == .invalidEmail else { throw error }
          throw AuthFailure(.invalidEmail, serverCode: error.serverCode, cause: "cause.address-not-accepted")
        }
      }
    }
  }

  // MARK: One request each

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

  private func checkCode(_ flow: Flow, _ code: Secret<String>) {
    request(flow) { keeper in
      do throws(AuthFailure) {
        return .codeChecked(
          try await self.services.toolkit.checkActionCode(code, project: keeper.project(for: flow)))
      } catch {
        return .codeCheckFailed(error)
      }
    }
  }

  private func lookUp(_ flow: Flow, _ grant: TokenGrant, delay: Int64) {
    Task.onLoop {
      if delay > 0 { try? await EventLoop.shared.sleep(for: .seconds(delay)) }
      guard let keeper = self.keeper(flow.key), self.flow(flow.id)?.stage == .exchanging else { return }
      do throws(AuthFailure) {
        let user = try await self.services.toolkit.lookup(idToken: grant.idToken, project: keeper.project(for: flow))
        let current = keeper.machine.user
        self.feed(flow.id, .lookedUp(user, guest: current?.isAnonymous == true ? current?.uid : nil))
      } catch {
        self.log(error, flow.id)
        self.feed(flow.id, .lookUpFailed(error))
      }
    }
  }

  // MARK: Kinds of requests

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

  /// What is done, or not.
  private func ask(
    _ flow: Flow, _ body: @escaping @LoopActor (SessionKeeper, ProjectContext) async throws(AuthFailure) -> Void
  ) {
    request(flow) { keeper in
      do throws(AuthFailure) {
        try await body(keeper, keeper.project(for: flow))
        return .performed
      } catch {
        return .exchangeFailed(error)
      }
    }
  }

  func request(_ flow: Flow, _ body: @escaping @LoopActor (SessionKeeper) async -> FlowEvent?) {
    Task.onLoop {
      guard let keeper = self.keeper(flow.key), let event = await body(keeper) else { return }
      if let failure = event.failure { self.log(failure, flow.id) }
      self.feed(flow.id, event)
    }
  }

  /// Whether the flow still wants what it asked for.
  func isExchanging(_ flow: Flow) -> Bool { self.flow(flow.id)?.stage == .exchanging }

  /// Whether somebody else has signed in since the flow began, if it concerns an account: what it was asked to do to one
  /// account, it must neither do to the other nor change who is signed in.
  func isOthersNow(_ flow: Flow) -> Bool {
    guard let protected = flow.protectedUID, let user = keeper(flow.key)?.machine.user else { return false }
    return user.uid != protected
  }

  private func log(_ failure: AuthFailure, _ id: FlowID) {
    services.log.warning(
      "request failed", ["flow": id, "error": failure.error.rawValue, "code": failure.serverCode ?? "-"])
  }

  /// An answer to a flow that was given up meanwhile: what it did to the account that is signed in is done.
  private func came(late grant: TokenGrant, _ uid: String?, _ flow: Flow) {
    guard flow.purpose == .link || flow.purpose == .enrollFactor || flow.purpose == .changePhone,
      let keeper = keeper(flow.key), let own = flow.protectedUID, uid == own, keeper.machine.user?.uid == own
    else { return }
    try? keeper.renew(grant)
    Task.onLoop { _ = try? await keeper.reload() }
  }

  /// An answer. The code behind it may be spent, so it's kept in memory until the row can be saved.
  func feed(_ id: FlowID, _ event: FlowEvent) {
    do throws(AuthFailure) {
      if case .lookedUp = event, let flow = flow(id), isOthersNow(flow) {
        return try handle(.lookUpFailed(AuthFailure(.userMismatch)), id)
      }
      if case .exchanged(let grant, let uid) = event, let flow = flow(id), flow.stage.isEnd {
        came(late: grant, uid, flow)
      }
      try handle(event, id)
    } catch {
      services.log.error("an answer can't be kept yet", ["flow": id, "error": error.error.rawValue])
      guard error.isTransient || error.error == .internal else { return }
      EventLoop.shared.after(.seconds(2)) { [weak self] in self?.feed(id, event) }
    }
  }
}

extension FlowEvent {
  /// The first factor was accepted, and stands in `pending`.
  static func secondFactor(_ pending: Secret<String>, _ factors: [SecondFactor]) -> FlowEvent {
    .verification(.secondFactorRequired(PendingSecondFactor(credential: pending, factors: factors)))
  }

  /// Why a request failed.
  fileprivate var failure: AuthFailure? {
    switch self {
    case .mailFailed(let failure), .exchangeFailed(let failure), .codeCheckFailed(let failure),
      .lookUpFailed(let failure), .authorization(.failed(let failure)), .verification(.sendFailed(let failure)):
      failure
    case .started, .alreadySignedIn, .linkOpened, .emailProvided, .passwordProvided, .confirmed, .resendRequested,
      .cancelRequested, .mailSent, .exchanged, .codeChecked, .performed, .lookedUp, .authorization, .conflict,
      .verification, .reauthenticated, .overdue, .restored:
      nil
    }
  }
}

extension SessionKeeper {
  /// The context of a flow's calls: its tenant and language before the app's.
  func project(for flow: Flow) -> ProjectContext {
    var app = app
    app.tenantID = flow.tenantID ?? app.tenantID
    app.languageCode = flow.locale ?? app.languageCode
    return ProjectContext(app: app, backend: flow.key.backend)
  }
}
