/// What is wrong with a configuration file, precisely enough for the person who wrote it.
public enum ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text isn't of the form that was expected: why, without its content.
  case syntax(String)
  /// The value at `key` (`providers[1].issuer`) isn't `expected`.
  case key(String, expected: String)
  /// The file can't be read or written: why.
  case file(String, String)

  /// One sentence. No value from the file is in it: it may be a secret in the wrong place.
  public var description: String {
    switch self {
    case .syntax(let reason): reason
    case .key(let key, let expected): "'\(key)' must be \(expected)."
    case .file(let path, let reason): "\(path): \(reason)"
    }
  }
}
