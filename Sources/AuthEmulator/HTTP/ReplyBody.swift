import CMicroHTTPD
import Glibc

/// A body that is handed out piece by piece: cut short, dripping or padded. Touched by its connection's thread alone.
final class ReplyBody {
  private let bytes: [UInt8]
  private let size: Int
  private let end: Int
  private let pause: UInt32

  private init?(_ reply: Reply) {
    bytes = reply.body
    switch reply.delivery {
    case .cut(let after): (size, end, pause) = (max(bytes.count, after + 1), after, 0)
    case .drip(let milliseconds): (size, end, pause) = (bytes.count, bytes.count, UInt32(clamping: milliseconds))
    case .padded(let size): (self.size, end, pause) = (max(size, bytes.count), max(size, bytes.count), 0)
    case .whole, .reset, .dropped: return nil
    }
  }

  /// libmicrohttpd's response with the body of `reply`; without headers yet.
  static func response(to reply: Reply, create table: cmicrohttpd) -> OpaquePointer? {
    guard let body = ReplyBody(reply) else {
      return withUnsafePointer(to: table) { table in
        reply.body.withUnsafeBytes { cmicrohttpd_response(table, $0.baseAddress, $0.count) }
      }
    }
    return table.create_response_from_callback(
      UInt64(body.size), 1 << 15,
      { context, position, buffer, room in
        guard let context, let buffer else { return -2 }
        let body = Unmanaged<ReplyBody>.fromOpaque(context).takeUnretainedValue()
        return body.read(from: Int(position), into: UnsafeMutableRawBufferPointer(start: buffer, count: room))
      }, Unmanaged.passRetained(body).toOpaque(),
      { context in
        if let context { Unmanaged<ReplyBody>.fromOpaque(context).release() }
      })
  }

  /// MHD_CONTENT_READER_END_WITH_ERROR, a cast that Swift doesn't import.
  private static let brokenOff = -2

  private func read(from position: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard position < end else { return Self.brokenOff }
    if pause > 0, position > 0 { usleep(pause * 1000) }
    let count = pause > 0 ? 1 : min(buffer.count, end - position)
    for offset in 0..<count {
      buffer[offset] = position + offset < bytes.count ? bytes[position + offset] : UInt8(ascii: " ")
    }
    return count
  }
}
