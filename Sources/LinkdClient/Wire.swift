import LinkdContract
import DBus
import EventLoop

/// The connection that all proxies of one ``LinkdService`` share. It is closed with the last of them.
@LoopActor
final class Wire {
  let connection: Connection
  /// Language of messages for people, BCP 47; nil leaves it to linkd.
  nonisolated let language: String?
  private var endings: [UInt64: @LoopActor () -> Void] = [:]
  private var lastEnding: UInt64 = 0

  private init(_ connection: Connection, language: String?) {
    self.connection = connection
    self.language = language
    connection.onDisconnect = { [weak self] in self?.end() }
  }

  deinit {
    let connection = connection
    EventLoop.shared.perform { connection.close() }
  }

  nonisolated static func open(_ address: Address, language: String?) async throws(LinkdError) -> Wire {
    // A program that turns the loop itself calls from the loop.
    if !EventLoop.shared.isCurrent { EventLoop.shared.runInBackground() }
    return try await make(address, language: language)
  }

  private static func make(_ address: Address, language: String?) async throws(LinkdError) -> Wire {
    do throws(DBusError) {
      return Wire(try await Connection.open(address), language: language)
    } catch {
      throw LinkdError(error)
    }
  }

  /// Closes the connection and ends everything that follows something.
  func close() {
    connection.close()
    end()
  }

  // MARK: Calls

  /// A call to linkd, which the bus starts where it isn't running. `options` is what ends the arguments.
  func call(
    _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [DBusValue] = [],
    options: [String: DBusValue]
  ) async throws(LinkdError) -> [DBusValue] {
    var options = options
    options["locale"] = language.map(DBusValue.string)
    do throws(DBusError) {
      return try await connection.call(
        destination: Contract.busName, path: path, interface: interface, member: member,
        arguments: arguments + [.dict(options)])
    } catch {
      throw LinkdError(error)
    }
  }

  /// All properties of one interface of an object.
  /// - Parameter autoStart: whether linkd is started for it.
  func properties(
    _ path: ObjectPath, _ interface: String, autoStart: Bool = true
  ) async throws(DBusError) -> [String: DBusValue] {
    let reply = try await connection.call(
      destination: Contract.busName, path: path, interface: "org.freedesktop.DBus.Properties", member: "GetAll",
      arguments: [.string(interface)], autoStart: autoStart)
    return reply.first?.asDict ?? [:]
  }

  // MARK: The end of the bus

  /// Calls `body` when the connection ends; gives what ``forget(_:)`` takes.
  func atEnd(_ body: @escaping @LoopActor () -> Void) -> UInt64 {
    lastEnding += 1
    if connection.isOpen { endings[lastEnding] = body } else { body() }
    return lastEnding
  }

  func forget(_ ending: UInt64) { endings[ending] = nil }

  private func end() {
    let all = endings.values
    endings = [:]
    for ending in all { ending() }
  }
}
