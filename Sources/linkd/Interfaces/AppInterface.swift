import AuthCore
import DBus
import EventLoop
import LinkdContract

/// `org.linkd.Auth1.App`: what the app's file says, without anything secret.
@LoopActor
struct AppInterface {
  let keeper: SessionKeeper
  let tree: ObjectTree

  var table: Interface {
    Interface(
      Contract.Interface.app, methods: [],
      properties: [
        Version.property,
        Property("Id", "s", emitsChanged: .const) { _ in .string(keeper.app.id.value) },
        Property("ProjectId", "s", emitsChanged: .true) { _ in .string(keeper.app.projectID) },
        Property("DisplayName", "s", emitsChanged: .true) { _ in .string(keeper.app.displayName) },
        Property("AuthDomain", "s", emitsChanged: .true) { _ in .string(keeper.app.authDomain) },
        Property("Emulator", "s", emitsChanged: .const) { _ in
          .string(keeper.key.backend.emulator?.description ?? "")
        },
        Property(
          "TenantId", "s", emitsChanged: .true, get: { _ in .string(keeper.app.tenantID ?? "") }, set: setTenant),
        Property(
          "LanguageCode", "s", emitsChanged: .true, get: { _ in .string(keeper.app.languageCode ?? "") },
          set: setLanguage),
        Property("Schemes", "as", emitsChanged: .true) { _ in .strings(keeper.app.callbackSchemes) },
        Property("Providers", "aa{sv}", emitsChanged: .true) { _ in
          .dicts(keeper.app.providers.map { DBusDictionaries.provider($0, keeper.app) })
        },
        Property("Options", "a{sv}", emitsChanged: .true) { _ in .dict(DBusDictionaries.options(keeper.app.options)) },
        Property("Continue", "s", emitsChanged: .true) { _ in .string(keeper.app.continueMode.rawValue) },
        Property("ContinueUrl", "s", emitsChanged: .true) { _ in .string(keeper.app.continueURL ?? "") },
        Property("LoopbackPort", "u", emitsChanged: .true) { _ in .uint32(UInt32(keeper.app.loopbackPort)) },
        Property("Warnings", "as", emitsChanged: .invalidates) { _ in
          .strings(tree.registry.warnings[keeper.app.id] ?? [])
        },
      ], signals: [])
  }

  private func setTenant(_ caller: Caller, _ value: DBusValue) throws(DBusError) {
    try tree.requireUnsandboxed(caller)
    let text = value.asString ?? ""
    keeper.overrides.tenantID = .some(text.isEmpty ? nil : text)
    keeper.app = keeper.overrides.applied(to: keeper.app)
    tree.services.broadcast.appProperties(keeper.key, ["TenantId"])
  }

  private func setLanguage(_ caller: Caller, _ value: DBusValue) throws(DBusError) {
    try tree.requireUnsandboxed(caller)
    let text = value.asString ?? ""
    guard text.utf8.allSatisfy(Self.isLanguageByte), text.utf8.count <= 35 else {
      throw .invalidArgs("LanguageCode must be a BCP 47 language tag, such as 'de' or 'zh-TW', or empty.")
    }
    keeper.overrides.languageCode = .some(text.isEmpty ? nil : text)
    keeper.app = keeper.overrides.applied(to: keeper.app)
    tree.services.broadcast.appProperties(keeper.key, ["LanguageCode"])
  }

  private static func isLanguageByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
