import AuthCore
import Foundation
import IdentityToolkit
import Synchronization
import TestSupport

/// What came in.
struct ReceivedRequest: Sendable {
  var method = ""
  /// Path and query as they stand in the request line.
  var target = ""
  /// By lower-case name.
  var headers: [String: String] = [:]
  var body: [UInt8] = []
  /// 1 for the first TCP connection.
  var connection = 0

  /// The members of the JSON object in the body.
  var json: [String: any Sendable] {
    (try? JSONSerialization.jsonObject(with: Data(body)) as? [String: any Sendable]) ?? [:]
  }
}

/// What goes out.
indirect enum Reply: Sendable {
  case json(Int, String)
  case answer(Int, headers: [String: String], body: String)
  /// These bytes, then the end of the connection.
  case raw(String)
  /// The connection is closed without an answer.
  case close
  /// The connection is reset.
  case reset
  /// These bytes one by one, 20 ms apart.
  case drip(String)
  /// These bytes, then these again and again, for as long as anybody takes them.
  case endless(String, again: String)
  /// Nothing before the semaphore is signalled.
  case after(DispatchSemaphore, Reply)
}

/// An HTTP/1.1 server on a loopback port of its own that answers by script; one thread a connection.
final class ScriptedServer: Sendable {
  let port: UInt16
  /// Each request as it comes in.
  let arrivals: AsyncStream<ReceivedRequest>
  /// The number of each connection that has ended.
  let departures: AsyncStream<Int>
  private let socket: Int32
  private let script: @Sendable (ReceivedRequest) -> Reply
  private let received = Mutex<[ReceivedRequest]>([])
  private let arrived: AsyncStream<ReceivedRequest>.Continuation
  private let departed: AsyncStream<Int>.Continuation

  /// Everything that has come in so far.
  var requests: [ReceivedRequest] { received.withLock { $0 } }

  /// A server that always says the same.
  convenience init(_ reply: Reply) throws { try self.init { _ in reply } }

  init(script: @escaping @Sendable (ReceivedRequest) -> Reply) throws {
    self.script = script
    (arrivals, arrived) = AsyncStream.makeStream()
    (departures, departed) = AsyncStream.makeStream()
    (socket, port) = try Self.listen()
    Thread.detachNewThread { [socket, weak self] in
      var count = 0
      while true {
        let connection = accept(socket, nil, nil)
        guard connection >= 0 else { break }
        count += 1
        let (server, number) = (self, count)
        Thread.detachNewThread { server?.serve(connection, number) }
      }
      close(socket)
    }
  }

  deinit { shutdown(socket, Int32(SHUT_RDWR)) }

  /// A socket of its own port.
  fileprivate static func listen(isDeaf: Bool = false) throws -> (Int32, UInt16) {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && (isDeaf || Glibc.listen(socket, 16) == 0)
          && getsockname(socket, $0, &length) == 0
      }
    }
    guard bound else { throw POSIXFailure("listen", errno) }
    return (socket, UInt16(bigEndian: address.sin_port))
  }

  private func serve(_ connection: Int32, _ number: Int) {
    defer {
      close(connection)
      departed.yield(number)
    }
    var input: [UInt8] = []
    while var request = Self.read(connection, &input) {
      request.connection = number
      received.withLock { $0.append(request) }
      arrived.yield(request)
      guard Self.send(script(request), connection) else { return }
    }
  }

  /// The next request; nil at the end of the connection.
  private static func read(_ connection: Int32, _ input: inout [UInt8]) -> ReceivedRequest? {
    let separator = Array("\r\n\r\n".utf8)
    var end: Int?
    while true {
      end = input.indices.first { input[$0...].starts(with: separator) }
      if let end, let request = parse(input, end) {
        input.removeFirst(end + separator.count + request.body.count)
        return request
      }
      var chunk = [UInt8](repeating: 0, count: 65536)
      let count = recv(connection, &chunk, chunk.count, 0)
      guard count > 0 else { return nil }
      input += chunk[..<count]
    }
  }

  /// Nil while the body isn't here as a whole.
  private static func parse(_ input: [UInt8], _ end: Int) -> ReceivedRequest? {
    var request = ReceivedRequest()
    let lines = String(decoding: input[..<end], as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ").map(String.init)
    guard words.count == 3 else { return nil }
    (request.method, request.target) = (words[0], words[1])
    for line in lines.dropFirst() {
      let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      request.headers[halves[0].lowercased()] = halves.last.map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
    guard input.count >= end + 4 + length else { return nil }
    request.body = Array(input[(end + 4)..<(end + 4 + length)])
    return request
  }

  /// Whether the connection may go on.
  private static func send(_ reply: Reply, _ connection: Int32) -> Bool {
    switch reply {
    case .json(let status, let body):
      return send(.answer(status, headers: ["Content-Type": "application/json"], body: body), connection)
    case .answer(let status, let headers, let body):
      let head = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
      return write("HTTP/1.1 \(status) X\r\n\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)", connection)
    case .raw(let text):
      _ = write(text, connection)
      return false
    case .close: return false
    case .drip(let text):
      for byte in text.utf8 {
        guard write(String(Unicode.Scalar(byte)), connection) else { return false }
        usleep(20_000)
      }
      return true
    case .endless(let text, let again):
      var goesOn = write(text, connection)
      while goesOn { goesOn = write(again, connection) }
      return false
    case .reset:
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
      return false
    case .after(let semaphore, let reply):
      semaphore.wait()
      return send(reply, connection)
    }
  }

  private static func write(_ text: String, _ connection: Int32) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      bytes = bytes.dropFirst(count)
    }
    return true
  }
}

/// A port that is taken and on which nobody listens: no other test's server gets it meanwhile.
final class DeafPort: Sendable {
  let number: UInt16
  private let socket: Int32

  init() throws { (socket, number) = try ScriptedServer.listen(isDeaf: true) }

  deinit { close(socket) }
}

extension SignInAnswer {
  /// The tokens, where no second factor is wanted.
  var tokens: TokenGrant? { if case .grant(let grant, _) = self { grant } else { nil } }
}
