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

  /// Keeps in mind where the browser of `flow` may come back.
  func noteReturns(_ flow: Flow) {
    guard case .provider = flow.method else { return }
    waiting[flow.id] = nil
    guard flow.stage == .waitingForRedirect, let request = flow.authorization else { return }
    waiting[flow.id] = request.returnURIs.compactMap {
      PendingReturns.Waiting(app: flow.key.app, returnURI: $0)
    }
  }

  /// After a restart: the app's continue page on this machine is ours again, or the person has to paste its address.
  func holdContinuePage(_ flow: Flow) {
    guard flow.method == .emailLink, let app = keeper(flow.key)?.app, app.continueMode == .loopback else { return }
    _ = try? returns.listen(for: flow.id, at: app.loopbackPort)
  }
}
