import Glibc

/// An address and a port of TCP, as the kernel's tables want them.
struct Endpoint: Equatable {
  /// `AF_INET` or `AF_INET6`.
  let family: Int32
  /// 4 or 16 bytes in network order.
  let address: [UInt8]
  let port: UInt16

  init(family: Int32, address: [UInt8], port: UInt16) {
    (self.family, self.address, self.port) = (family, address, port)
  }

  init(v4: (UInt8, UInt8, UInt8, UInt8), port: UInt16) {
    self.init(family: AF_INET, address: [v4.0, v4.1, v4.2, v4.3], port: port)
  }

  init(v6 address: [UInt8], port: UInt16) { self.init(family: AF_INET6, address: address, port: port) }

  init(v6Loopback port: UInt16) { self.init(v6: [UInt8](repeating: 0, count: 15) + [1], port: port) }

  /// The near end of a socket.
  init?(localOf socket: Int32) { self.init { getsockname(socket, $0, $1) } }

  /// The far end of a socket.
  init?(peerOf socket: Int32) { self.init { getpeername(socket, $0, $1) } }

  private init?(_ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let asked = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask($0, &length) }
    }
    guard asked == 0 else { return nil }
    let bytes = withUnsafeBytes(of: &storage) { Array($0) }
    family = Int32(storage.ss_family)
    // sockaddr_in: family, port, address; sockaddr_in6: family, port, flow, address.
    port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    switch family {
    case AF_INET: address = Array(bytes[4..<8])
    case AF_INET6: address = Array(bytes[8..<24])
    default: return nil
    }
  }

  /// Runs `body`, which binds or connects, with the address.
  func withSocketAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var storage = sockaddr_storage()
    storage.ss_family = sa_family_t(family)
    let (offset, size) =
      family == AF_INET ? (4, MemoryLayout<sockaddr_in>.size) : (8, MemoryLayout<sockaddr_in6>.size)
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes[2] = UInt8(port >> 8)
      bytes[3] = UInt8(port & 0xff)
      bytes[offset..<offset + address.count].copyBytes(from: address)
    }
    return withUnsafePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(size)) }
    }
  }
}
