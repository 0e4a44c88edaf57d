import AppConfiguration
import Glibc

/// Which program opens the links of a scheme, and what says so (field report B077).
public struct SchemeStatus: Sendable, Hashable {
  /// A line of a file.
  public struct Place: Sendable, Hashable, CustomStringConvertible {
    /// Absolute path.
    public let file: String
    /// Counted from 1.
    public let line: Int

    /// `FILE:LINE`.
    public var description: String { "\(file):\(line)" }
  }

  /// The scheme.
  public let scheme: String
  /// The desktop file that wins, `firefox.desktop`; nil where no program opens such links.
  public let winner: String?
  /// The line that makes it win.
  public let place: Place?
  /// The line of `[Removed Associations]` that forbids linkd's handler, where there is one: some launchers obey it.
  public let removed: Place?

  /// Whether links of the scheme come to linkd, in every launcher.
  public var isOurs: Bool { winner == HandlerFile.name && removed == nil }
}

extension SchemeRegistration {
  /// Who opens the links of each scheme, by the order of the MIME applications associations specification 1.0: the lists
  /// of defaults, then the added associations, then the programs that declare the type. Changes nothing.
  public func registered(_ schemes: [String]) -> [SchemeStatus] {
    let lists = self.lists
    return schemes.map { scheme in
      let type = HandlerFile.mimeType(scheme)
      let found = winner(type, .defaults, lists) ?? winner(type, .added, lists) ?? winner(type, .cache, caches)
      return SchemeStatus(
        scheme: scheme, winner: found?.program, place: found?.place, removed: removal(type, lists))
    }
  }

  private typealias List = (file: String, content: MimeAppsList)

  private func winner(
    _ type: String, _ group: MimeAppsList.Group, _ lists: [List]
  ) -> (program: String, place: SchemeStatus.Place)? {
    for list in lists {
      guard let entry = list.content.entry(type, in: group),
        let program = entry.programs.first(where: isInstalled)
      else { continue }
      return (program, SchemeStatus.Place(file: list.file, line: entry.line))
    }
    return nil
  }

  private func removal(_ type: String, _ lists: [List]) -> SchemeStatus.Place? {
    for list in lists {
      if let entry = list.content.entry(type, in: .removed), entry.programs.contains(HandlerFile.name) {
        return SchemeStatus.Place(file: list.file, line: entry.line)
      }
    }
    return nil
  }

  /// Most important first; a desktop's own list before the common one of the same folder.
  private var lists: [List] {
    let folders = [directories.configHome] + directories.configDirs + applicationFolders
    let names = directories.desktops.map { "\($0)-mimeapps.list" } + ["mimeapps.list"]
    return folders.flatMap { folder in names.compactMap { list("\(folder)/\($0)") } }
  }

  private var caches: [List] { applicationFolders.compactMap { list("\($0)/mimeinfo.cache") } }

  private var applicationFolders: [String] {
    [applications] + directories.dataDirs.map { "\($0)/applications" }
  }

  private func list(_ file: String) -> List? {
    guard let bytes = try? WholeFile.read(file) else { return nil }
    return (file, MimeAppsList(bytes))
  }

  /// A program that isn't there is passed over by every launcher. A dash in its id may stand for a folder.
  private func isInstalled(_ program: String) -> Bool {
    var names = [program]
    if let dash = program.firstIndex(of: "-") {
      names.append("\(program[..<dash])/\(program[program.index(after: dash)...])")
    }
    return applicationFolders.contains { folder in names.contains { access("\(folder)/\($0)", R_OK) == 0 } }
  }
}
