import CDBus
import EventLoop

extension Connection {
  /// Calls a method and waits for the reply.
  /// - Parameters:
  ///   - timeout: NoReply after that long; nil waits for as long as the other side is there.
  ///   - autoStart: whether the bus may start a service for the name.
  /// - Returns: the reply's arguments.
  /// - Throws: the error reply; InvalidArgs for what can't be sent; Disconnected; ``DBusError/cancelled`` when the
  ///   task is cancelled, after which the reply is ignored.
  public func call(
    destination: String, path: ObjectPath, interface: String, member: String, arguments: [DBusValue] = [],
    timeout: Duration? = .seconds(25), autoStart: Bool = true
  ) async throws(DBusError) -> [DBusValue] {
    if Task.isCancelled { throw .cancelled }
    // The bus answers for itself, and a unique name for nobody else: a forged reply doesn't count. Who answers for
    // a well-known name can't be known.
    let replier = destination == BusDriver.name || destination.hasPrefix(":") ? destination : nil
    let sent = SentCall()
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Sent and noted in one stretch. On the way into this closure a task that isn't the loop's own waits for its
        // turn, and in a busy loop the reply to a call sent before would have come and gone.
        do throws(DBusError) {
          let serial = try sendCall(
            destination: destination, path: path, interface: interface, member: member, arguments: arguments,
            autoStart: autoStart)
          sent.serial = serial
          pending.add(serial, from: replier, timeout: timeout, continuation)
        } catch {
          continuation.resume(returning: .failed(error))
        }
      }
    } onCancel: {
      EventLoop.shared.perform {
        if let serial = sent.serial { self.pending.finish(serial, .failed(.cancelled)) }
      }
    }
    switch outcome {
    case .results(let values): return values
    case .failed(let error): throw error
    }
  }

  private func sendCall(
    destination: String, path: ObjectPath, interface: String, member: String, arguments: [DBusValue], autoStart: Bool
  ) throws(DBusError) -> UInt32 {
    let message = try Message.call(
      member, interface: interface, path: path, destination: destination, arguments: arguments)
    if !autoStart { message.setAutoStart(false) }
    return try send(message)
  }

  /// Calls a method and asks for no reply. Throws what is known on this side.
  public func send(
    destination: String, path: ObjectPath, interface: String, member: String, arguments: [DBusValue] = [],
    autoStart: Bool = true
  ) throws(DBusError) {
    let message = try Message.call(
      member, interface: interface, path: path, destination: destination, arguments: arguments)
    message.setNoReply()
    if !autoStart { message.setAutoStart(false) }
    try send(message)
  }

  /// Emits a signal: to everyone who subscribed, or to `destination` alone. If an object with that interface is
  /// exported at `path`, its table has to declare the signal, with these types; else InvalidArgs.
  public func emit(
    path: ObjectPath, interface: String, member: String, arguments: [DBusValue] = [], destination: String? = nil
  ) throws(DBusError) {
    try objects.checkSignal(path: path, interface: interface, member: member, arguments: arguments)
    try send(
      Message.signal(member, interface: interface, path: path, destination: destination, arguments: arguments))
  }

  /// A call of the bus itself.
  func callBus(_ member: String, _ arguments: [DBusValue] = []) async throws(DBusError) -> [DBusValue] {
    try await call(
      destination: BusDriver.name, path: BusDriver.path, interface: BusDriver.interface, member: member,
      arguments: arguments)
  }
}

/// What the cancellation of a call has to know.
@LoopActor
private final class SentCall {
  /// Nil until it was sent.
  var serial: UInt32?
}

/// Calls that wait for their replies, by serial.
@LoopActor
final class PendingCalls {
  /// Not a `Result`, and below not a dictionary: at its first use Swift looks a generic type's requirements up among all
  /// conformances of the program, some 60 µs each, in every start (design 4).
  enum Outcome: Sendable {
    case results([DBusValue])
    case failed(DBusError)
  }

  private struct Call {
    let serial: UInt32
    let continuation: CheckedContinuation<Outcome, Never>
    let replier: String?
    let timer: EventLoop.Timer?
  }

  /// In the order they were sent, which is mostly that of the replies.
  private var calls: [Call] = []

  nonisolated init() {}

  func add(
    _ serial: UInt32, from replier: String?, timeout: Duration?, _ continuation: CheckedContinuation<Outcome, Never>
  ) {
    // Cancelled before there was anything to cancel.
    if Task.isCancelled { return continuation.resume(returning: .failed(.cancelled)) }
    let timer = timeout.map { EventLoop.shared.after($0) { self.finish(serial, .failed(.noReply)) } }
    calls.append(Call(serial: serial, continuation: continuation, replier: replier, timer: timer))
  }

  func complete(_ reply: borrowing Message) {
    let serial = reply.replySerial
    guard let call = calls.first(where: { $0.serial == serial }) else { return }
    // An error may come from the bus instead: nobody has the name, or the one who had it is gone.
    if let replier = call.replier, let sender = reply.sender, sender != replier, sender != BusDriver.name { return }
    let outcome: Outcome
    do throws(DBusError) { outcome = .results(try reply.result()) } catch { outcome = .failed(error) }
    finish(serial, outcome)
  }

  func failAll(_ error: DBusError) {
    for call in calls { finish(call.serial, .failed(error)) }
  }

  /// Harmless for a call that has its outcome.
  func finish(_ serial: UInt32, _ outcome: Outcome) {
    guard let index = calls.firstIndex(where: { $0.serial == serial }) else { return }
    let call = calls.remove(at: index)
    call.timer?.cancel()
    call.continuation.resume(returning: outcome)
  }
}
