import Glibc

/// Asks the kernel for one TCP socket by its two ends (sock_diag(7)). The messages of <linux/inet_diag.h> are laid out by hand:
/// they are the kernel's binary interface, and no module has them.
enum SocketDiagnosis {
  enum Answer: Equatable {
    case user(uid_t)
    /// The socket is there, but no process has it, or a user without an id here.
    case nobody
    /// No such socket, or nobody who answers.
    case silence
  }

  /// The user that owns the socket at `endpoint`.
  static func owner(of endpoint: Endpoint, connectedTo other: Endpoint) -> Answer {
    let socket = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), protocolSocketDiagnosis)
    guard socket >= 0 else { return .silence }
    defer { close(socket) }
    let question = question(endpoint, other)
    // The kernel answers within send(2): what hasn't come then never will.
    guard send(socket, question, question.count, Int32(MSG_NOSIGNAL)) == question.count else { return .silence }
    var answer = [UInt8](repeating: 0, count: 4096)
    let count = recv(socket, &answer, answer.count, Int32(MSG_DONTWAIT))
    return count < 0 ? .silence : read(answer[..<count], about: endpoint, other)
  }

  private static let protocolSocketDiagnosis: Int32 = 4  // NETLINK_SOCK_DIAG
  private static let byFamily: UInt16 = 20  // SOCK_DIAG_BY_FAMILY
  private static let headerSize = 16  // struct nlmsghdr
  /// Family, state, timer and retransmissions before the ends of the socket that was found.
  private static let endsInAnswer = headerSize + 4
  /// Both ports and both addresses of struct inet_diag_sockid.
  private static let endsSize = 36

  /// struct nlmsghdr, struct inet_diag_req_v2.
  static func question(_ endpoint: Endpoint, _ other: Endpoint) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number) { bytes += $0 } }
    append(UInt32(headerSize + 56))
    append(byFamily)
    append(UInt16(1))  // NLM_F_REQUEST: this one, not a list
    append(UInt64(0))  // sequence, port
    bytes += [UInt8(endpoint.family), UInt8(IPPROTO_TCP), 0, 0]
    append(UInt32.max)  // whatever its state
    bytes += ends(endpoint, other)
    append(UInt32(0))  // on any interface
    append(UInt64.max)  // INET_DIAG_NOCOOKIE
    return bytes
  }

  /// The beginning of struct inet_diag_sockid.
  private static func ends(_ endpoint: Endpoint, _ other: Endpoint) -> [UInt8] {
    let ports = [endpoint.port, other.port].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    return [endpoint.address, other.address].reduce(ports) { $0 + $1 + [UInt8](repeating: 0, count: 16 - $1.count) }
  }

  /// Reads struct nlmsghdr, struct inet_diag_msg. Without a connection the kernel may name who listens at the port: that one has
  /// other ends. An IPv6 socket may be at the end of an IPv4 connection, and has its addresses in that form.
  static func read(_ bytes: ArraySlice<UInt8>, about endpoint: Endpoint, _ other: Endpoint) -> Answer {
    let bytes = Array(bytes)
    func number<Number: FixedWidthInteger>(at offset: Int) -> Number {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }
    guard bytes.count >= headerSize + 72, number(at: 4) == byFamily else { return .silence }
    let found = Array(bytes[endsInAnswer..<endsInAnswer + endsSize])
    guard found == ends(endpoint, other) || found == ends(endpoint.asV6, other.asV6) else { return .silence }
    // After the ends: interface and cookie (12 bytes), time left and two queues (12 bytes).
    let user = endsInAnswer + endsSize + 24
    let named = PeerUser.named(number(at: user), inode: UInt64(number(at: user + 4) as UInt32))
    return named.map { .user($0) } ?? .nobody
  }
}
