/// A value that must never reach a log, an error text, a property or a snapshot: a token, a code, a password, a key.
///
/// Printing, dumping, mirroring or interpolating it gives `<redacted>`. It isn't `Codable`: who stores a secret seals it,
/// and says so by calling `reveal()`.
public struct Secret<Value> {
  private let value: Value

  /// Wraps `value`.
  public init(_ value: Value) { self.value = value }

  /// The wrapped value. Each call is a place where the secret leaves its wrapper.
  public func reveal() -> Value { value }
}

extension Secret: Sendable where Value: Sendable {}
extension Secret: Equatable where Value: Equatable {}
extension Secret: Hashable where Value: Hashable {}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// `<redacted>`.
  public var description: String { "<redacted>" }
  /// `<redacted>`.
  public var debugDescription: String { "<redacted>" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
