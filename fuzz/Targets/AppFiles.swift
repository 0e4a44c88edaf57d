import AppConfiguration
import AuthCore

/// The files that people write: an app's and the daemon's.
enum AppFiles {
  static func check(_ input: [UInt8]) throws(Fault) {
    var file: AppFile?
    do throws(ConfigurationError) {
      file = try AppFile.read(input)
    } catch {
      try noKey(of: input, in: error)
    }
    if let file { try same(file) }
    guard let daemon = try? DaemonConfiguration(input) else { return }
    guard let again = try? DaemonConfiguration(Array(daemon.text.utf8)) else {
      throw Fault(what: "the daemon's file reads back")
    }
    try require(again.text == daemon.text, "the daemon's file is stable")
    let isSame =
      again.defaultApp == daemon.defaultApp && again.keyStore == daemon.keyStore && again.idleExit == daemon.idleExit
    try require(isSame, "the daemon's file says the same")
  }

  /// What is written of an app is read as the same app.
  static func same(_ file: AppFile) throws(Fault) {
    let text = file.text
    guard let again = try? AppFile.read(Array(text.utf8)) else { throw Fault(what: "an app's file reads back") }
    try require(again.app == file.app, "an app's file says the same")
    try require(again.text == text, "an app's file is stable")
  }

  /// An error's text may name a key of the file, never a value: it may be a secret in the wrong place.
  static func noKey(of input: [UInt8], in error: ConfigurationError) throws(Fault) {
    let marker = Array(#""AIzaEXAMPLE-VALUE""#.utf8)
    guard input.count >= marker.count, error.description.contains("AIzaEXAMPLE-VALUE") else { return }
    // As a member's name it may be shown.
    let text = String(decoding: input, as: UTF8.self)
    try require(text.contains(#"AIzaEXAMPLE-VALUE":"#), "an error shows no value")
  }
}
