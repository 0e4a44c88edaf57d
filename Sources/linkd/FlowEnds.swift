import AuthCore
import EventLoop
import LinkHandler

/// What the end of one flow means for others.
extension FlowCoordinator {
  /// Tells it, and lets go on, or gives up, what waited for it.
  func ended(_ flow: Flow) {
    onNews(flow)
    hideLater(flow.id)
    if flow.stage == .cancelled || flow.stage == .expired { returns.release(flow.id) }
    browsing.removeValue(forKey: flow.id)
    appleTokens.removeValue(forKey: flow.id)
    switch (flow.purpose, flow.stage) {
    case (.signIn, .succeeded):
      dropStrangers(flow)
      offerConflicts(flow.key)
      goOn(after: flow)
    // Who was to be linked, and switched.
    case (.link, .succeeded) where flow.protectedUID == nil:
      dropStrangers(flow)
      offerConflicts(flow.key)
    case (.reauthenticate, .succeeded): goOn(after: flow)
    case (.deleteUser, .succeeded) where !isOthersNow(flow): dropAll(of: flow.key, but: flow.id)
    default: break
    }
  }

  /// What was parked until the user has signed in again.
  private func goOn(after flow: Flow) {
    guard let uid = keeper(flow.key)?.machine.user?.uid else { return }
    for parked in parked(until: flow, by: uid) { feed(parked.id, .reauthenticated) }
  }

  /// What waits for `uid` to sign in again as `flow` does: by reauthentication, or, where the server has ended the session, in
  /// any way. A plain sign-in isn't meant for what somebody else may have left waiting.
  func parked(until flow: Flow, by uid: String) -> [Flow] {
    live.filter {
      $0.key == flow.key && $0.stage == .reauthenticationRequired && $0.protectedUID == uid
        && (flow.purpose == .reauthenticate || flow.purpose == .signIn && $0.error == .tokenRevoked)
    }
  }

  /// Somebody else is signed in now: what was parked for who was before is given up, or it would be done unasked one day.
  private func dropStrangers(_ flow: Flow) {
    guard let uid = keeper(flow.key)?.machine.user?.uid else { return }
    let strangers = live.filter {
      $0.key == flow.key && $0.stage == .reauthenticationRequired && $0.protectedUID.map { $0 != uid } ?? false
    }
    handleAll(.cancelRequested, strangers.map(\.id))
  }
}
