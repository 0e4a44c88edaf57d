import AuthCore
import DBus
import EventLoop
import LinkdContract

/// The only way to emit a signal. What goes out reaches every peer, sandboxed ones too: states, stages and uids, never an
/// address, a number, a URL, a code or a token.
@LoopActor
final class Broadcast {
  /// Where a session's object is.
  var path: (SessionKey) -> ObjectPath = { Contract.appPath($0.app, emulator: $0.backend.emulator) }
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func stateChanged(_ machine: SessionMachine) {
    let path = path(machine.key)
    emit(
      path, Contract.Interface.session, "StateChanged",
      [
        .string(machine.state.rawValue), .dict(DBusDictionaries.broadcast(machine.user)), .uint64(machine.sequence),
      ])
    sessionProperties(
      machine.key, ["State", "User", "IsAnonymous", "SignInMethod", "Sequence", "LastUser"])
  }

  func idTokenChanged(_ machine: SessionMachine) {
    emit(path(machine.key), Contract.Interface.session, "IdTokenChanged", [.uint64(machine.sequence)])
    sessionProperties(machine.key, ["Sequence"])
  }

  func providersChanged(_ key: SessionKey, added: [String], removed: [String]) {
    emit(path(key), Contract.Interface.session, "ProvidersChanged", [.strings(added), .strings(removed)])
  }

  func sessionProperties(_ key: SessionKey, _ names: [String]) {
    connection.propertiesChanged(path(key), Contract.Interface.session, names)
  }

  func stageChanged(_ flow: Flow) {
    let path = Contract.flowPath(flow.id)
    emit(
      path, Contract.Interface.flow, "StageChanged",
      [.string(flow.stage.rawValue), .dict(flow.broadcastDetails), .uint64(flow.sequence)])
    connection.propertiesChanged(
      path, Contract.Interface.flow, ["Stage", "Details", "Sequence", "ExpiresAt"])
  }

  func managerProperties(_ names: [String]) {
    connection.propertiesChanged(Contract.rootPath, Contract.Interface.manager, names)
  }

  func appProperties(_ key: SessionKey, _ names: [String]) {
    connection.propertiesChanged(path(key), Contract.Interface.app, names)
  }

  func unhandled(scheme: String, app: AppID, id: UInt64) {
    emit(
      Contract.rootPath, Contract.Interface.links, "Unhandled", [.string(scheme), .string(app.value), .uint64(id)])
  }

  private func emit(_ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [DBusValue]) {
    // Fails on a closed connection alone: then nobody listens.
    try? connection.emit(path: path, interface: interface, member: member, arguments: arguments)
  }
}
