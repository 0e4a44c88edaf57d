import AuthCore
import DBus
import LinkdContract

/// Object paths of the daemon's own things.
enum Paths {
  static let root = Contract.rootPath
  static let logControl: ObjectPath = "/org/freedesktop/LogControl1"

  /// An app at its backend. An app that a file puts at an emulator is at home there: it has the plain path.
  static func app(_ key: SessionKey, isHome: Bool) -> ObjectPath {
    Contract.appPath(key.app, emulator: isHome ? nil : key.backend.emulator)
  }

  static func flow(_ id: FlowID) -> ObjectPath { Contract.flowPath(id) }
}
