import Glibc

/// Asks blocking functions: one blocking request a connection, to this machine alone.
enum FunctionClient {
  /// Seconds for the whole of an answer's next bytes.
  private static let patience = 60

  static func ask(_ call: FunctionCall) -> FunctionAnswer {
    guard let (port, target) = address(call.url), let socket = connected(port) else { return .unreachable }
    defer { close(socket) }
    // HTTP/1.0: the answer comes in one piece and ends with the connection.
    let head = [
      "POST \(target) HTTP/1.0", "Host: 127.0.0.1:\(port)", "Content-Type: application/json",
      "Content-Length: \(call.body.utf8.count)",
    ]
    guard send(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + call.body).utf8), socket) else {
      return .unreachable
    }
    return parse(receive(socket))
  }

  /// Port and target of a URL on this machine.
  private static func address(_ url: String) -> (port: UInt16, target: String)? {
    guard url.hasPrefix("http://") else { return nil }
    let rest = url.dropFirst("http://".count)
    let authority = rest.prefix { !"/?#".contains($0) }
    let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
    guard ["127.0.0.1", "localhost"].contains(parts.first), parts.count == 2, let port = UInt16(parts[1]) else {
      return nil
    }
    let target = rest.dropFirst(authority.count)
    return (port, target.hasPrefix("/") ? String(target) : "/\(target)")
  }

  private static func connected(_ port: UInt16) -> Int32? {
    let socket = Loopback.socket()
    guard socket >= 0 else { return nil }
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    if Loopback.withAddress(port, { connect(socket, $0, $1) }) == 0 { return socket }
    close(socket)
    return nil
  }

  private static func send(_ bytes: [UInt8], _ socket: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  private static func receive(_ socket: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while bytes.count < LoopbackServer.largestBody {
      let count = recv(socket, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[0..<count]
    }
    return bytes
  }

  private static func parse(_ bytes: [UInt8]) -> FunctionAnswer {
    let separator = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }) else { return .unreachable }
    let words = String(decoding: bytes.prefix { $0 != 13 }, as: UTF8.self).split(separator: " ")
    guard words.count > 1, let status = Int(words[1]) else { return .unreachable }
    return .answered(status: status, body: String(decoding: bytes[(end + separator.count)...], as: UTF8.self))
  }
}
