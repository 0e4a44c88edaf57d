import AuthCore
import DBus
import EventLoop
import LinkHandler

/// Where the browsers of flows come back, and whose flows they are.
extension FlowCoordinator {
  /// The redirects that live flows wait for.
  var pendingReturns: PendingReturns { PendingReturns(waiting.values.flatMap { $0 }) }

  /// Whether `caller` may have what is a flow's starter's alone; after a restart, any process of the user may.
  func isStarter(_ caller: Caller, of id: FlowID) -> Bool {
    if let starter = starters[id] { return starter == caller.uniqueName }
    return caller.sandboxID == nil
  }

  func forgetStarter(_ id: FlowID) { starters.removeValue(forKey: id) }

  /// Keeps in mind where the browser of `flow` may come back, also after it has, as long as the flow is shown: what comes twice
  /// gets the first one's outcome (field report B057).
  func noteReturns(_ flow: Flow) {
    guard case .provider = flow.method else { return }
    if let request = flow.authorization {
      waiting[flow.id] = request.returnURIs.compactMap {
        PendingReturns.Waiting(app: flow.key.app, returnURI: $0)
      }
    } else if flow.stage == .cancelled || flow.stage == .expired {
      waiting[flow.id] = nil
    }
  }

  /// The flow isn't shown any more, and nobody waits for its browser.
  func forgetReturns(_ id: FlowID) {
    waiting[id] = nil
    returns.release(id)
  }

  /// After a restart: the app's continue page on this machine is ours again, or the person has to paste its address.
  func holdContinuePage(_ flow: Flow) {
    guard flow.method == .emailLink, let app = keeper(flow.key)?.app, app.continueMode == .loopback else { return }
    _ = try? returns.listen(for: flow.id, at: app.loopbackPort)
  }
}
