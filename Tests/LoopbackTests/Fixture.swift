import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Loopback

/// A listener whose every request and refusal is noted.
@LoopActor
final class Fixture {
  let requests = Recorder<LoopbackRequest>()
  let refusals = Recorder<LoopbackRefusal>()
  private(set) var listener: LoopbackListener?
  nonisolated let port: UInt16

  /// - Parameter closing: whether the listener is closed and let go with the first answer.
  init(
    port: UInt16 = 0, timeout: Duration = .seconds(10), closing: Bool = false,
    page: LoopbackResponse = LoopbackResponse(page: .init(title: "Signed in", paragraphs: ["Close this tab."]))
  ) throws {
    let (requests, refusals) = (requests, refusals)
    let own = Holder()
    let listener = try LoopbackListener(port: port, timeout: timeout) {
      refusals.record($0)
    } respond: { request in
      requests.record(request)
      if closing {
        own.fixture?.listener?.close()
        own.fixture?.listener = nil
      }
      return page
    }
    (self.listener, self.port) = (listener, listener.port)
    own.fixture = self
  }

  @LoopActor
  private final class Holder {
    weak var fixture: Fixture?
  }

  /// A listener at a port that the kernel gives to nobody by itself, so that it's free again once this one is closed.
  static func atConfiguredPort() throws -> Fixture {
    for _ in 0..<100 {
      if let fixture = try? Fixture(port: FreePort.find()) { return fixture }
    }
    throw LoopbackError.portTaken(0)
  }

  func close() { listener?.close() }
  func drop() { listener = nil }
  var isBusy: Bool { listener?.isBusy ?? false }
  var methods: [LoopbackRequest.Method] { requests.values.map(\.method) }

  /// Sends `request`, whose `{port}` is this listener's, and reads to the end.
  nonisolated func ask(_ request: String, v6: Bool = false) async throws -> Answer {
    let client = try Client(port: port, v6: v6)
    client.send(Array(request.replacing("{port}", with: "\(port)").utf8))
    return await client.readAll()
  }

  /// A GET as browsers send it.
  nonisolated func get(_ target: String = "/", v6: Bool = false) async throws -> Answer {
    try await ask("GET \(target) HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n", v6: v6)
  }
}

/// What came before the connection ended.
struct Answer {
  let bytes: [UInt8]
  var text: String { String(decoding: bytes, as: UTF8.self) }
  var status: Int { Int(String(decoding: bytes.dropFirst("HTTP/1.1 ".utf8.count).prefix(3), as: UTF8.self)) ?? 0 }
  var head: String { text.components(separatedBy: "\r\n\r\n")[0] }
  var body: String { text.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n") }
}

/// A socket to 127.0.0.1 or [::1], closed with the value. Waits at most ten seconds for anything.
final class Client: Sendable {
  let socket: Int32

  convenience init(port: UInt16, v6: Bool = false) throws {
    try self.init(to: v6 ? Endpoint(v6Loopback: port) : Endpoint(v4: (127, 0, 0, 1), port: port))
  }

  init(to endpoint: Endpoint) throws {
    socket = Glibc.socket(endpoint.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    // The deinitializer closes the socket of an initializer that fails here, too: all there is, is set.
    guard endpoint.withSocketAddress({ connect(socket, $0, $1) }) == 0 else { throw POSIXFailure("connect") }
  }

  deinit { close(socket) }

  /// As much as the other end takes.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { break }
      sent += count
    }
    return sent
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Reads to the end, on a thread of its own: the tests' threads are few, and others wait for time limits.
  func readAll() async -> Answer {
    await withCheckedContinuation { waiter in Thread { waiter.resume(returning: self.readToEnd()) }.start() }
  }

  private func readToEnd() -> Answer {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { return Answer(bytes: bytes) }
      bytes += buffer[..<count]
    }
  }
}

/// Rows of the kernel's tables whose local port this is.
func rows(at port: UInt16) throws -> [(file: String, address: String, state: String, inode: String)] {
  try ["tcp", "tcp6"].flatMap { file in
    // Foundation reads but the first piece of such a file.
    try #require(SocketTable.content(of: "/proc/self/net/\(file)")).split(separator: "\n").dropFirst()
      .compactMap { line in
        let fields = line.split(separator: " ")
        let local = fields[1].split(separator: ":")
        guard UInt16(local[1], radix: 16) == port else { return nil }
        return (file, String(local[0]), String(fields[3]), String(fields[9]))
      }
  }
}

/// The inodes of the sockets that listen at a port. A closed port may be another test's a moment later, its sockets never.
func listeningSockets(at port: UInt16) throws -> Set<String> {
  Set(try rows(at: port).filter { $0.state == "0A" }.map(\.inode))
}

/// Whether none of the sockets listens any more. A program that another test starts at this moment has them, too, until it's
/// running.
func areClosed(_ sockets: Set<String>, at port: UInt16) async throws -> Bool {
  try await eventually { try listeningSockets(at: port).isDisjoint(with: sockets) }
}

/// Tries again what needs a port that such a program may still have; the last error after 10 s.
func retried<Result>(_ make: () async throws -> Result) async throws -> Result {
  var result: Result?
  _ = await eventually {
    result = try? await make()
    return result != nil
  }
  return if let result { result } else { try await make() }
}

/// Looks again until `condition` holds; gives up after 10 s.
func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
  let deadline = ContinuousClock.now + .seconds(10)
  while ContinuousClock.now < deadline {
    if try await condition() { return true }
    try? await Task.sleep(for: .milliseconds(10))
  }
  return false
}
