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
      case .sendMail, .exchange, .signUpAnonymously, .signIn, .signUp, .signInWithCustomToken:
        performSignIn(flow, action)
      case .prepareAuthorization, .openBrowser, .listen, .exchangeAuthorizationCode, .signInWithCredential:
        performAuthorization(flow, action)
      case .sendCode, .prepareVerificationPage, .startTOTPEnrollment, .verifyCode, .signInWithPhoneProof:
        performVerification(flow, action)
      case .checkCode, .applyCode, .resetPassword: performActionCode(flow, action)
      case .unlink, .updatePassword, .changeEmail, .unenrollFactor, .deleteUser: performChange(flow, action)
      case .accountChanged(let email, let previous): keeper(flow.key)?.accountChanged(email: email, previous: previous)
      case .lookUp(let grant, let delay): lookUp(flow, grant, delay: delay)
      case .fetchSignInMethods(let email): fetchSignInMethods(flow, email)
      case .resolveLater(let seconds):
        EventLoop.shared.after(.seconds(seconds)) { [weak self] in self?.feed(flow.id, .conflict(.timeOver)) }
      }
    }
  }

  // MARK: One request each

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
