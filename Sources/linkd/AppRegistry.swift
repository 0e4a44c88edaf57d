import AppConfiguration
import AuthCore
import EventLoop
import LinkHandler
import SessionStore

/// The configured apps, their sessions, and the parser that knows them.
@LoopActor
final class AppRegistry {
  private(set) var apps: [AppID: App] = [:]
  private(set) var damaged: [AppDirectory.Damage] = []
  /// What people should know of apps' files.
  private(set) var warnings: [AppID: [String]] = [:]
  /// What was said of the console's file that an app was made of, and the app's own file doesn't show.
  private var originWarnings: [AppID: [String]] = [:]
  private(set) var keepers: [SessionKey: SessionKeeper] = [:]
  private(set) var parser = LinkParser(apps: [])
  private(set) var daemon = DaemonConfiguration()
  var onAppear: (SessionKeeper) -> Void = { _ in }
  var onDisappear: (SessionKeeper) -> Void = { _ in }
  private let directories: Directories
  private let services: Services

  init(directories: Directories, services: Services) {
    self.directories = directories
    self.services = services
  }

  /// The app that a call without an app means: the configured one, else the only one.
  var defaultApp: AppID? {
    if let id = daemon.defaultApp, apps[id] != nil { return id }
    return apps.count == 1 ? apps.keys.first : nil
  }

  /// Reads the files anew. Apps that are gone leave the bus; their sessions stay in the store until `app remove`.
  func reload() {
    daemon = DaemonConfiguration.load(directories)
    let found = AppDirectory.load(directories)
    damaged = found.damaged
    for damage in damaged { services.log.warning("app file is damaged", ["file": damage.file]) }
    note(found.files)
    let named = Dictionary(found.apps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    // Objects leave by the paths that they have had until now.
    var moved: [SessionKeeper] = []
    for keeper in keepers.values where leave(keeper, for: named[keeper.key.app]) { moved.append(keeper) }
    apps = named
    for (key, keeper) in keepers {
      if let app = apps[key.app] { keeper.app = keeper.overrides.applied(to: variant(of: app, key.backend)) }
    }
    for keeper in moved { onAppear(keeper) }
    for app in apps.values { _ = makeKeeper(SessionKey(app: app.id, backend: app.backend)) }
    rebuildParser()
  }

  /// A change is logged once.
  private func note(_ files: [AppDirectory.Entry]) {
    let before = warnings
    warnings = [:]
    for file in files {
      let id = file.content.app.id
      warnings[id] = (originWarnings[id] ?? []) + file.content.warnings
      guard warnings[id] != before[id] else { continue }
      for key in file.content.doubtfulKeys {
        services.log.warning("app file has an unknown key", ["file": file.file, "key": key])
      }
    }
  }

  /// Takes off the bus what isn't there any more, or not in its place, now that `app` is what the file says. True for what has
  /// another place: whether a backend is the app's own decides about the path.
  private func leave(_ keeper: SessionKeeper, for app: App?) -> Bool {
    let key = keeper.key
    let (wasHome, isHome) = (apps[key.app]?.backend == key.backend, app?.backend == key.backend)
    guard let app else {
      drop(key)
      return false
    }
    // An emulator that a caller named stays: the caller holds its path.
    if !isHome, wasHome || !isAllowed(key.backend, app), keeper.machine.session == nil {
      drop(key)
      return false
    }
    if isHome != wasHome { onDisappear(keeper) }
    return isHome != wasHome
  }

  /// The keeper of `key`, made where there is none yet; nil if there is no such app.
  func keep(_ key: SessionKey) -> SessionKeeper? {
    if let keeper = keepers[key] { return keeper }
    guard let keeper = makeKeeper(key) else { return nil }
    rebuildParser()
    return keeper
  }

  /// The same without the parser, which takes its time with hundreds of apps.
  private func makeKeeper(_ key: SessionKey) -> SessionKeeper? {
    if let keeper = keepers[key] { return keeper }
    guard let app = apps[key.app] else { return nil }
    // Read anew each time: an app may leave and come back while the daemon runs, and its session has changed since.
    let row =
      (try? services.stored { store throws(StoreError) in
        store.isUnlocked ? try store.loadSession(key) : nil
      }) ?? nil
    let keeper = SessionKeeper(app: variant(of: app, key.backend), key: key, stored: row, services: services)
    if let (health, error) = fault(row) { keeper.unavailable(health, error) }
    keepers[key] = keeper
    onAppear(keeper)
    return keeper
  }

  /// The object a call means: the app's own backend, or the emulator that the option names.
  ///
  /// - Throws: `noSuchApp`; `accessDenied` for an emulator that isn't on this machine.
  func keeper(_ app: App, emulator: String?) throws(AuthFailure) -> SessionKeeper {
    guard let emulator, !emulator.isEmpty else {
      guard let keeper = keep(SessionKey(app: app.id, backend: app.backend)) else { throw AuthFailure(.noSuchApp) }
      return keeper
    }
    guard let address = EmulatorAddress(emulator), isAllowed(.emulator(address), app) else {
      throw AuthFailure(.accessDenied)
    }
    guard let keeper = keep(SessionKey(app: app.id, backend: .emulator(address))) else { throw AuthFailure(.noSuchApp) }
    return keeper
  }

  private func isAllowed(_ backend: Backend, _ app: App) -> Bool {
    backend.emulator.map { $0.isLoopback || app.allowRemoteEmulator } ?? true
  }

  /// Everything that a session is remembered for.
  var storedKeys: [SessionKey] {
    let rows = try? services.stored { store throws(StoreError) in store.isUnlocked ? try store.loadSessions() : [] }
    return (rows ?? []).filter { $0.session != nil || $0.isUnreadable }.map(\.key)
  }

  private func fault(_ row: StoredSession?) -> (SessionHealth, AuthError)? {
    if let fault = services.storage.fault { return (services.storage.health, fault.error) }
    return row?.isUnreadable == true ? (.unreadable, .storageUnreadable) : nil
  }

  private func drop(_ key: SessionKey) {
    guard let keeper = keepers.removeValue(forKey: key) else { return }
    onDisappear(keeper)
  }

  private func variant(of app: App, _ backend: Backend) -> App {
    var app = app
    app.emulator = backend.emulator
    return app
  }

  private func rebuildParser() { parser = LinkParser(apps: keepers.values.map(\.app).sorted { $0.id < $1.id }) }

  /// Chooses the default app.
  func setDefault(_ id: AppID?) throws(ConfigurationError) {
    daemon.defaultApp = id
    try daemon.save(directories)
  }

  /// Writes the app's file and takes it up.
  func add(_ file: AppFile) throws(ConfigurationError) {
    try file.write(directories)
    originWarnings[file.app.id] = file.originWarnings
    reload()
  }

  /// Removes the app's file first: one that can't go, since a package brought it, takes nothing with it.
  func removeFile(_ id: AppID) throws(ConfigurationError) { try AppFile.remove(id, directories) }

  /// Forgets the app's sessions, flows and tokens, once its file is gone.
  func forget(_ id: AppID) throws(AuthFailure) {
    for key in keepers.keys where key.app == id { try keepers[key]?.signOut() }
    try services.stored { store throws(StoreError) in try store.removeApp(id) }
    originWarnings[id] = nil
    reload()
  }
}
