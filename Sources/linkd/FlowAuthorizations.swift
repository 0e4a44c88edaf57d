import AppConfiguration
import AuthCore
import Desktop
import EventLoop
import IdentityToolkit
import LinkHandler

/// What the machines ask of providers, and of the desktop for them (behaviour: OAuth and OpenID Connect).
extension FlowCoordinator {
  /// Tries to get a provider's keys, once its tokens are here: the code behind them is spent.
  private static let keyTries = 6

  func performAuthorization(_ flow: Flow, _ action: FlowAction) {
    switch action {
    case .prepareAuthorization(let delay): prepareAuthorization(flow, delay: delay)
    case .openBrowser: openBrowser(flow)
    case .listen: listen(flow)
    case .exchangeAuthorizationCode(let code, let delay): exchangeAuthorizationCode(flow, code, delay: delay)
    case .signInWithCredential(let credential, let delay): signInWithCredential(flow, credential, delay: delay)
    default: break
    }
  }

  private func prepareAuthorization(_ flow: Flow, delay: Int64) {
    later(flow, delay, at: .starting) { keeper in
      // Given up meanwhile: nobody comes back to the listener.
      defer { if self.flow(flow.id)?.stage.isEnd != false { self.returns.release(flow.id) } }
      do throws(AuthFailure) {
        return .authorization(.ready(try await self.authorizations.request(for: flow, keeper.app)))
      } catch {
        return .authorization(.failed(error))
      }
    }
  }

  /// For whoever asked for it.
  private func openBrowser(_ flow: Flow) {
    guard flow.opensBrowser, let page = flow.page?.url else { return }
    // What a window or a token was for is gone with the daemon that was asked.
    let wish = browsing.removeValue(forKey: flow.id) ?? BrowserWish()
    let url = (try? returns.startPage(for: flow.id)) ?? page
    request(flow) { _ in
      switch await self.services.browser.open(
        url, parentWindow: wish.parentWindow, activationToken: wish.activationToken)
      {
      case .opened: return nil
      case .refused: return .authorization(.browserRefused)
      case .unavailable: return .authorization(.browserMissing)
      }
    }
  }

  /// After a restart: the same port as before, or the person has to paste the address.
  private func listen(_ flow: Flow) {
    guard let port = flow.authorization?.loopbackPort else { return }
    do throws(AuthFailure) {
      _ = try returns.listen(for: flow.id, at: port)
    } catch {
      EventLoop.shared.after(.zero) { self.feed(flow.id, .authorization(.listenerMissing)) }
    }
  }

  private func exchangeAuthorizationCode(_ flow: Flow, _ code: Secret<String>, delay: Int64) {
    later(flow, delay, at: .exchanging) { keeper in
      do throws(AuthFailure) {
        return .authorization(.credentialReceived(try await self.credential(flow, code, keeper)))
      } catch {
        return .exchangeFailed(error)
      }
    }
  }

  /// The provider's tokens, checked. They go to nobody but the server of the accounts.
  private func credential(
    _ flow: Flow, _ code: Secret<String>, _ keeper: SessionKeeper
  ) async throws(AuthFailure) -> OAuthCredential {
    let id = flow.method.description
    guard let client = flow.authorization?.client, let provider = Providers.find(id, in: keeper.app),
      provider.client.isClient(of: client)
    else { throw AuthFailure(.noSuchProvider) }
    PausePoint.exchangeSent.reached()
    let tokens = try await services.openID.exchange(
      code: code, authorization: client, secret: provider.client.clientSecret, providerID: id)
    PausePoint.exchangeAnswered.reached()
    var credential = OAuthCredential(providerID: id)
    credential.accessToken = tokens.accessToken
    if client.metadata.issuer != nil {
      guard let idToken = tokens.idToken else {
        throw AuthFailure(.invalidProviderResponse, serverCode: "NO_ID_TOKEN")
      }
      // The provider's own clock: this machine's may be wrong (field report B114).
      try await check(idToken, client, now: tokens.date ?? keeper.serverNow)
      credential.idToken = idToken
      credential.rawNonce = client.rawNonce
    }
    guard !credential.isEmpty else { throw AuthFailure(.invalidProviderResponse, serverCode: "NO_TOKEN") }
    return credential
  }

  private func check(
    _ idToken: Secret<String>, _ client: PendingAuthorization.Client, now: Int64
  ) async throws(AuthFailure) {
    for attempt in 1... {
      do throws(AuthFailure) {
        _ = try await services.openID.verify(idToken: idToken, authorization: client, now: now)
        return
      } catch {
        guard error.isTransient, attempt < Self.keyTries else { throw error }
        try? await EventLoop.shared.sleep(for: .seconds(error.retryAfter ?? Int64(1 << attempt)))
      }
    }
  }

  private func signInWithCredential(_ flow: Flow, _ credential: OAuthCredential, delay: Int64) {
    later(flow, delay, at: .exchanging) { keeper in
      guard !self.isOthersNow(flow) else { return .exchangeFailed(AuthFailure(.userMismatch)) }
      do throws(AuthFailure) {
        let answer = try await self.withLinkingToken(flow) { idToken async throws(AuthFailure) in
          try await self.services.toolkit.signInWithIdp(
            credential, idToken: idToken, createsAccount: flow.purpose != .reauthenticate,
            project: keeper.project(for: flow))
        }
        switch answer {
        case .grant(let grant, let uid, let given):
          self.noteAppleToken(flow, given, credential)
          return .exchanged(grant, uid: uid)
        case .secondFactorRequired(let pending, let factors, let given):
          self.noteAppleToken(flow, given, credential)
          return .secondFactor(pending, factors)
        case .conflict(let conflict): return .conflict(.found(conflict))
        }
      } catch {
        return .exchangeFailed(error)
      }
    }
  }

  /// A request after `delay` seconds, if the flow still stands at `stage` then.
  func later(
    _ flow: Flow, _ delay: Int64, at stage: FlowStage, _ body: @escaping @LoopActor (SessionKeeper) async -> FlowEvent
  ) {
    request(flow) { keeper in
      if delay > 0 { try? await EventLoop.shared.sleep(for: .seconds(delay)) }
      guard self.flow(flow.id)?.stage == stage else { return nil }
      return await body(keeper)
    }
  }

  /// For the apps that want it. Whatever goes wrong, there is nothing to offer.
  func fetchSignInMethods(_ flow: Flow, _ email: String) {
    guard keeper(flow.key)?.app.options.legacyRecovery == true else { return }
    request(flow) { keeper in
      let methods = try? await self.services.toolkit.fetchSignInMethods(
        email: email, project: keeper.project(for: flow))
      return methods.map { .conflict(.methodsFound($0)) }
    }
  }

  /// Somebody has signed in: a credential that waits for them is linked.
  func offerConflicts(_ key: SessionKey) {
    guard let user = keeper(key)?.machine.user, !user.isAnonymous else { return }
    for flow in live where flow.key == key && flow.stage == .conflict { feed(flow.id, .conflict(.signedIn(user))) }
  }
}

extension ProviderClient {
  /// Whether it's the client that asked: the app's file may name another by now, whose secret is none of the old one's provider's.
  fileprivate func isClient(of request: PendingAuthorization.Client) -> Bool {
    guard clientID == request.clientID else { return false }
    switch kind {
    case .handler: return false
    case .openID(let issuer):
      return request.metadata.issuer == issuer || request.metadata.issuer?.contains("{tenantid}") == true
    case .oauth2(_, let tokenEndpoint): return request.metadata.tokenEndpoint == tokenEndpoint
    }
  }
}

/// How a caller wants a browser to be opened.
struct BrowserWish {
  var parentWindow: String?
  var activationToken: String?
}
