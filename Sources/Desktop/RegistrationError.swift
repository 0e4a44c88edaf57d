/// Why the desktop's registration of schemes can't be changed.
public enum RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The program's path can't stand in a desktop file so that every launcher understands it (desktop entry
  /// specification 1.5, "The Exec key"; field report B071).
  case unusablePath(String)
  /// There's no program at the path that could be run.
  case noProgram(String)
  /// Not a scheme (RFC 3986 3.1) in lower case.
  case scheme(String)
  /// The file can't be read or written: why.
  case file(String, String)

  /// What is wrong and what to do about it.
  public var description: String {
    switch self {
    case .unusablePath(let path):
      "The desktop can't start '\(path)': the path must be absolute, without spaces, quotes and other special characters. "
        + "Install linkctl elsewhere."
    case .noProgram(let path): "There's no program at '\(path)'. Install linkctl there."
    case .scheme(let scheme): "'\(scheme)' can't be a scheme. Correct it in the app's file."
    case .file(let path, let reason): "\(path): \(reason)"
    }
  }
}
