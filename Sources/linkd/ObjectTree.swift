import AuthCore
import DBus
import EventLoop
import LinkdContract

/// What is on the bus: the root, the apps, the flows, and who may see them.
@LoopActor
final class ObjectTree {
  let connection: Connection
  let registry: AppRegistry
  let coordinator: FlowCoordinator
  let inbox: LinkInbox
  let services: Services
  /// Whether the name is ours. Until then nobody listens, and nothing is announced.
  var isServing = false

  init(
    connection: Connection, registry: AppRegistry, coordinator: FlowCoordinator, inbox: LinkInbox, services: Services
  ) {
    self.connection = connection
    self.registry = registry
    self.coordinator = coordinator
    self.inbox = inbox
    self.services = services
  }

  /// Puts everything on the bus and keeps it up to date from here on.
  func exportAll(_ rootInterfaces: [Interface]) {
    connection.export(
      ExportedObject(
        path: Paths.root, interfaces: rootInterfaces, isObjectManager: true, isVisible: { _ in true }))
    registry.onAppear = { [unowned self] keeper in export(keeper) }
    registry.onDisappear = { [unowned self] keeper in
      connection.unexport(path(of: keeper.key))
      services.broadcast.managerProperties(["Apps"])
    }
    coordinator.onAppear = { [unowned self] flow in export(flow) }
    coordinator.onDisappear = { [unowned self] flow in connection.unexport(Paths.flow(flow.id)) }
  }

  private func export(_ keeper: SessionKeeper) {
    let object = ExportedObject(
      path: path(of: keeper.key), isVisible: { [unowned self] caller in maySee(caller, keeper.app) },
      interfaces: { [unowned self] in
        [
          AppInterface(keeper: keeper, tree: self).table, SessionInterface(keeper: keeper, tree: self).table,
          SignInInterface(keeper: keeper, tree: self).table, AccountInterface(keeper: keeper, tree: self).table,
        ]
      })
    connection.export(object, announce: isServing)
    if isServing { services.broadcast.managerProperties(["Apps"]) }
  }

  /// There may be thousands: only their names are kept here.
  private func export(_ flow: Flow) {
    let (id, appID) = (flow.id, flow.key.app)
    let object = ExportedObject(
      path: Paths.flow(id),
      isVisible: { [unowned self] caller in
        guard let app = registry.apps[appID] else { return caller.sandboxID == nil }
        return maySee(caller, app)
      },
      interfaces: { [unowned self] in [FlowInterface(id: id, tree: self).table] })
    connection.export(object, announce: isServing)
  }

  /// The user's own processes see everything; a sandboxed caller sees the apps that list it (behaviour: Who may ask).
  func maySee(_ caller: Caller, _ app: App) -> Bool {
    guard let sandbox = caller.sandboxID else { return true }
    return app.allowedClients.contains(sandbox)
  }

  /// - Throws: `AccessDenied` for a sandboxed caller.
  func requireUnsandboxed(_ caller: Caller) throws(DBusError) {
    guard caller.sandboxID == nil else {
      throw AuthFailure(.accessDenied).reply(locale: nil)
    }
  }

  func path(of key: SessionKey) -> ObjectPath {
    Paths.app(key, isHome: registry.apps[key.app]?.backend == key.backend)
  }

  /// Runs an operation of sign-in; its failure becomes the error reply in the caller's language.
  func answer<T>(_ options: Options, _ keeper: SessionKeeper? = nil, _ body: () throws(AuthFailure) -> T)
    throws(DBusError) -> T
  {
    do throws(AuthFailure) {
      return try body()
    } catch {
      throw reply(error, options, keeper)
    }
  }

  /// The same, for an operation that waits for a server. It answers within 20 s (contract: rules), though several requests of
  /// 18 s each may be needed; what was asked for goes on.
  func answer<T: Sendable>(
    _ options: Options, _ keeper: SessionKeeper? = nil, _ body: @escaping @LoopActor () async throws(AuthFailure) -> T
  ) async throws(DBusError) -> T {
    let result: Result<T, AuthFailure> = await withCheckedContinuation { continuation in
      let first = First(continuation)
      let timer = EventLoop.shared.after(.milliseconds(19_500)) {
        first.resume(.failure(AuthFailure(.networkUnavailable, serverCode: "LATE")))
      }
      Task.immediateOnLoop {
        do throws(AuthFailure) { first.resume(.success(try await body())) } catch { first.resume(.failure(error)) }
        timer.cancel()
      }
    }
    do throws(AuthFailure) { return try result.get() } catch { throw reply(error, options, keeper) }
  }

  func reply(_ failure: AuthFailure, _ options: Options, _ keeper: SessionKeeper?) -> DBusError {
    if failure.error == .internal {
      services.log.error("internal", ["code": failure.serverCode ?? "-"])
    }
    return failure.reply(locale: locale(options, keeper))
  }

  /// The language of texts: the call's, else the app's, else the daemon's.
  func locale(_ options: Options, _ keeper: SessionKeeper?) -> String? {
    (try? options.string("locale")) ?? keeper?.app.languageCode
  }
}

/// Whoever comes first resumes.
@LoopActor
private final class First<T: Sendable> {
  private var continuation: CheckedContinuation<Result<T, AuthFailure>, Never>?

  init(_ continuation: CheckedContinuation<Result<T, AuthFailure>, Never>) { self.continuation = continuation }

  func resume(_ result: sending Result<T, AuthFailure>) {
    continuation?.resume(returning: result)
    continuation = nil
  }
}

/// What every interface of ours has.
enum Version {
  @LoopActor static let property = Property("Version", "u", emitsChanged: .const, get: { _ in .uint32(1) })
}
