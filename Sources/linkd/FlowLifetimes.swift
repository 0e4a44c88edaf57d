import AuthCore
import EventLoop
import LinkHandler
import SessionStore

/// When flows end, and when they leave the bus.
extension FlowCoordinator {
  /// A finished flow stays readable for a while; one that can begin anew, for as long after it may.
  func hideLater(_ id: FlowID) {
    hiding.removeValue(forKey: id)?.cancel()
    let wait = flow(id).flatMap { $0.canRetry ? $0.canResendAt : nil }.map { max(0, $0 - services.now) } ?? 0
    let delay = Self.readableAfterEnd + .seconds(min(wait, codeResendInterval))
    hiding[id] = EventLoop.shared.after(delay) { [weak self] in self?.hide(id) }
  }

  private func hide(_ id: FlowID) {
    hiding.removeValue(forKey: id)?.cancel()
    guard let flow = flows[id]?.flow, flow.stage.isEnd else { return }
    flows.removeValue(forKey: id)
    forgetStarter(id)
    forgetReturns(id)
    onDisappear(flow)
  }

  /// Flows that have ended a moment ago are still to be seen, after a restart too.
  func showAgain(_ ended: [Flow]) {
    for flow in ended where flows[flow.id] == nil {
      guard let machine = FlowMachine(flow) else { continue }
      flows[flow.id] = machine
      onAppear(flow)
      hideLater(flow.id)
    }
  }

  /// Puts a finished flow back on the bus for a while: its link was opened again.
  func show(_ id: FlowID) throws(AuthFailure) {
    if flows[id] == nil {
      let stored = try services.stored { store throws(StoreError) in try store.flow(id) }
      guard let stored, let machine = FlowMachine(stored) else { throw AuthFailure(.noSuchFlow) }
      flows[id] = machine
      onAppear(stored)
      hideLater(id)
    } else if flows[id]?.flow.stage.isEnd == true {
      hideLater(id)
    }
  }

  /// One timer for all, set for the flow that ends first. One whose end couldn't be saved is tried again in a minute.
  func watchExpiry() {
    var first = Int64.max
    for machine in flows.values where !machine.flow.stage.isEnd { first = min(first, machine.flow.expiresAt) }
    if first < .max { watchExpiry(first > services.now ? first : services.now + 60) }
  }

  /// `flow` is new, or lives shorter or longer than before.
  func watchExpiry(_ flow: Flow) {
    guard !flow.stage.isEnd else { return }
    hiding.removeValue(forKey: flow.id)?.cancel()
    if flow.expiresAt < expiry.moment { watchExpiry(flow.expiresAt) }
  }

  private func watchExpiry(_ moment: Int64) {
    expiry.timer?.cancel()
    expiry.moment = moment
    expiry.timer = EventLoop.shared.after(.seconds(max(1, moment - services.now))) { [weak self] in
      guard let self else { return }
      expiry.moment = .max
      let now = services.now
      handleAll(.overdue, live.filter { $0.expiresAt <= now }.map(\.id))
      watchExpiry()
    }
  }
}
