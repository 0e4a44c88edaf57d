import Glibc

/// What a server answered.
public struct HTTPAnswer: Sendable {
  /// 0 where the connection ended without a status line.
  public let status: Int
  /// Header values by lower-case name; the first of a repeated one.
  public let headers: [String: String]
  /// The body as far as it came.
  public let body: [UInt8]
  /// Whether the body is as long as the headers said.
  public let isComplete: Bool
  /// Whether the connection was reset.
  public let wasReset: Bool

  /// The body as text.
  public var text: String { String(decoding: body, as: UTF8.self) }
}

/// A tiny blocking HTTP/1.1 client for loopback: one connection a request, and every defect of the answer visible.
public struct HTTPProbe: Sendable {
  /// Where to connect.
  public let port: UInt16
  /// How long to wait for anything to come.
  public let timeout: Duration

  /// Asks 127.0.0.1 on this port.
  public init(port: UInt16, timeout: Duration = .seconds(10)) { (self.port, self.timeout) = (port, timeout) }

  /// Sends a request and reads until the server closes.
  /// - Parameters:
  ///   - target: path and query, as they go into the request line.
  ///   - trustsLength: whether to read no further than the headers say, for a server that doesn't close.
  public func request(
    _ method: String, _ target: String, headers: [String: String] = [:], body: String? = nil,
    trustsLength: Bool = false
  ) throws -> HTTPAnswer {
    let socket = try open(method, target, headers: headers, body: body)
    defer { close(socket) }
    return read(socket, trustsLength: trustsLength)
  }

  /// Sends a request and gives the socket, for who wants to hang up or to read by himself.
  public func open(
    _ method: String, _ target: String, headers: [String: String] = [:], body: String? = nil
  ) throws -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var limit = timeval(tv_sec: Int(timeout.components.seconds), tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else {
      let failure = POSIXFailure("connect to port \(port)", errno)
      close(socket)
      throw failure
    }
    var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"]
    lines += headers.map { "\($0.key): \($0.value)" }
    if let body { lines.append("Content-Length: \(body.utf8.count)") }
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { break }
      sent += count
    }
    return socket
  }

  private func read(_ socket: Int32, trustsLength: Bool) -> HTTPAnswer {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var wasReset = false
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      wasReset = count < 0 && errno == ECONNRESET
      guard count > 0 else { break }
      bytes += buffer[0..<count]
      guard trustsLength else { continue }
      let answer = Self.parse(bytes, wasReset: false)
      if answer.headers["content-length"] != nil, answer.isComplete { return answer }
    }
    return Self.parse(bytes, wasReset: wasReset)
  }

  private static func parse(_ bytes: [UInt8], wasReset: Bool) -> HTTPAnswer {
    let separator = Array("\r\n\r\n".utf8)
    let end = bytes.indices.first { bytes[$0...].starts(with: separator) } ?? bytes.count
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let halves = line.split(separator: ":", maxSplits: 1)
      let name = halves[0].lowercased()
      if headers[name] == nil { headers[name] = halves.count > 1 ? String(halves[1].drop { $0 == " " }) : "" }
    }
    let body = Array(bytes[min(end + separator.count, bytes.count)...])
    let announced = headers["content-length"].flatMap { Int($0) }
    return HTTPAnswer(
      status: words.count > 1 ? Int(words[1]) ?? 0 : 0, headers: headers, body: body,
      isComplete: announced.map { $0 == body.count } ?? true, wasReset: wasReset)
  }
}
