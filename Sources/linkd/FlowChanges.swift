import AuthCore
import EventLoop
import IdentityToolkit
import LinkHandler

/// What is done to an account: by who is signed in, or by a code that was mailed.
extension FlowCoordinator {
  func performChange(_ flow: Flow, _ action: FlowAction) {
    switch action {
    case .unlink(let provider):
      change(flow) { keeper, token, project async throws(AuthFailure) in
        try await keeper.toolkit.unlink(providerID: provider, idToken: token, project: project)
      }
    case .updatePassword(let password):
      change(flow) { keeper, token, project async throws(AuthFailure) in
        try await keeper.toolkit.updatePassword(password, idToken: token, project: project)
      }
    case .changeEmail(let email): changeEmail(flow, email)
    case .unenrollFactor(let uid):
      ask(flow) { keeper, project async throws(AuthFailure) in
        try await keeper.unenroll(uid, flow.protectedUID, project) { self.isExchanging(flow) }
      }
    case .deleteUser: deleteUser(flow)
    default: break
    }
  }

  private func deleteUser(_ flow: Flow) {
    ask(flow) { keeper, project async throws(AuthFailure) in
      try await keeper.deleteUser(flow, project) { self.isExchanging(flow) }
      // Given up too late: the account is gone, which its session learns by asking.
      if !self.isExchanging(flow) { _ = try? await keeper.reload() }
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

  // MARK: Codes that were mailed

  func performActionCode(_ flow: Flow, _ action: FlowAction) {
    switch action {
    case .checkCode(let code): checkCode(flow, code)
    case .applyCode(let code):
      ask(flow) { keeper, project async throws(AuthFailure) in
        try await keeper.toolkit.applyActionCode(code, project: project)
      }
    case .resetPassword(let code, let password):
      ask(flow) { keeper, project async throws(AuthFailure) in
        try await keeper.toolkit.confirmPasswordReset(code, newPassword: password, project: project)
      }
    default: break
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
}
