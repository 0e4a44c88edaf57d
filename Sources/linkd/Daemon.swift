import AppConfiguration
import AuthCore
import Crypto
import DBus
import Desktop
import EventLoop
import Glibc
import IdentityToolkit
import Keyring
import LinkdContract
import SessionStore
import Texts

/// The wiring: every part made once, in the order of the contract's "Start order".
@LoopActor
final class Daemon {
  /// Why it couldn't start; `exitCode` as a service manager reads it.
  struct StartError: Error {
    let message: String
    let exitCode: Int32
  }

  private let environment: [String: String]
  private let log: Log
  private let level: LogSwitch
  private var connection: Connection?
  private var coordinator: FlowCoordinator?
  private var registry: AppRegistry?
  private var watcher: DirectoryWatch?
  private var stopping = false
  private var pageTimer: EventLoop.Timer?
  /// Whether a request is under way.
  private var isBusy: () -> Bool = { false }

  init(environment: [String: String]) {
    self.environment = environment
    level = LogSwitch(environment: environment)
    log = Log(level)
  }

  /// Starts the service. When this returns, the name is ours and everything is on the bus; nil if another daemon holds
  /// the state: that one serves.
  func start() async throws(StartError) -> Bool {
    let directories = Directories(environment: environment)
    guard let storage = try openStorage(directories) else { return false }
    let connection = try await connect()
    let services = services(connection, directories, storage)
    let registry = AppRegistry(directories: directories, services: services)
    let coordinator = FlowCoordinator(services: services)
    coordinator.keeper = { [unowned registry] key in registry.keep(key) }
    let inbox = LinkInbox(registry: registry, coordinator: coordinator, services: services)
    let tree = ObjectTree(
      connection: connection, registry: registry, coordinator: coordinator, inbox: inbox, services: services)
    services.broadcast.path = { [unowned tree] key in tree.path(of: key) }
    hear(services, registry, coordinator, inbox)
    identifyCallers(connection)
    notify(of: coordinator, connection, registry)
    export(tree, on: connection, storage)
    // Before the files are read: a change between the two would be missed.
    watch(directories, registry)
    registry.reload()
    restore(coordinator, registry, services)
    try await takeName(connection)
    tree.isServing = true
    self.connection = connection
    self.coordinator = coordinator
    self.registry = registry
    isBusy = { services.toolkit.isBusy }
    coordinator.resume()
    // The call that started us is here already: what nobody waits for comes while the bus says who calls.
    EventLoop.shared.after(.zero) { for keeper in registry.keepers.values { keeper.announce() } }
    watchIdle(registry, isImpaired: !storage.isUsable)
    log.info("ready", ["version": Release.version, "apps": registry.apps.count])
    return true
  }

  // MARK: Start, in order

  private func services(_ connection: Connection, _ directories: Directories, _ storage: Storage) -> Services {
    let http = HTTPClient()
    return Services(
      log: log, storage: storage, toolkit: IdentityToolkit(http: http), openID: OpenIDClient(http: http),
      browser: Browser(connection: connection), broadcast: Broadcast(connection),
      links: MailedLinks(storeKey: storage.key, fault: storage.fault),
      handler: SchemeRegistration(directories: directories, linkctl: linkctlPath))
  }

  /// Nil where another daemon holds the state.
  private func openStorage(_ directories: Directories) throws(StartError) -> Storage? {
    do throws(StoreError) {
      guard let lock = try StateLock.acquire(folder: directories.state) else {
        log.info("another daemon holds the state")
        return nil
      }
      // The Secret Service isn't asked by this version.
      return Storage(holding: lock, kind: .file, log: log)
    } catch {
      let reason = AuthFailure(error).message(locale: nil)
      throw StartError(message: "The state folder \(directories.state) can't be used: \(reason)", exitCode: 1)
    }
  }

  private func connect() async throws(StartError) -> Connection {
    do {
      let connection = try await Connection.open(.session)
      connection.onDisconnect = { [weak self] in self?.busLost() }
      return connection
    } catch {
      throw StartError(message: "There is no session bus: \(error.message)", exitCode: 69)
    }
  }

  private func identifyCallers(_ connection: Connection) {
    let directory = CallerDirectory(connection: connection, log: log)
    connection.callerIdentity = CallerIdentity(
      cached: { [weak self] name in
        self?.dropPagesWhenQuiet()
        return directory.cached(name)
      },
      resolve: { name async throws(DBusError) in try await directory.resolve(name) })
  }

  private func restore(_ coordinator: FlowCoordinator, _ registry: AppRegistry, _ services: Services) {
    let now = services.now
    // What can't be pruned, on a full or damaged disk, does no harm.
    try? services.stored { store throws(StoreError) in try store.prune(now: now) }
    let found = try? services.stored { store throws(StoreError) in try store.loadLiveFlows() }
    for id in found?.unreadable ?? [] { log.error("a flow can't be read", ["flow": id]) }
    let flows = found?.flows ?? []
    for key in registry.storedKeys + flows.map(\.key) { _ = registry.keep(key) }
    coordinator.restore(flows.filter { registry.keepers[$0.key] != nil })
    // Whoever follows a flow may have been left without its end.
    let ended = try? services.stored { store throws(StoreError) in try store.flows(endedSince: now - 60) }
    coordinator.showAgain((ended ?? []).filter { registry.keepers[$0.key] != nil })
    guard let found, found.isIncomplete || found.unnamed > 0 || !found.unreadable.isEmpty else { return }
    log.error("the store is damaged", ["unreadable": found.unreadable.count + found.unnamed])
    for keeper in registry.keepers.values where keeper.machine.health == .ok {
      keeper.unavailable(.attentionNeeded, .storageUnreadable)
    }
  }

  private func takeName(_ connection: Connection) async throws(StartError) {
    let reply: RequestNameReply
    do {
      reply = try await connection.requestName(Contract.busName, .doNotQueue)
    } catch {
      throw StartError(message: "The bus refused the name: \(error)", exitCode: 69)
    }
    guard reply == .primaryOwner || reply == .alreadyOwner else {
      throw StartError(message: "\(Contract.busName) belongs to another program.", exitCode: 1)
    }
  }

  /// What comes in from elsewhere than the bus: servers' clocks, browsers.
  private func hear(
    _ services: Services, _ registry: AppRegistry, _ coordinator: FlowCoordinator, _ inbox: LinkInbox
  ) {
    services.toolkit.onServerDate = { [unowned registry] backend, server, local in
      for keeper in registry.keepers.values where keeper.key.backend == backend {
        keeper.observe(serverTime: server, localTime: local)
      }
    }
    let pages = ReturnPages(
      inbox: inbox, coordinator: coordinator, apps: { [unowned registry] in registry.apps[$0] }, log: log)
    coordinator.returns.respond = pages.respond
  }

  private func export(_ tree: ObjectTree, on connection: Connection, _ storage: Storage) {
    tree.exportAll([
      LinksInterface(tree: tree).table,
      ManagerInterface(tree: tree, keyStore: storage.kind.rawValue).table,
      ApplicationInterface(tree: tree).table,
    ])
    connection.export(
      ExportedObject(path: Paths.logControl, interfaces: [LogControlInterface(log: level).table]))
  }

  // MARK: While running

  private func notify(of coordinator: FlowCoordinator, _ connection: Connection, _ registry: AppRegistry) {
    let notifier = Notifier(connection: connection)
    coordinator.onNews = { flow in
      guard
        let text = FlowNotice.text(flow, user: registry.keepers[flow.key]?.machine.user, registry.apps[flow.key.app])
      else { return }
      notifier.show(text)
    }
  }

  private func watch(_ directories: Directories, _ registry: AppRegistry) {
    watcher = DirectoryWatch(directories.appDirectories) { [weak registry] in registry?.reload() }
    if watcher == nil { log.warning("changes of app files won't be noticed") }
  }

  /// A daemon without a key or a store that can be written leaves soon: what was missing may be there for the next one, which a
  /// call starts.
  private func watchIdle(_ registry: AppRegistry, isImpaired: Bool) {
    dropPagesWhenQuiet()
    var limit = environment["LINKD_IDLE_EXIT"].flatMap { Int64($0) } ?? registry.daemon.idleExit ?? 300
    if isImpaired { limit = limit > 0 ? min(limit, 2) : 2 }
    guard limit > 0 else { return }
    scheduleIdleCheck(after: limit, limit: limit)
  }

  /// Gives clean pages back a moment after the last call, not before its answer, which needs them. A daemon without work
  /// has no timer for it.
  private func dropPagesWhenQuiet() {
    guard pageTimer == nil else { return }
    pageTimer = EventLoop.shared.after(.seconds(2)) { [weak self] in
      guard let self, let connection else { return }
      pageTimer = nil
      let isQuiet = BootClock.nanoseconds - connection.lastCallTime >= 1_900_000_000
      guard isQuiet, connection.callsInFlight == 0, !isBusy() else { return dropPagesWhenQuiet() }
      EventLoop.dropCleanPages()
    }
  }

  private func scheduleIdleCheck(after seconds: Int64, limit: Int64) {
    EventLoop.shared.after(.seconds(max(1, seconds))) { [weak self] in
      guard let self, let connection, let coordinator else { return }
      let idle = Int64((BootClock.nanoseconds - connection.lastCallTime) / 1_000_000_000)
      if idle < limit || connection.callsInFlight > 0 || coordinator.isBusy {
        scheduleIdleCheck(after: idle < limit ? limit - idle : limit, limit: limit)
      } else {
        log.info("idle")
        stop()
      }
    }
  }

  /// Gives the name back, answers what has come in until then, and ends (contract: Start order).
  func stop() {
    guard !stopping else { return }
    stopping = true
    Task.onLoop { await self.finish() }
  }

  private func finish() async {
    if let connection {
      _ = try? await connection.releaseName(Contract.busName)
      // A request may hang for long: the next daemon is waiting for the lock, and gives up after two seconds.
      let end = BootClock.nanoseconds + 1_000_000_000
      while connection.callsInFlight > 0 && connection.isOpen || coordinator?.returns.isBusy == true,
        BootClock.nanoseconds < end
      {
        try? await EventLoop.shared.sleep(for: .milliseconds(5))
      }
      await connection.flush()
      connection.close()
    }
    EventLoop.shared.stop()
  }

  private func busLost() {
    log.warning("the session bus is gone")
    EventLoop.shared.stop()
  }

  /// `linkctl` as it's installed beside this program.
  private var linkctlPath: String {
    if let path = environment["LINKD_LINKCTL"] { return path }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard count > 0 else { return "linkctl" }
    let path = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    let beside = "\(folder)/linkctl"
    if access(beside, X_OK) == 0 { return beside }
    // Installed: PREFIX/libexec/linkd/linkd and PREFIX/bin/linkctl.
    let prefix = folder.split(separator: "/").dropLast(2).joined(separator: "/")
    return "/\(prefix)/bin/linkctl"
  }
}
