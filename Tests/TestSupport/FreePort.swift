import Glibc

/// A port of this machine's.
public enum FreePort {
  /// One that nobody has at the moment, on 127.0.0.1, and that the kernel gives to nobody by itself: whoever asks for any
  /// port meanwhile gets one of at least 32768 (ip(7), ip_local_port_range).
  public static func find() throws -> UInt16 {
    for _ in 0..<100 {
      if let holder = try? PortHolder(port: .random(in: 20_000..<32_768)) { return holder.port }
    }
    throw POSIXFailure("no free port", EADDRINUSE)
  }
}

/// Somebody else who has a port of 127.0.0.1, and answers nothing.
public final class PortHolder: Sendable {
  /// The port.
  public let port: UInt16
  private let socket: Int32

  /// - Parameter port: 0: any free one.
  public init(port: UInt16) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var yes: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (socket, size) = (socket, length)
    let held = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, size) == 0 && listen(socket, 1) == 0 && getsockname(socket, $0, &length) == 0
      }
    }
    self.port = UInt16(bigEndian: address.sin_port)
    // The deinitializer closes the socket of an initializer that fails here, too: all there is, is set.
    if !held { throw POSIXFailure("bind port \(port)", errno) }
  }

  deinit { close(socket) }
}
