import AppConfiguration
import AuthCore
import DBus
import Desktop
import EventLoop
import LinkdContract

/// `org.linkd.Auth1.Manager`: apps, flows, the registration of the handler.
@LoopActor
struct ManagerInterface {
  let tree: ObjectTree
  let keyStore: String

  var table: Interface {
    Interface(
      Contract.Interface.manager,
      methods: [
        Method(
          "GetApp", in: [Argument("id", "s"), Argument("options", "a{sv}")], out: [Argument("app", "o")],
          handler: .sync(getApp)),
        Method(
          "AddApp", in: [Argument("content", "ay"), Argument("filename", "s"), Argument("options", "a{sv}")],
          out: [Argument("app", "o")], handler: .sync(addApp)),
        Method(
          "RemoveApp", in: [Argument("id", "s"), Argument("options", "a{sv}")], out: [], handler: .sync(removeApp)),
        Method("ReloadApps", in: [Argument("options", "a{sv}")], out: [], handler: .sync(reloadApps)),
        Method(
          "Register", in: [Argument("options", "a{sv}")], out: [Argument("schemes", "as")], handler: .sync(register)),
        Method(
          "Unregister", in: [Argument("options", "a{sv}")], out: [Argument("schemes", "as")],
          handler: .sync(unregister)),
      ],
      properties: [
        Version.property,
        Property("ServiceVersion", "s", emitsChanged: .const) { _ in .string(Release.version) },
        Property("Apps", "ao", emitsChanged: .invalidates) { caller in .paths(apps(for: caller)) },
        Property(
          "DefaultApp", "s", emitsChanged: .invalidates, get: { caller in .string(defaultApp(for: caller)) },
          set: setDefault),
        Property("ActiveFlows", "ao", emitsChanged: .invalidates) { caller in .paths(flows(for: caller)) },
        Property("KeyStore", "s", emitsChanged: .const) { _ in .string(keyStore) },
      ], signals: [])
  }

  // MARK: What a caller may see

  private func apps(for caller: Caller) -> [ObjectPath] {
    tree.registry.keepers.values.filter { tree.maySee(caller, $0.app) }.map { tree.path(of: $0.key) }.sorted()
  }

  private func flows(for caller: Caller) -> [ObjectPath] {
    tree.coordinator.live
      .filter { flow in tree.registry.apps[flow.key.app].map { tree.maySee(caller, $0) } ?? (caller.sandboxID == nil) }
      .map { Paths.flow($0.id) }.sorted()
  }

  private func defaultApp(for caller: Caller) -> String {
    guard let id = tree.registry.defaultApp, let app = tree.registry.apps[id], tree.maySee(caller, app) else {
      return ""
    }
    return id.value
  }

  private func setDefault(_ caller: Caller, _ value: DBusValue) throws(DBusError) {
    try tree.requireUnsandboxed(caller)
    let text = value.asString ?? ""
    if text.isEmpty {
      try configured(Options()) { () throws(ConfigurationError) in try tree.registry.setDefault(nil) }
    } else {
      let app = try find(text, Options(), caller)
      try configured(Options()) { () throws(ConfigurationError) in try tree.registry.setDefault(app.id) }
    }
    tree.services.broadcast.managerProperties(["DefaultApp"])
  }

  /// The app called `name`; the default one for an empty name.
  private func find(_ name: String, _ options: Options, _ caller: Caller) throws(DBusError) -> App {
    try tree.answer(options) { () throws(AuthFailure) in
      let id = name.isEmpty ? tree.registry.defaultApp : AppID(name)
      guard let id, let app = tree.registry.apps[id], tree.maySee(caller, app) else {
        throw AuthFailure(.noSuchApp, detail: damage(name))
      }
      return app
    }
  }

  /// Why the named app isn't there, where its file is damaged.
  private func damage(_ name: String) -> String? {
    tree.registry.damaged.first { $0.id?.value == name }.map { "\($0.file): \($0.error)" }
  }

  // MARK: Methods

  private func getApp(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let app = try find(call.arguments[0].asString ?? "", options, call.caller)
    let emulator = try options.string("emulator")
    let keeper = try tree.answer(options) { () throws(AuthFailure) in
      try tree.registry.keeper(app, emulator: emulator)
    }
    return [.objectPath(tree.path(of: keeper.key))]
  }

  private func addApp(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try tree.requireUnsandboxed(call.caller)
    let options = try Options(call)
    let content = call.arguments[0].asBytes ?? []
    let name = call.arguments[1].asString ?? ""
    let overrides = options.json
    let file = try configured(options) { () throws(ConfigurationError) in
      let file = try ConsoleFile.read(content, named: name, overrides: overrides)
      try tree.registry.add(file)
      return file
    }
    tree.services.log.info("app added", ["app": file.app.id])
    guard let app = tree.registry.apps[file.app.id] else { throw AuthFailure(.noSuchApp).reply(locale: nil) }
    return [.objectPath(tree.path(of: SessionKey(app: app.id, backend: app.backend)))]
  }

  private func removeApp(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try tree.requireUnsandboxed(call.caller)
    let options = try Options(call)
    let app = try find(call.arguments[0].asString ?? "", options, call.caller)
    try configured(options) { () throws(ConfigurationError) in try tree.registry.removeFile(app.id) }
    try tree.answer(options) { () throws(AuthFailure) in
      for key in tree.registry.keepers.keys where key.app == app.id { tree.coordinator.dropAll(of: key) }
      try tree.registry.forget(app.id)
    }
    return []
  }

  private func reloadApps(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try tree.requireUnsandboxed(call.caller)
    tree.registry.reload()
    return []
  }

  private func register(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try tree.requireUnsandboxed(call.caller)
    let schemes = tree.registry.apps.values.sorted { $0.id < $1.id }.flatMap(\.callbackSchemes)
    return [.strings(try registered { () throws(RegistrationError) in try tree.services.handler.register(schemes) })]
  }

  private func unregister(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try tree.requireUnsandboxed(call.caller)
    return [.strings(try registered { () throws(RegistrationError) in try tree.services.handler.unregister() })]
  }

  private func configured<T>(_ options: Options, _ body: () throws(ConfigurationError) -> T) throws(DBusError) -> T {
    do throws(ConfigurationError) {
      return try body()
    } catch {
      throw .invalidArgs(error.description)
    }
  }

  private func registered<T>(_ body: () throws(RegistrationError) -> T) throws(DBusError) -> T {
    do throws(RegistrationError) {
      return try body()
    } catch {
      throw DBusError(name: AuthError.handlerMissing.dbusName, message: error.description)
    }
  }
}
