/// The text of `linkd-handler.desktop`: what the desktop runs for a link in one of the apps' schemes.
enum HandlerFile {
  /// Its name among the applications, which is its id as well.
  static let name = "linkd-handler.desktop"
  private static let mimePrefix = "x-scheme-handler/"
  private static let installedProgram = "Exec=linkctl "

  /// The user's own file: as it's installed, with the program's whole path and the schemes.
  static func text(program: String, schemes: [String]) throws(RegistrationError) -> String {
    guard isUsable(program) else { throw .unusablePath(program) }
    for scheme in schemes where !isScheme(scheme) { throw .scheme(scheme) }
    let installed = String(decoding: PackageResources.linkd_handler_desktop, as: UTF8.self)
    let lines = installed.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix(installedProgram) ? "Exec=\(program) \(line.dropFirst(installedProgram.utf8.count))" : String(line)
    }
    return lines.joined(separator: "\n") + "MimeType=\(schemes.map { "\(mimePrefix)\($0);" }.joined())\n"
  }

  /// The schemes of a file that `text` wrote; none of any other.
  static func schemes(of content: [UInt8]) -> [String] {
    for line in String(decoding: content, as: UTF8.self).split(separator: "\n") where line.hasPrefix("MimeType=") {
      return line.dropFirst(9).split(separator: ";").filter { $0.hasPrefix(mimePrefix) }.map {
        String($0.dropFirst(mimePrefix.utf8.count))
      }
    }
    return []
  }

  /// `x-scheme-handler/S`.
  static func mimeType(_ scheme: String) -> String { mimePrefix + scheme }

  /// Not one launcher agrees with another about quoting, so nothing that would need it gets in.
  static func isUsable(_ program: String) -> Bool {
    program.hasPrefix("/")
      && program.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
          true
        default: "/._-+@:,".utf8.contains(byte)
        }
      }
  }

  static func isScheme(_ text: String) -> Bool {
    guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: "+-.".utf8.contains(byte)
      }
    }
  }
}
