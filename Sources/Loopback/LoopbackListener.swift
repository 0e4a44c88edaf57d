public import EventLoop
import CMicroHTTPD
import Glibc

/// Serves one small page at a port of 127.0.0.1 and [::1]: where a provider's redirect ends (RFC 8252, 7.3) and where a mailed
/// link may. It is meant to live only while something is waited for.
///
/// Served are the user's own processes alone, and only what is addressed to this listener by its own name; the rest is turned
/// away before anybody is asked. No thread, no file, no log. A connection has ten seconds and carries one request.
@LoopActor
public final class LoopbackListener {
  /// Bytes of a request's body; longer ones are answered with 413.
  public nonisolated static let largestBody = 16 << 10
  /// Bytes of a request's target; longer ones are answered with 414.
  public nonisolated static let largestTarget = 32 << 10

  /// The port, on both addresses.
  public nonisolated let port: UInt16
  /// False where this machine has no IPv6, so that 127.0.0.1 alone is listened at.
  public nonisolated let hasIPv6: Bool

  private let server: HTTPServer
  private let refused: @LoopActor (LoopbackRefusal) -> Void
  private var sockets: ListeningSockets?
  private var watches: [EventLoop.Watch] = []

  /// Listens at once.
  ///
  /// - Parameters:
  ///   - port: 0 lets the system choose one that is free on both addresses.
  ///   - refused: hears of what was turned away, for the log.
  ///   - respond: answers a request that was let through. It may close the listener; its answer still goes out.
  /// - Throws: `libraryMissing`; `portTaken` where somebody has the port on either address; `cannotListen`.
  public convenience init(
    port: UInt16, refused: @escaping @LoopActor (LoopbackRefusal) -> Void = { _ in },
    respond: @escaping @LoopActor (LoopbackRequest) -> LoopbackResponse
  ) throws(LoopbackError) {
    try self.init(port: port, timeout: .seconds(10), refused: refused, respond: respond)
  }

  init(
    port: UInt16, timeout: Duration, refused: @escaping @LoopActor (LoopbackRefusal) -> Void,
    respond: @escaping @LoopActor (LoopbackRequest) -> LoopbackResponse
  ) throws(LoopbackError) {
    let sockets = try ListeningSockets.open(port: port)
    let listening = [sockets.v4, sockets.v6].filter { $0 >= 0 }
    (self.port, hasIPv6, self.refused) = (sockets.port, sockets.v6 >= 0, refused)
    server = try HTTPServer(
      hosts: Self.hosts(port: sockets.port), timeout: timeout, refused: refused, respond: respond)
    self.sockets = consume sockets
    watches = listening.map { socket in
      EventLoop.shared.watch(socket, .read) { [weak self] _ in self?.accept(from: socket) }
    }
  }

  isolated deinit { close() }

  /// Whether an answer is still on its way to a browser, also after ``close()``. The process shouldn't end before; it takes
  /// milliseconds, and ten seconds at the very most.
  public var isBusy: Bool { server.isBusy }

  /// Gives the port back. What was answered still reaches the browser; other connections end. Harmless the second time.
  public func close() {
    for watch in watches { watch.cancel() }
    watches = []
    sockets = nil
    server.finish()
  }

  /// What a browser may call this listener. 80 is what it leaves out.
  private static func hosts(port: UInt16) -> Set<String> {
    let names = ["127.0.0.1", "[::1]", "localhost"]
    return Set(names.map { "\($0):\(port)" } + (port == 80 ? names : []))
  }

  // MARK: Connections

  /// Connections taken in one turn of the loop, so that who floods the port doesn't hold the daemon.
  private static let connectionsPerTurn = 4

  private func accept(from listening: Int32) {
    for _ in 0..<Self.connectionsPerTurn where sockets != nil {
      let socket = cmicrohttpd_accept(listening)
      if socket < 0 {
        if ![EAGAIN, EINTR, ECONNABORTED].contains(errno) { pause(listening) }
        return
      }
      if PeerUser.isOwn(peerOf: socket) {
        server.add(socket)
      } else {
        Self.reset(socket)
        refused(.foreignUser)
      }
    }
  }

  /// There are no descriptors left: that isn't better at once.
  private func pause(_ listening: Int32) {
    guard let watch = watches.first(where: { $0.fileDescriptor == listening }) else { return }
    watch.change([])
    EventLoop.shared.after(.seconds(1)) { watch.change(.read) }
  }

  /// Not a byte, and no wait for the other end.
  private static func reset(_ socket: Int32) {
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    Glibc.close(socket)
  }
}
