import Glibc

/// An owned file descriptor that travels over the bus. It is closed when the last reference goes away; take a
/// duplicate of `rawValue` to keep it open longer.
public final class UnixFD: Sendable, Hashable {
  /// The descriptor. Valid while this object lives.
  public let rawValue: Int32

  /// Takes over a descriptor, which nobody else may close from now on.
  public init(owning descriptor: Int32) { rawValue = descriptor }

  /// Makes a duplicate (closed on exec), and leaves the original to its owner.
  public init(duplicating descriptor: Int32) throws(DBusError) {
    let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard duplicate >= 0 else { throw .invalidArgs("not an open file descriptor") }
    rawValue = duplicate
  }

  deinit { close(rawValue) }

  package var isOpen: Bool { fcntl(rawValue, F_GETFD) >= 0 }

  /// The same descriptor, not merely the same file.
  public static func == (a: UnixFD, b: UnixFD) -> Bool { a.rawValue == b.rawValue }

  /// By number.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}
