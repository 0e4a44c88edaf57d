import LinkdContract
import DBus
import EventLoop

/// Something with a state that grows by sequence numbers: a session or a flow.
protocol Followed: Sendable, Equatable {
  /// Its interface, which has the properties.
  static var interface: String { get }
  /// The signal of a change; its last argument is the sequence.
  static var signal: String { get }
  /// What it means that the object isn't there.
  static var missing: LinkdError { get }
  /// From all properties; nil for what the contract doesn't have.
  init?(_ path: ObjectPath, properties: [String: DBusValue])
  /// What a signal says, completed by the properties read after it (`newest`, maybe of a later change), else by the
  /// value before.
  init?(_ signal: Signal, newest: Self?, previous: Self?)
  var sequence: UInt64 { get set }
  /// Nothing comes after it.
  var isLast: Bool { get }
  /// linkd itself has the next step: if it dies, it has to be started again.
  var isUnderWay: Bool { get }
}

extension Updates where Element: Followed {
  /// What linkd's object at `path` goes through.
  init(_ wire: Wire, _ path: ObjectPath) {
    self.init { feed in
      let task = Task.onLoop { await Follower<Element>.run(wire, path, feed) }
      feed.onTermination = { _ in task.cancel() }
    }
  }
}

/// Feeds one iterator: subscribes, then reads, then takes signals with a higher sequence (contract: Start order). When
/// linkd was replaced it reads again, since a change may have been committed without its signal.
@LoopActor
private final class Follower<Value: Followed> {
  private enum Event {
    case signal(Signal)
    /// linkd's name has an owner, or none any more.
    case owner(isThere: Bool)
  }

  private let wire: Wire
  private let path: ObjectPath
  private let feed: Updates<Value>.Feed
  private var last: Value?
  /// Signals up to this one are known. It starts anew with each life of linkd.
  private var seen: UInt64 = 0

  private init(_ wire: Wire, _ path: ObjectPath, _ feed: Updates<Value>.Feed) {
    (self.wire, self.path, self.feed) = (wire, path, feed)
  }

  static func run(_ wire: Wire, _ path: ObjectPath, _ feed: Updates<Value>.Feed) async {
    do throws(LinkdError) {
      try await Follower(wire, path, feed).run()
    } catch {
      if !Task.isCancelled { feed.yield(.failure(error)) }
    }
    feed.finish()
  }

  private func run() async throws(LinkdError) {
    let (events, sink) = AsyncStream.makeStream(of: Event.self)
    let ending = wire.atEnd { sink.finish() }
    defer { wire.forget(ending) }
    let subscription: Subscription
    let name: NameWatch
    do throws(DBusError) {
      subscription = try await wire.connection.subscribe(
        MatchRule(sender: Contract.busName, path: path, interface: Value.interface, member: Value.signal)
      ) { sink.yield(.signal($0)) }
    } catch { throw LinkdError(error) }
    defer { subscription.cancel() }
    do throws(DBusError) {
      name = try await wire.connection.watchName(Contract.busName) { sink.yield(.owner(isThere: $0 != nil)) }
    } catch { throw LinkdError(error) }
    defer { name.cancel() }
    try await readAndTell(start: true)
    if last?.isLast == true { return }
    for await event in events {
      try await take(event)
      if last?.isLast == true { return }
    }
    if !Task.isCancelled { throw LinkdError(.disconnected) }
  }

  private func take(_ event: Event) async throws(LinkdError) {
    switch event {
    case .owner(isThere: false):
      if last?.isUnderWay == true { try await readAndTell(start: true) }
    case .owner(isThere: true):
      seen = 0
      try await readAndTell(start: false)
    case .signal(let signal):
      guard let sequence = signal.arguments.last?.asUInt64, sequence > seen else { return }
      // Where it can't be read any more, the signal alone has to do.
      let newest = try? await read(start: false)
      seen = sequence
      if let value = Value(signal, newest: newest, previous: last) { tell(value) }
    }
  }

  /// - Parameter start: whether linkd is started for it. Where it isn't there otherwise, its next start is waited for.
  private func readAndTell(start: Bool) async throws(LinkdError) {
    do throws(DBusError) {
      let value = try await read(start: start)
      seen = value.sequence
      tell(value)
    } catch {
      switch LinkdError(error) {
      case _ where Self.meansMissing(error): throw Value.missing
      case .auth(let error, let message): throw .auth(error, message: message)
      case let other: if start { throw other }
      }
    }
  }

  private static func meansMissing(_ error: DBusError) -> Bool {
    [DBusError.Name.unknownObject, DBusError.Name.unknownInterface, DBusError.Name.unknownMethod].contains(error.name)
  }

  /// Asks once more where linkd was killed over the question.
  private func read(start: Bool) async throws(DBusError) -> Value {
    var attempts = 0
    while true {
      attempts += 1
      do throws(DBusError) {
        let properties = try await wire.properties(path, Value.interface, autoStart: start)
        guard let value = Value(path, properties: properties) else { throw .failed("linkd answered with a new word") }
        return value
      } catch {
        // The bus says NoReply for a callee that is gone; our own NoReply is for one that takes too long.
        guard start, attempts < 3, error.name == DBusError.Name.noReply, error != .noReply else { throw error }
      }
    }
  }

  /// A new number alone, as after linkd's start, is no news.
  private func tell(_ value: Value) {
    var before = last
    before?.sequence = value.sequence
    last = value
    if before != value { feed.yield(.success(value)) }
  }
}
