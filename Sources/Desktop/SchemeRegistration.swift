public import AppConfiguration
import Glibc

/// Makes the desktop open links in the apps' schemes with linkd (cli-and-config: The schemes an app gets).
///
/// Two files of the user's are written: `linkd-handler.desktop`, which alone lists the schemes, and in `mimeapps.list` the
/// default for each of them. `xdg-settings` isn't used: it can take over the browser (linux-desktop-peers C7).
public struct SchemeRegistration: Sendable {
  let directories: Directories
  private let program: String

  /// - Parameter linkctl: absolute path of the program that takes the links.
  public init(directories: Directories, linkctl: String) {
    self.directories = directories
    program = linkctl
  }

  /// The user's applications.
  var applications: String { "\(directories.dataHome)/applications" }
  private var handlerFile: String { "\(applications)/\(HandlerFile.name)" }
  private var defaultsFile: String { "\(directories.configHome)/mimeapps.list" }

  /// Registers these schemes and lets go of all others that linkd had before.
  /// - Returns: the schemes, each once, in the order given.
  /// - Throws: before anything is written, `unusablePath`, `noProgram`, `scheme`; `file`.
  public func register(_ schemes: [String]) throws(RegistrationError) -> [String] {
    var seen = Set<String>()
    let schemes = schemes.filter { seen.insert($0).inserted }
    if schemes.isEmpty {
      _ = try unregister()
      return []
    }
    let text = try HandlerFile.text(program: program, schemes: schemes)
    guard access(program, X_OK) == 0 else { throw .noProgram(program) }
    let former = try registeredSchemes()
    try replace(handlerFile, Array(text.utf8))
    DesktopDatabase.refresh(applications)
    try changeDefaults { list in
      for scheme in former where !seen.contains(scheme) {
        list.removeDefault(HandlerFile.name, for: HandlerFile.mimeType(scheme))
      }
      for scheme in schemes { list.setDefault(HandlerFile.name, for: HandlerFile.mimeType(scheme)) }
    }
    return schemes
  }

  /// Lets go of every scheme.
  /// - Returns: the schemes that linkd had.
  /// - Throws: `file`.
  public func unregister() throws(RegistrationError) -> [String] {
    let former = try registeredSchemes()
    try changeDefaults { list in
      for scheme in former { list.removeDefault(HandlerFile.name, for: HandlerFile.mimeType(scheme)) }
    }
    do throws(WholeFile.Fault) {
      try WholeFile.remove(handlerFile)
    } catch {
      throw .file(error.path, error.reason)
    }
    if !former.isEmpty { DesktopDatabase.refresh(applications) }
    return former
  }

  /// What the user's handler file lists.
  func registeredSchemes() throws(RegistrationError) -> [String] {
    HandlerFile.schemes(of: try read(handlerFile) ?? [])
  }

  private func changeDefaults(_ change: (inout MimeAppsList) -> Void) throws(RegistrationError) {
    let before = try read(defaultsFile)
    var list = MimeAppsList(before ?? [])
    change(&list)
    if list.bytes != before ?? [] { try replace(defaultsFile, list.bytes) }
  }

  /// Nil where there's no such file.
  private func read(_ path: String) throws(RegistrationError) -> [UInt8]? {
    do throws(WholeFile.Fault) {
      return try WholeFile.read(path)
    } catch {
      if error.isAbsent { return nil }
      throw .file(error.path, error.reason)
    }
  }

  private func replace(_ path: String, _ bytes: [UInt8]) throws(RegistrationError) {
    do throws(WholeFile.Fault) {
      try WholeFile.replace(path, with: bytes)
    } catch {
      throw .file(error.path, error.reason)
    }
  }
}
