public import EventLoop

/// Interest in some signals, until ``cancel()`` or the end of the connection.
@LoopActor
public final class Subscription {
  /// What it is for.
  public let rule: MatchRule
  let handler: @LoopActor (Signal) -> Void
  /// Tells who owns the rule's sender when that is a well-known name.
  fileprivate var senderWatch: NameWatch?
  fileprivate var onEnd: (@LoopActor () -> Void)?
  fileprivate weak var owner: Subscriptions?
  fileprivate var isCancelled = false

  init(_ rule: MatchRule, _ owner: Subscriptions, _ handler: @escaping @LoopActor (Signal) -> Void) {
    self.rule = rule
    self.owner = owner
    self.handler = handler
  }

  /// The handler isn't called any more.
  public func cancel() {
    if isCancelled { return }
    isCancelled = true
    owner?.remove(self)
    senderWatch?.cancel()
  }
}

extension Connection {
  /// Calls `handler` for each matching signal. The bus has taken the rule when this returns, so what happens later
  /// isn't missed; the handler may be called even before.
  /// - Throws: InvalidArgs for an invalid rule; what the bus answers.
  public func subscribe(
    _ rule: MatchRule, _ handler: @escaping @LoopActor (Signal) -> Void
  ) async throws(DBusError) -> Subscription {
    let text = try rule.text()
    let subscription = Subscription(rule, subscriptions, handler)
    if let sender = rule.sender, sender != BusDriver.name, !sender.hasPrefix(":") {
      subscription.senderWatch = try await watchName(sender) { _ in }
    }
    subscriptions.insert(subscription)
    do throws(DBusError) {
      try await subscriptions.addMatch(text)
      return subscription
    } catch {
      subscription.cancel()
      throw error
    }
  }

  /// The matching signals as a stream, which ends with the connection. Ending the stream cancels the subscription.
  public func signals(_ rule: MatchRule) async throws(DBusError) -> AsyncStream<Signal> {
    let (stream, continuation) = AsyncStream.makeStream(of: Signal.self)
    let subscription = try await subscribe(rule) { continuation.yield($0) }
    subscription.onEnd = { continuation.finish() }
    if !isOpen { continuation.finish() }
    continuation.onTermination = { _ in EventLoop.shared.perform { subscription.cancel() } }
    return stream
  }
}

/// A connection's subscriptions, and the match rules the bus holds for them: equal rules are sent once.
@LoopActor
final class Subscriptions {
  private struct Match {
    var users = 0
    let added: Task<DBusError?, Never>
  }

  weak var connection: Connection?
  let names = NameWatches()
  private var byMember: [String?: [Subscription]] = [:]
  private var matches: [String: Match] = [:]

  nonisolated init() {}

  func insert(_ subscription: Subscription) { byMember[subscription.rule.member, default: []].append(subscription) }

  func remove(_ subscription: Subscription) {
    byMember[subscription.rule.member]?.removeAll { $0 === subscription }
    if let text = try? subscription.rule.text() { removeMatch(text) }
  }

  func deliver(_ signal: Signal) {
    if signal.sender == BusDriver.name, signal.member == "NameOwnerChanged" { names.deliver(signal) }
    for subscription in (byMember[signal.member] ?? []) + (byMember[nil] ?? [])
    where !subscription.isCancelled && subscription.rule.matches(signal, owner: subscription.senderWatch?.owner) {
      subscription.handler(signal)
    }
  }

  /// The connection is gone: nobody is called any more.
  func endAll() {
    let all = byMember.values.joined()
    byMember = [:]
    matches = [:]
    names.removeAll()
    for subscription in all { subscription.onEnd?() }
  }

  // MARK: Match rules

  /// Returns when the bus has the rule. Throws what it answers.
  func addMatch(_ text: String) async throws(DBusError) {
    guard let connection, connection.isOpen else { throw .disconnected }
    var match = matches[text] ?? Match(added: Task.onLoop { await connection.tryAddMatch(text) })
    match.users += 1
    matches[text] = match
    if let error = await match.added.value { throw error }
  }

  func removeMatch(_ text: String) {
    guard var match = matches[text] else { return }
    match.users -= 1
    matches[text] = match.users > 0 ? match : nil
    guard match.users == 0, let connection, connection.isOpen else { return }
    try? connection.send(
      destination: BusDriver.name, path: BusDriver.path, interface: BusDriver.interface, member: "RemoveMatch",
      arguments: [.string(text)])
  }
}

extension Connection {
  fileprivate func tryAddMatch(_ text: String) async -> DBusError? {
    do throws(DBusError) {
      _ = try await callBus("AddMatch", [.string(text)])
      return nil
    } catch {
      return error
    }
  }
}
