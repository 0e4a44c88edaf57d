import AuthCore
import Callers
import DBus
import EventLoop

/// Who is at the other end of each call: asked of the bus once per connection, never of the caller.
@LoopActor
final class CallerDirectory {
  /// Connections that are remembered; asking again costs one call of the bus.
  private static let limit = 256
  private var known: [String: Caller] = [:]
  private var order: [String] = []
  private let connection: Connection
  private let log: Log

  init(connection: Connection, log: Log) {
    self.connection = connection
    self.log = log
  }

  /// The caller, where it's known already.
  func cached(_ uniqueName: String) -> Caller? { known[uniqueName] }

  /// Asks the bus for the caller's credentials.
  ///
  /// - Throws: `AccessDenied` where the caller can't be told: fail closed.
  func resolve(_ uniqueName: String) async throws(DBusError) -> Caller {
    let credentials = try await connection.getConnectionCredentials(of: uniqueName)
    switch Sandbox.identify(credentials) {
    case .ordinary: return remember(Caller(uniqueName: uniqueName, sandboxID: nil))
    case .sandboxed(let id): return remember(Caller(uniqueName: uniqueName, sandboxID: id))
    case .refused:
      log.warning("caller refused", ["name": uniqueName])
      throw .accessDenied("Your process can't be identified, so nothing is shown to it.")
    }
  }

  /// Unique names are never given twice, so an entry is right for as long as the bus lives; but each click is a new one.
  private func remember(_ caller: Caller) -> Caller {
    if order.count == Self.limit { known.removeValue(forKey: order.removeFirst()) }
    order.append(caller.uniqueName)
    known[caller.uniqueName] = caller
    return caller
  }
}
