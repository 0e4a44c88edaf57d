import Glibc

/// The two sockets that listen at one port of 127.0.0.1 and [::1]. Both or none: where only one is ours, another user may hold
/// the other, and a browser may ask that one.
///
/// `SO_REUSEADDR` lets a restarted daemon bind although old connections are in TIME_WAIT. On Linux it doesn't let anybody share
/// a port that is listened at, whoever comes first (`SO_REUSEPORT` would, and isn't set).
struct ListeningSockets: ~Copyable {
  let port: UInt16
  let v4: Int32
  /// -1 where the machine has no IPv6.
  let v6: Int32

  /// How often the system may choose a port that is taken on the other address.
  private static let attempts = 32

  /// - Parameter port: 0 lets the system choose one that is free on both.
  static func open(port: UInt16) throws(LoopbackError) -> ListeningSockets {
    for _ in 1..<attempts {
      do { return try once(port: port) } catch .portTaken where port == 0 { continue }
    }
    return try once(port: port)
  }

  private static func once(port: UInt16) throws(LoopbackError) -> ListeningSockets {
    let v4 = try listen(Endpoint(v4: (127, 0, 0, 1), port: port))
    let chosen = Endpoint(localOf: v4)?.port ?? 0
    do {
      return ListeningSockets(port: chosen, v4: v4, v6: try listen(Endpoint(v6Loopback: chosen)))
    } catch .cannotListen(errno: EAFNOSUPPORT), .cannotListen(errno: EADDRNOTAVAIL) {
      return ListeningSockets(port: chosen, v4: v4, v6: -1)
    } catch {
      close(v4)
      throw error
    }
  }

  private init(port: UInt16, v4: Int32, v6: Int32) { (self.port, self.v4, self.v6) = (port, v4, v6) }

  deinit {
    close(v4)
    if v6 >= 0 { close(v6) }
  }

  private static func listen(_ endpoint: Endpoint) throws(LoopbackError) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socket = socket(Int32(endpoint.family), type, 0)
    guard socket >= 0 else { throw .cannotListen(errno: errno) }
    setOption(socket, SOL_SOCKET, SO_REUSEADDR)
    if endpoint.family == AF_INET6 { setOption(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
    guard endpoint.withSocketAddress({ bind(socket, $0, $1) }) == 0, Glibc.listen(socket, 128) == 0 else {
      let reason = errno
      close(socket)
      throw reason == EADDRINUSE ? .portTaken(endpoint.port) : .cannotListen(errno: reason)
    }
    return socket
  }

  private static func setOption(_ socket: Int32, _ level: Int32, _ option: Int32) {
    var yes: Int32 = 1
    setsockopt(socket, level, option, &yes, socklen_t(MemoryLayout<Int32>.size))
  }
}
