import CMicroHTTPD
import EventLoop
import Glibc

/// libmicrohttpd on the event loop: the only door to it here. It gets accepted connections, each of which carries one request,
/// and has neither thread nor listening socket.
///
/// It lives until ``finish()`` has let the last answer out, whoever else holds it.
@LoopActor
final class HTTPServer {
  typealias Respond = @LoopActor (LoopbackRequest) -> LoopbackResponse
  typealias Refused = @LoopActor (LoopbackRefusal) -> Void

  /// Connections at a time. The next one takes the place of the oldest, so that those who wait keep nobody out.
  nonisolated static let connectionLimit = 32
  /// Bytes of a connection for its head and its answer's. What doesn't fit is refused by the library itself (414, 431).
  private static let memory = 96 << 10

  private let library: MicroHTTPDLibrary
  private let timeout: Duration
  private let hosts: Set<String>
  private let refused: Refused
  private var respond: Respond?
  private var daemon: OpaquePointer?
  private var watch: EventLoop.Watch?
  private var connections: [Int: Connection] = [:]
  private var connectionsMade = 0
  /// The socket that is being handed over.
  private var incoming: Int32 = -1
  private var isRunning = false
  private var isFinishing = false

  /// - Parameters:
  ///   - hosts: what `Host` may be.
  ///   - timeout: from a connection's begin to its end, however busy it is.
  ///   - refused: hears of requests that are answered without asking `respond`.
  init(
    hosts: Set<String>, timeout: Duration, refused: @escaping Refused, respond: @escaping Respond
  ) throws(LoopbackError) {
    guard let library = MicroHTTPDLibrary.loaded else { throw .libraryMissing }
    (self.library, self.hosts, self.timeout, self.refused, self.respond) = (library, hosts, timeout, refused, respond)
    let context = Unmanaged.passUnretained(self).toOpaque()
    // Room for some that are closed already, but not yet cleaned up.
    let started = withUnsafePointer(to: library.table) {
      cmicrohttpd_start_unthreaded(
        $0, context, UInt32(2 * Self.connectionLimit), Self.memory, requestStarted, requestContinues, connectionChanged)
    }
    guard let started else { throw .cannotListen(errno: errno) }
    daemon = started
    let epoll = withUnsafePointer(to: library.table) { cmicrohttpd_epoll($0, started) }
    watch = EventLoop.shared.watch(epoll, .read) { _ in self.run() }
  }

  /// Whether an answer is under way.
  var isBusy: Bool { connections.values.contains { $0.isAnswered } }

  /// Takes over an accepted connection.
  func add(_ socket: Int32) {
    guard let daemon, !isFinishing else {
      close(socket)
      return
    }
    if connections.count >= Self.connectionLimit, let oldest = connections.min(by: { $0.key < $1.key })?.value {
      oldest.cut()
      run()
    }
    incoming = socket
    _ = withUnsafePointer(to: library.table) { cmicrohttpd_add($0, daemon, socket) }
    incoming = -1
    runSoon()
  }

  /// Answers that are under way still go out; everything else ends. Harmless the second time.
  func finish() {
    guard !isFinishing else { return }
    isFinishing = true
    respond = nil
    for connection in connections.values where !connection.isAnswered { connection.cut() }
    runSoon()
  }

  // MARK: The loop

  private func run() {
    guard let daemon, !isRunning else { return }
    isRunning = true
    _ = library.table.run(daemon)
    isRunning = false
    if isFinishing, connections.isEmpty { return stop() }
    if withUnsafePointer(to: library.table, { cmicrohttpd_must_run($0, daemon) }) { runSoon() }
  }

  private func runSoon() { EventLoop.shared.after(.zero) { self.run() } }

  private func stop() {
    guard let daemon else { return }
    self.daemon = nil
    watch?.cancel()
    watch = nil
    library.table.stop_daemon(daemon)
  }

  // MARK: What the library calls

  /// Gives the number under which a connection is known.
  func begin() -> Int {
    connectionsMade += 1
    let connection = Connection(socket: incoming)
    connection.timer = EventLoop.shared.after(timeout) { connection.cut() }
    connections[connectionsMade] = connection
    return connectionsMade
  }

  func end(_ number: Int) { connections.removeValue(forKey: number)?.timer?.cancel() }

  func setTarget(_ target: String?, of handle: OpaquePointer) {
    connections[library.number(of: handle)]?.target = target
  }

  /// Comes with a request's head, then with each piece of its body, then with nothing at its end. False hangs up.
  func proceed(_ handle: OpaquePointer, method: String, piece: [UInt8]) -> Bool {
    guard let connection = connections[library.number(of: handle)], !connection.isAnswered, let respond else {
      return false
    }
    guard let request = connection.request else { return start(connection, handle, method) }
    guard piece.isEmpty else { return connection.append(piece) }
    // Before the answer is made: making it may be what ends the listener.
    connection.isAnswered = true
    return library.send(respond(request.with(body: connection.body)), on: handle)
  }

  private func start(_ connection: Connection, _ handle: OpaquePointer, _ method: String) -> Bool {
    let head = RequestHead(method: method, target: connection.target, headers: library.headers(of: handle))
    do {
      connection.request = try head.checked(hosts: hosts)
      return true
    } catch {
      refused(error.reason)
      connection.isAnswered = true
      return library.send(error.response, on: handle)
    }
  }
}

/// A connection with its one request.
@LoopActor
private final class Connection {
  let socket: Int32
  var timer: EventLoop.Timer?
  var target: String?
  var request: LoopbackRequest?
  var body: [UInt8] = []
  var isAnswered = false

  init(socket: Int32) { self.socket = socket }

  func append(_ piece: [UInt8]) -> Bool {
    body += piece
    return body.count <= LoopbackListener.largestBody
  }

  /// Ends the connection from below: the library finds it ended by the peer. The socket is open as long as this is known.
  func cut() { shutdown(socket, Int32(SHUT_RDWR)) }
}
