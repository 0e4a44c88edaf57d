import CMicroHTTPD
import Glibc

/// Something a request's thread waits for: opened once, by another thread.
final class Latch: Sendable {
  enum Outcome: Sendable, Equatable { case opened, peerGone, elapsed }

  private let ends: (read: Int32, write: Int32)

  init() {
    var pair: [Int32] = [-1, -1]
    pipe(&pair)
    for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    ends = (pair[0], pair[1])
  }

  deinit {
    close(ends.read)
    close(ends.write)
  }

  func open() {
    var byte: UInt8 = 1
    write(ends.write, &byte, 1)
  }

  /// Waits until the latch is opened, the peer of `socket` has hung up, or the time is over (nil: never).
  func wait(socket: Int32, milliseconds: Int?) -> Outcome {
    switch cmicrohttpd_wait(ends.read, socket, milliseconds.map { Int32(clamping: $0) } ?? -1) {
    case 1: .opened
    case 2: .peerGone
    default: .elapsed
    }
  }
}
